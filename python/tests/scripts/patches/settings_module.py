import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense
import hyperparameters as hp
from hyperparameters import UNITS

model = Sequential([Dense(UNITS, activation=hp.ACT), Dense(1)])
model.compile(optimizer=hp.OPTIMIZER, loss=hp.LOSS)
model.fit(np.zeros((4, 2)), np.zeros((4, 1)), epochs=hp.EPOCHS, batch_size=2)
