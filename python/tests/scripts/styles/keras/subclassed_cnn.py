import numpy as np
import keras
from keras import layers


class ConvBlock(layers.Layer):
    def __init__(self, filters, kernel_size=3, **kwargs):
        super().__init__(**kwargs)
        self.conv = layers.Conv2D(filters, kernel_size, padding="same", use_bias=False)
        self.bn = layers.BatchNormalization()
        self.act = layers.Activation("relu")

    def call(self, inputs, training=None):
        x = self.conv(inputs)
        x = self.bn(x, training=training)
        return self.act(x)


class SmallCNN(keras.Model):
    def __init__(self, num_classes):
        super(SmallCNN, self).__init__()
        self.block1 = ConvBlock(8)
        self.pool = layers.MaxPooling2D()
        self.block2 = ConvBlock(16)
        self.gap = layers.GlobalAveragePooling2D()
        self.classifier = layers.Dense(num_classes, activation="softmax")

    def call(self, inputs, training=None):
        x = self.block1(inputs, training=training)
        x = self.pool(x)
        x = self.block2(x, training=training)
        x = self.gap(x)
        return self.classifier(x)


rng = np.random.default_rng(11)
labels = rng.integers(0, 2, 160)
images = rng.random((160, 8, 8, 3)).astype("float32")
images[labels == 1, :, :, 0] += 0.5

model = SmallCNN(2)
model.compile(
    optimizer=keras.optimizers.RMSprop(learning_rate=1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(images[:128], labels[:128], batch_size=16, epochs=5, validation_data=(images[128:], labels[128:]))
