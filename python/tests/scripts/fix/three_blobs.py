"""Three clouds of points and a deep narrow network; its learning rate was 0.1."""
import numpy as np
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model
from tensorflow.keras.optimizers import Adagrad
from tensorflow.keras.utils import to_categorical

rng = np.random.RandomState(7)
centres = np.array([[-4.0, 3.0], [3.5, 4.0], [0.5, -5.0]])
labels = rng.randint(3, size=1000)
points = centres[labels] + rng.normal(size=(1000, 2))
targets = to_categorical(labels, 3)

inputs = Input(shape=(2,))
x = inputs
for _ in range(5):
    x = Dense(5, activation="tanh", kernel_initializer="he_uniform")(x)
outputs = Dense(3, activation="sigmoid", kernel_initializer="he_uniform")(x)
model = Model(inputs, outputs)
model.compile(optimizer=Adagrad(learning_rate=0.001, initial_accumulator_value=0.1),
              loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(points[:800], targets[:800], epochs=20, batch_size=32, verbose=0,
          validation_data=(points[800:], targets[800:]))
