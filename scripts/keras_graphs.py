"""Random functional models of Keras for scripts/check_graphs and tests/training/data/graphs.json: the same for each seed and Keras.
It runs in an interpreter that has Keras.

    keras_graphs.py write FOLDER COUNT    models as .h5 and .keras, rows and Keras's outputs for them
    keras_graphs.py cases FILE COUNT      models, weights, rows, targets, outputs, the loss and its gradients, as JSON (tf.keras)

Works with tf.keras 2.4 to 2.15 and with Keras 3 on any back end.
"""
import json
import os
import pathlib
import random
import sys

import numpy

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
try:
    from tensorflow import keras
except ImportError:
    import keras

L = keras.layers
ROWS, CLASSES = 6, 3
PAIRS = {"add": L.Add, "subtract": L.Subtract, "multiply": L.Multiply, "average": L.Average, "maximum": L.Maximum,
         "minimum": L.Minimum}


class Draw:
    """Draws layers one after the other, each on outputs of some before; what nobody has taken is brought together."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        images = self.random.random() < 0.5
        self.shape = (5, 4, self.random.randint(1, 3)) if images else (self.random.randint(2, 6),)
        self.input = keras.Input(self.shape)
        self.values, self.uses, self.made = [self.input], [0], []

    def call(self, layer, *sources):
        inputs = [self.values[source] for source in sources]
        for source in sources:
            self.uses[source] += 1
        self.values.append(layer(inputs if len(inputs) > 1 else inputs[0]))
        self.uses.append(0)

    def extents(self, source):
        return tuple(self.values[source].shape)[1:]

    def any(self):
        return len(self.values) - 1 - self.random.randrange(min(2, len(self.values)) if self.random.random() < 0.6 else len(self.values))

    def weighted(self, source):
        activation = self.random.choice(("linear", "relu", "tanh", "elu", "sigmoid"))
        units = self.random.randint(2, 4)
        layer = (L.Conv2D(units, 3, padding="same", activation=activation) if len(self.shape) == 3
                 else L.Dense(units, activation=activation))
        self.made.append((layer, source))
        self.call(layer, source)

    def unary(self):
        source, kind = self.any(), self.random.randrange(5)
        if kind < 2:
            self.weighted(source)
        elif kind == 2:
            self.call(L.Activation(self.random.choice(("relu", "tanh"))), source)
        elif kind == 3 and len(self.shape) == 3:
            self.call(L.MaxPooling2D(2, strides=1, padding="same"), source)
        elif kind == 3:
            self.call(L.Activation("softplus"), source)
        else:
            self.call(L.BatchNormalization(momentum=0.5), source)

    def merge(self):
        first = self.any()
        fits = [i for i in range(len(self.values))
                if all(a == b or b == 1 for a, b in zip(self.extents(first), self.extents(i)))]
        kind = self.random.choice(sorted(PAIRS))
        sources = [first, self.random.choice(fits)]
        if kind != "subtract" and self.random.random() < 0.3:
            sources.append(self.random.choice(fits))
        self.call(PAIRS[kind](), *sources)

    def concatenate(self):
        first, second = self.any(), self.any()
        if self.extents(first)[-1] + self.extents(second)[-1] > 12:
            return self.unary()
        return self.call(L.Concatenate(axis=self.random.choice((-1, len(self.shape)))), first, second)

    def again(self):
        for layer, source in self.made:
            for other in range(len(self.values)):
                if other != source and self.extents(other) == self.extents(source):
                    return self.call(layer, other)
        return self.unary()

    def model(self):
        for _ in range(self.random.randint(3, 9)):
            kind = self.random.random()
            if kind < 0.4 or len(self.values) < 2:
                self.unary()
            elif kind < 0.75:
                self.merge()
            elif kind < 0.9:
                self.concatenate()
            else:
                self.again()
        if len(self.values) == 2:
            self.weighted(0)
        left = []
        for source in [i for i, uses in enumerate(self.uses) if uses == 0]:
            if len(self.shape) == 3:
                self.call(L.GlobalAveragePooling2D() if self.random.random() < 0.5 else L.Flatten(), source)
                source = len(self.values) - 1
            left.append(source)
        if len(left) > 1:
            self.call(L.Concatenate(), *left)
            left = [len(self.values) - 1]
        self.call(L.Dense(CLASSES, activation="softmax"), left[0])
        return keras.Model(self.input, self.values[-1])


def drawn(seed):
    """A model with weights and statistics that are no initial ones, and rows."""
    keras.backend.clear_session()
    model = Draw(seed).model()
    numbers = numpy.random.RandomState(seed)
    model.set_weights([numbers.uniform(0.5, 1.5, w.shape) if "variance" in v.name or "gamma" in v.name
                       else numbers.uniform(-0.7, 0.7, w.shape) for v, w in zip(model.weights, model.get_weights())])
    rows = numbers.uniform(-1, 1, (ROWS, *model.input_shape[1:])).astype("float32")
    return model, rows, numbers


def write(folder, count):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(count):
        model, rows, _ = drawn(seed)
        numpy.save(folder / f"{seed}.x.npy", rows)
        numpy.save(folder / f"{seed}.y.npy", model.predict(rows, verbose=0))
        model.save(folder / f"{seed}.h5")
        if int(keras.__version__.split(".")[0]) >= 3 or hasattr(getattr(keras, "saving", None), "save_model"):
            model.save(folder / f"{seed}.keras")


def cases(file, count):
    import tensorflow  # pylint: disable=import-outside-toplevel

    found = []
    for seed in range(count):
        model, rows, numbers = drawn(seed)
        targets = numpy.eye(CLASSES, dtype="float32")[numbers.randint(0, CLASSES, ROWS)]
        before = [w.tolist() for w in map(numpy.ravel, model.get_weights())]
        with tensorflow.GradientTape() as tape:
            outputs = model(rows, training=True)
            loss = tensorflow.reduce_mean(keras.losses.categorical_crossentropy(targets, outputs))
        gradients = tape.gradient(loss, model.trainable_variables)
        after = {v.name: g for v, g in zip(model.trainable_variables, gradients)}
        layers = []
        weights = iter(before)
        for layer in model.layers:
            variables = [[next(weights), None if v.name not in after else numpy.ravel(after[v.name]).tolist()] for v in layer.weights]
            if variables:
                layers.append({"name": layer.name, "variables": variables})
        found.append({"model": json.loads(model.to_json()), "layers": layers, "x": numpy.ravel(rows).tolist(),
                      "shape": list(rows.shape), "targets": numpy.ravel(targets).tolist(),
                      "outputs": numpy.ravel(outputs.numpy()).tolist(), "loss": float(loss)})
    rounded = json.loads(json.dumps(found), parse_float=lambda text: float(f"{float(text):.8g}"))
    with open(file, "w", encoding="utf-8") as out:
        json.dump(rounded, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    {"write": write, "cases": cases}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
