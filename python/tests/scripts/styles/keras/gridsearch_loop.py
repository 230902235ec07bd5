import itertools
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential

np.random.seed(5)
X = np.random.uniform(-2, 2, (200, 3))
Y = np.sin(X[:, :1]) + X[:, 1:2] * X[:, 2:]

results = {}
for n_hidden, act, opt in itertools.product([10, 20], ['relu', 'tanh'], ['sgd', 'adam']):
    model = Sequential()
    model.add(Dense(n_hidden, activation=act, input_dim=X.shape[1]))
    model.add(Dense(Y.shape[1]))
    model.compile(loss='mse', optimizer=opt, metrics=['mae'])
    h = model.fit(X, Y, epochs=6, batch_size=20, verbose=0, validation_split=0.25)
    results[(n_hidden, act, opt)] = h.history['val_loss'][-1]

best = min(results, key=results.get)
print(best, results[best])
