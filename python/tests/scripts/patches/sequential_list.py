# Pima diabetes, as in many tutorials.
import numpy as np
from tensorflow.keras.layers import Dense, Dropout
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import SGD

x = np.random.rand(64, 8)
y = np.random.randint(0, 2, (64, 1))

model = Sequential([
    Dense(12, input_dim=8, activation='relu'),   # first hidden layer
    Dropout(0.5),
    Dense(8, activation='relu'),  # second hidden layer
    Dense(1, activation='softmax'),
])
model.compile(
    loss='mse',
    optimizer=SGD(lr=1e-1, momentum=0.9),  # too fast?
    metrics=['accuracy'],
)
model.fit(x, y, epochs=150, batch_size=10)
print(model.evaluate(x, y))
