"""Captured scripts train as they do: optimisers, schedules and callbacks of Keras and PyTorch, from the script's own
initial weights, without shuffling. NEUTRA_KERAS_PYTHONS and NEUTRA_TORCH_PYTHONS name interpreters."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from captures import Captured, capture_all, pythons

import neutra

KERAS_PYTHONS = pythons("NEUTRA_KERAS_PYTHONS", "keras")
TORCH_PYTHONS = pythons("NEUTRA_TORCH_PYTHONS", "torch")

_KERAS = """
import keras
import numpy as np
keras.utils.set_random_seed(4)
own = np.random.RandomState(1)
x = own.normal(size=(24, 3)).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")
schedules = keras.optimizers.schedules
callbacks = []
SETUP
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(6, "tanh"), keras.layers.Dense(1)])
optimizer = OPTIMIZER
EXCLUDE
model.compile(optimizer, "mse")
history = model.fit(x, y, batch_size=12, epochs=12, shuffle=False, verbose=0, callbacks=callbacks)
np.savez(__file__ + ".npz", losses=history.history["loss"], *model.get_weights())
"""

#: Optimiser, and what stands before it.
KERAS: dict[str, tuple[str, str]] = {
    "sgd": ("keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)", ""),
    "sgd_decay": ("keras.optimizers.SGD(0.1, momentum=0.5, weight_decay=0.05)", ""),
    "rmsprop": ("keras.optimizers.RMSprop(0.01)", ""),
    "rmsprop_all": ("keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True, epsilon=1e-4)", ""),
    "adagrad": ("keras.optimizers.Adagrad(0.1, initial_accumulator_value=1e-8)", ""),
    "adadelta": ("keras.optimizers.Adadelta(1.0)", ""),
    "adam": ("keras.optimizers.Adam(0.01, amsgrad=True)", ""),
    "adamw": ("keras.optimizers.AdamW(0.01)", ""),
    "adamw_without_biases": ("keras.optimizers.AdamW(0.01, weight_decay=0.1)", ""),
    "adamax": ("keras.optimizers.Adamax(0.01)", ""),
    "ftrl": ("keras.optimizers.Ftrl(0.1)", ""),
    "clipnorm": ("keras.optimizers.SGD(0.5, clipnorm=0.1)", ""),
    "global_clipnorm": ("keras.optimizers.SGD(0.5, global_clipnorm=0.1)", ""),
    "cosine": ("keras.optimizers.Adam(schedules.CosineDecay(0.02, 20, alpha=0.1))", ""),
    "warm_cosine": ("keras.optimizers.Adam(schedules.CosineDecay(0.001, 16, warmup_target=0.02, warmup_steps=6))", ""),
    "polynomial": ("keras.optimizers.SGD(schedules.PolynomialDecay(0.2, 20, 0.01, power=2.0))", ""),
    "piecewise": ("keras.optimizers.SGD(schedules.PiecewiseConstantDecay([5, 12], [0.2, 0.1, 0.01]))", ""),
    "stairs": ("keras.optimizers.SGD(schedules.ExponentialDecay(0.2, 5, 0.5, staircase=True))", ""),
    "inverse_stairs": ("keras.optimizers.SGD(schedules.InverseTimeDecay(0.2, 5, 0.5, staircase=True))", ""),
    "own_schedule": (
        "keras.optimizers.SGD(Own())",
        "class Own(schedules.LearningRateSchedule):\n"
        "    def __call__(self, step):\n"
        "        return 2.0 * schedules.PolynomialDecay(0.05, 9, cycle=True)(step)\n"
        "    def get_config(self):\n        return {}",
    ),
    "scheduler": (
        "keras.optimizers.SGD(0.1)",
        "callbacks = [keras.callbacks.LearningRateScheduler(lambda epoch: 0.2 if epoch < 4 else 0.05)]",
    ),
    "plateau": (
        "keras.optimizers.SGD(0.5)",
        "callbacks = [keras.callbacks.ReduceLROnPlateau('loss', factor=0.5, patience=1, min_delta=0.05)]",
    ),
}

_TORCH = """
import numpy as np
import torch
from torch import nn
torch.manual_seed(4)
own = np.random.RandomState(1)
x = torch.from_numpy(own.normal(size=(24, 3)).astype("float32"))
y = x[:, :1] * x[:, 1:2]
model = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.OPTIMIZER
schedulers = torch.optim.lr_scheduler
scheduler = SCHEDULER
rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=12)
criterion, losses = nn.MSELoss(), []
for epoch in range(12):
    total = 0.0
    for a, b in rows:
        optimizer.zero_grad()
        loss = criterion(model(a), b)
        loss.backward()
        CLIP
        optimizer.step()
        BATCH
        total += loss.item() / len(rows)
    EPOCH
    losses.append(total)
