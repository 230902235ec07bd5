"""Callbacks and schedules of Keras as a program has them, or as what it cannot have."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .calls import Call, CallLog
from .recording import Frame, NotCaptured

#: Callbacks that change no training: they write, print or draw.
WATCHERS = frozenset(
    (
        "BaseLogger",
        "CSVLogger",
        "Callback",
        "History",
        "ModelCheckpoint",
        "PlotLossesKeras",
        "ProgbarLogger",
        "RemoteMonitor",
        "TensorBoard",
        "TqdmCallback",
        "WandbCallback",
        "WandbMetricsLogger",
        "WandbModelCheckpoint",
    )
)
#: Words in a callback's own code that change the training.
CHANGES = ("stop_training", "learning_rate", ".lr", "set_value", "set_weights", "load_weights", "assign(", "trainable")
_PLATEAU = ("monitor", "factor", "patience", "mode", "min_delta", "cooldown", "min_lr")
_EARLY = ("monitor", "min_delta", "patience", "mode", "baseline", "restore_best_weights")


@dataclass
class Acting:
    """What callbacks come to: those of the program, with the call that made each, a schedule with the rate of the first
    epoch, notes and problems."""

    callbacks: list[dict[str, Any]] = field(default_factory=list)
    calls: list[Call | None] = field(default_factory=list)
    schedule: dict[str, Any] | None = None
    schedule_call: Call | None = None
    first_rate: float | None = None
    notes: list[str] = field(default_factory=list)
    problems: list[NotCaptured] = field(default_factory=list)


def read_callbacks(given: Any, log: CallLog, frame: Frame | None, rate: float | None, epochs: int) -> Acting:
    """The callbacks of a fit. `rate` is the optimiser's learning rate where it is a number."""
    acting = Acting()
    if given is None:
        return acting
    listed = given if isinstance(given, (list, tuple)) else getattr(given, "callbacks", [given])
    for callback in listed:
        call = log.of(callback)
        place = (call.frame if call else None) or frame
        name = type(callback).__name__
        if name == "EarlyStopping":
            _early_stopping(acting, callback, call, place)
        elif name == "TerminateOnNaN":
            acting.callbacks.append({"class_name": name, "config": {}})
            acting.calls.append(call)
        elif name == "ReduceLROnPlateau" and _is_keras(callback):
            arguments = call.arguments if call else vars(callback)
            config = {key: _plain(arguments[key]) for key in _PLATEAU if key in arguments}
            acting.callbacks.append({"class_name": name, "config": config})
            acting.calls.append(call)
        elif name == "LearningRateScheduler" and _is_keras(callback):
            _scheduler(acting, callback, call, place, rate, epochs)
        elif name in WATCHERS:
            continue
        else:
            _other(acting, callback, place)
    return acting


def _is_keras(value: Any) -> bool:
    return type(value).__module__.split(".")[0] in ("keras", "tf_keras", "tensorflow")


def _early_stopping(acting: Acting, callback: Any, call: Call | None, place: Frame | None) -> None:
    arguments = call.arguments if call else vars(callback)
    if arguments.get("start_from_epoch"):
        found = arguments["start_from_epoch"]
        acting.problems.append(NotCaptured(f"found start_from_epoch = {found} of EarlyStopping; allowed: 0", place))
    config = {name: _plain(arguments[name]) for name in _EARLY if name in arguments}
    if not call:
        config["min_delta"] = abs(config.get("min_delta", 0))
        operation = getattr(getattr(callback, "monitor_op", None), "__name__", "")
        config["mode"] = {"less": "min", "greater": "max"}.get(operation, "auto")
    acting.callbacks.append({"class_name": "EarlyStopping", "config": config})
    acting.calls.append(call)


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else value


