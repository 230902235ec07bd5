import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

np.random.seed(0)
x = np.random.rand(120, 8)
y = (x.sum(axis=1) > 4).astype("float32")

model = keras.Sequential(
    [
        layers.Dense(16, activation="relu", input_shape=(8,)),
        layers.Dropout(0.2),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=3, batch_size=16, validation_split=0.25)
print("trained")
