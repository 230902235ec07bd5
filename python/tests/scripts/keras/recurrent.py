"""Embedding and a bidirectional LSTM on padded sequences, with an exponential decay of the rate."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

VOCABULARY = 30
x = np.random.RandomState(9).randint(1, VOCABULARY, (48, 7))
y = np.random.RandomState(10).randint(0, 2, 48)
decay = keras.optimizers.schedules.ExponentialDecay(0.01, decay_steps=100, decay_rate=0.9)

model = keras.Sequential(
    [
        layers.Embedding(VOCABULARY, 6),
        layers.Bidirectional(layers.LSTM(5)),
        layers.Dense(4, activation="relu", kernel_initializer=keras.initializers.HeUniform()),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(decay), loss="binary_crossentropy", metrics=["AUC"])
model.fit(x, y, batch_size=8, epochs=1, verbose=0)
