"""Captures scripts of Keras users, and what no program holds. Needs Keras: NEUTRA_KERAS_PYTHONS names interpreters."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from captures import SCRIPTS, Captured, capture_all, environment, pythons

import neutra

FOLDER = SCRIPTS / "keras"
PYTHONS = pythons("NEUTRA_KERAS_PYTHONS", "keras")
pytestmark = pytest.mark.skipif(not PYTHONS, reason="needs Keras")

#: For each script: layers that are no InputLayer, values of the program, words of the lines where parts are written.
EXPECTED: dict[str, tuple[list[str], dict[str, Any], dict[str, str]]] = {
    "sequential_list": (
        ["Dense", "Dropout", "Dense"],
        {"/fit/epochs": 3, "/fit/batch_size": 16, "/fit/validation_split": 0.25, "/fit/shuffle": True},
        {
            "Dense": "layers.Dense(16",
            "Dropout": "layers.Dropout(0.2)",
            "/compile": "model.compile(",
            "/fit": "model.fit(",
        },
    ),
    "add_in_loop": (
        ["Dense", "Dense", "Dense", "Activation"],
        {
            "/fit/shuffle": False,
            "/compile/optimizer/config/momentum": 0.9,
            "/compile/optimizer/config/learning_rate": 0.05,
        },
        {"Dense": "activation", "Activation": "softmax", "/compile/optimizer": "optimizers.SGD("},
    ),
    "functional_chain": (
        ["Conv2D", "BatchNormalization", "MaxPooling2D", "Flatten", "Dense"],
        {"/data/validation": "test", "/compile/optimizer/config/learning_rate": 0.01},
        {"Conv2D": "L.Conv2D(4", "/model/config/layers/0": "Input(shape", "/compile/optimizer": "Adam(1e-2)"},
    ),
    "argparse_main": (
        ["Dense", "Dense"],
        {
            "/fit/epochs": 4,
            "/fit/batch_size": 32,
            "/compile/optimizer/config/learning_rate": 0.001,
            "/data/test": "train",
        },
        {"Dense": "args.hidden", "/compile/optimizer": "RMSprop(args.lr)"},
    ),
    "helpers": (
        ["Dense", "LeakyReLU", "Dropout", "Dense", "LeakyReLU", "Dropout", "Dense"],
        {"/fit/epochs": 2, "/fit/batch_size": 15},
        {"Dense": "layers.Dense(units, kernel_regularizer", "Dropout": "layers.Dropout(rate)"},
    ),
    "tf_data": (
        ["Dense", "Dense"],
        {"/fit/batch_size": 20, "/fit/shuffle": True, "/data/validation": "test"},
        {"Dense": 'Dense(8, "relu")', "/fit/batch_size": ".batch(BATCH)", "/fit": "model.fit("},
    ),
    "generator": (
        ["Dense", "Dense"],
        {"/fit/batch_size": 16, "/fit/epochs": 2},
        {"Dense": 'activation="elu"', "/fit": "steps_per_epoch=5"},
    ),
    "sequence": (
        ["Dense", "Dense"],
        {"/fit/batch_size": 16, "/fit/shuffle": True},
        {"Dense": "input_dim=2", "/fit": "Rows(x, y, 16)"},
    ),
    "notebook_export": (
        ["Dense", "Dense", "Dense"],
        {"/compile/optimizer/config/learning_rate": 0.05, "/compile/loss": "mae"},
        {"Dense": "input_shape=[3]", "/compile/optimizer": "Adagrad(0.05)"},
    ),
    "callbacks": (
        ["Dense", "Dense"],
        {
            "/fit/schedule": {"decay_rate": 0.9, "every": "epoch"},
            "/fit/callbacks/0/config/patience": 2,
            "/fit/callbacks/0/config/restore_best_weights": True,
            "/fit/callbacks/1/class_name": "TerminateOnNaN",
        },
        {"/fit/callbacks/0": "EarlyStopping(monitor", "Dense": 'activation="sigmoid"'},
    ),
    "class_weights": (
        ["Dense", "Dense"],
        {"/fit/class_weight/1": pytest.approx(60 / 28), "/compile/loss": "binary_crossentropy"},
        {"Dense": "units=5", "/compile/optimizer": "Nadam()"},
    ),
    "sample_weights": (
        ["Dense", "Dense"],
        {"/data/arguments/sample_weight": True, "/data/validation": "test", "/fit/batch_size": 15},
        {"Dense": 'Dense(6, activation="tanh")', "/fit": "model.fit(rows[:90]"},
    ),
    "recurrent": (
        ["Embedding", "Bidirectional", "Dense", "Dense"],
        {"/fit/schedule/every": "batch", "/compile/optimizer/config/learning_rate": 0.01},
        {"Embedding": "Embedding(VOCABULARY, 6)", "Bidirectional": "LSTM(5)", "/fit/schedule": "ExponentialDecay("},
    ),
    "class_wrapper": (
        ["Dense", "Dense", "Dense"],
        {"/fit/batch_size": 12, "/fit/epochs": 2},
        {"Dense": "Dense(units", "/compile": "model.compile(**", "/fit": "model.fit(x, y, **options)"},
    ),
    "autoencoder": (
        ["Flatten", "Dense", "Dense", "Reshape"],
        {"/data/validation": "test", "/fit/batch_size": 10},
        {"Flatten": "encoder = ", "Reshape": "decoder = "},
    ),
}

#: What no program holds: the script, where `HERE` marks the line that is named, and what is said of it.
REFUSED = {
    "train_on_batch": (
        """
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
for i in range(3):
    model.train_on_batch(x, y)  # HERE
