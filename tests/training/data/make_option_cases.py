"""Writes option_cases.json: what tf.keras computes for layers that scale and enlarge, and for trainings with constraints,
class weights, losses of logits and smoothed labels.

    python3 -m pip install tensorflow==2.15.1
    python3 make_option_cases.py

"layers" are as in make_conv_cases.py. Each case of "fits" is a network with its weights before and after
fit(shuffle=False), the loss that fit() logs for each epoch, and what evaluate() gives afterwards.
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


def layer_case(name, class_name, config, shape, rows=2):
    layer = getattr(keras.layers, class_name)(**config)
    layer.build((None,) + shape)
    statistics = class_name == "Normalization"
    start = [draw(w.shape) for w in layer.weights if w.dtype == "float32"]
    if statistics and start:
        start[1] = np.abs(start[1])
        layer.set_weights(start + [7])
        layer.finalize_state()
    else:
        layer.set_weights(start)
    x = tf.constant(draw((rows,) + shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
        dy = draw(y.shape)
        target = tf.reduce_sum(y * dy)
    gradients = tape.gradient(target, [x] + layer.trainable_weights)
    return {
        "name": class_name + ": " + name,
        "layer": {"class_name": class_name, "config": config},
        "training": False,
        "input_shape": list(shape),
        "output_shape": list(y.shape[1:]),
        "rows": rows,
        "x": flat(x),
        "weights": [flat(w) for w in start],
        "y": flat(y),
        "dy": flat(dy),
        "dx": flat(gradients[0]),
        "dweights": [flat(g) for g in gradients[1:]],
        "weights_after": [],
    }


def layer_cases():
    yield layer_case("one number", "Rescaling", {"scale": 0.25, "offset": -1}, (2, 3, 2))
    yield layer_case("of each channel", "Rescaling", {"scale": [0.5, 2, -1], "offset": [0, 1, 0.5]}, (2, 2, 3))
    yield layer_case("variables", "Normalization", {}, (4,), 3)
    yield layer_case("variables, of images", "Normalization", {}, (3, 2, 2))
    yield layer_case("variables, two axes", "Normalization", {"axis": [1, -1]}, (3, 2, 2))
    yield layer_case("variables, no axis", "Normalization", {"axis": None}, (3, 2))
    yield layer_case("arguments", "Normalization", {"mean": [1, 2, 0.5], "variance": [4, 0, 0.25]}, (2, 3))
    yield layer_case("arguments, inverse", "Normalization", {"mean": 3, "variance": 4, "invert": True}, (2, 3))
    yield layer_case("rows", "PReLU", {}, (5,), 4)
    yield layer_case("images", "PReLU", {}, (3, 2, 2))
    yield layer_case("images, shared axes", "PReLU", {"shared_axes": [1, 2]}, (3, 2, 2), 3)
    yield layer_case("sequences, shared steps", "PReLU", {"shared_axes": [1]}, (4, 2))
    yield layer_case("default", "UpSampling2D", {}, (2, 3, 2))
    yield layer_case("two sizes", "UpSampling2D", {"size": [1, 3]}, (2, 3, 1))
    yield layer_case("bilinear", "UpSampling2D", {"interpolation": "bilinear"}, (3, 2, 2))
    yield layer_case("bilinear, two sizes", "UpSampling2D", {"size": [3, 4], "interpolation": "bilinear"}, (2, 3, 1))
    yield layer_case("bilinear, one cell", "UpSampling2D", {"size": 2, "interpolation": "bilinear"}, (1, 1, 3))
    transposed = lambda name, shape, **config: layer_case(name, "Conv2DTranspose", config, shape)
    yield transposed("valid", (3, 4, 2), filters=3, kernel_size=3)
    yield transposed("valid, stride 2, relu", (3, 2, 3), filters=2, kernel_size=[2, 3], strides=2, activation="relu")
    yield transposed("valid, strides over kernel", (2, 3, 2), filters=3, kernel_size=2, strides=3)
    yield transposed("same", (4, 3, 2), filters=3, kernel_size=3, padding="same", use_bias=False)
    yield transposed("same, stride 2", (3, 4, 2), filters=3, kernel_size=3, strides=2, padding="same")
    yield transposed("same, stride 2, kernel 4", (3, 2, 2), filters=2, kernel_size=4, strides=2, padding="same")
    yield transposed("same, kernel 2 under stride 3", (2, 2, 2), filters=2, kernel_size=2, strides=3, padding="same")
    yield transposed("same, one cell, stride 2", (3, 2, 2), filters=3, kernel_size=1, strides=2, padding="same")
    yield transposed("output padding", (3, 2, 2), filters=2, kernel_size=3, strides=2, padding="same",
                     output_padding=[1, 0])
    yield transposed("valid, output padding", (2, 2, 1), filters=2, kernel_size=3, strides=3, output_padding=2)
    yield transposed("dilation", (3, 4, 2), filters=2, kernel_size=3, dilation_rate=2)
    yield transposed("same, dilation", (4, 3, 2), filters=2, kernel_size=2, dilation_rate=2, padding="same")


def fit_case(name, layers, shape, loss, targets, optimizer=("SGD", {"learning_rate": 0.1}), class_weight=None, rows=11,
             batch=4, epochs=3, metrics=(), spread=1):
    model = keras.Sequential([getattr(keras.layers, c)(**config) for c, config in layers])
    model.build((None,) + shape)
    model.set_weights([draw(w.shape) * spread for w in model.weights])
    losses = {"binary_crossentropy": keras.losses.BinaryCrossentropy,
              "categorical_crossentropy": keras.losses.CategoricalCrossentropy,
              "sparse_categorical_crossentropy": keras.losses.SparseCategoricalCrossentropy}
    made = losses[loss["class_name"]](**loss["config"]) if isinstance(loss, dict) else loss
    model.compile(getattr(keras.optimizers.legacy, optimizer[0])(**optimizer[1]), made, metrics=list(metrics))
    x = draw((rows,) + shape)
    y = {"labels": lambda: random.randint(0, 3, rows).astype("float32"),
         "binary": lambda: random.randint(0, 2, rows).astype("float32"),
         "one_hot": lambda: np.eye(3, dtype="float32")[random.randint(0, 3, rows)],
         "numbers": lambda: draw((rows, 2))}[targets]()
    start = [[flat(w) for w in layer.get_weights()] for layer in model.layers]
    weights = {int(k): v for k, v in class_weight.items()} if class_weight else None
    log = model.fit(x, y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0, class_weight=weights).history
    evaluation = model.evaluate(x, y, batch_size=32, verbose=0)
    return {
        "name": name,
        "layers": [{"class_name": c, "config": config} for c, config in layers],
        "optimizer": {"class_name": optimizer[0], "config": optimizer[1]},
        "loss": loss,
        "class_weight": class_weight,
        "input_shape": list(shape),
        "target_shape": list(y.shape[1:]) or [1],
        "rows": rows,
        "batch_size": batch,
        "epochs": epochs,
        "metrics": list(metrics),
        "x": flat(x),
        "y": flat(y),
        "weights": start,
        "weights_after": [[flat(w) for w in layer.get_weights()] for layer in model.layers],
        "losses": log["loss"],
        "evaluation": evaluation if isinstance(evaluation, list) else [evaluation],
    }


def cross_entropy(name, **config):
    return {"class_name": name + "_crossentropy", "config": config}


def fit_cases():
    dense = lambda units, activation="linear", **config: (
        "Dense", {"units": units, "activation": activation, **config})
    hidden = dense(4, "tanh")
    for loss, targets, units, activation in (("binary", "binary", 1, "sigmoid"),
                                             ("categorical", "one_hot", 3, "softmax"),
                                             ("sparse_categorical", "labels", 3, "softmax")):
        yield fit_case(loss + " of logits", [hidden, dense(units)], (5,), cross_entropy(loss, from_logits=True), targets,
                       metrics=["accuracy", loss + "_crossentropy"], epochs=2)
        yield fit_case(loss + " of logits behind " + activation, [hidden, dense(units, activation)], (5,),
                       cross_entropy(loss, from_logits=True), targets)
        yield fit_case(loss + " of logits behind tanh", [hidden, dense(units, "tanh")], (5,),
                       cross_entropy(loss, from_logits=True), targets)
        yield fit_case(loss + ", class weights", [hidden, dense(units, activation)], (5,), loss + "_crossentropy",
                       targets, class_weight={"0": 1, "1": 5, "2": 0.25} if units > 1 else {"0": 0.5, "1": 3})
        if loss == "sparse_categorical":
            continue
        yield fit_case(loss + ", smoothed", [hidden, dense(units, activation)], (5,),
                       cross_entropy(loss, label_smoothing=0.2), targets)
        yield fit_case(loss + " of logits, smoothed, class weights", [hidden, dense(units)], (5,),
                       cross_entropy(loss, from_logits=True, label_smoothing=0.1), targets,
                       class_weight={"0": 2, "1": 0.5, "2": 1})
    yield fit_case("errors, class weights", [hidden, dense(2)], (5,), "mean_absolute_error", "numbers",
                   class_weight={"0": 3, "1": 0.5})
    constraint = lambda name, **config: {"class_name": name, "config": config}
    for optimizer in (("SGD", {"learning_rate": 0.5, "momentum": 0.5}), ("Adam", {"learning_rate": 0.1})):
        yield fit_case(
            "constraints, " + optimizer[0],
            [dense(4, "tanh", kernel_constraint=constraint("MaxNorm", max_value=0.75, axis=0),
                   bias_constraint=constraint("NonNeg")),
             dense(3, "tanh", kernel_constraint=constraint("UnitNorm", axis=1)),
             dense(3, "softmax", kernel_constraint=constraint("MinMaxNorm", min_value=0.5, max_value=0.75, rate=0.5,
                                                              axis=[0, 1]))],
            (5,), "categorical_crossentropy", "one_hot", optimizer)
    yield fit_case(
        "constraints of images",
        [("Conv2D", {"filters": 2, "kernel_size": 2,
                     "kernel_constraint": constraint("MaxNorm", max_value=0.5, axis=[0, 1, 2])}),
         ("PReLU", {"alpha_constraint": constraint("NonNeg"), "shared_axes": [1, 2]}),
         ("BatchNormalization", {"gamma_constraint": constraint("MaxNorm", max_value=0.9)}),
         ("Flatten", {}), dense(3, "softmax")],
        (3, 3, 2), "categorical_crossentropy", "one_hot", epochs=2)
    yield fit_case(
        "enlarged images",
        [("Rescaling", {"scale": 2, "offset": 0.5}),
         ("Conv2D", {"filters": 2, "kernel_size": 2, "strides": 2}),
         ("PReLU", {}),
         ("Conv2DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same", "activation": "tanh"}),
         ("UpSampling2D", {"interpolation": "bilinear"}),
         ("UpSampling2D", {"size": [1, 2]}),
         ("GlobalAveragePooling2D", {}), dense(3, "softmax")],
        (4, 4, 1), "categorical_crossentropy", "one_hot", rows=7)
    for loss, targets, units, activation in (("binary", "numbers", 2, "softmax"),
                                             ("categorical", "one_hot", 3, "sigmoid"),
                                             ("sparse_categorical", "labels", 3, "sigmoid")):
        yield fit_case(loss + " behind " + activation, [hidden, dense(units, activation)], (5,),
                       loss + "_crossentropy", targets, metrics=["accuracy"] if units > 2 else [])


def main():
    lists = lambda cases: ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    path = pathlib.Path(__file__).with_name("option_cases.json")
    path.write_text('{"source": "tensorflow %s, CPU",\n"layers": [\n%s],\n"trainings": [],\n"fits": [\n%s]}\n' % (
        tf.__version__, lists(layer_cases()), lists(fit_cases())))


if __name__ == "__main__":
    main()
