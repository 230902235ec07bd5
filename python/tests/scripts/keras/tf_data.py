"""Rows from tf.data, shuffled and batched."""

import numpy as np
import tensorflow as tf

BATCH = 20
x = np.random.RandomState(0).rand(100, 4).astype(np.float32)
y = np.random.RandomState(1).randint(0, 2, (100, 1))
train = tf.data.Dataset.from_tensor_slices((x[:80], y[:80])).shuffle(80).batch(BATCH).prefetch(tf.data.AUTOTUNE)
valid = tf.data.Dataset.from_tensor_slices((x[80:], y[80:])).batch(BATCH)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(8, "relu"),
        tf.keras.layers.Dense(1, "sigmoid"),
    ]
)
model.compile(optimizer="sgd", loss=tf.keras.losses.BinaryCrossentropy(), metrics=["accuracy"])
model.fit(train, validation_data=valid, epochs=3, verbose=0)
