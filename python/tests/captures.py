"""Captures scripts with a Python that has a framework: once for all scripts of a test file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "scripts"
PACKAGE = Path(__file__).parents[1]

#: Captures each script of a JSON list [[name, words], ...] in one process, and prints what came of each.
_DRIVER = """
import contextlib, io, json, sys
from neutra.capture import cli, recorders
for name, words in json.load(open(sys.argv[1])):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(words, recorders.all_recorders())
        except SystemExit as leaving:
            code = leaving.code
    with open(sys.argv[2], "a") as file:
        print(json.dumps([name, code, out.getvalue(), err.getvalue()]), file=file)
"""


def pythons(variable: str, module: str) -> list[str]:
    """Interpreters that have a framework: those that the environment variable names, with `os.pathsep` between them,
    else this one if it has the module."""
    named = [each for each in os.environ.get(variable, "").split(os.pathsep) if each]
    return named or ([sys.executable] if find_spec(module) else [])


def environment() -> dict[str, str]:
    """For a Python that runs a script with a framework: this package, nothing on a GPU, no chatter."""
    path = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH"))))
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **quiet, "PYTHONPATH": path}


class Captured:
    """What came of one capture: exit code, output, and the files."""

    def __init__(self, folder: Path, name: str, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err
        self.fault = folder / f"{name}.json"

    @property
    def program(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.fault.read_text())["program"]
        return document

    @property
    def script(self) -> dict[str, Any]:
        section: dict[str, Any] = json.loads(self.fault.read_text())["script"]
        return section

    def line(self, path: str) -> int:
        """Where the value or the part at this JSON pointer is written."""
        lines = [place["line"] for place in self.script["places"] if place["path"] == path]
        assert lines, f"no place of {path}: {[place['path'] for place in self.script['places']]}"
        return int(lines[0])


def capture_all(python: str, folder: Path, scripts: Mapping[str, Sequence[str]]) -> dict[str, Captured]:
    """Captures scripts, each with its words after `-o FAULT.json`, in the folder."""
    listed = [[name, ["-o", str(folder / f"{name}.json"), *words]] for name, words in scripts.items()]
    (folder / "driver.py").write_text(_DRIVER)
    (folder / "scripts.json").write_text(json.dumps(listed))
    words = [python, "driver.py", "scripts.json", "results"]
    run = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr
    results = [json.loads(line) for line in (folder / "results").read_text().splitlines()]
    return {name: Captured(folder, name, code, out, err) for name, code, out, err in results}
