import numpy as np
from tensorflow.keras.preprocessing.image import ImageDataGenerator
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Conv2D, MaxPooling2D, Activation, Dropout, Flatten, Dense

batch_size = 16
rs = np.random.RandomState(6)
y_all = rs.randint(0, 2, 128)
x_all = rs.randint(0, 90, (128, 10, 10, 3)).astype('float32')
x_all[y_all == 1, :5] += 120

train_datagen = ImageDataGenerator(rescale=1. / 255)
test_datagen = ImageDataGenerator(rescale=1. / 255)
train_generator = train_datagen.flow(x_all[:96], y_all[:96], batch_size=batch_size)
validation_generator = test_datagen.flow(x_all[96:], y_all[96:], batch_size=batch_size, shuffle=False)

model = Sequential()
model.add(Conv2D(8, (3, 3), input_shape=(10, 10, 3)))
model.add(Activation('relu'))
model.add(MaxPooling2D(pool_size=(2, 2)))
model.add(Flatten())
model.add(Dense(16))
model.add(Activation('relu'))
model.add(Dropout(0.5))
model.add(Dense(1))
model.add(Activation('sigmoid'))
model.compile(loss='binary_crossentropy', optimizer='rmsprop', metrics=['accuracy'])
model.fit(train_generator, steps_per_epoch=96 // batch_size, epochs=5,
          validation_data=validation_generator, validation_steps=32 // batch_size)
