"""Writes layer_cases.json: what tf.keras computes for layers on sequences, and for some more on images.

    python3.11 -m pip install tensorflow==2.15.1
    python3.11 make_layer_cases.py

The cases are like those of make_conv_cases.py. The optimisers are those of tf.keras.optimizers.legacy, which are
tf.keras 2.4's. "fused": does the fused back end know the network?
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
random = np.random.RandomState(21)
draw = functools.partial(keras_cases.draw, random)


def start_of(weights):
    return [np.abs(draw(w.shape)) + 0.5 if "variance" in w.name else draw(w.shape) for w in weights]


def layer_case(class_name, config, shape, name="", rows=2, training=False, indices=0):
    layer = getattr(keras.layers, class_name)(**config)
    layer.build((None,) + shape)
    start = start_of(layer.weights)
    layer.set_weights(start)
    x = tf.constant(np.round(random.uniform(-0.9, indices - 0.1, (rows,) + shape), 1).astype("float32")
                    if indices else draw((rows,) + shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, training=training) if class_name == "BatchNormalization" else layer(x)
        dy = draw(y.shape)
        target = tf.reduce_sum(y * dy)
    gradients = tape.gradient(target, [x] + layer.trainable_weights)
    return {
        "name": class_name + (": " + name if name else ""),
        "layer": {"class_name": class_name, "config": config},
        "training": training,
        "input_shape": list(shape),
        "output_shape": list(y.shape[1:]),
        "rows": rows,
        "x": flat(x),
        "weights": [flat(w) for w in start],
        "y": flat(y),
        "dy": flat(dy),
        "dx": [] if gradients[0] is None else flat(gradients[0]),
        "dweights": [flat(tf.convert_to_tensor(g)) for g in gradients[1:]],
        "weights_after": [flat(w) for w in layer.get_weights()] if training else [],
    }


def layer_cases():
    conv = lambda name, shape, **config: layer_case("Conv1D", config, shape, name)
    yield conv("valid, relu", (7, 3), filters=4, kernel_size=3, activation="relu")
    yield conv("valid, stride 2, rest unseen", (8, 2), filters=3, kernel_size=3, strides=2)
    yield conv("same, even kernel, no bias", (5, 3), filters=2, kernel_size=4, padding="same", use_bias=False)
    yield conv("same, stride 2", (7, 1), filters=2, kernel_size=3, strides=2, padding="same")
    yield conv("same, dilation 2", (7, 2), filters=2, kernel_size=[3], padding="same", dilation_rate=[2])
    yield conv("causal", (6, 3), filters=2, kernel_size=3, padding="causal", activation="tanh")
    yield conv("causal, dilation 3", (8, 2), filters=3, kernel_size=2, padding="causal", dilation_rate=3)
    yield conv("causal, stride 2", (8, 2), filters=2, kernel_size=3, padding="causal", strides=2)
    yield conv("causal, kernel over input", (2, 2), filters=2, kernel_size=4, padding="causal")
    yield conv("kernel 1, stride 2", (6, 3), filters=2, kernel_size=1, strides=2)
    for class_name in ("MaxPooling1D", "AveragePooling1D"):
        pool = lambda name, shape, **config: layer_case(class_name, config, shape, name)
        yield pool("default", (7, 3))
        yield pool("same, odd", (7, 2), padding="same")
        yield pool("same, pool 3, stride 2", (6, 9), pool_size=3, strides=2, padding="same")
        yield pool("valid, overlapping", (7, 3), pool_size=[3], strides=[1])
    yield layer_case("GlobalMaxPooling1D", {}, (5, 3))
    yield layer_case("GlobalAveragePooling1D", {}, (5, 3))
    depth = lambda name, shape, **config: layer_case("DepthwiseConv2D", config, shape, name)
    yield depth("valid, relu", (5, 6, 3), kernel_size=3, activation="relu")
    yield depth("multiplier 2, same, stride 2", (6, 5, 3), kernel_size=[2, 3], strides=2, padding="same",
                depth_multiplier=2)
    yield depth("dilation 2, no bias", (7, 6, 2), kernel_size=3, dilation_rate=2, use_bias=False)
    yield depth("same, dilation 2", (5, 6, 2), kernel_size=2, dilation_rate=2, padding="same")
    yield depth("one channel, kernel 1, stride 2", (5, 4, 1), kernel_size=1, strides=2, depth_multiplier=3)
    separable = lambda name, shape, **config: layer_case("SeparableConv2D", config, shape, name)
    yield separable("valid, relu", (5, 6, 3), filters=4, kernel_size=3, activation="relu")
    yield separable("multiplier 2, same, stride 2", (6, 5, 3), filters=2, kernel_size=3, strides=2, padding="same",
                    depth_multiplier=2)
    yield separable("dilation 2, no bias", (6, 7, 2), filters=3, kernel_size=[3, 2], dilation_rate=2, use_bias=False)
    norm = lambda name, shape, **config: layer_case("LayerNormalization", config, shape, name, rows=3)
    yield norm("of rows", (6,))
    yield norm("of sequences, smallest epsilon", (4, 5), epsilon=1e-9)
    yield norm("of images, no scale", (2, 3, 4), scale=False)
    yield norm("no center, large epsilon", (3, 4), center=False, epsilon=0.5)
    yield norm("of one value", (3, 1))
    yield layer_case("BatchNormalization", {}, (4, 3), "of sequences, training", rows=3, training=True)
    yield layer_case("Dense", {"units": 4, "activation": "tanh"}, (3, 2), "along the last axis")
    yield layer_case("Dense", {"units": 2, "use_bias": False}, (2, 3, 4), "of images")
    rnn = lambda class_name, name, **config: layer_case(class_name, {"units": 3, **config}, (4, 2), name)
    for class_name in ("SimpleRNN", "LSTM", "GRU"):
        yield rnn(class_name, "default")
        yield rnn(class_name, "sequences", return_sequences=True)
        yield rnn(class_name, "backwards", return_sequences=True, go_backwards=True)
        yield rnn(class_name, "relu, no bias", activation="relu", use_bias=False)
        yield rnn(class_name, "linear", activation=None, unroll=True)
    for class_name in ("LSTM", "GRU"):
        yield rnn(class_name, "hard sigmoid", recurrent_activation="hard_sigmoid", go_backwards=True)
        yield rnn(class_name, "implementation 1", implementation=1)
    yield rnn("GRU", "reset before", reset_after=False)
    yield rnn("GRU", "reset before, no bias", reset_after=False, use_bias=False, return_sequences=True)
    yield layer_case("Embedding", {"input_dim": 5, "output_dim": 3}, (4,), indices=5)
    yield layer_case("Embedding", {"input_dim": 3, "output_dim": 2}, (2, 3), "of images", indices=3)


SEQUENCES = [
    ("Conv1D", {"filters": 6, "kernel_size": 3, "padding": "causal", "activation": "relu"}),
    ("MaxPooling1D", {"pool_size": 2}),
    ("LayerNormalization", {"gamma_regularizer": {"class_name": "L2", "config": {"l2": 0.01}}}),
    ("Dense", {"units": 5, "activation": "tanh"}),
    ("BatchNormalization", {}),
    ("Conv1D", {"filters": 4, "kernel_size": 2, "padding": "same", "activation": "tanh"}),
    ("AveragePooling1D", {"pool_size": 2, "strides": 1}),
    ("GlobalMaxPooling1D", {}),
    ("LayerNormalization", {}),
    ("Dense", {"units": 3, "activation": "softmax"}),
]
IMAGES = [
    ("DepthwiseConv2D", {"kernel_size": 2, "depth_multiplier": 2, "activation": "relu",
                         "depthwise_regularizer": {"class_name": "L2", "config": {"l2": 0.01}}}),
    ("SeparableConv2D", {"filters": 5, "kernel_size": 3, "padding": "same", "activation": "tanh",
                         "pointwise_regularizer": {"class_name": "L1", "config": {"l1": 0.01}}}),
    ("LayerNormalization", {}),
    ("GlobalAveragePooling2D", {}),
    ("Dense", {"units": 3, "activation": "softmax"}),
]
RECURRENT = [
    ("Embedding", {"input_dim": 9, "output_dim": 3}),
    ("LSTM", {"units": 4, "return_sequences": True,
              "recurrent_regularizer": {"class_name": "L2", "config": {"l2": 0.02}}}),
    ("GRU", {"units": 3, "return_sequences": True, "go_backwards": True}),
    ("SimpleRNN", {"units": 4, "bias_regularizer": {"class_name": "L2", "config": {"l2": 0.02}}}),
    ("Dense", {"units": 3, "activation": "softmax"}),
]
LOOKED_UP = [
    ("Embedding", {"input_dim": 9, "output_dim": 2}),
    ("Flatten", {}),
    ("Dense", {"units": 3, "activation": "softmax"}),
]
REGULARISED = [
    ("Embedding", {"input_dim": 9, "output_dim": 2,
                   "embeddings_regularizer": {"class_name": "L2", "config": {"l2": 0.1}}}),
    ("Flatten", {}),
    ("Dense", {"units": 3, "activation": "softmax"}),
]
CUT_OFF = [
    ("Dense", {"units": 3, "activation": "relu", "kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.1}}}),
    ("Embedding", {"input_dim": 9, "output_dim": 2}),
    ("Flatten", {}),
    ("Dense", {"units": 3, "activation": "softmax"}),
]


def training_case(name, network, shape, optimizer, config, fused=True, indices=0, rows=10, batch=4, epochs=2):
    model = keras.Sequential([keras.Input(shape)] + [getattr(keras.layers, n)(**c) for n, c in network])
    model.set_weights([w if "variance" in v.name else w / 2
                       for v, w in zip(model.weights, start_of(model.weights))])
    model.compile(getattr(keras.optimizers.legacy, optimizer)(**config), "categorical_crossentropy")
    x = (random.randint(0, indices, (rows,) + shape).astype("float32") if indices else draw((rows,) + shape))
    y = np.eye(3, dtype="float32")[random.randint(0, 3, rows)]
    start = [[flat(w) for w in layer.get_weights()] for layer in model.layers]
    model.fit(x, y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0)
    return {
        "name": name + ", " + optimizer,
        "fused": fused,
        "layers": [{"class_name": n, "config": c} for n, c in network],
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
        "output": flat(model.predict(x, verbose=0)),
    }


OPTIMIZERS = [
    ("SGD", {"learning_rate": 0.1}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.5, "nesterov": True}),
    ("RMSprop", {"learning_rate": 0.05}),
    ("RMSprop", {"learning_rate": 0.05, "centered": True}),
    ("RMSprop", {"learning_rate": 0.05, "momentum": 0.9}),
    ("RMSprop", {"learning_rate": 0.05, "momentum": 0.9, "centered": True}),
    ("Adagrad", {"learning_rate": 0.1}),
    ("Adadelta", {"learning_rate": 10}),
    ("Adam", {"learning_rate": 0.05}),
    ("Adam", {"learning_rate": 0.05, "amsgrad": True}),
    ("Adamax", {"learning_rate": 0.05}),
    ("Nadam", {"learning_rate": 0.05}),
    ("Ftrl", {"learning_rate": 0.1}),
    ("Ftrl", {"learning_rate": 0.1, "l2_shrinkage_regularization_strength": 0.1}),
]


def training_cases():
    for optimizer, config in (("SGD", {"learning_rate": 0.1}), ("Adam", {"learning_rate": 0.01})):
        yield training_case("sequences", SEQUENCES, (9, 2), optimizer, config)
        yield training_case("images", IMAGES, (5, 6, 3), optimizer, config)
        yield training_case("recurrent", RECURRENT, (5,), optimizer, config, False, 9)
    for optimizer, config in OPTIMIZERS:
        # Few indices, so that batches lack some.
        yield training_case("embeddings", LOOKED_UP, (1,), optimizer, config, False, 9)
    yield training_case("regularised embeddings", REGULARISED, (1,), *OPTIMIZERS[1], False, 9)
    yield training_case("embeddings cut off", CUT_OFF, (2,), "Ftrl", {"learning_rate": 0.1}, False, 2)


def main():
    lists = lambda cases: ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    path = pathlib.Path(__file__).with_name("layer_cases.json")
    path.write_text('{"source": "tensorflow %s, CPU",\n"layers": [\n%s],\n"trainings": [\n%s]}\n' % (
        tf.__version__, lists(layer_cases()), lists(training_cases())))


if __name__ == "__main__":
    main()
