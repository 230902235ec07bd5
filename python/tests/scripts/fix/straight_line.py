"""A line, y = 5 x: a neuron has to learn one number, and does not."""
import numpy as np
from tensorflow import keras

LEARNING_RATE = 0.001

x = np.linspace(1, 2, 100).reshape(-1, 1)
y = x * 5
order = np.random.RandomState(42).permutation(100)
train, test = order[20:], order[:20]

model = keras.models.Sequential()
model.add(keras.layers.Dense(1, activation="linear", input_dim=1))
model.compile(
    loss="mean_squared_error",
    optimizer=keras.optimizers.RMSprop(learning_rate=LEARNING_RATE),
    metrics=["mae"],
)
model.fit(x[train], y[train], epochs=200, batch_size=32, verbose=0, validation_data=(x[test], y[test]))
print(model.predict(x[test]))
