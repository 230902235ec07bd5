"""A Sequence that shuffles its own rows between epochs."""

import numpy as np
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import Sequence


class Rows(Sequence):
    def __init__(self, x, y, size):
        super().__init__()
        self.x, self.y, self.size = x, y, size
        self.order = np.arange(len(x))

    def __len__(self):
        return int(np.ceil(len(self.x) / self.size))

    def __getitem__(self, i):
        rows = self.order[i * self.size : (i + 1) * self.size]
        return self.x[rows], self.y[rows]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


np.random.seed(11)
x = np.random.randn(50, 2)
y = (x[:, 0] * x[:, 1] > 0).astype("float32")
model = Sequential([Dense(8, activation="relu", input_dim=2), Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
model.fit(Rows(x, y, 16), epochs=2, verbose=0)
