"""A scheduler of PyTorch as a program has it: fit.schedule, or the callback ReduceLROnPlateau.

Formulas: torch/optim/lr_scheduler.py against docs/methods/training.md, Schedules. A scheduler without a kind of its own
becomes the list of its rates, which a copy of it says.
"""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import dataclass, field
from typing import Any

from .recording import Frame, NotCaptured
from .torch_ops import plain

#: More rates than these are no list that anybody reads.
MOST_RATES = 20000

#: Arguments of schedulers -> fields of fit.schedule.
SCHEDULE_ARGUMENTS: dict[str, dict[str, str]] = {
    "ExponentialLR": {"gamma": "/fit/schedule/decay_rate"},
    "StepLR": {"gamma": "/fit/schedule/decay_rate", "step_size": "/fit/schedule/steps"},
    "CosineAnnealingLR": {"T_max": "/fit/schedule/steps"},
    "PolynomialLR": {"total_iters": "/fit/schedule/steps", "power": "/fit/schedule/power"},
    "LinearLR": {
        "start_factor": "/fit/schedule/start",
        "end_factor": "/fit/schedule/end",
        "total_iters": "/fit/schedule/steps",
    },
    "MultiStepLR": {"milestones": "/fit/schedule/boundaries"},
}


@dataclass
class FoundSchedule:
    """A scheduler, how often it stepped: `every` "epoch", "batch" or "" (never), and how often it will: `steps`.
    `rate` is the optimiser's at the first step, `seen` are the rates so far; `watched` are the numbers that the
    scheduler was given, `losses` those of the epochs' training rows; `tested` says whether there are test rows."""

    scheduler: Any
    every: str
    steps: int
    rate: float
    seen: list[float] = field(default_factory=list)
    watched: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    tested: bool = False
    frame: Frame | None = None


@dataclass
class ProgramSchedule:
    """What a program has of it: fit.schedule, callbacks, the metrics that these watch, whether on the test rows."""

    schedule: dict[str, Any] | None = None
    callbacks: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    validates: bool = False
    notes: list[str] = field(default_factory=list)


def program_schedule(found: FoundSchedule) -> ProgramSchedule:
    """What a scheduler becomes. Raises NotCaptured where programs have nothing like it."""
    if type(found.scheduler).__name__ == "ReduceLROnPlateau":
        return _plateau(found) if found.every else ProgramSchedule()
    if not found.every:
        return ProgramSchedule()
    made = _known(found) or _list(found)
    if made.schedule and made.schedule.get("decay_rate") == 1:
        made.schedule = None
    return made


def _known(found: FoundSchedule) -> ProgramSchedule | None:
    """One whose formula programs have."""
    it, name = found.scheduler, type(found.scheduler).__name__
    if not type(it).__module__.startswith("torch.optim"):
        return None
    schedule: dict[str, Any] | None = None
    if name in ("ExponentialLR", "StepLR") and 0 < float(it.gamma) <= 1:
        schedule = {"decay_rate": plain(float(it.gamma))}
        if name == "StepLR" and it.step_size != 1:
            schedule.update(steps=int(it.step_size), staircase=True)
    elif name == "MultiStepLR":
        boundaries = sorted(it.milestones)
        counts = [sum(it.milestones[each] for each in boundaries[: n + 1]) for n in range(len(boundaries))]
        factors = [plain(float(f"{float(it.gamma) ** count:.12g}")) for count in counts]
        if boundaries:
            schedule = {"kind": "piecewise", "boundaries": [int(each) for each in boundaries], "factors": factors}
    elif name == "CosineAnnealingLR" and found.rate > 0:
        schedule = {"kind": "cosine", "steps": int(it.T_max), "end": _share(it.eta_min, found), "cycle": True}
    elif name == "LinearLR":
        start, end = float(it.start_factor), float(it.end_factor)
        schedule = {"kind": "polynomial", "steps": int(it.total_iters), "start": plain(start), "end": plain(end)}
    elif name == "PolynomialLR":
        schedule = {"kind": "polynomial", "steps": int(it.total_iters), "power": plain(float(it.power))}
    if schedule is None or (name == "LinearLR" and found.steps < 1):
        return None
    return ProgramSchedule({**schedule, "every": found.every})


def _share(rate: float, found: FoundSchedule) -> float | int:
    return plain(float(f"{float(rate) / found.rate:.12g}"))


