from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras import models
from tensorflow.keras import layers
from tensorflow.keras.utils import to_categorical
import numpy as np

max_features = 200  # Number of words to consider as features
maxlen = 20

def load(n):
    random = np.random.RandomState(n)
    topics = random.randint(0, 4, n)
    texts = [list(random.randint(1 + 40 * t, 60 + 40 * t, random.randint(5, 30))) for t in topics]
    return texts, topics

print('Loading data...')
x_train, y_train = load(200)
x_test, y_test = load(60)
print(len(x_train), 'train sequences')
print('Pad sequences (samples x time)')
x_train = pad_sequences(x_train, maxlen=maxlen)
x_test = pad_sequences(x_test, maxlen=maxlen)
y_train, y_test = to_categorical(y_train), to_categorical(y_test)

model = models.Sequential()
model.add(layers.Embedding(max_features, 16))
model.add(layers.GRU(12, dropout=0.1))
model.add(layers.Dense(4, activation='softmax'))
model.compile(optimizer='rmsprop',
              loss='categorical_crossentropy',
              metrics=['acc'])
history = model.fit(x_train, y_train,
                    epochs=5,
                    batch_size=32,
                    validation_split=0.2)
print(model.evaluate(x_test, y_test))
