from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense


@dataclass
class Settings:
    hidden: int = 40
    rate: float = 0.05
    epochs: int = 7


class Trainer:
    BATCH = 64

    def __init__(self, settings, activation='relu'):
        self.settings = settings
        self.activation = activation
        self.loss = 'mae'
        self.model = self.build()

    def build(self):
        model = tf.keras.models.Sequential()
        model.add(Dense(self.settings.hidden, activation=self.activation))
        model.add(Dense(1))
        model.compile(loss=self.loss, optimizer=tf.keras.optimizers.SGD(self.settings.rate))
        return model

    def run(self, x, y):
        self.model.fit(x, y, epochs=self.settings.epochs, batch_size=self.BATCH)


Trainer(Settings(hidden=48)).run(np.zeros((70, 3)), np.zeros((70, 1)))
