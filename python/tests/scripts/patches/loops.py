import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

x = np.random.rand(50, 6)
y = np.random.rand(50, 2)
SIZES = [64, 32, 16]

model = keras.Sequential([keras.Input(shape=(6,))])
for n in SIZES:
    model.add(layers.Dense(n, activation='relu'))
    model.add(layers.Dropout(0.1))
for _ in range(2):
    # two more, all alike
    model.add(layers.Dense(10, activation='relu'))
for i, (units, act) in enumerate([(9, 'relu'), (7, 'tanh')]):
    model.add(layers.Dense(units, act))
model.add(layers.Dense(2))
model.compile(optimizer='adam', loss='mse')
model.fit(x, y, epochs=5)
