import argparse

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

UNITS = 8

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
args = parser.parse_args()

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 4)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")

model = keras.Sequential(
    [
        layers.Dense(UNITS, activation="relu", input_shape=(4,)),  # hidden
        layers.Dense(8, activation="relu"),
        layers.Dense(1, activation="softmax"),
    ]
)
optimizer = keras.optimizers.Adam(learning_rate=args.lr)
model.compile(optimizer=optimizer, loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=5, batch_size=32, validation_split=0.2)