def _scheduler(
    acting: Acting, callback: Any, call: Call | None, place: Frame | None, rate: float | None, epochs: int
) -> None:
    """A function of the epoch that is a rate and a power: fit.schedule holds nothing else."""
    if rate is None:
        acting.problems.append(NotCaptured("found two schedules of the learning rate; allowed: one", place))
        return
    try:
        rates = rates_of(callback.schedule, rate, min(max(epochs, 2), 1000))
    except Exception as error:  # the function is the user's
        acting.problems.append(NotCaptured(f"found a schedule that fails: {error}; allowed: a number", place))
        return
    decay = power_of(rates)
    acting.schedule_call = call
    if decay is None and (not rates[0] > 0 or epochs > 1000):
        found = f"{epochs} epochs" if epochs > 1000 else f"a first rate of {rates[0]:g}"
        acting.problems.append(
            NotCaptured(f"found a LearningRateScheduler with {found}; allowed: at most 1000 epochs, a rate > 0", place)
        )
        return
    acting.first_rate = rates[0]
    if decay is None:
        acting.schedule = listed_rates(rates[:epochs], "epoch")
        shown = ", ".join(f"{each:.4g}" for each in rates[:5])
        acting.notes.append(f"{place}: LearningRateScheduler has the rates {shown}, ...")
        return
    if decay != 1:
        acting.schedule = {"decay_rate": decay, "every": "epoch"}
    acting.notes.append(f"{place}: LearningRateScheduler has the rate {rates[0]:.6g} · {decay:.6g}^epoch")


def rates_of(function: Callable[..., Any], rate: float, epochs: int) -> list[float]:
    """The learning rates of each epoch; what the function prints is dropped."""
    rates: list[float] = []
    takes_rate = len(inspect.signature(function).parameters) > 1
    with contextlib.redirect_stdout(io.StringIO()):
        for epoch in range(epochs):
            rate = float(function(epoch, rate) if takes_rate else function(epoch))
            rates.append(rate)
    return rates


def listed_rates(rates: list[float], every: str) -> dict[str, Any] | None:
    """Rates as a piecewise schedule, in shares of the first; None where they stay."""
    changes = [(step, rate) for step, rate in enumerate(rates) if step and rate != rates[step - 1]]
    if not changes:
        return None
    factors = [float(f"{rate / rates[0]:.12g}") for _, rate in changes]
    return {
        "kind": "piecewise",
        "every": every,
        "boundaries": [step for step, _ in changes],
        "factors": factors,
    }


def power_of(rates: list[float]) -> float | None:
    """The decay of rates that are first · decay^epoch, within 1e-5 of each; None for others and growing ones."""
    first = rates[0]
    if not first > 0 or not all(rate > 0 for rate in rates):
        return None
    decay = (rates[-1] / first) ** (1 / max(len(rates) - 1, 1))
    decay = float(f"{decay:.7g}")
    if not 0 < decay <= 1:
        return None
    exact = all(abs(rate - first * decay**epoch) <= 1e-5 * rate for epoch, rate in enumerate(rates))
    return decay if exact else None


def _other(acting: Acting, callback: Any, place: Frame | None) -> None:
    """A callback that no program has: refused where it changes the training, else left out with a note."""
    name = type(callback).__name__
    if _is_keras(callback) and name not in ("LambdaCallback", "BackupAndRestore"):
        acting.problems.append(
            NotCaptured(
                f"found the callback {name}; allowed: EarlyStopping, TerminateOnNaN, LearningRateScheduler, "
                "ReduceLROnPlateau",
                place,
            )
        )
        return
    code = source_of(callback)
    words = [word for word in CHANGES if word in code]
    if words:
        acting.problems.append(
            NotCaptured(f"found the callback {name}, whose code has {words[0]!r}; allowed: Keras's callbacks", place)
        )
    else:
        acting.notes.append(f"{place}: the callback {name} is left out: its code seems to change no training")


def source_of(callback: Any) -> str:
    """The text of a callback's class and of the functions that it was given; a class without text changes all."""
    texts = []
    functions: list[Any] = [each for each in vars(callback).values() if inspect.isfunction(each)]
    for each in [type(callback), *functions] if not _is_keras(callback) else functions:
        try:
            texts.append(inspect.getsource(each))
        except (OSError, TypeError):
            return CHANGES[0]
    return "\n".join(texts)
