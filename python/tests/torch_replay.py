"""Trains one captured program twice with the same initial weights: as the script does, and with neutra."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np

from neutra.capture import fault_file
from neutra.capture.recorders import all_recorders
from neutra.capture.recording import Options, Session
from neutra.capture.runner import run_script
from neutra.capture.torch_program import weights_of
from neutra.capture.torch_watch import TorchRecorder
from neutra.command import find_command


class Replay(TorchRecorder):
    """A recorder that puts given weights, by the name of the parameter, into the model before its first step."""

    given: ClassVar[dict[str, Any]] = {}
    last: TorchRecorder | None = None

    def before_root(self, module: Any, args: tuple[Any, ...]) -> None:
        if not self.steps:
            Replay.last = self
            with self.tracer.mute(), self.torch.no_grad():
                for name, value in [*module.named_parameters(), *module.named_buffers()]:
                    if name in self.given:
                        value.copy_(self.torch.from_numpy(self.given[name].copy()))
        super().before_root(module, args)


def seed() -> None:
    """The same rows in each run of a script that sets no seed."""
    import torch

    torch.manual_seed(5)


def install(session: Session, log: Any, torch: Any) -> None:
    Replay(session, log, torch).start()


@dataclass
class Trained:
    """Losses of each epoch and weights at the end, as (layer, name) -> array in neutra's form."""

    losses: list[float]
    weights: dict[tuple[int, str], Any]


def capture(script: Path, **options: Any) -> Session:
    """What capture makes of a script."""
    session = Session(Options(**options))
    seed()
    run_script(str(script), [], session, all_recorders(), lambda _: session.end())
    return session


def plain_copy(script: Path, folder: Path, epochs: int | None = None) -> Path:
    """The script without shuffling and dropout, with other epochs."""
    text = script.read_text()
    text = text.replace("shuffle=True", "shuffle=False").replace("torch.randperm(", "torch.arange(")
    text = re.sub(r"Dropout\((p=)?[0-9.]+\)", r"Dropout(\g<1>0.0)" if "p=" in text else "Dropout(0.0)", text)
    if epochs is not None:
        text = re.sub(r"(for (?:epoch|t) in range)\(\d+\)", rf"\1({epochs})", text)
        text = re.sub(r"(n_epochs = |epochs=)\d+", rf"\g<1>{epochs}", text)
        text = re.sub(r'("--epochs", type=int, default=)\d+', rf"\g<1>{epochs}", text)
    copy = folder / script.name
    copy.write_text(text)
    return copy


def h5_weights(path: str, fault: str) -> list[list[Any]]:
    """The weights of each layer of a fault's program, from a model file, which has a layer with several calls once."""
    found = []
    with h5py.File(path) as file:
        group = file["model_weights"]
        for name in group.attrs["layer_names"]:
            found.append([group[name][each][()] for each in group[name].attrs["weight_names"]])
    with open(fault) as text:
        layers = json.load(text)["program"]["model"]["config"]["layers"]
    own = iter(found)
    return [[] if "weights_of" in layer else next(own) for layer in layers]


#: Keras's order of the weights of a layer.
ORDER = (
    "kernel",
    "depthwise_kernel",
    "recurrent_kernel",
    "embeddings",
    "alpha",
    "gamma",
    "bias",
    "beta",
    "moving_mean",
    "moving_variance",
)


def by_name(layers: list[list[Any]], names: dict[int, list[str]]) -> dict[tuple[int, str], Any]:
    found = {}
    for layer, arrays in enumerate(layers):
        for name, array in zip(sorted(names.get(layer, []), key=ORDER.index), arrays):
            found[(layer, name)] = array
    return found


def both(script: Path, folder: Path) -> tuple[Trained, Trained]:
    """The script's training and neutra's, from neutra's initial weights."""
    session = capture(script)
    assert session.recordings, [str(error) for error in session.refusals]
    fault = str(folder / "fault.json")
    fault_file.write(session.recordings[0], fault, str(script), [])
    neutra = find_command()
    initial = str(folder / "initial.h5")
    subprocess.run([neutra, "export", fault, "--format", "h5", "-o", initial], check=True, capture_output=True)
    Replay.given = {}
    _run_with(script, Replay, fault)
    recorder = Replay.last
    assert recorder is not None and recorder.state is not None
    layers, _ = recorder.state.layers()
    names: dict[int, list[str]] = {}
    for weight in layers.weights:
        name = weight.name.partition("/")[0]
        if name not in names.setdefault(weight.layer, []):
            names[weight.layer].append(name)
    arrays = by_name(h5_weights(initial, fault), names)
    for weight in layers.weights:
        Replay.given[weight.variable.name] = weight.back(_part(arrays, weight))
    session = _run_with(script, Replay, fault)
    recorder = Replay.last
    assert recorder is not None and recorder.state is not None
    values = {
        name: value.detach().numpy()
        for model in recorder.models
        for name, value in [*model.named_parameters(), *model.named_buffers()]
    }
    own = {(layer, name): array for layer, name, array in weights_of(layers, values)}
    ours = _neutra(fault, folder, names)
    return Trained(session.recordings[0].loss_history, own), ours


def _part(arrays: dict[tuple[int, str], Any], weight: Any) -> Any:
    """The array of a weight; of the two biases of a recurrent layer its row, or zeros for the second."""
    name, _, row = weight.name.partition("/")
    array = arrays[(weight.layer, name)]
    if not row:
        return array
    if array.ndim == 2:
        return array[int(row)]
    return array if row == "0" else np.zeros_like(array)


def _run_with(script: Path, _: Any, fault: str) -> Session:
    session = Session(Options(run=True))
    seed()
    run_script(str(script), [], session, {"torch": install}, lambda _: session.end())
    assert session.recordings, [str(error) for error in session.refusals]
    return session


def _neutra(fault: str, folder: Path, names: dict[int, list[str]]) -> Trained:
    neutra = find_command()
    logs, final = folder / "logs", str(folder / "final.h5")
    subprocess.run([neutra, "train", fault, "-n", "1", "--log", str(logs), "-q"], check=True, capture_output=True)
    subprocess.run(
        [neutra, "export", fault, "--format", "h5", "--replica", "0", "-o", final], check=True, capture_output=True
    )
    (log,) = logs.glob("*/replica-0.csv")
    with open(log) as file:
        losses = [float(row["loss"]) for row in csv.DictReader(file)]
    return Trained(losses, by_name(h5_weights(final, fault), names))


def worst(script: Trained, ours: Trained) -> tuple[float, float]:
    """The largest relative difference of losses, and of weights."""
    losses = max(abs(a - b) / max(abs(a), 1e-6) for a, b in zip(script.losses, ours.losses))
    weights = 0.0
    for key, array in script.weights.items():
        if array.ndim == ours.weights[key].ndim + 1:  # model files have the sum of two biases
            array = array.sum(0)
        scale = max(float(np.abs(array).max()), 1e-6)
        weights = max(weights, float(np.abs(array - ours.weights[key]).max()) / scale)
    return losses, weights


def main(files: list[str]) -> None:
    """Prints, for each script, its name and the largest differences of losses and weights, as a line of JSON."""
    import torch

    torch.set_num_threads(1)
    for file in files:
        with tempfile.TemporaryDirectory() as place:
            child = os.fork()
            if child == 0:
                try:
                    script = plain_copy(Path(file), Path(place), 20)
                    print(json.dumps([Path(file).stem, *worst(*both(script, Path(place)))]), flush=True)
                except BaseException:
                    traceback.print_exc()
                os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
