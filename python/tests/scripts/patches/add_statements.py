import numpy
import keras
from keras.models import Sequential
from keras.layers import Dense, Activation

numpy.random.seed(7)
X = numpy.random.rand(80, 1)
Y = 5 * X

def build():
    """The model of the forum's question."""
    model = Sequential()
    model.add(Dense(16, input_shape=(1,)))
    model.add(Activation("relu"))
    model.add(Dense(units=8, kernel_initializer="zeros"))
    model.add(Activation("sigmoid")); model.add(Dense(1))
    return model

model = build()
model.compile("sgd", "mean_absolute_error")
model.fit(X, Y, 16, 20, verbose=0)
