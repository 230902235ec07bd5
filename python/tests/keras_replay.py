"""Trains one captured program of Keras twice from the same initial weights: as the script does, and with neutra.
Without shuffling, and with random layers at rate 0."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np

from neutra.capture import keras_recorder
from neutra.capture.fault_file import write
from neutra.capture.keras_program import flat_layers
from neutra.capture.recorders import all_recorders
from neutra.capture.recording import Options, Session
from neutra.capture.runner import run_script
from neutra.command import find_command

_RATES = ("rate", "dropout", "recurrent_dropout", "stddev")


def without_rates(part: Any) -> None:
    """A program's layers with their rates at 0."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in _RATES and isinstance(value, (int, float)):
                part[name] = 0.0
            without_rates(value)
    elif isinstance(part, list):
        for each in part:
            without_rates(each)


class Replay(keras_recorder.KerasRecorder):
    """Gives the model initial weights, by the layer's name, before fit; sets rates to 0; shuffles nothing."""

    given: ClassVar[dict[str, list[Any]]] = {}
    model: Any = None

    def fitting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        inner = super().fitting(plain)

        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            if Replay.model is None:
                Replay.model = model
                self._prepare(model, args, kwargs)
                kwargs["shuffle"] = False
            return inner(model, *args, **kwargs)

        return fit

    def _prepare(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        x = kwargs.get("x", args[0] if args else None)
        if not model.built:
            model.build((None, *np.asarray(x).shape[1:]))
        for layer in flat_layers(model):
            for name in _RATES:
                if isinstance(getattr(layer, name, None), (int, float)):
                    setattr(layer, name, 0.0)
            arrays = Replay.given.get(layer.name)
            if arrays:
                layer.set_weights(arrays)


def run(script: Path, arguments: list[str], **options: Any) -> Session:
    """What capture makes of a script, with the same random numbers each time."""
    np.random.seed(5)
    session = Session(Options(**options))
    run_script(str(script), arguments, session, all_recorders(), lambda _: session.end())
    assert session.recordings, [str(error) for error in session.refusals]
    return session


def h5_weights(path: str) -> list[list[Any]]:
    """The weights of each layer of a model file."""
    found = []
    with h5py.File(path) as file:
        group = file["model_weights"]
        for name in group.attrs["layer_names"]:
            found.append([group[name][each][()] for each in group[name].attrs["weight_names"]])
    return found


def compare(script: Path, arguments: list[str], folder: Path) -> tuple[float, float]:
    """The largest relative difference of the losses of all epochs, and of the weights at the end."""
    child = os.fork()
    fault = str(folder / "fault.json")
    if child == 0:  # fit of this process stays untouched
        code = 1
        try:
            write(run(script, arguments).recordings[0], fault, str(script), arguments)
            code = 0
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    document = json.loads(Path(fault).read_text())
    document.pop("script", None)
    without_rates(document["program"]["model"])
    document["program"]["fit"]["shuffle"] = False
    Path(fault).write_text(json.dumps(document))
    command = find_command()
    calls = {
        "initial": ["export", fault, "--format", "h5", "-o", str(folder / "initial.h5")],
        "final": ["export", fault, "--format", "h5", "--replica", "0", "-o", str(folder / "final.h5")],
        "losses": ["train", fault, "-n", "1", "--log", str(folder / "logs"), "-q"],
    }
    for words in calls.values():
        subprocess.run([command, *words], check=True, capture_output=True)
    names = [layer["config"]["name"] for layer in document["program"]["model"]["config"]["layers"]]
    Replay.given = dict(zip(names, h5_weights(str(folder / "initial.h5"))))
    keras_recorder.KerasRecorder = Replay  # type: ignore[misc]
    session = run(script, arguments, run=True)
    (log,) = (folder / "logs").glob("*/replica-0.csv")
    with open(log) as file:
        ours = [float(row["loss"]) for row in csv.DictReader(file)]
    losses = max(abs(a - b) / max(abs(a), 1e-6) for a, b in zip(session.recordings[0].loss_history, ours))
    final = dict(zip(names, h5_weights(str(folder / "final.h5"))))
    weights = 0.0
    for layer in flat_layers(Replay.model):
        for one, other in zip(layer.get_weights(), final.get(layer.name, [])):
            scale = max(float(np.abs(one).max()), 1e-6) if one.size else 1.0
            weights = max(weights, float(np.abs(one - other).max()) / scale)
    return losses, weights


def main(jobs: str) -> None:
    """Prints, for each [script, [arguments]] of a JSON list, its name and both differences, as a line of JSON."""
    for file, arguments in json.loads(jobs):
        with tempfile.TemporaryDirectory() as place:
            child = os.fork()
            if child == 0:
                try:
                    script = Path(file)
                    name = script.parent.name if script.stem == "main" else script.stem
                    print(json.dumps([name, *compare(script, arguments, Path(place))]), flush=True)
                except BaseException:
                    traceback.print_exc()
                os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1])
