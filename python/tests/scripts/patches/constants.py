"""Constants at the top."""
import numpy as np
import tensorflow as tf

BATCH_SIZE = 32
EPOCHS = 10
LEARNING_RATE = 1e-3
HIDDEN = 64
ACTIVATION = 'tanh'
RATE = 0.25

x_train, y_train = np.random.rand(100, 4), np.random.randint(0, 3, 100)

model = tf.keras.Sequential()
model.add(tf.keras.layers.Dense(HIDDEN, activation=ACTIVATION, input_shape=(4,)))
model.add(tf.keras.layers.Dropout(RATE))
model.add(tf.keras.layers.Dense(HIDDEN, activation=ACTIVATION))
model.add(tf.keras.layers.Dropout(RATE))
model.add(tf.keras.layers.Dense(3, activation=tf.nn.softmax))

opt = tf.keras.optimizers.Adam(learning_rate=LEARNING_RATE)
model.compile(optimizer=opt, loss='sparse_categorical_crossentropy', metrics=['accuracy'])
history = model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0)
print('trained for', EPOCHS, 'epochs with batches of', BATCH_SIZE)
