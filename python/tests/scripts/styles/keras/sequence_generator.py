import numpy as np
from tensorflow import keras
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Conv2D, Flatten, MaxPool2D


class DataGenerator(keras.utils.Sequence):
    'Generates data for Keras'
    def __init__(self, list_IDs, labels, batch_size=32, dim=(10,10), n_channels=1,
                 n_classes=10, shuffle=True):
        'Initialization'
        super().__init__()
        self.dim = dim
        self.batch_size = batch_size
        self.labels = labels
        self.list_IDs = list_IDs
        self.n_channels = n_channels
        self.n_classes = n_classes
        self.shuffle = shuffle
        self.on_epoch_end()

    def __len__(self):
        'Denotes the number of batches per epoch'
        return int(np.floor(len(self.list_IDs) / self.batch_size))

    def __getitem__(self, index):
        'Generate one batch of data'
        # Generate indexes of the batch
        indexes = self.indexes[index*self.batch_size:(index+1)*self.batch_size]

        # Find list of IDs
        list_IDs_temp = [self.list_IDs[k] for k in indexes]

        # Generate data
        X, y = self.__data_generation(list_IDs_temp)

        return X, y

    def on_epoch_end(self):
        'Updates indexes after each epoch'
        self.indexes = np.arange(len(self.list_IDs))
        if self.shuffle == True:
            np.random.shuffle(self.indexes)

    def __data_generation(self, list_IDs_temp):
        'Generates data containing batch_size samples' # X : (n_samples, *dim, n_channels)
        # Initialization
        X = np.empty((self.batch_size, *self.dim, self.n_channels))
        y = np.empty((self.batch_size), dtype=int)

        # Generate data
        for i, ID in enumerate(list_IDs_temp):
            # Store sample
            X[i,] = load(ID)

            # Store class
            y[i] = self.labels[ID]

        return X, keras.utils.to_categorical(y, num_classes=self.n_classes)


def load(ID):
    rng = np.random.RandomState(int(ID[3:]))
    picture = rng.rand(10, 10, 1)
    picture[labels[ID] * 3:labels[ID] * 3 + 3] += 0.6
    return picture


# Parameters
params = {'dim': (10,10),
          'batch_size': 16,
          'n_classes': 3,
          'n_channels': 1,
          'shuffle': True}

# Datasets
labels = {'id-%d' % i: i % 3 for i in range(160)}
partition = {'train': ['id-%d' % i for i in range(128)], 'validation': ['id-%d' % i for i in range(128, 160)]}

# Generators
training_generator = DataGenerator(partition['train'], labels, **params)
validation_generator = DataGenerator(partition['validation'], labels, **params)

# Design model
model = Sequential()
model.add(Conv2D(6, (3, 3), activation='relu', input_shape=(*params['dim'], params['n_channels'])))
model.add(MaxPool2D())
model.add(Flatten())
model.add(Dense(params['n_classes'], activation='softmax'))
model.compile(optimizer='adam', loss='categorical_crossentropy', metrics=['accuracy'])

# Train model on dataset
model.fit(training_generator, validation_data=validation_generator, epochs=4)
