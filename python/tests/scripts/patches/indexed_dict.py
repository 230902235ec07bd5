import numpy as np
from tensorflow import keras
from tensorflow.keras.layers import Dense, Dropout

hp = {'units': [30, 20, 10], 'activations': ['relu', 'relu', 'tanh'], 'lr': 0.02, 'dropout': 0.3}

def create_model(hp, optimizer='adam', init='he_uniform'):
    model = keras.models.Sequential()
    for i in range(len(hp['units'])):
        model.add(Dense(hp['units'][i], activation=hp['activations'][i], kernel_initializer=init))
        if i < 2:
            model.add(Dropout(hp['dropout']))
    model.add(Dense(3, activation='softmax', kernel_initializer=init))
    if optimizer == 'adam':
        opt = keras.optimizers.Adam(learning_rate=hp['lr'])
    else:
        opt = keras.optimizers.SGD(learning_rate=hp['lr'], momentum=0.9)
    model.compile(loss='categorical_crossentropy', optimizer=opt, metrics=['accuracy'])
    return model

x, y = np.random.rand(90, 5), np.eye(3)[np.random.randint(0, 3, 90)]
model = create_model(hp)
n_batch = 2 ** 4
model.fit(x, y, batch_size=n_batch, epochs=int('12'), verbose=0)
