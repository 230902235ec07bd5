import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def residual_block(x, filters, downsample=False):
    shortcut = x
    y = layers.Conv2D(filters, 3, padding="same", strides=2 if downsample else 1)(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(filters, 3, padding="same")(y)
    y = layers.BatchNormalization()(y)
    if downsample:
        shortcut = layers.Conv2D(filters, 1, strides=2)(shortcut)
    y = layers.Add()([y, shortcut])
    return layers.ReLU()(y)


inputs = keras.Input((8, 8, 1))
x = layers.Conv2D(6, 3, padding="same", activation="relu")(inputs)
for filters, down in [(6, False), (12, True)]:
    x = residual_block(x, filters, down)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(2, activation="softmax")(x)
model = keras.Model(inputs, outputs)

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 120)
x = rng.random((120, 8, 8, 1))
x[y == 1, 2:5, 2:5] += 0.7
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x[:100], y[:100], epochs=4, batch_size=20, validation_data=(x[100:], y[100:]))
