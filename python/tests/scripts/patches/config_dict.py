import numpy as np
from keras.models import Sequential
from keras.layers import Dense, Dropout
import keras

config = {
    'units': [24, 12],     # hidden layers
    'dropout': 0.4,
    'optimizer': 'rmsprop',
    'loss': 'mse',
    'epochs': 6,
}
config['batch'] = 16
common = dict(activation='selu', kernel_initializer='lecun_normal')

model = Sequential()
model.add(Dense(config['units'][0], **common))
model.add(Dropout(config["dropout"]))
model.add(Dense(config['units'][1], **common))
model.add(Dense(1))
model.compile(optimizer=config['optimizer'], loss=config['loss'])
model.fit(np.zeros((9, 5)), np.zeros((9, 1)), epochs=config['epochs'], batch_size=config['batch'])
