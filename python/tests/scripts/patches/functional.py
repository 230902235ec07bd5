import numpy as np
from tensorflow.keras.layers import Input, Dense, Dropout, Flatten
from tensorflow.keras.models import Model
from tensorflow.keras import losses

inputs = Input(shape=(4, 2))
x = Flatten()(inputs)
x = Dense(32, activation='relu')(x)
x = Dropout(0.2)(x)
h = Dense(16, activation='relu')(x)
hidden = Dense(8, activation='relu', name='hidden')
out = Dense(2)(hidden(h))
model = Model(inputs=inputs, outputs=out)
model.compile(optimizer='nadam', loss=losses.CategoricalCrossentropy(from_logits=True))
model.fit(np.zeros((6, 4, 2)), np.zeros((6, 2)), epochs=2, batch_size=3)
