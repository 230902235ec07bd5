"""A circle within a circle; the last layer had a sigmoid."""
import numpy as np
from tensorflow.keras.initializers import RandomNormal
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential

rng = np.random.RandomState(1)
labels = rng.randint(2, size=1000)
angles = rng.uniform(0, 2 * np.pi, size=1000)
radii = np.where(labels == 1, 0.5, 1.0) + rng.normal(scale=0.08, size=1000)
points = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)

HIDDEN = dict(activation="selu", kernel_initializer="lecun_uniform", bias_initializer="lecun_uniform")

model = Sequential()
model.add(Dense(5, input_shape=(2,), **HIDDEN))
for _ in range(4):
    model.add(Dense(5, **HIDDEN))
model.add(Dense(1, activation="relu", kernel_initializer=RandomNormal(stddev=0.05), bias_initializer="glorot_normal"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(points[:800], labels[:800], epochs=50, batch_size=32, verbose=0,
          validation_data=(points[800:], labels[800:]))
