"""The models that scripts/check_import writes and asks for predictions. It runs in an interpreter that has Keras.

    keras_models.py write FOLDER     writes models, rows and Keras's outputs for them
    keras_models.py predict JOBS     JOBS: a JSON file with a list of [model file, rows.npy, outputs.npy]

Works with tf.keras 2.4 to 2.15 and with Keras 3 on any back end.
"""
import json
import os
import pathlib
import sys

import numpy

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
try:
    from tensorflow import keras
except ImportError:
    import keras

L = keras.layers
MAJOR = int(keras.__version__.split(".")[0]) if hasattr(keras, "__version__") else 2
SMALL = 20  # rows of each model


def slope(value):
    return {"negative_slope" if MAJOR >= 3 else "alpha": value}


def dense():
    model = keras.Sequential([
        L.Input((5,)),
        L.Dense(4, activation="relu", kernel_regularizer=keras.regularizers.L2(0.01), name="hidden"),
        L.Dropout(0.2),
        L.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy", metrics=["accuracy"])
    return model


def images():
    model = keras.Sequential([
        L.Input((8, 9, 2)),
        L.ZeroPadding2D(1),
        L.Conv2D(4, (3, 2), strides=2, padding="same"),
        L.BatchNormalization(),
        L.LeakyReLU(**slope(0.2)),
        L.MaxPooling2D(2, padding="same"),
        L.Conv2D(3, 2, dilation_rate=1, activation="tanh"),
        L.Flatten(),
        L.Dense(2, use_bias=False),
        L.Softmax(),
    ])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def functional():
    rows = L.Input((6,), name="rows")
    x = L.Dense(5, activation="elu")(rows)
    x = L.BatchNormalization(center=False)(x)
    x = L.Reshape((5, 1))(x)
    x = L.Flatten()(x)
    model = keras.Model(rows, L.Dense(1)(x))
    model.compile(keras.optimizers.RMSprop(0.002), "mse", metrics=["mae"])
    return model


def nested():
    """Models in a model: their weights are stored together, those that are trained first."""
    inner = keras.Sequential([L.Input((7, 7, 1)), L.Conv2D(3, 3), L.BatchNormalization(), L.Conv2D(2, 2),
                              L.BatchNormalization(scale=False), L.ReLU(max_value=6.0)])
    inner.layers[0].trainable = False
    first = L.Input((4, 4, 2))
    tail = keras.Model(first, L.Dense(3, activation="selu")(L.GlobalAveragePooling2D()(first)))
    return keras.Sequential([L.Input((7, 7, 1)), inner, tail, L.Dense(1, activation="sigmoid")])


def averages():
    return keras.Sequential([L.Input((6, 6, 3)), L.AveragePooling2D(2), L.Conv2D(4, 2, groups=1, activation="softplus"),
                             L.GlobalMaxPooling2D(), L.Dense(2, activation="softsign"), L.ELU(), L.Activation("swish")])


def sequences():
    """Layers that may be unknown to the command that is tested: it says which."""
    return keras.Sequential([L.Input((6, 3)), L.Conv1D(4, 3, padding="causal"), L.MaxPooling1D(2),
                             L.LSTM(3, return_sequences=True), L.GRU(3), L.GaussianNoise(0.1), L.Dense(2)])


def words():
    return keras.Sequential([L.Input((5,)), L.Embedding(11, 4), L.SimpleRNN(3), L.LayerNormalization(), L.Dense(1)])


def depthwise():
    return keras.Sequential([L.Input((5, 5, 2)), L.DepthwiseConv2D(2, depth_multiplier=2), L.SeparableConv2D(3, 2),
                             L.Flatten(), L.Dense(1)])


def masked():
    """Rows of words, 0 for none."""
    return keras.Sequential([L.Input((6,)), L.Embedding(11, 4, mask_zero=True), L.SpatialDropout1D(0.2),
                             L.Bidirectional(L.LSTM(3, return_sequences=True)),
                             L.Bidirectional(L.GRU(2), merge_mode="ave"), L.RepeatVector(3),
                             L.LSTM(2, return_sequences=True), L.TimeDistributed(L.Dense(2, activation="softmax"))])


def tagged():
    backward = L.SimpleRNN(2, return_sequences=True, go_backwards=True)
    return keras.Sequential([L.Input((5,)), L.Reshape((5, 1)), L.Masking(3.0), L.GaussianDropout(0.1),
                             L.Bidirectional(L.GRU(2, return_sequences=True), backward_layer=backward),
                             L.TimeDistributed(L.LayerNormalization()), L.TimeDistributed(L.Dense(3))])


def films():
    picture = keras.Sequential([L.Input((6, 6, 2)), L.Conv2D(2, 3, padding="same"), L.BatchNormalization()])
    picture.layers[0].trainable = False
    return keras.Sequential([L.Input((3, 6, 6, 2)), L.TimeDistributed(picture),
                             L.TimeDistributed(L.Conv2D(3, 3, activation="relu")),
                             L.TimeDistributed(L.MaxPooling2D(2)), L.TimeDistributed(L.Flatten()),
                             L.TimeDistributed(L.LeakyReLU(**slope(0.2))), L.Permute((2, 1)), L.LSTM(2), L.Dense(1)])


def lambdas():
    return keras.Sequential([L.Input((3,)), L.Lambda(lambda x: 2 * x), L.Dense(1)])


def branches():
    """Two ways, one of them past the layers, a layer and a model that are called twice."""
    rows = L.Input((4,))
    inner = L.Input((4,))
    block = keras.Model(inner, L.Multiply()([inner, L.Dense(4, activation="sigmoid")(inner)]), name="block")
    shared = L.Dense(4, activation="tanh")
    x = L.Add()([rows, shared(shared(rows))])
    x = L.Concatenate()([block(x), L.Maximum()([x, rows]), block(rows)])
    model = keras.Model(rows, L.Dense(2, activation="softmax")(x))
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    return model


def two_outputs():
    rows = L.Input((3,))
    return keras.Model(rows, [L.Dense(2)(rows), L.Dense(2)(rows)])


def custom():
    class Twice(L.Layer):
        def call(self, inputs):
            return 2 * inputs

    return keras.Sequential([L.Input((3,)), Twice(), L.Dense(1)])


MODELS = [dense, images, functional, nested, averages, sequences, words, depthwise, masked, tagged, films, branches]
REFUSED = [lambdas, two_outputs, custom]


def rows_for(model, seed, whole=None):
    generator = numpy.random.default_rng(seed)
    shape = (SMALL, *model.input_shape[1:])
    if whole:
        return generator.integers(0, whole, shape).astype("float32")
    return generator.normal(size=shape).astype("float32")


def randomise(model, seed):
    """Statistics and biases that are not where they start."""
    generator = numpy.random.default_rng(seed)
    model.set_weights([numpy.abs(generator.normal(size=w.shape, scale=0.5)).astype("float32") + 0.1
                       if "variance" in name else generator.normal(size=w.shape, scale=0.5).astype("float32")
                       for name, w in zip(weight_names(model), model.get_weights())])


def weight_names(model):
    return [getattr(weight, "path", weight.name) for weight in model.weights]


def save_whole(model, folder, name):
    """The files of the model as a whole, in each form that this Keras has."""
    saved = []
    for suffix in (".h5", ".keras"):
        path = folder / (name + suffix)
        try:
            model.save(path)
            saved.append(path.name)
        except Exception as error:  # not every version has each format or can save each model in it
            print(f"{path.name}: not written by Keras: {str(error).splitlines()[0]}", file=sys.stderr)
    return saved


def save(model, folder, name):
    """Its files, and one with its weights alone."""
    path = folder / (name + ".weights.h5")
    model.save_weights(path)
    return save_whole(model, folder, name), path.name


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    version = getattr(keras, "__version__", None) or __import__("tensorflow").__version__
    cases = []
    for seed, make in enumerate(MODELS):
        keras.backend.clear_session()
        numpy.random.seed(seed)
        model = make()
        randomise(model, seed)
        rows = rows_for(model, seed, 11 if make in (words, masked, tagged) else None)
        name = make.__name__
        numpy.save(folder / f"{name}.x.npy", rows)
        numpy.save(folder / f"{name}.y.npy", numpy.asarray(model.predict(rows, verbose=0), "float32"))
        saved, weights = save(model, folder, name)
        cases.append({"name": name, "models": saved, "weights": weights, "shape": list(rows.shape[1:])})
    refused = []
    for make in REFUSED:
        keras.backend.clear_session()
        saved, _ = save(make(), folder, make.__name__)
        refused += saved
    (folder / "cases.json").write_text(json.dumps({"version": version, "cases": cases, "refused": refused}, indent=1))


def predict(jobs):
    for model_file, rows, outputs in json.loads(pathlib.Path(jobs).read_text()):
        keras.backend.clear_session()
        model = keras.models.load_model(model_file, compile=False)
        numpy.save(outputs, numpy.asarray(model.predict(numpy.load(rows), verbose=0), "float32"))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "predict"):
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[2])) if sys.argv[1] == "write" else predict(sys.argv[2])
