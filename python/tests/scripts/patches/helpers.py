import numpy as np
from keras import layers, models, optimizers


def block(n, activation='relu'):
    return layers.Dense(n, activation=activation)


def dense(n):
    return layers.Dense(n, activation='sigmoid', kernel_initializer='he_normal')


def stage(model, width):
    model.add(layers.Dense(width, activation='relu'))
    model.add(layers.BatchNormalization())


def train(model, x, y, lr=0.01, epochs=3):
    model.compile(optimizer=optimizers.RMSprop(lr), loss='binary_crossentropy')
    model.fit(x, y, epochs=epochs, batch_size=16)


net = models.Sequential()
net.add(block(32))
net.add(block(24, 'tanh'))
net.add(dense(20))
net.add(dense(12))
stage(net, 11)
stage(net, width=7)
net.add(layers.Dense(1, activation='sigmoid'))
train(net, np.zeros((8, 4)), np.zeros((8, 1)))
