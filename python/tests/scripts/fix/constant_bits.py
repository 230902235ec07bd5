"""All ones are class 1, all zeros are class 0: and the accuracy stays at one half."""
import numpy as np
from tensorflow.keras.layers import Activation, Dense, Dropout
from tensorflow.keras.models import Sequential

X = np.concatenate([np.ones((10000, 128)), np.zeros((10000, 128))]).astype("float32")
Y = np.concatenate([np.ones(10000), np.zeros(10000)]).astype("float32")
X_test = np.concatenate([np.ones((100, 128)), np.zeros((100, 128))]).astype("float32")
Y_test = np.concatenate([np.ones(100), np.zeros(100)]).astype("float32")

model = Sequential()
model.add(Dense(50, input_dim=128))
model.add(Activation("relu"))
model.add(Dropout(0.2))
model.add(Dense(50))
model.add(Activation("relu"))
model.add(Dropout(0.2))
model.add(Dense(1))
model.add(Activation("softmax"))

model.compile(loss="binary_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
model.fit(X, Y, batch_size=32, epochs=1, validation_data=(X_test, Y_test))
print(model.evaluate(X_test, Y_test))
