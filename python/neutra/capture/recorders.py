"""The recorders that there are, by the module behind whose import each installs itself."""

from __future__ import annotations

import importlib

from .runner import Recorder

_NAMES = ("keras_recorder", "torch_recorder")


def all_recorders() -> dict[str, Recorder]:
    """The tables HOOKS of all recorders together. Several of one module run in the order of their names."""
    found: dict[str, Recorder] = {}
    for name in _NAMES:
        try:
            module = importlib.import_module(f".{name}", __package__)
        except ModuleNotFoundError as error:
            if error.name != f"{__package__}.{name}":
                raise
            continue
        for target, recorder in module.HOOKS.items():
            found[target] = _both(found[target], recorder) if target in found else recorder
    return found


def _both(one: Recorder, other: Recorder) -> Recorder:
    def install(*arguments: object) -> None:
        one(*arguments)  # type: ignore[arg-type]
        other(*arguments)  # type: ignore[arg-type]

    return install
