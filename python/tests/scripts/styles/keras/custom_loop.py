import numpy as np
import tensorflow as tf
from tensorflow import keras

inputs = keras.Input(shape=(5,))
x = keras.layers.Dense(8, activation="relu")(inputs)
outputs = keras.layers.Dense(2)(x)
model = keras.Model(inputs, outputs)

optimizer = keras.optimizers.SGD(learning_rate=1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
rng = np.random.default_rng(0)
xs = rng.normal(size=(128, 5)).astype("float32")
ys = (xs[:, 0] > 0).astype("int64")
train_dataset = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(128).batch(16)

for epoch in range(3):
    for step, (x_batch, y_batch) in enumerate(train_dataset):
        with tf.GradientTape() as tape:
            logits = model(x_batch, training=True)
            loss_value = loss_fn(y_batch, logits)
        grads = tape.gradient(loss_value, model.trainable_weights)
        optimizer.apply_gradients(zip(grads, model.trainable_weights))
    print(epoch, float(loss_value))
