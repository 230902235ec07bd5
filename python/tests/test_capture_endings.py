"""How scripts end, with the real frameworks: a crash, no training, two, standard input, processes, exit, a kill. What
the script prints stays, a line says what came of it, and no file is there that the script alone wouldn't have made,
but for those of the capture. Needs Keras or PyTorch: NEUTRA_KERAS_PYTHONS and NEUTRA_TORCH_PYTHONS name
interpreters."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from captures import environment, pythons

KERAS = """import os, sys, time
import numpy as np
import keras
from keras import layers

def train(epochs=2):
    x = np.random.rand(40, 3); y = x.sum(axis=1)
    model = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    model.fit(x, y, epochs=epochs, verbose=0)
    print("trained", flush=True)
"""
TORCH = """import os, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def train(epochs=2, workers=0):
    x = torch.rand(40, 3); y = x.sum(1, keepdim=True)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for a, b in DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True, num_workers=workers):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(a), b).backward()
            optimizer.step()
    print("trained", flush=True)
"""
FRAMEWORKS = [
    *(("keras", each) for each in pythons("NEUTRA_KERAS_PYTHONS", "keras")),
    *(("torch", each) for each in pythons("NEUTRA_TORCH_PYTHONS", "torch")),
]
pytestmark = [
    pytest.mark.skipif(not FRAMEWORKS, reason="needs Keras or PyTorch"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.parametrize("framework", FRAMEWORKS, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(FRAMEWORKS)]),
]
WRITTEN = ["fault.data.npz", "fault.json"]


class Ran:
    """A script that was captured, in a folder of its own."""

    def __init__(self, framework: tuple[str, str], folder: Path, text: str, *words: str, stdin: str = ""):
        kind, python = framework
        self.folder = folder
        text = (KERAS if kind == "keras" else TORCH) + text
        (folder / "train.py").write_text(text)
        self.lines = text.splitlines()
        self.words = [python, "-m", "neutra.capture", "-o", "fault.json", *words, "train.py"]
        self.stdin = stdin

    def run(self) -> Ran:
        """To the end."""
        done = subprocess.run(
            self.words,
            cwd=self.folder,
            env=environment(),
            input=self.stdin,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return self.ended(done.returncode, done.stdout, done.stderr)

    def ended(self, code: int, out: str, err: str) -> Ran:
        self.code, self.out, self.err = code, out, err
        self.files = sorted(each.name for each in self.folder.iterdir() if each.name != "train.py")
        self.said = "\n".join(line for line in err.splitlines() if line.startswith("neutra: "))
        return self

    @property
    def written(self) -> bool:
        return "fault.json" in self.files

    def place(self, word: str) -> str:
        """FILE:LINE of the first line with a word."""
        return f"train.py:{next(n for n, line in enumerate(self.lines, 1) if word in line)}"


def test_crash_before_the_training(framework: tuple[str, str], tmp_path: Path) -> None:
    ran = Ran(framework, tmp_path, "print('here')\n[][1]\ntrain()\n").run()
    assert (ran.code, ran.out, ran.files) == (1, "here\n", [])
    assert "Traceback (most recent call last)" in ran.err and "capture/runner.py" not in ran.err
    assert f"{ran.place('[][1]')}: IndexError: list index out of range" in ran.said
    assert "ended with an error before it trained: no program was written" in ran.said


def test_crash_after_the_training(framework: tuple[str, str], tmp_path: Path) -> None:
    ran = Ran(framework, tmp_path, "train()\n[][1]\n", "--run").run()
    assert ran.code == 1 and ran.out.startswith("trained\n")
    assert ran.written and "ended with an error after its first training step" in ran.said


def test_crash_in_the_first_step(framework: tuple[str, str], tmp_path: Path) -> None:
    """Rows that don't fit the model: the framework's own error, and no program."""
    change = "layers.Dense(1)" if framework[0] == "keras" else "nn.Linear(3, 4)"
    to = "layers.Dense(1), layers.Conv2D(3, 3)" if framework[0] == "keras" else "nn.Linear(5, 4)"
    ran = Ran(framework, tmp_path, "train()\n")
    text = (tmp_path / "train.py").read_text()
    assert change in text
    (tmp_path / "train.py").write_text(text.replace(change, to))
    ran.run()
    assert (ran.code, ran.files) == (1, [])
    assert ran.said


def test_never_trains(framework: tuple[str, str], tmp_path: Path) -> None:
    ran = Ran(framework, tmp_path, "print('nothing')\n").run()
    assert (ran.code, ran.out, ran.files) == (1, "nothing\n", [])
    name = "keras" if framework[0] == "keras" else "torch"
    assert "train.py never trained (exit code 0): no program was written; it imported" in ran.said
    assert name in ran.said


def test_trains_twice(framework: tuple[str, str], tmp_path: Path) -> None:
    ran = Ran(framework, tmp_path, "train()\ntrain(3)\nopen('made', 'w').close()\n", "--run").run()
    assert ran.code == 0 and ran.out.startswith("trained\ntrained\n")
    assert "made" in ran.files and ran.written
    assert "again: captured is the first training alone" in ran.said
    assert json.loads((tmp_path / "fault.json").read_text())["program"]["fit"]["epochs"] == 2


def test_reads_standard_input(framework: tuple[str, str], tmp_path: Path) -> None:
    ran = Ran(framework, tmp_path, "train(int(input('epochs? ')))\n", stdin="4\n").run()
    assert ran.code == 0 and ran.out.startswith("epochs? ")
    assert json.loads((tmp_path / "fault.json").read_text())["program"]["fit"]["epochs"] == 4
    (tmp_path / "empty").mkdir()
    nothing = Ran(framework, tmp_path / "empty", "train(int(input()))\n").run()
    assert (nothing.code, nothing.files) == (1, [])
    assert "EOFError" in nothing.said


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_trains_in_another_process(framework: tuple[str, str], method: str, tmp_path: Path) -> None:
    text = (
        "if __name__ == '__main__':\n    import multiprocessing\n"
        f"    p = multiprocessing.get_context('{method}').Process(target=train)\n    p.start()\n    p.join()\n"
        "    print(p.exitcode)\n"
    )
    ran = Ran(framework, tmp_path, text).run()
    assert (ran.code, ran.out, ran.files) == (1, "trained\n0\n", [])
    if method == "fork":
        assert "trained in a process that train.py started; allowed: training in its own process" in ran.said
    else:
        assert "never trained (exit code 0)" in ran.said


def test_forks_and_trains_itself(framework: tuple[str, str], tmp_path: Path) -> None:
    text = (
        "if os.fork() == 0:\n    print('child', flush=True)\n    os._exit(7)\n"
        "print(os.wait()[1] >> 8, flush=True)\ntrain()\n"
    )
    ran = Ran(framework, tmp_path, text, "--run").run()
    assert ran.code == 0 and ran.out.startswith("child\n7\ntrained\n")
    assert ran.written


def test_a_pool_beside_the_training(framework: tuple[str, str], tmp_path: Path) -> None:
    """Rows that other processes prepare."""
    text = (
        "def square(n):\n    return n * n\n"
        "if __name__ == '__main__':\n    import multiprocessing\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "        print(sum(pool.map(square, range(4))), flush=True)\n"
        f"    train({'2, workers=2' if framework[0] == 'torch' else '2'})\n"
    )
    ran = Ran(framework, tmp_path, text, "--run").run()
    assert ran.code == 0, ran.err
    assert ran.out.startswith("14\ntrained\n") and ran.written


@pytest.mark.parametrize("leave", ["sys.exit(3)", "os._exit(3)", "sys.exit('a text')"])
def test_exit_before_the_training(framework: tuple[str, str], leave: str, tmp_path: Path) -> None:
    ran = Ran(framework, tmp_path, f"print('here', flush=True)\n{leave}\ntrain()\n").run()
    assert ran.code in (1, 3) and ran.out == "here\n" and ran.files == []
    assert f"train.py never trained (exit code {1 if 'text' in leave else 3})" in ran.said


@pytest.mark.parametrize("leave", ["sys.exit(4)", "os._exit(4)"])
def test_exit_after_the_training(framework: tuple[str, str], leave: str, tmp_path: Path) -> None:
    ran = Ran(framework, tmp_path, f"train()\n{leave}\n", "--run").run()
    assert ran.code == 4 and ran.out.startswith("trained\n")
    assert ran.written


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_killed_half_way(framework: tuple[str, str], name: str, tmp_path: Path) -> None:
    """An older fault stays as it was, whole."""
    old = {each: f"old {each}" for each in WRITTEN}
    for each, text in old.items():
        (tmp_path / each).write_text(text)
    ran = Ran(framework, tmp_path, "train()\nopen('ready', 'w').close()\ntime.sleep(600)\n", "--run")
    process = subprocess.Popen(
        ran.words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    begun = time.monotonic()
    while not (tmp_path / "ready").exists():
        assert process.poll() is None and time.monotonic() - begun < 300
        time.sleep(0.1)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=300)
    ran.ended(process.returncode, out, err)
    assert "trained\n" in ran.out
    if name == "SIGINT":  # the script ends as with Ctrl-C; what was captured is written
        assert ran.code == 130 and "it was interrupted" in ran.said
        assert json.loads((tmp_path / "fault.json").read_text())["format"] == "neutra-fault"
    else:
        assert ran.code == -getattr(signal, name)
        assert {each: (tmp_path / each).read_text() for each in WRITTEN} == old
        assert ran.files == sorted([*WRITTEN, "ready"])
