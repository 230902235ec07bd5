"""Writes mask_cases.json: what tf.keras computes for networks with masks of steps, wrappers and layers that move steps.

    python3.11 -m pip install tensorflow==2.15.1
    python3.11 make_mask_cases.py

Each case has a network's weights, rows and targets; Keras's outputs, the mask of the output, the loss of all rows and its
gradient by every trained variable. The loss of an output with a mask is tf.keras 2.4's: steps that don't count are 0, and the
mean is over all steps (later versions divide by the steps that count).
"""

import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

import keras_cases
from keras_cases import flat

keras = tf.keras
random = np.random.RandomState(5)


def layer(class_name, **config):
    return {"class_name": class_name, "config": config}


def made(json_layer):
    config = {key: made(value) if key in ("layer", "backward_layer") else value
              for key, value in json_layer["config"].items()}
    return getattr(keras.layers, json_layer["class_name"])(**config)


def padded(rows, steps, features, value):
    """Rows of random lengths, filled up with `value`; one has gaps, one nothing."""
    x = keras_cases.draw(random, (rows, steps, features))
    for row in range(rows):
        x[row, random.randint(1, steps + 1):] = value
    x[0, 1] = value
    x[1] = value
    return x


def words(rows, steps, count):
    x = random.randint(1, count, (rows, steps)).astype("float32")
    for row in range(rows):
        x[row, random.randint(1, steps + 1):] = 0
    x[0, 0] = 0
    return x


def case(name, layers, x, loss="categorical_crossentropy", labels=False):
    model = keras.Sequential([keras.Input(x.shape[1:])] + [made(one) for one in layers])
    start = [np.abs(keras_cases.draw(random, w.shape)) + 0.5 if "variance" in w.name
             else keras_cases.draw(random, w.shape) for w in model.weights]
    model.set_weights(start)
    start = [[flat(w) for w in one.get_weights()] for one in model.layers]
    extents = (len(x),) + tuple(model.output_shape[1:])
    if loss == "mean_squared_error":
        y = keras_cases.draw(random, extents)
    else:
        classes = random.randint(0, extents[-1], extents[:-1])
        y = classes.astype("float32") if labels else np.eye(extents[-1], dtype="float32")[classes]

    @tf.function(input_signature=[tf.TensorSpec((None,) + x.shape[1:], tf.float32)])
    def run(rows):
        with tf.GradientTape() as tape:
            output = model(rows, training=False)
            mask = getattr(output, "_keras_mask", None)
            values = getattr(keras.losses, loss)(y, output)
            if mask is not None:
                values *= tf.cast(mask, tf.float32)
            mean = tf.reduce_mean(values)
        gradients = tape.gradient(mean, model.trainable_weights)
        return output, mask if mask is not None else tf.zeros((0,)), mean, [tf.convert_to_tensor(g) for g in gradients]

    output, mask, mean, gradients = run(tf.constant(x))
    gradients = {w.ref(): g for w, g in zip(model.trainable_weights, gradients)}
    return {
        "name": name,
        "layers": layers,
        "loss": loss,
        "input_shape": list(x.shape[1:]),
        "target_shape": list(y.shape[1:]),
        "rows": len(x),
        "x": flat(x),
        "y": flat(y),
        "weights": start,
        "output": flat(output),
        "mask": [int(m) for m in np.asarray(mask).ravel()],
        "value": float(mean),
        "gradients": [[flat(gradients[w.ref()]) if w.ref() in gradients else [] for w in one.weights]
                      for one in model.layers],
    }


