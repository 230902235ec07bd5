# TensorFlow and tf.keras
import tensorflow as tf

# Helper libraries
import numpy as np

print(tf.__version__)

rng = np.random.RandomState(31)
train_labels = rng.randint(0, 5, 250)
train_images = rng.randint(0, 100, size=(250, 10, 10))
for i in range(250):
    train_images[i, 2 * train_labels[i]:2 * train_labels[i] + 2] += 150
test_images, test_labels = train_images[200:], train_labels[200:]
train_images, train_labels = train_images[:200], train_labels[:200]

class_names = ['T-shirt/top', 'Trouser', 'Pullover', 'Dress', 'Coat']

train_images = train_images / 255.0

test_images = test_images / 255.0

model = tf.keras.Sequential([
    tf.keras.layers.Flatten(input_shape=(10, 10)),
    tf.keras.layers.Dense(32, activation='relu'),
    tf.keras.layers.Dense(5)
])

model.compile(optimizer='adam',
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=['accuracy'])

model.fit(train_images, train_labels, epochs=6)

test_loss, test_acc = model.evaluate(test_images,  test_labels, verbose=2)

print('\nTest accuracy:', test_acc)

probability_model = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
predictions = probability_model.predict(test_images)
print(class_names[np.argmax(predictions[0])])
