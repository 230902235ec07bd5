"""Captures scripts of PyTorch users, and what no program holds. Needs PyTorch: NEUTRA_TORCH_PYTHONS names
interpreters."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from captures import SCRIPTS, Captured, capture_all, environment, pythons
from torch_models import scripts as model_scripts

import neutra

FOLDER = SCRIPTS / "torch"
PYTHONS = pythons("NEUTRA_TORCH_PYTHONS", "torch")
pytestmark = pytest.mark.skipif(not PYTHONS, reason="needs PyTorch")

#: For each script: layers, values of the program, and words of the lines where parts are written.
EXPECTED: dict[str, tuple[list[str], dict[str, Any], dict[str, str]]] = {
    "sequential": (
        ["Dense", "Activation", "Dropout", "Dense"],
        {
            "/fit/epochs": 5,
            "/fit/batch_size": 16,
            "/fit/shuffle": True,
            "/compile/optimizer/config/learning_rate": 0.01,
        },
        {"Dense": "nn.Linear(4, 12)", "Dropout": "nn.Dropout(0.2)", "/compile/optimizer": "torch.optim.Adam("},
    ),
    "mnist_style": (
        [*["Conv2D", "Activation"] * 2, "MaxPooling2D", "Dropout", "Flatten", "Dense", "Activation", "Dense"],
        {
            "/fit/epochs": 3,
            "/fit/schedule": {"decay_rate": 0.7, "every": "epoch"},
            "/compile/loss/class_name": "sparse_categorical_crossentropy",
        },
        {"Conv2D": "nn.Conv2d(1, 4", "MaxPooling2D": "F.max_pool2d(x, 2)", "/fit/schedule": "StepLR("},
    ),
    "trainer_class": (
        ["Dense", "Activation", "Dense", "Activation", "Dense"],
        {
            "/fit/epochs": 4,
            "/fit/batch_size": 10,
            "/compile/optimizer/config/clipvalue": 0.5,
            "/compile/loss": "mean_squared_error",
        },
        {"Dense": "nn.Linear(1, hidden)", "/fit/loop/zero_grad": "zero_grad()"},
    ),
    "full_batch": (
        ["Dense", "Activation", "Dense"],
        {"/fit/epochs": 30, "/fit/batch_size": 40, "/fit/shuffle": False, "/data/test": "train"},
        {"Activation": "torch.relu(self.hidden(x))", "/fit/epochs": "for t in range(30)"},
    ),
    "manual_batches": (
        ["Dense", "LeakyReLU", "Dense", "Activation"],
        {"/fit/epochs": 6, "/fit/batch_size": 8, "/fit/shuffle": True, "/compile/loss": "binary_crossentropy"},
        {"LeakyReLU": "nn.LeakyReLU(0.1)", "/compile/loss": "nn.BCELoss()"},
    ),
    "missing_zero_grad": (
        ["Dense", "Activation", "Dense"],
        {"/fit/loop": {"zero_grad": "never"}, "/fit/batch_size": 12, "/fit/epochs": 4},
        {"/fit/loop/step": "opt.step()"},
    ),
    "missing_eval": (
        ["Dense", "BatchNormalization", "Activation", "Dropout", "Dense"],
        {"/fit/loop": {"eval_mode": False}, "/model/config/layers/1/config/momentum": 0.9},
        {"BatchNormalization": "nn.BatchNorm1d(16)", "/fit/loop/eval_mode": "model(x)"},
    ),
    "softmax_twice": (
        [*["Dense", "Activation"] * 3, "Activation"],
        {"/compile/loss": "sparse_categorical_crossentropy", "/fit/epochs": 5, "/fit/batch_size": 9},
        {"Activation": "torch.tanh(layer(x))"},
    ),
    "cnn": (
        [
            "Conv2D",
            "BatchNormalization",
            "Activation",
            "MaxPooling2D",
            "ZeroPadding2D",
            "Conv2D",
            "Activation",
            "Flatten",
            "Dense",
            "Activation",
            "Dense",
        ],
        {"/model/config/layers/8/config/bias_initializer/config/value": 0.01, "/fit/shuffle": False},
        {"Conv2D": "nn.Conv2d(3, 6", "Flatten": "x.view("},
    ),
    "logits": (
        [*["Dense", "Activation"] * 3, "Dense"],
        {
            "/compile/loss/config/from_logits": True,
            "/metric/name": "binary_accuracy",
            "/metric/threshold": 0,
            "/data/test": "train",
        },
        {"Dense": "layers.append(nn.Linear(size, width))"},
    ),
    "feature_extractor": (
        ["Dense", "Activation", "Dense", "Activation", "Dense"],
        {"/fit/loop": {"left_out": [2], "detached": 0}},
        {"/fit/loop/detached": "self.encoder(x)"},
    ),
    "epoch_zero_grad": (
        ["Dense", "Activation", "Dense"],
        {"/fit/loop": {"zero_grad": "each_epoch", "reduction": "sum"}, "/fit/epochs": 3},
        {"/fit/loop/zero_grad": "optimizer.zero_grad()"},
    ),
    "misplaced_zero_grad": (["Dense", "Activation", "Dense"], {"/fit/loop": {"zero_grad": "before_step"}}, {}),
    "missing_step": (["Dense"], {"/fit/loop": {"step": False}, "/compile/loss": "huber"}, {}),
    "one_row": (["Dense", "Activation", "Dense"], {"/fit/batch_size": 1, "/fit/epochs": 20, "/fit/shuffle": False}, {}),
    "text": (
        ["Embedding", "Conv1D", "Activation", "GRU", "Dense", "Activation"],
        {"/model/config/layers/3/config/return_sequences": False, "/fit/epochs": 2},
        {"Embedding": "nn.Embedding(vocabulary, width)", "GRU": "nn.GRU(8"},
    ),
    "from_numpy": (
        ["Flatten", "Dense", "Activation", "Dense"],
        {"/fit/epochs": 4, "/fit/batch_size": 12, "/compile/loss": "mean_squared_error"},
        {"Flatten": "nn.Flatten()", "/compile/loss": "((net(x) - y) ** 2).mean()"},
    ),
    "autoencoder": (
        ["ZeroPadding2D", "Conv2D", "Activation", "Conv2DTranspose", "Activation"],
        {"/fit/epochs": 3, "/fit/batch_size": 8, "/compile/optimizer/class_name": "Nadam"},
        {"Conv2DTranspose": "nn.ConvTranspose2d("},
    ),
    "residual": (
        ["InputLayer", "Dense", "Dense", "Activation", "Dense", "Add", "Dense"],
        {"/model/config/layers/5/inputs": ["0_1", "1_b_4"], "/model/class_name": "Functional"},
        {"Dense": "nn.Linear(3, 4)", "Add": "x + self.b("},
    ),
    "branches": (
        [
            *["InputLayer", "Conv2D", "Activation", "Conv2D", "Add", "Concatenate", "GlobalAveragePooling2D"],
            *["Dense", "Activation", "Dense", "Maximum", "Concatenate", "Dense"],
        ],
        {
            "/model/config/layers/5/config/axis": 3,
            "/model/config/layers/9/weights_of": "shared_7",
            "/model/config/layers/10/inputs": ["globalaveragepooling2d_6", "shared_9"],
        },
        {"Conv2D": "nn.Conv2d(1, 4", "Add": "torch.cat([x, x + self.wide(x)]", "Maximum": "torch.maximum(x, again)"},
    ),
    "left_out": (
        ["Dense", "Activation", "Dense"],
        {
            "/compile/optimizer/class_name": "Adam",
            "/compile/optimizer/config/weight_decay": 0.01,
            "/compile/optimizer/config/decoupled_weight_decay": True,
            "/fit/schedule": {"kind": "cosine", "steps": 10, "end": 0, "cycle": True, "every": "epoch"},
            "/fit/epochs": 10,
        },
        {},
    ),
}

#: Scripts that are captured only with what no program holds left out.
LEAVE_OUT = {"left_out": ["--leave-out"]}

_HEAD = """
import torch
from torch import nn
import torch.nn.functional as F
x, y = torch.randn(12, 4), torch.randn(12, 2)
labels = torch.randint(0, 2, (12,))
model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
_LOOP = """
for epoch in range(3):
    for i in range(0, 12, 4):
        optimizer.zero_grad()
        loss = {loss}
        loss.backward()
        optimizer.step()
"""