def cases():
    softmax = lambda units: layer("Dense", units=units, activation="softmax")
    every = lambda inner: layer("TimeDistributed", layer=inner)
    for class_name in ("LSTM", "GRU", "SimpleRNN"):
        yield case(f"Masking, {class_name}", [layer("Masking"), layer(class_name, units=3), softmax(2)], padded(5, 4, 2, 0))
        yield case(f"Masking of 0.5, {class_name} of sequences, backwards",
                   [layer("Masking", mask_value=0.5),
                    layer(class_name, units=3, return_sequences=True, go_backwards=True),
                    layer(class_name, units=2), softmax(2)], padded(5, 4, 2, 0.5))
    yield case("zeros for steps that don't count",
               [layer("Masking"), layer("LSTM", units=2, return_sequences=True, zero_output_for_mask=True),
                layer("Flatten"), softmax(2)], padded(4, 3, 2, 0))
    yield case("Bidirectional, concat and sum",
               [layer("Embedding", input_dim=6, output_dim=2, mask_zero=True),
                layer("Bidirectional", layer=layer("LSTM", units=2, return_sequences=True)),
                layer("Bidirectional", layer=layer("GRU", units=3), merge_mode="sum"), softmax(3)], words(5, 4, 6))
    yield case("Bidirectional, mul and ave, unmasked",
               [layer("Bidirectional", layer=layer("SimpleRNN", units=3, return_sequences=True), merge_mode="mul"),
                layer("Bidirectional", layer=layer("GRU", units=2, reset_after=False), merge_mode="ave"), softmax(2)],
               keras_cases.draw(random, (4, 3, 2)))
    yield case("Bidirectional with a backward layer of its own",
               [layer("Masking"),
                layer("Bidirectional", layer=layer("LSTM", units=2, return_sequences=True),
                      backward_layer=layer("GRU", units=3, return_sequences=True, go_backwards=True)),
                layer("Bidirectional", layer=layer("SimpleRNN", units=2, go_backwards=True, activation="relu")),
                softmax(2)], padded(4, 4, 2, 0))
    yield case("mean of the steps that count",
               [layer("Embedding", input_dim=7, output_dim=3, mask_zero=True), layer("GlobalAveragePooling1D"),
                softmax(2)], words(5, 4, 7))
    yield case("tags of words",
               [layer("Embedding", input_dim=8, output_dim=3, mask_zero=True), layer("SpatialDropout1D", rate=0.3),
                layer("Bidirectional", layer=layer("LSTM", units=2, return_sequences=True)), every(softmax(3))],
               words(6, 5, 8))
    yield case("tags of words, as labels",
               [layer("Embedding", input_dim=8, output_dim=3, mask_zero=True),
                layer("GRU", units=3, return_sequences=True), layer("Dropout", rate=0.2), layer("LayerNormalization"),
                softmax(4)], words(6, 5, 8), "sparse_categorical_crossentropy", labels=True)
    yield case("numbers of steps",
               [layer("Masking"), every(layer("Dense", units=3, activation="tanh")),
                layer("GRU", units=2, return_sequences=True), every(layer("Dense", units=1))],
               padded(5, 4, 2, 0), "mean_squared_error")
    yield case("pictures in time",
               [every(layer("Conv2D", filters=2, kernel_size=2, activation="relu")),
                every(layer("MaxPooling2D")), every(layer("BatchNormalization")), every(layer("Flatten")),
                layer("LSTM", units=2), softmax(2)], keras_cases.draw(random, (2, 3, 5, 5, 1)))
    yield case("sequences in sequences",
               [every(layer("Bidirectional", layer=layer("LSTM", units=2))), every(layer("Dropout", rate=0.5)),
                every(layer("Reshape", target_shape=[2, 2])), every(layer("GlobalAveragePooling1D")),
                layer("Permute", dims=[2, 1]), layer("GRU", units=2), softmax(2)],
               keras_cases.draw(random, (3, 3, 4, 2)))
    yield case("code repeated",
               [layer("LSTM", units=3), layer("RepeatVector", n=4), layer("GaussianDropout", rate=0.3),
                layer("LSTM", units=2, return_sequences=True), every(layer("Dense", units=2))],
               keras_cases.draw(random, (3, 4, 2)), "mean_squared_error")
    yield case("pictures turned",
               [layer("Permute", dims=[3, 1, 2]), layer("SpatialDropout2D", rate=0.4), layer("Flatten"), softmax(2)],
               keras_cases.draw(random, (3, 2, 3, 4)))


def main():
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases())
    path = pathlib.Path(__file__).with_name("mask_cases.json")
    path.write_text('{"source": "tensorflow %s, CPU",\n"cases": [\n%s]}\n' % (tf.__version__, lines))


if __name__ == "__main__":
    main()
