import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
BATCH_SIZE = 32
IMG_SIZE = 12
NUM_CLASSES = 3


def get_dataset():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, NUM_CLASSES, 240)
    images = rng.integers(0, 80, (240, IMG_SIZE, IMG_SIZE, 3))
    for c in range(NUM_CLASSES):
        images[labels == c, ..., c] += 120
    ds = tf.data.Dataset.from_tensor_slices((images.astype(np.uint8), labels))
    return ds.take(200), ds.skip(200)


def preprocess(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    return image, label


train_ds, val_ds = get_dataset()
train_ds = (
    train_ds
    .map(preprocess, num_parallel_calls=AUTOTUNE)
    .cache()
    .shuffle(200)
    .batch(BATCH_SIZE)
    .prefetch(AUTOTUNE)
)
val_ds = val_ds.map(preprocess).batch(BATCH_SIZE).prefetch(AUTOTUNE)


def build_model():
    inputs = tf.keras.Input(shape=(IMG_SIZE, IMG_SIZE, 3))
    x = tf.keras.layers.Conv2D(8, 3, padding='same', activation='relu')(inputs)
    x = tf.keras.layers.MaxPooling2D()(x)
    x = tf.keras.layers.Conv2D(16, 3, padding='same', activation='relu')(x)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    x = tf.keras.layers.Dropout(0.2)(x)
    outputs = tf.keras.layers.Dense(NUM_CLASSES)(x)
    return tf.keras.Model(inputs, outputs, name='flowers')


model = build_model()
model.compile(
    optimizer=tf.keras.optimizers.Adam(learning_rate=1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=['accuracy'],
)
history = model.fit(train_ds, validation_data=val_ds, epochs=5)
acc = history.history['accuracy']
print('best', max(history.history['val_accuracy']))
