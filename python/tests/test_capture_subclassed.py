"""Models whose call is the user's own: followed through their layers, or refused with the line. Needs Keras:
NEUTRA_KERAS_PYTHONS names interpreters."""

from __future__ import annotations

from pathlib import Path

import pytest
from captures import Captured, capture_all, pythons

PYTHONS = pythons("NEUTRA_KERAS_PYTHONS", "keras")
pytestmark = pytest.mark.skipif(not PYTHONS, reason="needs Keras")

BEGIN = """
import numpy as np
import keras
from keras import layers
x = np.random.rand(24, 6).astype("float32"); y = (x[:, 0] > 0.5).astype("float32")
"""
FIT = """
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, batch_size=8)  # FIT
"""
BLOCK = """
class Block(layers.Layer):
    def __init__(self, units, rate=0.2):
        super().__init__()
        self.dense = layers.Dense(units, activation="tanh")
        self.drop = layers.Dropout(rate)
    def call(self, inputs, training=None):
        return self.drop(self.dense(inputs), training=training)
"""
#: The script, and the layers of its program that are no InputLayer.
FOLLOWED = {
    "training": (
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = layers.Dense(1, activation="sigmoid")
        self.hidden = layers.Dense(7, activation="relu")
        self.drop = layers.Dropout(0.5)
    def call(self, x, training=False):
        x = self.hidden(x)
        if training:
            x = self.drop(x, training=training)
        return self.head(x)
model = Net()
""",
        ["Dense", "Dropout", "Dense"],
    ),
    "blocks": (
        BLOCK
        + """
class Net(keras.Model):
    def __init__(self, widths):
        super().__init__()
        self.blocks = [Block(width) for width in widths]
        self.head = keras.Sequential([layers.Dense(4), layers.Dense(1, activation="sigmoid")])
    def call(self, inputs, training=None):
        for block in self.blocks:
            inputs = block(inputs, training=training)
        return self.head(inputs)
model = Net([5, 6])
""",
        ["Dense", "Dropout", "Dense", "Dropout", "Dense", "Dense"],
    ),
    "own_layer_in_sequential": (
        BLOCK + 'model = keras.Sequential([Block(5), layers.Dense(1, activation="sigmoid")])\n',
        ["Dense", "Dropout", "Dense"],
    ),
    "own_layer_in_functional": (
        BLOCK
        + """
inputs = keras.Input(shape=(6,))
outputs = layers.Dense(1, activation="sigmoid")(Block(4)(layers.BatchNormalization()(inputs)))
model = keras.Model(inputs, outputs)
""",
        ["BatchNormalization", "Dense", "Dropout", "Dense"],
    ),
    "made_in_build": (
        """
class Wide(layers.Layer):
    def build(self, shape):
        self.inner = layers.Dense(2 * shape[-1], activation="relu")
    def call(self, x):
        return self.inner(x)
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide, self.head = Wide(), layers.Dense(1, activation="sigmoid")
    def call(self, x):
        return self.head(self.wide(x))
model = Net()
model.build((None, 6))
""",
        ["Dense", "Dense"],
    ),
    "functions": (
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = layers.Dense(6), layers.Dense(1)
    def call(self, x):
        return keras.activations.sigmoid(self.b(keras.activations.relu(self.a(x))))
model = Net()
""",
        ["Dense", "Activation", "Dense", "Activation"],
    ),
}
#: The script, where `HERE` marks the line that is named, and what is said of it.
REFUSED = {
    "own_weights": (
        """
class Scale(layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1],), initializer="ones", name="w")
    def call(self, x):
        return x * self.w
model = keras.Sequential([Scale(), layers.Dense(1, activation="sigmoid")])
""",
        "",
    ),
    "other_in_inference": (
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = layers.Dense(4), layers.Dense(1)
    def call(self, x, training=None):
        x = self.a(x)
        return self.b(x) if training else layers.Activation("sigmoid")(self.b(x))
model = Net()
""",
        "allowed: Dropout and noise alone differ",
    ),
    "layer_in_training_alone": (
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = layers.Dense(6), layers.Dense(1, activation="sigmoid")
    def call(self, x, training=None):
        return self.b(self.a(x) if training else x)
model = Net()
""",
        "(Dense) in training alone; allowed: Dropout and noise alone differ",
    ),
    "fails": (
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(1, activation="sigmoid")
    def call(self, x):
        return self.a(self.b(x))  # HERE
model = Net()
""",
        "found a call of Net that can't be followed (AttributeError",
    ),
    "two_outputs": (
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = layers.Dense(1), layers.Dense(1)
    def call(self, x):
        return self.a(x), self.b(x)
model = Net()
""",
        "found Net with 2 outputs; allowed: one",
    ),
    "train_step": (
        """
class Net(keras.Sequential):
    def train_step(self, data):
        return super().train_step(data)
model = Net([layers.Dense(1, activation="sigmoid")])
""",
        "found Net with a train_step of its own; allowed: Keras's",
    ),
}