weights = [each.detach().numpy() for each in model.parameters()]
np.savez(__file__ + ".npz", losses=losses, *[each.T if each.ndim == 2 else each for each in weights])
"""
_GROUPS = (
    "[{'params': [p for p in model.parameters() if p.ndim > 1]}, "
    "{'params': [p for p in model.parameters() if p.ndim == 1], 'weight_decay': 0.0}]"
)

#: Optimiser; scheduler, and whether it steps after each "batch" or "epoch".
TORCH: dict[str, tuple[str, str, str]] = {
    "sgd": ("SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.2)", "", ""),
    "nesterov": ("SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)", "", ""),
    "momentum_and_schedule": (
        "SGD(model.parameters(), lr=0.1, momentum=0.9)",
        "ExponentialLR(optimizer, 0.8)",
        "epoch",
    ),
    "adam": ("Adam(model.parameters(), lr=0.01, eps=1e-3)", "", ""),
    "adam_penalty": ("Adam(model.parameters(), lr=0.01, weight_decay=0.1, amsgrad=True)", "", ""),
    "adamw": ("AdamW(model.parameters(), lr=0.01)", "", ""),
    "adamw_groups": (f"AdamW({_GROUPS}, lr=0.01, weight_decay=0.1)", "", ""),
    "rmsprop": ("RMSprop(model.parameters(), lr=0.01, momentum=0.9)", "", ""),
    "rmsprop_centered": ("RMSprop(model.parameters(), lr=0.01, centered=True, weight_decay=0.05)", "", ""),
    "adagrad": ("Adagrad(model.parameters(), lr=0.1, lr_decay=0.1)", "", ""),
    "adadelta": ("Adadelta(model.parameters())", "", ""),
    "adamax": ("Adamax(model.parameters(), lr=0.01, eps=1e-2)", "", ""),
    "nadam": ("NAdam(model.parameters(), lr=0.01, weight_decay=0.1, decoupled_weight_decay=True)", "", ""),
    "clip_norm": ("SGD(model.parameters(), lr=0.5)", "", "clip"),
    "step": ("Adam(model.parameters(), lr=0.02)", "StepLR(optimizer, 5, 0.5)", "epoch"),
    "milestones": ("Adam(model.parameters(), lr=0.02)", "MultiStepLR(optimizer, [3, 8])", "epoch"),
    "cosine": ("Adam(model.parameters(), lr=0.02)", "CosineAnnealingLR(optimizer, 8, 0.001)", "epoch"),
    "linear": ("Adam(model.parameters(), lr=0.02)", "LinearLR(optimizer, 0.1, 1.0, 10)", "batch"),
    "polynomial": ("Adam(model.parameters(), lr=0.02)", "PolynomialLR(optimizer, 10, 2.0)", "epoch"),
    "one_cycle": (
        "Adam(model.parameters(), lr=0.02)",
        "OneCycleLR(optimizer, 0.05, total_steps=24, cycle_momentum=False)",
        "batch",
    ),
    "restarts": ("SGD(model.parameters(), lr=0.1)", "CosineAnnealingWarmRestarts(optimizer, 4)", "epoch"),
    "by_function": ("SGD(model.parameters(), lr=0.1)", "LambdaLR(optimizer, lambda n: 1 / (1 + n % 4))", "epoch"),
    "sequence": (
        "SGD(model.parameters(), lr=0.1)",
        "SequentialLR(optimizer, [schedulers.ConstantLR(optimizer, 0.1, 3), "
        "schedulers.ExponentialLR(optimizer, 0.9)], [3])",
        "epoch",
    ),
    "plateau": (
        "SGD(model.parameters(), lr=0.5)",
        "ReduceLROnPlateau(optimizer, factor=0.5, patience=0, threshold=0.1)",
        "total",
    ),
}


def keras_script(name: str) -> str:
    optimizer, setup = KERAS[name]
    exclude = "optimizer.exclude_from_weight_decay(var_names=['bias'])" if name.endswith("without_biases") else ""
    return _KERAS.replace("SETUP", setup).replace("OPTIMIZER", optimizer).replace("EXCLUDE", exclude)


def torch_script(name: str) -> str:
    optimizer, scheduler, when = TORCH[name]
    made = f"schedulers.{scheduler}" if scheduler else "None"
    clip = "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)" if when == "clip" else "pass"
    epoch = {"epoch": "scheduler.step()", "total": "scheduler.step(total)"}.get(when, "pass")
    text = _TORCH.replace("OPTIMIZER", optimizer).replace("SCHEDULER", made).replace("CLIP", clip)
    return text.replace("BATCH", "scheduler.step()" if when == "batch" else "pass").replace("EPOCH", epoch)


def captured(python: str, folder: Path, texts: dict[str, str]) -> dict[str, Captured]:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return capture_all(python, folder, {name: ["--run", "--weights", str(folder / f"{name}.py")] for name in texts})


@pytest.fixture(scope="module", params=KERAS_PYTHONS)
def keras_captures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Captured]:
    return captured(request.param, tmp_path_factory.mktemp("keras"), {name: keras_script(name) for name in KERAS})


@pytest.fixture(scope="module", params=TORCH_PYTHONS)
def torch_captures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Captured]:
    return captured(request.param, tmp_path_factory.mktemp("torch"), {name: torch_script(name) for name in TORCH})


def trains_alike(found: Captured, folder: Path) -> None:
    """Losses of each epoch and weights at the end are the script's."""
    assert found.code == 0, found.err
    final = folder / "final.h5"
    neutra.run("train", found.fault, replicas=1, log=folder / "logs", final_weights=final)
    (log,) = (folder / "logs").glob("*/replica-0.csv")
    with open(log) as file:
        losses = [float(row["loss"]) for row in csv.DictReader(file)]
    own: dict[str, Any] = dict(np.load(str(found.fault.with_suffix(".py")) + ".npz"))
    assert losses == pytest.approx(list(own.pop("losses")), rel=1e-5)
    with h5py.File(final) as weights:
        arrays = [
            weights[layer][name][()]
            for layer in weights.attrs["layer_names"]
            for name in weights[layer].attrs["weight_names"]
        ]
    assert len(arrays) == len(own)
    for number, array in enumerate(arrays):
        expected = own[f"arr_{number}"]
        assert np.abs(array - expected).max() <= 1e-4 * max(np.abs(expected).max(), 1e-2), number


@pytest.mark.parametrize("name", KERAS)
def test_keras(keras_captures: dict[str, Captured], name: str, tmp_path: Path) -> None:
    trains_alike(keras_captures[name], tmp_path)


@pytest.mark.parametrize("name", TORCH)
def test_pytorch(torch_captures: dict[str, Captured], name: str, tmp_path: Path) -> None:
    trains_alike(torch_captures[name], tmp_path)