#: What no program holds: the script behind _HEAD, where `HERE` marks the line that is named, and what is said of it.
REFUSED = {
    "accumulation": (
        """
for epoch in range(2):
    for i in range(12):
        (F.mse_loss(model(x[i : i + 1]), y[i : i + 1])).backward()  # HERE
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
""",
        "multiplied by 1, and 4 backward passes for one step of the optimiser; allowed: a factor of 0.25",
    ),
    "accumulation_with_some_left": (
        """
for epoch in range(2):
    optimizer.zero_grad()
    for i in range(12):
        (F.mse_loss(model(x[i : i + 1]), y[i : i + 1]) / 5).backward()  # HERE
        if (i + 1) % 5 == 0 or i == 11:
            optimizer.step()
            optimizer.zero_grad()
""",
        "found 5 backward passes for one step of the optimiser, and others",
    ),
    "accumulation_without_zero_grad": (
        """
for epoch in range(2):
    for i in range(12):
        (F.mse_loss(model(x[i : i + 1]), y[i : i + 1]) / 4).backward()  # HERE
        if i % 4 == 3:
            optimizer.step()
""",
        "found 4 backward passes for one step of the optimiser; allowed: zero_grad() once for each",
    ),
    "scaled": (
        _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), y[i : i + 4]) / 2  # HERE"),
        "found a loss that is multiplied by 0.5; allowed: a factor of 1",
    ),
    "own_loss": (
        _LOOP.format(loss="model(x[i : i + 4]).exp().mean()  # HERE"),
        "found a loss by mean of something else",
    ),
    "broadcast": (
        "model = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
        + _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), y[i : i + 4, 0])  # HERE"),
        "equal shapes",
    ),
    "no_logarithms": (
        _LOOP.format(loss="F.nll_loss(model(x[i : i + 4]), labels[i : i + 4])  # HERE"),
        "that are no logarithms",
    ),
    "class_weights": (
        "weights = torch.tensor([1.0, 2.0])"
        + _LOOP.format(
            loss="F.cross_entropy(model(x[i : i + 4]), labels[i : i + 4], weight=weights, label_smoothing=0.1)  # HERE"
        ),
        "found weights of classes beside label_smoothing",
    ),
    "element_weights": (
        _LOOP.format(
            loss="F.binary_cross_entropy_with_logits(model(x[i : i + 4]), y[i : i + 4] * 0, weight=y[:4])  # HERE"
        ),
        "found weights of single elements",
    ),
    "a_part_of_a_bias": (
        "model[0].bias.data[1:].fill_(1.0)" + _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), y[i : i + 4])"),
        "0.bias: found fill_ of a part of it at the start",
    ),
    "two_directions": (
        "rnn = nn.LSTM(4, 3, batch_first=True, bidirectional=True)  # HERE\n"
        "optimizer = torch.optim.SGD(rnn.parameters(), lr=1)\nx, y = torch.randn(12, 5, 4), torch.randn(12, 5, 6)"
        + _LOOP.format(loss="F.mse_loss(rnn(x[i : i + 4])[0], y[i : i + 4])"),
        "found bidirectional; allowed: one direction",
    ),
    "attention": (
        "layer = nn.TransformerEncoderLayer(4, 2, batch_first=True)\n"
        "optimizer = torch.optim.SGD(layer.parameters(), lr=1)"
        + _LOOP.format(loss="F.mse_loss(layer(x[i : i + 4]), x[i : i + 4])"),
        "found TransformerEncoderLayer, which no layer",
    ),
    "two_rates": (
        "groups = [{'params': model[0].parameters(), 'lr': 1.0}, {'params': model[2].parameters()}]\n"
        "optimizer = torch.optim.SGD(groups, lr=0.1)  # HERE"
        + _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), y[i : i + 4])"),
        "groups of parameters with lr 1.0 and 0.1",
    ),
    "closure": (
        """
optimizer = torch.optim.LBFGS(model.parameters())
def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    return loss
for epoch in range(3):
    optimizer.step(closure)  # HERE
""",
        "found an optimiser that calls a closure",
    ),
    "by_hand": (
        """
for epoch in range(3):
    model.zero_grad()
    F.mse_loss(model(x), y).backward()  # HERE
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
""",
        "weights that change without an optimiser",
    ),
    "while_loop": (
        """
epoch = 0
while epoch < 4:  # HERE
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    epoch += 1
""",
        "found while epoch < 4, which can't be counted",
    ),
    "quotient": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 4)\n"
        "    def forward(self, x):\n        h = self.a(x)\n        return self.a(h) / h  # HERE\n"
        "model = Net()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
        + _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), x[i : i + 4])"),
        "found 2 tensors of the model that meet here",
    ),
    "other_ways": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 2)\n"
        "    def forward(self, x):\n        h = self.a(x)\n"
        "        return torch.relu(h) if x[0, 0] > 0 else torch.tanh(h)\n"
        "x[:6, 0], x[6:, 0] = 1, -1\nmodel = Net()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
        + _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), y[i : i + 4])"),
        "steps that go different ways",
    ),
    "own_parameters": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 2)\n"
        "        self.scale = nn.Parameter(torch.ones(2))\n"
        "    def forward(self, x):\n        return self.a(x) * self.scale  # HERE\n"
        "model = Net()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
        + _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), y[i : i + 4])"),
        "parameters of the script's own",
    ),
    "written_weights": (
        "with torch.no_grad():\n    model[0].weight.copy_(torch.rand(3, 4))"
        + _LOOP.format(loss="F.mse_loss(model(x[i : i + 4]), y[i : i + 4])"),
        "0.weight: found numbers by copy_ at the start",
    ),
    "adversaries": (
        """
other = nn.Linear(2, 4)
opposing = torch.optim.SGD(other.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(0, 12, 4):
        optimizer.zero_grad()
        F.mse_loss(model(x[i : i + 4]), y[i : i + 4]).backward()
        optimizer.step()
        opposing.zero_grad()
        F.mse_loss(other(y[i : i + 4]), x[i : i + 4]).backward()
        opposing.step()
""",
        "two models that are trained in turns",
    ),
}