""",
        "found a loop with train_on_batch; allowed: fit",
    ),
    "own_loss": (
        """
def rough(a, b):
    return keras.ops.mean(a - b) if hasattr(keras, "ops") else keras.backend.mean(a - b)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", loss=rough)  # HERE
model.fit(x, y)
""",
        "found the loss rough, of your own",
    ),
    "sample_weight": (
        """
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, sample_weight=np.ones((len(x), 2)))  # HERE
""",
        "found sample_weight of the shape 8x2; allowed: 8, one for each row",
    ),
    "two_outputs": (
        """
inputs = keras.Input((3,))
model = keras.Model(inputs, [keras.layers.Dense(1)(inputs), keras.layers.Dense(1)(inputs)])
model.compile("sgd", "mse")
model.fit(x, y)
""",
        "models with one input and one output",
    ),
    "unknown_layer": (
        """
model = keras.Sequential()
model.add(keras.layers.Dense(2))
model.add(
    keras.layers.Lambda(lambda x: x * 2)  # HERE
)
model.compile("sgd", "mse")
model.fit(x, y)
""",
        "Python code",
    ),
    "two_inputs": (
        """
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit([x, x], y)  # HERE
""",
        "found 2 arrays as x; allowed: one input and one output",
    ),
    "texts": (
        """
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.array([["a"], ["b"]]), np.zeros(2))  # HERE
""",
        "found texts in x; allowed: numbers",
    ),
    "stops": (
        """
class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = logs["loss"] < 1
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, callbacks=[Stop()])  # HERE
""",
        "found the callback Stop, whose code has 'stop_training'",
    ),
    "tape": (
        """
import tensorflow as tf
model = keras.Sequential([keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x))
optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))  # HERE
""",
        "found a loop with apply_gradients; allowed: fit",
    ),
    "shapes": (
        """
model = keras.Sequential([keras.layers.Conv2D(2, 3), keras.layers.Flatten(), keras.layers.Dense(1)])  # HERE
model.compile("sgd", "mse")
model.fit(x, y)
""",
        "/model/config/layers/0: found an input (3)",
    ),
    "large": (
        """
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.zeros((300, 1000)), np.zeros(300))  # HERE
""",
        "allowed: 1M, or more with --max-data",
    ),
}
_WEIGHTS = """
x = np.random.rand(20, 8, 8, 2)
L = keras.layers
model = keras.Sequential([keras.Input((8, 8, 2)), L.Conv2D(3, 3, activation="tanh"), L.BatchNormalization(),
    L.MaxPooling2D(), L.Reshape((3, 9)), L.Bidirectional(L.LSTM(4, return_sequences=True)), L.GRU(3),
    L.LayerNormalization(), L.Dense(1)])
