"""Writes weight_cases.json: what tf.keras computes for trainings with sample weights.

    python3 -m pip install tensorflow==2.15.1
    python3 make_weight_cases.py

Each case is a network with its weights before and after fit(shuffle=False, sample_weight=...), and the losses that fit()
logs for each epoch, of the training and of the rows that it validates on.
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
random = np.random.RandomState(31)
draw = functools.partial(keras_cases.draw, random)
ROWS, BATCH, EPOCHS = 11, 4, 3
TARGETS = {
    "labels": lambda shape: random.randint(0, shape[-1], (ROWS,) + shape[:-1]).astype("float32"),
    "binary": lambda shape: random.randint(0, 2, (ROWS,) + shape).astype("float32"),
    "one_hot": lambda shape: np.eye(shape[-1], dtype="float32")[random.randint(0, shape[-1], (ROWS,) + shape[:-1])],
    "positive": lambda shape: np.abs(draw((ROWS,) + shape)) + np.float32(0.25),
    "numbers": lambda shape: draw((ROWS,) + shape),
}
WEIGHTS = {
    "positive": lambda: np.abs(draw((ROWS,))) * 3 + 0.1,
    "zeros": lambda: random.randint(0, 3, ROWS).astype("float64"),
    "negative": lambda: draw((ROWS,)),
}


def both_weights(model, x, y, sample_weight, class_weight):
    """What fit() does: that of TensorFlow 2.15 fails where it multiplies both in batches of unknown size."""
    classes = {int(k): v for k, v in class_weight.items()}
    losses = []
    for _ in range(EPOCHS):
        total = 0
        for begin in range(0, ROWS, BATCH):
            rows = slice(begin, begin + BATCH)
            model.reset_metrics()
            loss = model.train_on_batch(x[rows], y[rows], sample_weight=sample_weight[rows], class_weight=classes)
            total += loss * len(x[rows])
        losses.append(total / ROWS)
    return {"loss": losses}


def fit_case(loss, targets, units=3, activation="linear", weights="positive", shape=(5,), class_weight=None, split=0,
             optimizer="SGD", rate=0.1, regularizer=None):
    layers = [("Dense", {"units": 4, "activation": "tanh"}), ("Dense", {"units": units, "activation": activation})]
    config = {"kernel_regularizer": "l2"} if regularizer else {}
    layers[0][1].update(config)
    model = keras.Sequential([getattr(keras.layers, name)(**config) for name, config in layers])
    model.build((None,) + shape)
    model.set_weights([draw(w.shape) for w in model.weights])
    model.compile(getattr(keras.optimizers.legacy, optimizer)(learning_rate=rate), loss)
    x, y = draw((ROWS,) + shape), TARGETS[targets](model.output_shape[1:])
    y = y[:, 0] if units == 1 else y  # as class weights want it
    sample_weight = WEIGHTS[weights]()
    start = [[flat(w) for w in layer.get_weights()] for layer in model.layers]
    if class_weight:
        log = both_weights(model, x, y, sample_weight, class_weight)
    else:
        log = model.fit(x, y, sample_weight=sample_weight, batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0,
                        validation_split=split).history
    name = [loss, weights + " weights"] + ["class weights"] * bool(class_weight) + ["split"] * bool(split)
    return {
        "name": ", ".join(name + ["steps"] * (len(shape) > 1) + ["regularizer"] * bool(regularizer)),
        "layers": [{"class_name": name, "config": config} for name, config in layers],
        "optimizer": {"class_name": optimizer, "config": {"learning_rate": rate}},
        "loss": loss,
        "class_weight": class_weight,
        "validation_split": split,
        "input_shape": list(shape),
        "target_shape": list(y.shape[1:]) or [1],
        "x": flat(x),
        "y": flat(y),
        "sample_weight": flat(sample_weight),
        "weights": start,
        "weights_after": [[flat(w) for w in layer.get_weights()] for layer in model.layers],
        "losses": log["loss"],
        "validation_losses": log.get("val_loss", []),
    }


def cases():
    yield fit_case("mean_absolute_percentage_error", "positive", rate=0.001)
    for loss in ("mean_squared_error", "mean_absolute_error", "logcosh", "huber", "cosine_similarity",
                 "hinge", "squared_hinge", "categorical_hinge"):
        hinge = loss.endswith("hinge")
        yield fit_case(loss, "one_hot" if loss == "categorical_hinge" else "binary" if hinge else "numbers")
    for loss in ("mean_squared_logarithmic_error", "poisson", "kullback_leibler_divergence"):
        yield fit_case(loss, "positive", activation="softmax")
    for loss, targets, units, activation in (("binary_crossentropy", "binary", 1, "sigmoid"),
                                             ("categorical_crossentropy", "one_hot", 3, "softmax"),
                                             ("sparse_categorical_crossentropy", "labels", 3, "softmax")):
        for weights in WEIGHTS:
            yield fit_case(loss, targets, units, activation, weights)
        yield fit_case(loss, targets, units, activation, split=0.3)
        classes = {"0": 2, "1": 0.5, "2": 3} if units > 1 else {"0": 2, "1": 0.5}
        yield fit_case(loss, targets, units, activation, class_weight=classes, optimizer="Adam")
    yield fit_case("mean_squared_error", "numbers", weights="negative", split=0.4, regularizer=True)
    yield fit_case("mean_squared_error", "numbers", shape=(3, 2))
    yield fit_case("sparse_categorical_crossentropy", "labels", activation="softmax", shape=(4, 2), split=0.3)


with open(pathlib.Path(__file__).parent / "weight_cases.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases()) + "\n]\n")
