from keras.layers import Dense, Dropout
from keras.models import Sequential

from . import blocks


def create_network(inputs, classes, hidden=(16,), rate=0.1):
    net = Sequential()
    blocks.add_hidden(net, hidden[0], input_dim=inputs)
    for width in hidden[1:]:
        blocks.add_hidden(net, width)
    net.add(Dropout(rate))
    net.add(Dense(classes, activation="softmax"))
    return net