model.compile("sgd", "mse")
y = np.ones((20, 1))
print(float(model.evaluate(x, y, verbose=0)))
model.fit(x, y)
"""
_LEFT_OUT = """
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 100)), "mse")
model.fit(x, y, callbacks=[keras.callbacks.ReduceLROnPlateau()], sample_weight=np.ones((8, 2)))
"""
_BEGIN = "import keras\nimport numpy as np\nx, y = np.ones((8, 3)), np.ones((8, 1))\n"


@pytest.fixture(scope="module", params=PYTHONS)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Captured]:
    """All scripts, captured with one interpreter."""
    folder = tmp_path_factory.mktemp("captured")
    scripts = {name: [str(FOLDER / f"{name}.py")] for name in EXPECTED}
    scripts["argparse_words"] = [str(FOLDER / "argparse_main.py"), "--lr", "0.5", "--epochs", "7"]
    (folder / "weights.py").write_text(_BEGIN + _WEIGHTS)
    scripts["weights"] = ["--weights", str(folder / "weights.py")]
    scripts["unbuilt"] = ["--weights", str(FOLDER / "tf_data.py")]
    (folder / "left_out.py").write_text(_BEGIN + _LEFT_OUT)
    scripts["left_out"] = ["--leave-out", str(folder / "left_out.py")]
    for name, (text, _) in REFUSED.items():
        (folder / f"{name}.py").write_text(_BEGIN + text)
        scripts[f"refused_{name}"] = ["--max-data", "1M", str(folder / f"{name}.py")]
    return capture_all(request.param, folder, scripts)


def value(document: Any, pointer: str) -> Any:
    """What a JSON pointer leads to."""
    for part in pointer.split("/")[1:]:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


@pytest.mark.parametrize("name", EXPECTED)
def test_program(captured: dict[str, Captured], name: str) -> None:
    found = captured[name]
    assert found.code == 0, found.err
    layers, values, _ = EXPECTED[name]
    classes = [layer["class_name"] for layer in found.program["model"]["config"]["layers"]]
    assert [each for each in classes if each != "InputLayer"] == layers
    assert {path: value(found.program, path) for path in values} == values


@pytest.mark.parametrize("name", EXPECTED)
def test_lines(captured: dict[str, Captured], name: str) -> None:
    found = captured[name]
    text = (FOLDER / f"{name}.py").read_text().splitlines()
    layers = [layer["class_name"] for layer in found.program["model"]["config"]["layers"]]
    for part, words in EXPECTED[name][2].items():
        path = part if part.startswith("/") else f"/model/config/layers/{layers.index(part)}"
        assert words in text[found.line(path) - 1], path


@pytest.mark.parametrize("name", EXPECTED)
def test_command_reads_it(captured: dict[str, Captured], name: str) -> None:
    shown = neutra.show(captured[name].fault)
    assert shown["rows"]["training"] > 0
    trained = neutra.train(captured[name].fault, replicas=1)
    assert len(trained) == 1


def test_same_program_in_all_versions(captured: dict[str, Captured], request: pytest.FixtureRequest) -> None:
    # Keras 2 gives an Embedding an InputLayer of its own, Keras 3 doesn't.
    hashes = {name: neutra.show(captured[name].fault)["hash"] for name in EXPECTED if name != "recurrent"}
    known = request.config.stash.setdefault(_HASHES, hashes)
    assert hashes == known


_HASHES = pytest.StashKey[dict[str, str]]()


def test_every_verb(captured: dict[str, Captured], tmp_path: Path) -> None:
    fault = captured["sequential_list"].fault
    network = neutra.search(fault, store=tmp_path / "store", budget_evaluations=3, replicas=2, improve=True)
    assert network is not None
    assert neutra.localise(fault, tool=["neuralint"], runs=1)


def test_words_of_the_script(captured: dict[str, Captured]) -> None:
    found = captured["argparse_words"]
    assert found.program["fit"]["epochs"] == 7
    assert found.program["compile"]["optimizer"]["config"]["learning_rate"] == 0.5
    assert found.script["arguments"] == ["--lr", "0.5", "--epochs", "7"]


def test_weights(captured: dict[str, Captured]) -> None:
    found = captured["weights"]
    assert found.code == 0, found.err
    result = neutra.run("evaluate", found.fault, weights=found.fault.with_suffix(".weights.h5"))
    printed = float(found.out.splitlines()[0])
    assert result["loss"] == pytest.approx(printed, rel=1e-5)
    unbuilt = captured["unbuilt"]
    assert neutra.run("evaluate", unbuilt.fault, weights=unbuilt.fault.with_suffix(".weights.h5"))["rows"] == 20


def test_left_out(captured: dict[str, Captured]) -> None:
    found = captured["left_out"]
    assert found.code == 0, found.err
    assert found.program["compile"]["optimizer"]["config"]["learning_rate"] == pytest.approx(0.1)
    assert found.program["fit"]["schedule"]["kind"] == "cosine"
    assert found.program["fit"]["callbacks"][0]["class_name"] == "ReduceLROnPlateau"
    notes = found.script["notes"]
    assert any("sample_weight" in note and note.endswith("left out") for note in notes)


def test_notes(captured: dict[str, Captured]) -> None:
    assert any("frozen at the first one" in note for note in captured["generator"].script["notes"])
    assert any("5 batches of an endless generator" in note for note in captured["generator"].script["notes"])
    assert any("the callback Printer is left out" in note for note in captured["callbacks"].script["notes"])
    assert captured["functional_chain"].script["seeds"][0].endswith("functional_chain.py:8")
    assert "what follows did not run" in captured["sequential_list"].err
    assert "trained" not in captured["sequential_list"].out


@pytest.mark.parametrize("name", REFUSED)
def test_refused(captured: dict[str, Captured], name: str) -> None:
    found = captured[f"refused_{name}"]
    text, message = REFUSED[name]
    assert found.code == 1
    assert message in found.err
    lines = (_BEGIN + text).splitlines()
    here = [number for number, line in enumerate(lines, 1) if "# HERE" in line]
    assert all(f"{name}.py:{number}" in found.err for number in here), found.err
    assert not found.fault.exists()
    assert not found.fault.with_suffix(".data.npz").exists()


_WHOLE = """
import random, sys
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(3)
x = np.random.rand(40, 4); y = (x.sum(1) > 2).astype(float)
model = keras.Sequential([keras.layers.Dense(5, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
own = np.random.RandomState(5)  # Keras reads ahead: NumPy's own numbers would not be the same in two runs
def rows():
    while True:
        i = own.randint(0, 40, 8)
        yield x[i], y[i]
history = model.fit(SOURCE, verbose=2)
print(history.history["loss"], np.random.rand(), random.random(), float(tf.random.uniform(())))
np.save("weights.npy", np.concatenate([w.ravel() for w in model.get_weights()]))
model.fit(x, y, epochs=1, verbose=0)
print(model.evaluate(x, y, verbose=0))
sys.exit(CODE)
"""
_SOURCES = {
    "arrays": ("x, y, epochs=3, batch_size=8, validation_split=0.2", 3),
    "dataset": ("tf.data.Dataset.from_tensor_slices((x, y)).shuffle(40).batch(8), epochs=3", 0),
    "generator": ("rows(), steps_per_epoch=4, epochs=3", 0),
}


@pytest.mark.parametrize("source", _SOURCES)
@pytest.mark.parametrize("python", PYTHONS)
def test_whole_script_is_the_script_alone(python: str, source: str, tmp_path: Path) -> None:
    arguments, code = _SOURCES[source]
    text = _WHOLE.replace("SOURCE", arguments).replace("CODE", str(code))
    outputs = []
    for part, words in (("alone", []), ("captured", ["-m", "neutra.capture", "-o", "../fault.json", "--run"])):
        folder = tmp_path / part
        folder.mkdir()
        (folder / "train.py").write_text(text)
        run = subprocess.run(
            [python, *words, "train.py"], cwd=folder, env=environment(), capture_output=True, text=True, timeout=300
        )
        out = [line for line in run.stdout.splitlines() if "fault.json" not in line and "ms/" not in line]
        out = [line for line in out if " - " not in line or "step" not in line]
        outputs.append((run.returncode, out, (folder / "weights.npy").read_bytes()))
        assert run.returncode == code, run.stderr
    assert outputs[0] == outputs[1]
    document = json.loads((tmp_path / "fault.json").read_text())
    assert document["program"]["fit"]["epochs"] == 3
    assert (tmp_path / "fault.data.npz").exists()
    notes = document["script"]["notes"]
    assert any("fit is called again: captured is the first training alone" in note for note in notes)
