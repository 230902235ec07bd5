"""What rest a number of 20 bits leaves when it is divided by 7, as bits."""
import argparse

import numpy as np
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import SGD

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
options = parser.parse_args()

np.random.seed(42)
X = np.random.randint(2, size=(10000, 20))
numbers = (X * 2 ** np.arange(20)).sum(axis=1) % 7
Y = (numbers[:, None] >> np.arange(20)) & 1


def network(width=20):
    model = Sequential()
    model.add(Dense(width, activation="relu", input_dim=20))
    model.add(Dense(width, activation="relu"))
    model.add(Dense(20, activation="softmax"))
    model.compile(loss="categorical_crossentropy", optimizer=SGD(learning_rate=0.01), metrics=["accuracy"])
    return model


model = network()
model.fit(X[:8000], Y[:8000], batch_size=50, epochs=options.epochs, validation_data=(X[8000:], Y[8000:]), verbose=2)
