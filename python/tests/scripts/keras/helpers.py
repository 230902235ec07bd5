"""Layers that helper functions build."""

import numpy as np
from tensorflow.keras import layers, regularizers
from tensorflow.keras.models import Sequential


def block(units, rate, l2=0.001):
    return [
        layers.Dense(units, kernel_regularizer=regularizers.l2(l2), kernel_initializer="he_normal"),
        layers.LeakyReLU(),
        layers.Dropout(rate),
    ]


def build(inputs, classes):
    model = Sequential()
    model.add(layers.InputLayer(inputs))
    for layer in block(20, 0.1) + block(10, 0.2, l2=0.01):
        model.add(layer)
    model.add(layers.Dense(classes, activation="softmax"))
    return model


def data(n=90):
    generator = np.random.RandomState(3)
    x = generator.normal(size=(n, 5))
    return x, (x[:, 0] > 0).astype(int) + (x[:, 1] > 0)


features, targets = data()
net = build((5,), 3)
net.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])
net.fit(features, targets, 15, 2)