@pytest.fixture(scope="module", params=PYTHONS)
def captured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, real: str
) -> dict[str, Captured]:
    folder: Path = tmp_path_factory.mktemp("captured")
    words: dict[str, list[str]] = {}
    for name, (text, _) in [*FOLLOWED.items(), *REFUSED.items()]:
        file = folder / f"{name}.py"
        file.write_text(BEGIN + text + FIT)
        words[name] = [str(file)]
    words["weights"] = ["--weights", str(folder / "blocks.py")]
    words["run"] = ["--run", "--weights", str(folder / "blocks.py")]
    return capture_all(request.param, folder, words)


@pytest.mark.parametrize("name", FOLLOWED)
def test_followed(captured: dict[str, Captured], name: str) -> None:
    found = captured[name]
    assert found.code == 0, found.err
    kinds = [layer["class_name"] for layer in found.program["model"]["config"]["layers"]]
    assert [kind for kind in kinds if kind != "InputLayer"] == FOLLOWED[name][1]


def test_lines(captured: dict[str, Captured]) -> None:
    """A layer has the line at which it was made, not that of its call."""
    lines = (BEGIN + FOLLOWED["blocks"][0]).splitlines()
    found = captured["blocks"]
    layers = found.program["model"]["config"]["layers"]
    dense = [n for n, layer in enumerate(layers) if layer["class_name"] == "Dense"]
    assert "self.dense = layers.Dense(units" in lines[found.line(f"/model/config/layers/{dense[0]}") - 1]
    assert "Net([5, 6])" in lines[found.line(f"/model/config/layers/{dense[1]}/config/units") - 1]
    assert "layers.Dense(4)" in lines[found.line(f"/model/config/layers/{dense[2]}/config/units") - 1]


@pytest.mark.parametrize("name", ["weights", "run"])
def test_weights(captured: dict[str, Captured], name: str) -> None:
    import h5py

    found = captured[name]
    assert found.code == 0, found.err
    assert [layer["class_name"] for layer in found.program["model"]["config"]["layers"]][-1] == "Dense"
    if name == "weights":
        with h5py.File(found.fault.with_suffix(".weights.h5")) as file:
            assert sum(len(file[layer].attrs["weight_names"]) for layer in file.attrs["layer_names"]) == 8
    else:
        assert any("no initial weights are kept" in note for note in found.script["notes"])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(captured: dict[str, Captured], name: str) -> None:
    found = captured[name]
    text, message = REFUSED[name]
    assert found.code == 1
    assert message in found.err
    lines = (BEGIN + text + FIT).splitlines()
    here = [number for number, line in enumerate(lines, 1) if "# HERE" in line]
    assert all(f"{name}.py:{number}: " in found.err for number in here), found.err
    assert f"{name}.py:" in found.err and "mistake of neutra" not in found.err
    assert not found.fault.exists()
