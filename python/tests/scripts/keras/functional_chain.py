"""A functional model that is one chain, on small images."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model
from tensorflow.keras import layers as L

tf.random.set_seed(7)
images = np.random.RandomState(7).randint(0, 256, (60, 8, 8, 1)).astype("uint8")
labels = np.random.RandomState(8).randint(0, 4, 60)

inputs = Input(shape=(8, 8, 1))
x = L.Conv2D(4, 3, padding="same", activation="relu")(inputs)
x = L.BatchNormalization()(x)
x = L.MaxPooling2D()(x)
x = L.Flatten()(x)
outputs = L.Dense(4)(x)
model = Model(inputs=inputs, outputs=outputs)

model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-2),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[tf.keras.metrics.SparseCategoricalAccuracy()],
)
history = model.fit(images / 255.0, labels, validation_data=(images[:20] / 255.0, labels[:20]), epochs=2, verbose=0)
print(sorted(history.history))
