"""A fake command for what goes wrong, the real one for what goes well, and stores made by hand."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Callable

import h5py
import numpy as np
import pytest

import neutra

ROOT = Path(__file__).resolve().parents[2]

FAKE = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
with open(here / "calls.jsonl", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
replies = json.loads((here / "replies.json").read_text())
reply = replies.pop(0) if len(replies) > 1 else replies[0]
(here / "replies.json").write_text(json.dumps(replies))
sys.stdout.write(reply["out"])
sys.stderr.write(reply["err"])
sys.exit(reply["code"])
"""

#: Works until it is told to save.
SLOW = """#!/bin/sh
trap 'echo > "$0.saved"; exit 75' USR2
echo > "$0.started"
while :; do sleep 0.02; done
"""


class Fake:
    """A command that notes its words and replies as told; the last reply again and again."""

    def __init__(self, folder: Path):
        self._folder = folder
        self.path = self.script(FAKE.format(python=sys.executable))
        self.replies()

    def script(self, text: str) -> Path:
        path = self._folder / "neutra"
        path.write_text(text)
        path.chmod(0o755)
        return path

    def replies(self, *results: Any) -> None:
        texts = [json.dumps(result) for result in results] or ["{}"]
        self._reply([{"out": text, "err": "", "code": 0} for text in texts])

    def reply(self, out: str = "", err: str = "", code: int = 0) -> None:
        self._reply([{"out": out, "err": err, "code": code}])

    def _reply(self, replies: Sequence[dict[str, Any]]) -> None:
        (self._folder / "replies.json").write_text(json.dumps(replies))

    @property
    def calls(self) -> list[list[str]]:
        lines = (self._folder / "calls.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    folder = tmp_path / "fake command"
    folder.mkdir()
    command = Fake(folder)
    monkeypatch.setenv("NEUTRA", str(command.path))
    return command


def real_command() -> str | None:
    built = [ROOT / "build" / preset / "cli" / "neutra" for preset in ("release", "dev")]
    for candidate in (os.environ.get("NEUTRA"), "neutra", *map(str, built)):
        found = candidate and shutil.which(candidate)
        if found:
            return os.path.abspath(found)
    return None


@pytest.fixture(scope="session")
def real() -> Iterator[str]:
    """The real command, also as NEUTRA."""
    command = real_command()
    if command is None:
        pytest.skip("no command neutra: none in NEUTRA, PATH or build/")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEUTRA", command)
        yield command


@pytest.fixture(scope="session")
def found(real: str, tmp_path_factory: pytest.TempPathFactory) -> neutra.Run:
    """What a small search of D7 found."""
    store = tmp_path_factory.mktemp("search") / "D7.h5"
    return neutra.search("D7", store=store, budget_evaluations=80, workers=1)


StoreMaker = Callable[..., Path]


@pytest.fixture
def make_store(tmp_path: Path) -> StoreMaker:
    return lambda name="D0.h5", **changes: write_store(tmp_path / name, **changes)


def write_store(
    path: Path, count: int = 4, goal: str = "maximize", version: int = 1, form: str = "neutra-store"
) -> Path:
    """A store of docs/formats/store.md: node 0 with the children 1 to count - 1, of which those with an odd id
    are repairs in the network. Node i has i metrics. Put in place by rename, as the command does."""
    text = h5py.string_dtype()
    ids = np.arange(count)
    odd = ids % 2
    integers = {
        "id": ids,
        "parent": np.where(ids == 0, -1, 0),
        "depth": ids > 0,
        "metric_count": ids,
        "neutral": odd,
        "queued": odd,
        "alternative": odd,
        "significant": ids == 3,
        "dequeued": np.where(ids == 0, 0, -1),
    }
    words = {
        "parameters": [f"lr={i}" for i in ids],
        "hash": [f"{i:032x}" for i in ids],
        "operator": ["" if i == 0 else "change_learning_rate" for i in ids],
        "key": ["" if i == 0 else "lr" for i in ids],
        "before": ["" if i == 0 else "0" for i in ids],
        "after": ["" if i == 0 else str(i) for i in ids],
        "status": ["ok" for i in ids],
    }
    temporary = path.with_suffix(".tmp")
    with h5py.File(temporary, "w", userblock_size=512) as file:
        file.attrs.update(format=form, version=version, fault="Dé", metric="accuracy", goal=goal)
        file.attrs.update(seed=7, finished=1, end="queue_empty")
        file.attrs.update(counters='{"evaluations": 4}', config='{"top_k": 5}')
        file.create_dataset("header", data=["{}", '{"ground_truth": 0.75}'], dtype=text)
        for name, values in integers.items():
            file[f"nodes/{name}"] = np.asarray(values, dtype=np.int64)
        for name, strings in words.items():
            file.create_dataset(f"nodes/{name}", data=strings, dtype=text)
        file["nodes/mean"] = np.where(ids == 2, np.nan, ids / 10)
        file["nodes/p"] = file["nodes/d"] = np.full(count, np.nan)
        file["metrics"] = np.repeat(ids / 10, ids)
        file["edges/parent"] = np.zeros(odd.sum(), dtype=np.int64)
        file["edges/child"] = ids[odd == 1]
        file["evaluations/metric"] = np.array([0.5, np.nan])
        file["evaluations/replica"] = np.array([0, 1])
        file.create_dataset("evaluations/message", data=["", "ünknown"], dtype=text)
        file["fixed/metrics"] = np.array([0.75])
    os.replace(temporary, path)
    return path
