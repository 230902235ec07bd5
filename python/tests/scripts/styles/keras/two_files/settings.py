from keras.optimizers import Adam

SAMPLES = 240
CLASSES = 3
HIDDEN = (18, 9)
LOSS = "sparse_categorical_crossentropy"
OPTIMIZER = Adam
LEARNING_RATE = 2e-3
FIT = dict(epochs=8, batch_size=12, verbose=0)
