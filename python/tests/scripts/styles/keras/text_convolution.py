# IMDB sentiment: stacked 1D convolution
import numpy as np
from tensorflow.keras.layers import (
    Conv1D, Dense, Dropout, Embedding, GlobalMaxPooling1D, Input, MaxPooling1D, SpatialDropout1D)
from tensorflow.keras.models import Model
from tensorflow.keras.optimizers import Adam

VOCAB, LENGTH, DIM = 120, 24, 10

rnd = np.random.RandomState(12)
y = rnd.randint(0, 2, (300,))
x = rnd.randint(1, VOCAB, size=(300, LENGTH))
x[y == 1, 5:8] = [7, 8, 9]

inp = Input(shape=(LENGTH,), dtype='int32')
emb = Embedding(input_dim=VOCAB, output_dim=DIM)(inp)
emb = SpatialDropout1D(0.1)(emb)
h = Conv1D(16, 3, activation='relu')(emb)
h = MaxPooling1D(2)(h)
h = Conv1D(16, 3, activation='relu')(h)
h = GlobalMaxPooling1D()(h)
h = Dense(10, activation='relu')(h)
h = Dropout(0.3)(h)
out = Dense(1, activation='sigmoid')(h)

model = Model(inputs=inp, outputs=out)
model.compile(Adam(learning_rate=0.005), loss='binary_crossentropy', metrics=['accuracy'])
for epoch_block in range(1):
    model.fit(x[:240], y[:240], batch_size=24, epochs=6, validation_data=(x[240:], y[240:]))
