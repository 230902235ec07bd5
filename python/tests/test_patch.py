"""Patches: the user's own files changed so that a script's program is another one."""

from __future__ import annotations

import ast
import copy
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from stand_ins import keras, torch
from stand_ins.recorder import Recorded

from neutra.sources import words
from neutra.sources.difference import changes
from neutra.sources.patch import Patch, Script, make_patch

SCRIPTS = Path(__file__).parent / "scripts" / "patches"
KERAS = [
    "sequential_list", "add_statements", "constants", "loops", "helpers", "options", "config_dict", "classes",
    "functional", "subclassed", "comprehension", "settings_module", "notebook", "indexed_dict", "chosen_classes",
]  # fmt: skip
TORCH = [
    "torch_sequential", "torch_module", "torch_loop_layers", "torch_faults", "torch_module_list", "torch_make_layers",
]  # fmt: skip
KINDS = [
    "activation", "kernel", "bias", "units", "rate", "loss", "lr", "optimizer", "batch", "epochs", "remove", "copy",
]  # fmt: skip
ACTIVATIONS = [name for name in words.table()["activation"] if name != "linear"]
INITIALIZERS = ["glorot_uniform", "he_uniform", "lecun_uniform", "random_normal", "zeros", "ones", "he_normal"]


def record(script: Path, arguments: list[str] | None = None) -> Recorded:
    run = (torch.record if script.name.startswith("torch") else keras.record)(script, arguments or [])
    config = run.program["compile"]["optimizer"]
    run.program["compile"]["optimizer"] = words.optimizer(config) if run.framework == "keras" else config
    return run


def script_of(run: Recorded, arguments: list[str] | None = None) -> Script:
    return Script(run.program, run.sites, run.files, run.framework, arguments or [])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in SCRIPTS.glob("*.py"):
        shutil.copy(file, tmp_path)
    return tmp_path


