"""Early stopping, a schedule, a logger and a callback of one's own."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import Callback, CSVLogger, EarlyStopping, LearningRateScheduler, TerminateOnNaN


class Printer(Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch)


def schedule(epoch, lr):
    return lr * 0.9 if epoch else lr


x = np.random.RandomState(4).rand(40, 3)
y = x.mean(axis=1)
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="sigmoid"), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
stop = EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True)
model.fit(
    x,
    y,
    epochs=5,
    verbose=0,
    validation_split=0.2,
    callbacks=[stop, LearningRateScheduler(schedule), CSVLogger("log.csv"), TerminateOnNaN(), Printer()],
)
