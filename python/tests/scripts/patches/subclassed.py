import numpy as np
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self, width=30):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(width, activation="relu")
        self.second = tf.keras.layers.Dense(15, activation="relu")
        self.drop = tf.keras.layers.Dropout(0.3)
        self.out = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, x):
        x = self.hidden(x)
        x = self.drop(self.second(x))
        return self.out(x)


net = Net()
net.compile(optimizer=tf.keras.optimizers.Adam(), loss=tf.keras.losses.BinaryCrossentropy())
net.fit(np.zeros((10, 5)), np.zeros((10, 1)))
