"""Layers that a loop adds, with sizes from a list."""

import keras
import numpy as np

WIDTHS = [24, 12]
RATE = 0.05

rng = np.random.default_rng(1)
X = rng.normal(size=(150, 6)).astype("float32")
y = rng.integers(0, 3, size=150)
Y = keras.utils.to_categorical(y, 3)

model = keras.Sequential()
for i, width in enumerate(WIDTHS):
    if i == 0:
        model.add(keras.layers.Dense(width, activation="tanh", input_shape=(6,)))
    else:
        model.add(keras.layers.Dense(width, activation="tanh"))
model.add(keras.layers.Dense(3))
model.add(keras.layers.Activation("softmax"))
opt = keras.optimizers.SGD(learning_rate=RATE, momentum=0.9)
model.compile(loss="categorical_crossentropy", optimizer=opt, metrics=["accuracy"])
model.fit(X, Y, batch_size=10, epochs=2, verbose=0, shuffle=False)
