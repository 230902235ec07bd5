import numpy as np
import keras

random = np.random.default_rng(8)
x = random.normal(size=(200, 4)).astype("float32")
y = (x.sum(axis=1) > 0).astype("float32")
age = np.linspace(0, 1, 200)
w = 0.5 + age

model = keras.Sequential([
    keras.layers.Dense(10, activation="selu", kernel_initializer="lecun_normal"),
    keras.layers.AlphaDropout(0.05),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="nadam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, sample_weight=w, epochs=5, batch_size=20, verbose=0)
