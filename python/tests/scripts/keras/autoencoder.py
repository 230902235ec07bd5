"""An autoencoder: targets are the rows themselves; models in a model."""

import numpy as np
from tensorflow.keras import layers, models

images = np.random.RandomState(13).rand(40, 6, 6).astype("float32")
encoder = models.Sequential([layers.Flatten(input_shape=(6, 6)), layers.Dense(8, activation="relu")])
decoder = models.Sequential([layers.Dense(36, activation="sigmoid", input_shape=(8,)), layers.Reshape((6, 6))])
autoencoder = models.Sequential([encoder, decoder])
autoencoder.compile(optimizer="adam", loss="mse")
autoencoder.fit(images, images, epochs=2, batch_size=10, shuffle=True, validation_data=(images, images), verbose=0)
