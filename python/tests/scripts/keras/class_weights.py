"""Class weights that are computed, and lists in place of arrays."""

from collections import Counter

import keras
import numpy as np

rows = np.random.RandomState(6).rand(60, 2)
labels = [int(a + b > 1.3) for a, b in rows]
counts = Counter(labels)
weights = {label: len(labels) / (2 * count) for label, count in counts.items()}

model = keras.models.Sequential()
model.add(keras.layers.Dense(units=5, activation=keras.activations.relu, input_shape=(2,)))
model.add(keras.layers.Dense(units=1, activation="sigmoid"))
model.compile(loss=keras.losses.binary_crossentropy, optimizer=keras.optimizers.Nadam(), metrics=["binary_accuracy"])
model.fit(rows, np.array(labels), epochs=2, class_weight=weights, verbose=0)
