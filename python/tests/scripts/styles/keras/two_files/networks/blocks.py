from keras.layers import Dense


def add_hidden(net, width, activation="elu", **kwargs):
    net.add(Dense(width, activation=activation, kernel_initializer="he_normal", **kwargs))
