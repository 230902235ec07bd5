import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import LearningRateScheduler, CSVLogger, TensorBoard, LambdaCallback

np.random.seed(0)
x = np.linspace(-1, 1, 200).reshape(-1, 1)
y = x ** 3 - 0.4 * x

model = tf.keras.Sequential()
model.add(tf.keras.layers.Dense(16, activation='tanh', input_dim=1))
model.add(tf.keras.layers.Dense(16, activation='tanh'))
model.add(tf.keras.layers.Dense(1, activation='linear'))

initial_learning_rate = 0.02
lr_schedule = tf.keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate,
    decay_steps=50,
    decay_rate=0.9)

model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=lr_schedule), loss='mse')

def on_epoch_end(epoch, logs):
    if epoch % 5 == 0:
        print('epoch', epoch, 'loss', logs['loss'])

model.fit(x, y, epochs=12, batch_size=25, verbose=0,
          callbacks=[LambdaCallback(on_epoch_end=on_epoch_end)])