def layers(program: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = program["model"]["config"]["layers"]
    return found


def mutated(program: dict[str, Any], chance: random.Random, torch_words: bool) -> dict[str, Any]:
    """One to three changes, as a search makes them."""
    wanted = copy.deepcopy(program)
    for _ in range(chance.choice([1, 1, 2, 3])):
        stack = layers(wanted)
        dense = [layer for layer in stack if layer["class_name"] == "Dense"]
        kind = chance.choice(KINDS)
        if kind == "activation":
            with_one = [each for each in stack if each["class_name"] == ("Activation" if torch_words else "Dense")]
            known = [a for a in ACTIVATIONS if not torch_words or a not in ("hard_sigmoid", "exponential")]
            chance.choice(with_one)["config"]["activation"] = chance.choice(known)
        elif kind in ("kernel", "bias"):
            chance.choice(dense)["config"][f"{kind}_initializer"] = chance.choice(INITIALIZERS)
        elif kind == "units" and len(dense) > 1:
            config = chance.choice(dense[:-1])["config"]
            config["units"] = chance.choice([config["units"] * 2, max(1, config["units"] // 2)])
        elif kind == "rate":
            for layer in stack:
                if layer["class_name"] == "Dropout" and chance.random() < 0.6:
                    layer["config"]["rate"] = 0.35
        elif kind == "loss":
            wanted["compile"]["loss"] = chance.choice(["mean_absolute_error", "mean_squared_error", "huber"])
        elif kind == "lr":
            config = wanted["compile"]["optimizer"]["config"]
            config["learning_rate"] = float(f"{config['learning_rate'] * chance.choice([10, 0.1]):.6g}")
        elif kind == "optimizer":
            rate = wanted["compile"]["optimizer"]["config"]["learning_rate"]
            name = chance.choice(["Adam", "SGD", "RMSprop", "Adagrad", "Nadam"])
            wanted["compile"]["optimizer"] = {"class_name": name, "config": {"learning_rate": rate}}
        elif kind == "batch":
            wanted["fit"]["batch_size"] = chance.choice([16, 64, 256])
        elif kind == "epochs":
            wanted["fit"]["epochs"] *= 2
        elif kind == "remove" and len(dense) > 2:
            stack.remove(chance.choice(dense[:-1]))
        elif kind == "copy" and len(dense) > 1:
            layer = chance.choice(dense[:-1])
            stack.insert(next(n for n, each in enumerate(stack) if each is layer) + 1, copy.deepcopy(layer))
    return wanted


def left(run: Recorded, wanted: dict[str, Any]) -> list[str]:
    """What of a wanted program the patched script hasn't. Initial weights in PyTorch are functions with numbers."""
    found = []
    for change in changes(run.program, wanted):
        text = str(change)
        soft = run.framework != "keras" and ("_initializer" in text or "beta_" in text or "schedule_decay" in text)
        if not soft and "initial_accumulator" not in text:
            found.append(text)
    return found


@pytest.mark.parametrize("name", KERAS + TORCH)
def test_patched_scripts_have_the_wanted_program(name: str, folder: Path, tmp_path: Path) -> None:
    """Random wanted programs: what isn't refused applies with `patch -p1`, parses, and records as the wanted program;
    what the edits don't cover stays, byte by byte."""
    script = folder / f"{name}.py"
    run = record(script)
    patched = 0
    for number in range(25):
        chance = random.Random(f"{name} {number}")
        wanted = mutated(run.program, chance, name in TORCH)
        patch = make_patch(script_of(run), wanted)
        if patch.refused or not patch.contents:
            continue
        fresh = tmp_path / f"run{number}"
        shutil.copytree(SCRIPTS, fresh)
        (fresh / "p.diff").write_bytes(patch.diff)
        subprocess.run(["patch", "-p1", "-s", "-i", "p.diff"], cwd=fresh, check=True, capture_output=True)
        for file, (_, new) in patch.contents.items():
            assert (fresh / file).read_bytes() == new
            ast.parse(new)
        assert left(record(fresh / script.name), wanted) == [], patch.diff.decode()
        patched += 1
    assert patched >= 8


def patch_for(run: Recorded, changed: dict[str, Any], arguments: list[str] | None = None) -> Patch:
    """The patch that sets values by pointer."""
    wanted = copy.deepcopy(run.program)
    for path, value in changed.items():
        parent, _, key = path.rpartition("/")
        place = words.pointer(wanted, parent)
        place[int(key) if isinstance(place, list) else key] = value
    return make_patch(script_of(run, arguments), wanted)


def lines(patch: Patch) -> list[str]:
    """The changed lines of a diff."""
    found = patch.diff.decode().splitlines()
    return [line for line in found if line[:1] in "+-" and not line.startswith(("+++", "---"))]


def layer(number: int, key: str) -> str:
    return f"/model/config/layers/{number}/config/{key}"


LITERALS = [
    ("sequential_list", layer(0, "units"), 64),
    ("sequential_list", layer(1, "rate"), 0.25),
    ("sequential_list", layer(2, "activation"), "tanh"),
    ("sequential_list", "/compile/loss", "mean_absolute_error"),
    ("sequential_list", "/compile/optimizer/config/learning_rate", 0.01),
    ("add_statements", layer(2, "kernel_initializer"), "he_normal"),
    ("add_statements", "/fit/epochs", 40),
    ("constants", "/fit/batch_size", 64),
    ("constants", "/compile/optimizer/config/learning_rate", 0.01),
    ("loops", layer(2, "units"), 128),
    ("helpers", layer(6, "units"), 14),
    ("options", "/compile/optimizer/config/learning_rate", 0.05),
    ("config_dict", layer(0, "units"), 48),
    ("classes", layer(0, "units"), 96),
    ("settings_module", layer(0, "activation"), "selu"),
    ("torch_sequential", layer(3, "units"), 24),
    ("torch_sequential", layer(1, "activation"), "sigmoid"),
    ("torch_module", "/fit/batch_size", 16),
    ("torch_loop_layers", layer(2, "units"), 32),
    ("torch_faults", "/fit/epochs", 14),
]


@pytest.mark.parametrize(("name", "path", "value"), LITERALS)
def test_there_and_back(name: str, path: str, value: Any, folder: Path) -> None:
    """The patch to another value and the patch back give the old text."""
    script = folder / f"{name}.py"
    run = record(script)
    before = {file.name: file.read_bytes() for file in folder.glob("*.py")}
    there = patch_for(run, {path: value})
    assert there.refused == []
    there.apply(folder)
    again = record(script)
    back = make_patch(script_of(again), run.program)
    assert back.refused == []
    back.apply(folder)
    assert {file.name: file.read_bytes() for file in folder.glob("*.py")} == before


def test_keyword_is_added_on_a_line_of_its_own(folder: Path) -> None:
    """Where the others stand so; the comments of the lines stay with them."""
    text = (
        "import keras\nm = keras.Sequential()\nm.add(keras.layers.Dense(\n    4,  # units\n    'relu',  # why not\n))\n"
    )
    text += "m.compile('sgd', 'mse')\nm.fit(0, 0)\n"
    (folder / "own.py").write_text(text)
    found = lines(patch_for(record(folder / "own.py"), {layer(0, "kernel_initializer"): "ones"}))
    assert found == ["+    kernel_initializer='ones',"]


def test_settings_of_callbacks(folder: Path) -> None:
    """They change where they are; another callback can be added where there was none."""
    text = (folder / "sequential_list.py").read_text()
    text = text.replace("epochs=150", "callbacks=[EarlyStopping(patience=2)], epochs=150")
    (folder / "early.py").write_text("from keras.callbacks import EarlyStopping\n" + text)
    found = lines(patch_for(record(folder / "early.py"), {"/fit/callbacks/0/config/patience": 9}))
    assert found[1] == "+model.fit(x, y, callbacks=[EarlyStopping(patience=9)], epochs=150, batch_size=10)"
    callbacks = [{"class_name": "EarlyStopping", "config": {"monitor": "loss", "patience": 3}}]
    found = lines(patch_for(record(folder / "sequential_list.py"), {"/fit/callbacks": callbacks}))
    assert found[0] == "+from tensorflow.keras.callbacks import EarlyStopping"
    assert found[2].endswith("callbacks=[EarlyStopping(monitor='loss', patience=3)])")
    both = patch_for(record(folder / "early.py"), {"/fit/callbacks": []})
    assert [str(each.place) for each in both.refused] == ["early.py:22"]


CHANGES = [
    (
        "settings_module",
        {"/compile/optimizer/config/learning_rate": 0.5},
        ["+from tensorflow.keras.optimizers import Adam", "-OPTIMIZER = 'adam'",
         "+OPTIMIZER = Adam(learning_rate=0.5)"],
    ),
    (
        "sequential_list",
        {"/compile/optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}}},
        ["-from tensorflow.keras.optimizers import SGD", "+from tensorflow.keras.optimizers import SGD, Adam",
         "-    optimizer=SGD(lr=1e-1, momentum=0.9),  # too fast?", "+    optimizer=Adam(lr=1e-1),  # too fast?"],
    ),
    (
        "add_statements",
        {"/compile/optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.001}}},
        ['-model.compile("sgd", "mean_absolute_error")', '+model.compile("adam", "mean_absolute_error")'],
    ),
    (
        "add_statements",
        {"/compile/optimizer/config/learning_rate": 0.1},
        ['-model.compile("sgd", "mean_absolute_error")',
         '+model.compile(keras.optimizers.SGD(learning_rate=0.1), "mean_absolute_error")'],
    ),
    (
        "loops",
        {"/compile/optimizer/config/learning_rate": 0.1},
        ["-model.compile(optimizer='adam', loss='mse')",
         "+model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.1), loss='mse')"],
    ),
    (
        "loops",
        {layer(2, "activation"): "tanh"},
        ["-    model.add(layers.Dense(n, activation='relu'))",
         "+    model.add(layers.Dense(n, activation='tanh' if n == 32 else 'relu'))"],
    ),
    (
        "loops",
        {layer(0, "activation"): "tanh", layer(2, "activation"): "tanh", layer(4, "activation"): "tanh"},
        ["-    model.add(layers.Dense(n, activation='relu'))", "+    model.add(layers.Dense(n, activation='tanh'))"],
    ),
    (
        "constants",
        {layer(0, "activation"): "relu"},
        ["-model.add(tf.keras.layers.Dense(HIDDEN, activation=ACTIVATION, input_shape=(4,)))",
         "+model.add(tf.keras.layers.Dense(HIDDEN, activation='relu', input_shape=(4,)))"],
    ),
    (
        "constants",
        {layer(0, "activation"): "relu", layer(2, "activation"): "relu"},
        ["-ACTIVATION = 'tanh'", "+ACTIVATION = 'relu'"],
    ),
    (
        "helpers",
        {layer(3, "activation"): "relu"},
        ["-def dense(n):", "-    return layers.Dense(n, activation='sigmoid', kernel_initializer='he_normal')",
         "+def dense(n, activation='sigmoid'):",
         "+    return layers.Dense(n, activation=activation, kernel_initializer='he_normal')",
         "-net.add(dense(12))", "+net.add(dense(12, activation='relu'))"],
    ),
    (
        "helpers",
        {layer(0, "activation"): "tanh"},
        ["-def block(n, activation='relu'):", "+def block(n, activation='tanh'):"],
    ),
    (
        "options",
        {layer(1, "units"): 40},
        ["-    model.add(Dense(args.hidden // 2, activation=args.act))",
         "+    model.add(Dense(40, activation=args.act))"],
    ),
    (
        "options",
        {layer(0, "units"): 40},
        ["-    model.add(Dense(args.hidden, activation=args.act, input_dim=3))",
         "+    model.add(Dense(40, activation=args.act, input_dim=3))"],
    ),
    (
        "functional",
        {"/compile/loss": "mean_squared_error"},
        ["-model.compile(optimizer='nadam', loss=losses.CategoricalCrossentropy(from_logits=True))",
         "+model.compile(optimizer='nadam', loss='mean_squared_error')"],
    ),
    (
        "config_dict",
        {layer(2, "activation"): "relu"},
        ["-model.add(Dense(config['units'][1], **common))",
         "+model.add(Dense(config['units'][1], **{**common, 'activation': 'relu'}))"],
    ),
    (
        "sequential_list",
        {"/fit/validation_split": 0.2, "/fit/class_weight": {"0": 1, "1": 5}},
        ["-model.fit(x, y, epochs=150, batch_size=10)",
         "+model.fit(x, y, epochs=150, batch_size=10, validation_split=0.2, class_weight={0: 1, 1: 5})"],
    ),
    (
        "torch_sequential",
        {"/compile/optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.001}}},
        ["-optimizer = optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)",
         "+optimizer = optim.Adam(model.parameters(), lr=1e-3, eps=1e-07)"],
    ),
    (
        "torch_module",
        {layer(1, "activation"): "elu", layer(3, "activation"): "exponential"},
        ["-        x = F.relu(self.fc1(x))", "-        x = torch.sigmoid(self.fc2(x))",
         "+        x = F.elu(self.fc1(x))", "+        x = torch.exp(self.fc2(x))"],
    ),
    (
        "torch_module",
        {layer(5, "activation"): "softmax"},
        ["-        return self.fc3(x)", "+        return torch.softmax(self.fc3(x), dim=-1)"],
    ),
    (
        "torch_sequential",
        {layer(4, "activation"): "exponential"},
        ["+", "+", "+class Exponential(nn.Module):", "+    def forward(self, x):", "+        return torch.exp(x)",
         "-    nn.Tanh(),", "+    Exponential(),"],
    ),
    (
        "torch_module",
        {layer(2, "kernel_initializer"): "glorot_uniform"},
        ["+        nn.init.xavier_uniform_(self.fc2.weight)"],
    ),
    (
        "torch_faults",
        {"/fit/loop/zero_grad": "each_step", "/fit/loop/reduction": "mean"},
        ["-loss_fn = nn.L1Loss(reduction='sum')", "+loss_fn = nn.L1Loss(reduction='mean')",
         "+        opt.zero_grad()"],
    ),
    (
        "torch_faults",
        {layer(5, "activation"): "tanh"},
        ["-        x = self.act(self.middle(x))", "+        x = torch.tanh(self.middle(x))"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changed", "expected"), CHANGES)
def test_changed_lines(name: str, changed: dict[str, Any], expected: list[str], folder: Path) -> None:
    patch = patch_for(record(folder / f"{name}.py"), changed)
    assert patch.refused == []
    assert lines(patch) == expected


def without(program: dict[str, Any], number: int) -> dict[str, Any]:
    wanted = copy.deepcopy(program)
    del layers(wanted)[number]
    return wanted


def twice(program: dict[str, Any], number: int) -> dict[str, Any]:
    wanted = copy.deepcopy(program)
    layers(wanted).insert(number + 1, copy.deepcopy(layers(wanted)[number]))
    return wanted


LAYERS = [
    ("sequential_list", without, 0,
     ["-    Dense(12, input_dim=8, activation='relu'),   # first hidden layer", "-    Dropout(0.5),",
      "+    Dropout(0.5, input_dim=8),"]),
    ("sequential_list", twice, 2, ["+    Dense(8, activation='relu'),"]),
    ("add_statements", without, 0,
     ["-    model.add(Dense(16, input_shape=(1,)))", '-    model.add(Activation("relu"))',
      '+    model.add(Activation("relu", input_shape=(1,)))']),
    ("loops", without, 2,
     ["-    model.add(layers.Dense(n, activation='relu'))", "+    if n != 32:",
      "+        model.add(layers.Dense(n, activation='relu'))"]),
    ("loops", without, 7, ["-for _ in range(2):", "+for _ in range(1):"]),
    ("loops", twice, 8, ["-for i, (units, act) in enumerate([(9, 'relu'), (7, 'tanh')]):",
                         "+for i, (units, act) in enumerate([(9, 'relu'), (9, 'relu'), (7, 'tanh')]):"]),
    ("functional", without, 3, ["-h = Dense(16, activation='relu')(x)", "+h = x"]),
    ("functional", twice, 4, ["-out = Dense(2)(hidden(h))", "+hidden_2 = Dense(8, activation='relu')",
                              "+out = Dense(2)(hidden_2(hidden(h)))"]),
    ("subclassed", without, 1, ['-        self.second = tf.keras.layers.Dense(15, activation="relu")',
                                "-        x = self.drop(self.second(x))", "+        x = self.drop(x)"]),
    ("comprehension", without, 1, ["-widths = (50, 40, 30)", "+widths = (50, 30)"]),
    ("comprehension", twice, 5, ["-more = [Dense(20, 'elu') for _ in range(depth)]",
                                 "+more = [Dense(20, 'elu') for _ in range(depth + 1)]"]),
    ("helpers", twice, 0, ["+net.add(block(32))"]),
    ("torch_sequential", without, 3, ["-    nn.Linear(16, 12),", "-    nn.Linear(12, 1),", "+    nn.Linear(16, 1),"]),
    ("torch_sequential", twice, 0, ["+    nn.Linear(16, 16),"]),
    ("torch_module", without, 2,
     ["-        self.fc2 = nn.Linear(hidden, 10)", "-        self.fc3 = nn.Linear(10, classes)",
      "+        self.fc3 = nn.Linear(hidden, classes)", "-        x = torch.sigmoid(self.fc2(x))",
      "+        x = torch.sigmoid(x)"]),
    ("torch_module", twice, 0,
     ["+        self.fc1_2 = nn.Linear(hidden, hidden)", "-        x = F.relu(self.fc1(x))",
      "+        x = F.relu(self.fc1_2(self.fc1(x)))"]),
    ("torch_loop_layers", without, 2,
     ["-    layers.append(nn.Linear(prev, n))", "+    if n != 16:", "+        layers.append(nn.Linear(prev, n))",
      "-    prev = n", "+    if n != 16:", "+        prev = n"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "number", "expected"), LAYERS)
def test_changed_layers(name: str, change: Any, number: int, expected: list[str], folder: Path) -> None:
    run = record(folder / f"{name}.py")
    patch = make_patch(script_of(run), change(run.program, number))
    assert patch.refused == []
    assert lines(patch) == expected


def refused_of(run: Recorded, path: str, value: Any) -> list[str]:
    """What cannot be changed where one value shall be another."""
    wanted = copy.deepcopy(run.program)
    *parents, key = path.strip("/").split("/")
    place: Any = wanted
    for part in parents:
        place = place[int(part) if isinstance(place, list) else part]
    place[key] = value
    return [str(each) for each in make_patch(script_of(run), wanted).refused]


def test_batches_of_a_stream_stay(folder: Path) -> None:
    run = record(folder / "sequential_list.py")
    assert refused_of(run, "/fit/batch_size", 64) == []
    site = next(each for each in run.sites if each.path == "/fit")
    site.arguments.pop("batch_size")  # fit was given batches
    found = refused_of(run, "/fit/batch_size", 64)
    assert len(found) == 1 and "batches come as they are" in found[0]
    assert refused_of(run, "/fit/epochs", 7) == []


def test_widths_that_a_layer_behind_is_told_stay(folder: Path) -> None:
    run = record(folder / "sequential_list.py")
    dense = [n for n, each in enumerate(layers(run.program)) if "units" in each["config"]]
    path = f"/model/config/layers/{dense[0]}/config/units"
    assert refused_of(run, path, 77) == []
    site = next(each for each in run.sites if each.path == f"/model/config/layers/{dense[1]}")
    site.given.append("input_shape")  # the first layer of a model in the model
    found = refused_of(run, path, 77)
    assert len(found) == 1 and "has an input_shape of its own" in found[0]
