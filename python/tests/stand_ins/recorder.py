"""What both stand-ins share: calls with their frames, and running a script with modules that don't exist."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from neutra.capture.frames import stack
from neutra.capture.recording import Frame, Options, Session, Site
from neutra.capture.runner import run_script
from neutra.sources.source_map import files_of


@dataclass
class Recorded:
    """A script's program, sites with files relative to its folder, and the bytes of its files."""

    framework: str
    program: dict[str, Any] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)


class Made:
    """An object that a call made: `config` has every argument, the defaults included."""

    def __init__(self, name: str, parameters: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]):
        names = list(parameters)
        given = dict(zip(names, args))
        given.update(kwargs)
        self.name = name
        self.given = list(given)
        self.parameters = names
        self.config = {**parameters, **given}
        self.frames = frames()

    def site(self, path: str, arguments: Mapping[str, str]) -> Site:
        return Site(self.name, path, self.frames, dict(arguments), self.parameters, self.given)


_folder = ""


def frames() -> list[Frame]:
    """The frames of the script's folder, from the innermost outward, with files relative to it."""
    found = []
    for frame in stack()[0]:
        if frame.file.startswith(_folder):
            name = os.path.relpath(frame.file, _folder)
            found.append(frame._replace(file=name, place=frame.place and frame.place._replace(file=name)))
    return found


@contextlib.contextmanager
def modules(named: Mapping[str, ModuleType]) -> Iterator[None]:
    """Puts modules in the place of real ones."""
    kept = {name: sys.modules.get(name) for name in named}
    sys.modules.update(named)
    try:
        yield
    finally:
        for name, module in kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def run(script: Path, arguments: Sequence[str], named: Mapping[str, ModuleType], recorded: Recorded) -> Recorded:
    """Runs a script with these modules until one of them raises EndOfCapture."""
    global _folder
    _folder = os.path.join(os.path.realpath(script.parent), "")
    before = set(sys.modules)
    with modules(named), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        outcome = run_script(str(script), arguments, Session(Options()), {})
    if not outcome.ended:
        raise AssertionError(f"{outcome}\n{errors.getvalue()}")
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(sys.modules[name].__file__).startswith(_folder):
            del sys.modules[name]
    found = files_of(str(script.parent / f.file) for s in recorded.sites for f in s.frames)
    recorded.files = {os.path.relpath(name, script.parent): data for name, data in found.items()}
    return recorded
