import numpy as np
import keras
from keras import layers
from keras.optimizers import Adam, SGD, RMSprop

OPTIMIZERS = {'adam': Adam, 'sgd': SGD, 'rmsprop': RMSprop}
settings = {'optimizer': 'sgd', 'lr': 0.3, 'layers': (18, 9)}

inputs = keras.Input(shape=(4,))
h = inputs
for k, width in enumerate(settings['layers'], start=1):
    h = layers.Dense(width, activation='relu', name=f'hidden_{k}')(h)
    h = layers.Dropout(.2)(h)
outputs = layers.Dense(1, activation='sigmoid')(h)
model = keras.Model(inputs, outputs, name='net')
optimizer = OPTIMIZERS[settings['optimizer']](settings['lr'])
model.compile(optimizer, loss=keras.losses.MeanSquaredError())
model.fit(np.zeros((40, 4)), np.zeros((40, 1)), epochs=5, batch_size=10)
