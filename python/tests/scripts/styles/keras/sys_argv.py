#!/usr/bin/env python
"""usage: sys_argv.py [units] [epochs]"""
import sys
import numpy as np
from keras.models import Sequential
from keras.layers import Dense

units = int(sys.argv[1]) if len(sys.argv) > 1 else 16
epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 5

def get_model():
    m = Sequential()
    m.add(Dense(units, input_shape=(4,), activation='relu'))
    m.add(Dense(units // 2, activation='relu'))
    m.add(Dense(3, activation='softmax'))
    return m

np.random.seed(1)
centers = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
target = np.repeat([0, 1, 2], 50)
data = centers[target] + 0.3 * np.random.randn(150, 4)
one_hot = np.eye(3)[target]

order = np.random.permutation(150)
data, one_hot = data[order], one_hot[order]
model = get_model()
model.compile('adam', 'categorical_crossentropy', ['accuracy'])
model.fit(data[:120], one_hot[:120], batch_size=5, epochs=epochs, verbose=0)
loss, acc = model.evaluate(data[120:], one_hot[120:], verbose=0)
print('accuracy', acc)
