import numpy as np
from tensorflow.keras import layers, models, optimizers

rng = np.random.default_rng(17)
labels = rng.integers(0, 2, 160)
photos = rng.random((160, 12, 12, 3)).astype('float32')
photos[labels == 1, 3:9, 3:9, 1] += 0.6

conv_base = models.Sequential(name='vgg_like')
conv_base.add(layers.Conv2D(8, (3, 3), activation='relu', padding='same', input_shape=(12, 12, 3)))
conv_base.add(layers.MaxPooling2D((2, 2)))
conv_base.add(layers.Conv2D(12, (3, 3), activation='relu', padding='same'))
conv_base.add(layers.MaxPooling2D((2, 2)))
conv_base.trainable = False

model = models.Sequential()
model.add(conv_base)
model.add(layers.Flatten())
model.add(layers.Dense(24, activation='relu'))
model.add(layers.Dropout(0.25))
model.add(layers.Dense(1, activation='sigmoid'))

model.compile(loss='binary_crossentropy',
              optimizer=optimizers.RMSprop(learning_rate=2e-3),
              metrics=['acc'])
history = model.fit(photos, labels, epochs=5, batch_size=20, validation_split=0.2, verbose=2)
