"""Where a script sets the seeds of random numbers: Python's, NumPy's and those of the frameworks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .calls import CallLog
from .frames import first, user_frames
from .recording import Session

#: Functions that set a seed, by the module in which they are.
SETTERS: Mapping[str, tuple[str, ...]] = {
    "random": ("seed",),
    "numpy.random": ("seed", "default_rng", "RandomState"),
    "tensorflow": ("random.set_seed",),
    "keras": ("utils.set_random_seed",),
    "tf_keras": ("utils.set_random_seed",),
    "torch": ("manual_seed",),
}


def watch(session: Session, log: CallLog, module: ModuleType, names: tuple[str, ...]) -> None:
    """Notes each call of these functions of a module in the session; what they do is as before."""
    for name in names:
        owner: Any = module
        *through, last = name.split(".")
        for part in through:
            owner = getattr(owner, part, None)
        # Classes stay what they are: a script may ask for an instance of them.
        if owner is not None and not isinstance(getattr(owner, last, None), type):
            log.replace(owner, last, functools.partial(_noting, session))


def _noting(session: Session, plain: Callable[..., Any]) -> Callable[..., Any]:
    def set_seed(*args: Any, **kwargs: Any) -> Any:
        frame = first(user_frames())
        if frame and (args or kwargs) and frame not in session.random_seeds:
            session.random_seeds.append(frame)
        return plain(*args, **kwargs)

    return set_seed


def hooks(session: Session, log: CallLog) -> dict[str, Callable[[ModuleType], None]]:
    """For ImportHooks."""

    def hook(names: tuple[str, ...]) -> Callable[[ModuleType], None]:
        return lambda module: watch(session, log, module, names)

    return {module: hook(names) for module, names in SETTERS.items()}
