"""Weights of rows, those of the validation too."""

import keras
import numpy as np

random = np.random.default_rng(8)
rows = random.normal(size=(120, 3)).astype("float32")
labels = (rows.sum(axis=1) > 0).astype("float32")
weights = np.where(labels == 1, 2.0, 0.5)

model = keras.Sequential([
    keras.layers.Dense(6, activation="tanh"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["accuracy"], weighted_metrics=[])
model.fit(rows[:90], labels[:90], sample_weight=weights[:90], epochs=4, batch_size=15, verbose=0,
          validation_data=(rows[90:], labels[90:], weights[90:]))