@pytest.fixture(scope="module", params=PYTHONS)
def python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def captured(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Captured]:
    folder = tmp_path_factory.mktemp("captured")
    wanted = {name: [*LEAVE_OUT.get(name, []), str(FOLDER / f"{name}.py")] for name in EXPECTED}
    for name, (text, _) in REFUSED.items():
        (folder / f"{name}.py").write_text(_HEAD + text)
        wanted[name] = [str(folder / f"{name}.py")]
    return capture_all(python, folder, wanted)


def value(document: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        document = document[int(part)] if isinstance(document, list) else document.get(part)
    return document


@pytest.mark.parametrize("name", EXPECTED)
def test_script(captured: dict[str, Captured], name: str) -> None:
    one = captured[name]
    layers, values, lines = EXPECTED[name]
    assert one.code == 0, one.err
    kinds = [layer["class_name"] for layer in one.program["model"]["config"]["layers"]]
    assert kinds == layers
    for pointer, wanted in values.items():
        assert value(one.program, pointer) == wanted, pointer
    text = (FOLDER / f"{name}.py").read_text().splitlines()
    for path, words in lines.items():
        place = path if path.startswith("/") else f"/model/config/layers/{kinds.index(path)}"
        assert words in text[one.line(place) - 1], path


@pytest.mark.parametrize("name", EXPECTED)
def test_the_command_trains_what_was_captured(captured: dict[str, Captured], name: str) -> None:
    found = neutra.run("train", captured[name].fault, replicas=2)
    assert [each["status"] for each in found["replicas"]] == ["ok", "ok"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_program_holds(captured: dict[str, Captured], name: str) -> None:
    one = captured[name]
    text, message = REFUSED[name]
    assert one.code == 1 and not one.fault.exists()
    assert message in one.err
    if "# HERE" in text:
        lines = (_HEAD + text).splitlines()
        here = next(number for number, line in enumerate(lines, 1) if "# HERE" in line)
        assert f"{name}.py:{here}: " in one.err


_TWO_MODELS = """
import torch
from torch import nn
encoder, decoder = nn.Sequential(nn.Linear(4, 3), nn.ReLU()), nn.Sequential(nn.Linear(3, 4))
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
x = torch.rand(12, 4)
for epoch in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(decoder(encoder(x)), x).backward()
    optimizer.step()
"""


def test_weights_of_several_models(python: str, tmp_path: Path) -> None:
    """Parameters of one name in an encoder and a decoder, or of layers that are called one by one."""
    (tmp_path / "two.py").write_text(_TWO_MODELS)
    (tmp_path / "one_by_one.py").write_text(
        _TWO_MODELS.replace("decoder(encoder(x))", "decoder[0](encoder[0](x).relu())")
    )
    for name, options in (("two", ["--weights"]), ("one_by_one", ["--weights", "--run"])):
        found = capture_all(python, tmp_path, {name: [*options, str(tmp_path / f"{name}.py")]})[name]
        assert found.code == 0, found.err
        (tmp_path / "results").unlink()
        neutra.run("evaluate", found.fault, weights=found.fault.with_suffix(".weights.h5"))


def test_what_is_left_out_is_named(captured: dict[str, Captured]) -> None:
    notes = captured["left_out"].script["notes"]
    assert any("found clip_grad_norm_ with the norm inf" in note and "left out" in note for note in notes)


def test_a_script_that_trains_to_its_end_is_itself(python: str, tmp_path: Path) -> None:
    """Output, files, random numbers and exit code."""
    script = str(FOLDER / "writes_files.py")
    runs = []
    for name, words in (
        ("alone", [script]),
        ("captured", ["-m", "neutra.capture", "--run", "-o", "../fault.json", script]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        run = subprocess.run(
            [python, *words], cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
        runs.append(
            (run.returncode, run.stdout, (folder / "best.pt").read_bytes(), sorted(p.name for p in folder.iterdir()))
        )
    (code, out, model, files), (own_code, own_out, own_model, own_files) = runs
    assert (code, own_code, files) == (3, 3, own_files)
    assert own_out.startswith(out) and own_out.count("\n") == out.count("\n") + 1
    assert model == own_model
    program = json.loads((tmp_path / "fault.json").read_text())["program"]
    assert program["fit"]["epochs"] == 7


#: Scripts whose averages are of n - 1 rows in PyTorch.
_SAMPLE = {"missing_eval"}
_REPLAYED = [name for name in EXPECTED if name not in ("trainer_class", "left_out")]


@pytest.fixture(scope="module")
def replayed(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[float, float]]:
    folder = tmp_path_factory.mktemp("models")
    for name, text in model_scripts().items():
        (folder / f"{name}.py").write_text(text)
    files = [*(FOLDER / f"{name}.py" for name in _REPLAYED), *sorted(folder.glob("*.py"))]
    words = [python, str(Path(__file__).parent / "torch_replay.py"), *map(str, files)]
    run = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=900)
    found = {}
    for line in run.stdout.splitlines():
        if line.startswith('["'):
            name, losses, weights = json.loads(line)
            found[name] = (losses, weights)
    assert len(found) == len(files), run.stderr[-3000:]
    return found


@pytest.mark.parametrize("name", [*_REPLAYED, *model_scripts()])
def test_losses_and_weights_are_the_scripts(replayed: dict[str, tuple[float, float]], name: str) -> None:
    """From the same initial weights, without shuffling and dropout: losses of 20 epochs and the weights at the end."""
    losses, weights = replayed[name]
    assert losses < 1e-5
    if name not in _SAMPLE:
        assert weights < 1e-4
