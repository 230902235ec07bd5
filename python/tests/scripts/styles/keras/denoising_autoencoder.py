import numpy as np
from keras.layers import Input, Dense
from keras.models import Model, Sequential

encoding_dim = 6

noise = np.random.default_rng(21)
base = noise.normal(size=(300, 4))
x = 1 / (1 + np.exp(-base @ noise.normal(size=(4, 20))))
x_noisy = np.clip(x + 0.1 * noise.normal(size=x.shape), 0., 1.)

# this is our input placeholder
input_img = Input(shape=(20,))
# "encoded" is the encoded representation of the input
encoded = Dense(12, activation='relu')(input_img)
encoded = Dense(encoding_dim, activation='relu')(encoded)
encoder = Model(input_img, encoded)

decoder = Sequential([
    Dense(12, activation='relu', input_shape=(encoding_dim,)),
    Dense(20, activation='sigmoid'),
])
autoencoder = Model(input_img, decoder(encoder(input_img)))
autoencoder.compile(optimizer='adadelta', loss='binary_crossentropy')

autoencoder.fit(x_noisy[:240], x[:240],
                epochs=10,
                batch_size=40,
                shuffle=True,
                validation_data=(x_noisy[240:], x[240:]))

encoded_imgs = encoder.predict(x_noisy[240:])
decoded_imgs = decoder.predict(encoded_imgs)
