"""Points of two clusters, which five epochs don't tell apart."""
import numpy as np
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential

np.random.seed(42)
low = np.random.uniform(0.2, 0.4, 200)
high = np.random.uniform(0.7, 0.5, 200)
data, labels = [], []
for i in range(0, 200, 2):
    data.append((low[i], low[i + 1]))
    labels.append((1, 0))
    data.append((high[i], high[i + 1]))
    labels.append((0, 1))
data, labels = np.array(data), np.array(labels)
order = np.random.permutation(len(data))
train, test = order[40:], order[:40]

model = Sequential([
    Dense(2, activation="sigmoid", input_shape=(2,)),
    Dense(2, activation="softmax"),
])
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(data[train], labels[train], epochs=5, batch_size=32, validation_data=(data[test], labels[test]))