def _list(found: FoundSchedule) -> ProgramSchedule:
    """The rates that a copy of the scheduler has from its beginning on."""
    name = type(found.scheduler).__name__
    if getattr(found.scheduler, "cycle_momentum", False):
        raise NotCaptured(f"found {name}, which changes the momentum; allowed: cycle_momentum=False", found.frame)
    if found.steps > MOST_RATES:
        raise NotCaptured(
            f"found {name} with {found.steps} rates; allowed: at most {MOST_RATES}, or "
            + ", ".join(sorted(SCHEDULE_ARGUMENTS)),
            found.frame,
        )
    rates = rates_of(found.scheduler, found.steps, found.seen)
    if rates is None:
        raise NotCaptured(f"found {name}, whose rates a copy of it doesn't say; allowed: those of PyTorch", found.frame)
    schedule = listed(rates, found.rate, found.every)
    note = f"{found.frame}: {name} is the list of the rates that it has in this training"
    return ProgramSchedule(schedule, notes=[note])


def rates_of(scheduler: Any, count: int, seen: list[float]) -> list[float] | None:
    """`count` rates of the first group: those that were seen, and those that a copy of the scheduler gives from now on;
    None where it gives none."""
    rates = seen[:count]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = copy.deepcopy(scheduler)
            while len(rates) < count:
                rates.append(float(own.optimizer.param_groups[0]["lr"]))
                own.step()
    except Exception:  # one of the script's own
        return None
    return rates


def listed(rates: list[float], rate: float, every: str) -> dict[str, Any] | None:
    """Rates as a piecewise schedule, in shares of `rate`; None where they stay."""
    boundaries: list[int] = []
    factors: list[float | int] = []
    last = rate
    for step, each in enumerate(rates):
        if each != last:
            boundaries.append(step)
            factors.append(plain(float(f"{each / rate:.12g}")))
        last = each
    return {"kind": "piecewise", "boundaries": boundaries, "factors": factors, "every": every} if boundaries else None


def _plateau(found: FoundSchedule) -> ProgramSchedule:
    """PyTorch reduces after more than `patience` bad epochs, Keras after so many; a cooldown ends an epoch later."""
    it = found.scheduler
    if found.every != "epoch":
        raise NotCaptured("found ReduceLROnPlateau at each batch; allowed: after each epoch", found.frame)
    low = it.min_lrs[0] if isinstance(it.min_lrs, (list, tuple)) else it.min_lrs
    config = {
        "factor": plain(float(it.factor)),
        "patience": int(it.patience) + 1,
        "mode": it.mode,
        "min_delta": plain(float(it.threshold)),
        "relative": it.threshold_mode == "rel",
        "cooldown": int(it.cooldown) + 1 if it.cooldown else 0,
        "min_lr": plain(float(low)),
    }
    made = ProgramSchedule()
    given, loss = (found.watched or [math.nan])[0], (found.losses or [math.nan])[0]
    if it.mode == "min" and math.isclose(given, loss, rel_tol=1e-3):
        monitor = "loss"
    elif not found.tested:
        raise NotCaptured(
            f"found ReduceLROnPlateau on the number {given:.6g}, which isn't the loss of the epoch's training rows; "
            "allowed: that, or one of the rows that are evaluated in each epoch",
            found.frame,
        )
    else:
        monitor = "val_loss" if it.mode == "min" else "val_accuracy"
        made.validates = True
        made.metrics = ["accuracy"] if it.mode == "max" else []
        made.notes.append(f"{found.frame}: ReduceLROnPlateau is taken to watch {monitor[4:]} of the test rows")
    made.callbacks = [{"class_name": "ReduceLROnPlateau", "config": {"monitor": monitor, **config}}]
    return made


def rates_schedule(rates: list[list[float]]) -> dict[str, Any] | None:
    """The schedule of rates that a script sets by hand: `rates` has those of each step, by epoch."""
    if all(abs(r - steps[0]) <= 1e-12 * abs(steps[0]) for steps in rates for r in steps):
        firsts = [steps[0] for steps in rates]
        return power_schedule(firsts) or listed(firsts, firsts[0], "epoch")
    flat = [rate for steps in rates for rate in steps]
    return listed(flat, flat[0], "batch") if len(flat) <= MOST_RATES else None


def power_schedule(rates: list[float]) -> dict[str, Any] | None:
    """One factor from each rate to the next; None for others."""
    factors = [b / a if a else 1.0 for a, b in zip(rates, rates[1:])]
    if len(factors) < 2 or max(factors) - min(factors) > 1e-9 or not 0 < factors[0] < 1:
        return None
    return {"decay_rate": plain(float(f"{factors[0]:.12g}")), "every": "epoch"}
