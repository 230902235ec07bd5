import numpy as np
import tensorflow as tf
from tensorflow.keras import Model
from tensorflow.keras.layers import Dense, Dropout, Flatten


class MyModel(Model):
    def __init__(self, num_classes=3):
        super().__init__()
        self.flatten = Flatten()
        self.d1 = Dense(32, activation='relu')
        self.drop = Dropout(0.2)
        self.d2 = Dense(num_classes)

    def call(self, x, training=False):
        x = self.flatten(x)
        x = self.d1(x)
        x = self.drop(x, training=training)
        return self.d2(x)


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = rng.normal(0, 1, (n, 4, 4)).astype('float32')
    x[np.arange(n), y] += 1.5
    return x, y


x_train, y_train = make_data(200, 0)
x_test, y_test = make_data(60, 1)

model = MyModel()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss=loss_object, metrics=['accuracy'])
history = model.fit(x_train, y_train, epochs=6, validation_data=(x_test, y_test))
model.evaluate(x_test, y_test, verbose=2)
