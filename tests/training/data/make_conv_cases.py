"""Writes conv_cases.json: what tf.keras 2.4 computes for layers on images.

    python3.8 -m pip install tensorflow==2.4.0 protobuf==3.20.3
    python3.8 make_conv_cases.py

Each case of "layers" is one layer with its weights, an input x, its output y, and the gradients of
sum(y * dy) by input and weights. TensorFlow's CPU kernels know no groups: those come from its own
convolutions of the parts. Each case of "trainings" is a network with its weights before and after
fit(shuffle=False). Arrays are flat, row-major, in Keras's shapes.
"""

import functools
import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

import keras_cases
from keras_cases import flat

keras = tf.keras
random = np.random.RandomState(20)
draw = functools.partial(keras_cases.draw, random)


def grouped(layer, x):
    """A Conv2D with groups, by parts."""
    kernels = tf.split(layer.kernel, layer.groups, axis=-1)
    parts = tf.split(x, layer.groups, axis=-1)
    y = tf.concat(
        [tf.nn.conv2d(p, k, layer.strides, layer.padding.upper()) for p, k in zip(parts, kernels)], -1)
    return layer.activation(tf.nn.bias_add(y, layer.bias))


def layer_case(name, class_name, config, shape, rows=2, training=False):
    layer = getattr(keras.layers, class_name)(**config)
    layer.build((None,) + shape)
    start = [draw(w.shape) for w in layer.weights]
    if class_name == "BatchNormalization":
        start[3] = np.abs(start[3])
    layer.set_weights(start)
    x = tf.constant(draw((rows,) + shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        if config.get("groups", 1) > 1:
            y = grouped(layer, x)
        elif class_name == "BatchNormalization":
            y = layer(x, training=training)
        else:
            y = layer(x)
        dy = draw(y.shape)
        target = tf.reduce_sum(y * dy)
    gradients = tape.gradient(target, [x] + layer.trainable_weights)
    return {
        "name": name,
        "layer": {"class_name": class_name, "config": config},
        "training": training,
        "input_shape": list(shape),
        "output_shape": list(y.shape[1:]),
        "rows": rows,
        "x": flat(x),
        "weights": [flat(w) for w in start],
        "y": flat(y),
        "dy": flat(dy),
        "dx": flat(gradients[0]),
        "dweights": [flat(g) for g in gradients[1:]],
        "weights_after": [flat(w) for w in layer.get_weights()] if training else [],
    }


def layer_cases():
    conv = lambda name, shape, **config: layer_case(name, "Conv2D", config, shape)
    yield conv("valid, one channel", (5, 7, 1), filters=2, kernel_size=3)
    yield conv("valid, three channels, relu", (6, 5, 3), filters=3, kernel_size=[2, 3], activation="relu")
    yield conv("valid, no bias", (4, 4, 3), filters=9, kernel_size=3, use_bias=False)
    yield conv("same, odd", (5, 7, 3), filters=2, kernel_size=3, padding="same")
    yield conv("same, even kernel", (5, 4, 1), filters=2, kernel_size=[2, 4], padding="same")
    yield conv("same, stride 2, even size", (6, 8, 3), filters=4, kernel_size=3, strides=2, padding="same")
    yield conv("same, stride 2, odd size", (7, 5, 1), filters=2, kernel_size=3, strides=2, padding="same")
    yield conv("same, stride 3", (8, 7, 3), filters=2, kernel_size=5, strides=3, padding="same")
    yield conv("same, kernel 1, stride 2", (5, 6, 3), filters=2, kernel_size=1, strides=2, padding="same")
    yield conv("same, kernel over input", (3, 2, 3), filters=2, kernel_size=7, padding="same")
    yield conv("valid, stride 2, rest unseen", (6, 7, 3), filters=2, kernel_size=3, strides=2)
    yield conv("valid, stride 3 over kernel 2", (8, 7, 1), filters=2, kernel_size=2, strides=3)
    yield conv("valid, strides 2 and 1", (7, 5, 3), filters=2, kernel_size=3, strides=[2, 1])
    yield conv("valid, dilation 2", (7, 8, 3), filters=2, kernel_size=3, dilation_rate=2)
    yield conv("same, dilation 2 and 3", (7, 6, 3), filters=2, kernel_size=[3, 2], padding="same",
               dilation_rate=[2, 3])
    yield conv("groups", (5, 4, 4), filters=6, kernel_size=3, groups=2)
    yield conv("groups, same, stride 2", (5, 4, 6), filters=3, kernel_size=3, groups=3, strides=2,
               padding="same")
    yield conv("many channels", (4, 3, 17), filters=18, kernel_size=2)
    for class_name in ("MaxPooling2D", "AveragePooling2D"):
        pool = lambda name, shape, **config: layer_case(
            class_name + ": " + name, class_name, config, shape)
        yield pool("default", (5, 6, 3))
        yield pool("same, odd", (5, 7, 3), padding="same")
        yield pool("same, pool 3, stride 2", (6, 5, 1), pool_size=3, strides=2, padding="same")
        yield pool("same, stride 1", (4, 3, 3), pool_size=[3, 2], strides=1, padding="same")
        yield pool("same, stride over pool", (7, 8, 1), pool_size=2, strides=3, padding="same")
        yield pool("same, pool over input", (3, 2, 1), pool_size=5, strides=2, padding="same")
        yield pool("valid, overlapping", (5, 6, 3), pool_size=3, strides=[2, 1])
        yield pool("many channels", (3, 2, 71), pool_size=2, strides=1)
    yield layer_case("global average", "GlobalAveragePooling2D", {}, (3, 5, 3))
    yield layer_case("global maximum", "GlobalMaxPooling2D", {}, (3, 5, 3))
    yield layer_case("zero padding, default", "ZeroPadding2D", {}, (2, 3, 3))
    yield layer_case("zero padding, one number", "ZeroPadding2D", {"padding": 2}, (2, 3, 1))
    yield layer_case("zero padding, two numbers", "ZeroPadding2D", {"padding": [1, 2]}, (2, 3, 1))
    yield layer_case("zero padding, four numbers", "ZeroPadding2D", {"padding": [[1, 0], [2, 3]]}, (2, 3, 3))
    yield layer_case("batch normalization, training", "BatchNormalization", {}, (3, 2, 3), 4, True)
    yield layer_case("batch normalization, smallest epsilon", "BatchNormalization", {"epsilon": 1e-9},
                     (1, 1, 3), 1, True)
    yield layer_case("batch normalization, inference", "BatchNormalization", {"epsilon": 1e-9}, (3, 2, 3))


NETWORK = [
    ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same", "activation": "relu"}),
    ("MaxPooling2D", {"pool_size": 2, "strides": 1, "padding": "same"}),
    ("BatchNormalization", {}),
    ("Conv2D", {"filters": 5, "kernel_size": [2, 3], "activation": "tanh",
                "kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.01}}}),
    ("AveragePooling2D", {"pool_size": 2, "strides": 2, "padding": "same"}),
    ("ZeroPadding2D", {"padding": [[1, 0], [0, 2]]}),
    ("Flatten", {}),
    ("Dense", {"units": 3, "activation": "softmax"}),
]


def training_case(optimizer, config, rows=10, batch=4, epochs=2):
    shape = (11, 9, 3)
    model = keras.Sequential([getattr(keras.layers, name)(**c) for name, c in NETWORK])
    model.build((None,) + shape)
    model.set_weights([np.abs(draw(w.shape)) + 0.5 if "variance" in w.name else draw(w.shape) / 2
                       for w in model.weights])
    model.compile(getattr(keras.optimizers, optimizer)(**config), "categorical_crossentropy")
    x, y = draw((rows,) + shape), np.eye(3, dtype="float32")[random.randint(0, 3, rows)]
    start = [[flat(w) for w in layer.get_weights()] for layer in model.layers]
    model.fit(x, y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0)
    return {
        "name": optimizer,
        "layers": [{"class_name": name, "config": c} for name, c in NETWORK],
        "optimizer": {"class_name": optimizer, "config": config},
        "loss": "categorical_crossentropy",
        "input_shape": list(shape),
        "rows": rows,
        "batch_size": batch,
        "epochs": epochs,
        "x": flat(x),
        "y": flat(y),
        "weights": start,
        "weights_after": [[flat(w) for w in layer.get_weights()] for layer in model.layers],
        "output": flat(model.predict(x)),
    }


def main():
    document = {
        "source": "tensorflow " + tf.__version__ + ", CPU",
        "layers": list(layer_cases()),
        "trainings": [training_case("SGD", {"learning_rate": 0.1}),
                      training_case("Adam", {"learning_rate": 0.01})],
    }
    lists = lambda cases: ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    path = pathlib.Path(__file__).with_name("conv_cases.json")
    path.write_text('{"source": "%s",\n"layers": [\n%s],\n"trainings": [\n%s]}\n' % (
        document["source"], lists(document["layers"]), lists(document["trainings"])))


if __name__ == "__main__":
    main()
