"""A class around the model, the way of tutorials; rows of the data set in a dict of settings."""

import numpy as np
import tensorflow as tf


class Classifier:
    def __init__(self, config):
        self.config = config
        self.model = self._build()

    def _build(self):
        model = tf.keras.Sequential(name="classifier")
        for units in self.config["units"]:
            model.add(tf.keras.layers.Dense(units, activation=self.config["activation"]))
        model.add(tf.keras.layers.Dense(2, activation="softmax"))
        model.compile(**self.config["compile"])
        return model

    def train(self, x, y):
        options = {"batch_size": 12, "epochs": 2, "verbose": 0}
        return self.model.fit(x, y, **options)


config = {
    "units": (9, 9),
    "activation": "relu",
    "compile": {"optimizer": "adam", "loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]},
}
data = np.random.RandomState(12).rand(36, 4)
Classifier(config).train(data, (data[:, 0] > 0.5).astype(int))
