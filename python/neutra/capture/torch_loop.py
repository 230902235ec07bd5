"""How a training loop is written, found by the order in which things happened.

Plain data: events come in, `fit.loop` comes out (docs/methods/training.md, The loop). Nothing is read of the text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .recording import Frame, NotCaptured


@dataclass
class Step:
    """One backward pass and what followed it. `epoch` counts from 0; `clear` says whether all gradients were zero or
    none before it; `wiped` whether they were made so between it and the update; `updates` how often the optimiser
    stepped until the next backward pass; `scheduled` how often a scheduler did before it; `rate` is the learning rate
    of the update; `rows` of the batch; `loss` its value without `scale`, which it was multiplied by."""

    epoch: int
    clear: bool
    wiped: bool = False
    updates: int = 0
    scheduled: int = 0
    rate: float = 0.0
    rows: int = 0
    loss: float = float("nan")
    training: bool = True
    scale: float = 1.0


@dataclass
class Calls:
    """The user's lines of the calls of a loop, where they were first seen."""

    zero_grad: Frame | None = None
    step: Frame | None = None
    backward: Frame | None = None
    evaluation: Frame | None = None
    schedule: Frame | None = None


@dataclass
class FoundLoop:
    """What a loop does: values of `fit.loop`, how often the scheduler steps, how many backward passes gather gradients
    for one update, and what should be said of it."""

    zero_grad: str = "each_step"
    step: bool = True
    eval_mode: bool = True
    schedule: str = ""
    passes: int = 1
    notes: list[str] = field(default_factory=list)
    differences: list[NotCaptured] = field(default_factory=list)


def found_loop(steps: list[Step], calls: Calls, ended: bool) -> FoundLoop:
    """The loop of these steps; `ended` says that the last step is whole. Raises NotCaptured for loops that programs
    don't have: several updates for a backward pass, or gradients of several that are no larger batch's."""
    whole = steps if ended or len(steps) == 1 else steps[:-1]
    found = FoundLoop()
    counts = Counter(step.updates for step in whole)
    if set(counts) == {0}:
        found.step = False
    elif max(counts) > 1:
        raise NotCaptured(f"found {max(counts)} steps of the optimiser for one backward pass; allowed: one", calls.step)
    elif counts[0]:
        found.passes = _passes(whole, calls)
        steps = [step for step in steps if step is not whole[-1] or step.updates]
        steps = [step for step, before in zip(steps, [None, *steps]) if before is None or before.updates]
        whole = [step for step in whole if any(step is each for each in steps)]
    found.zero_grad = _zeroing(steps, whole, found)
    found.schedule = _scheduling(whole, steps)
    if any(step.training != steps[0].training for step in whole):
        found.differences.append(
            NotCaptured(
                "found training in evaluation mode from some step on (model.eval() without model.train() after it); "
                "allowed: one mode",
                calls.evaluation or calls.backward,
            )
        )
    return found


def _passes(whole: list[Step], calls: Calls) -> int:
    """How many backward passes gather gradients for an update, where one of a larger batch gives the same: as many for
    each, of batches of one size, from gradients that are zero, and none left at the end of an epoch."""
    groups: list[list[Step]] = [[]]
    for step in whole:
        groups[-1].append(step)
        if step.updates:
            groups.append([])
    left = groups.pop()
    sizes = sorted({len(group) for group in groups})
    what = f"found {sizes[-1]} backward passes for one step of the optimiser"
    if len(sizes) > 1 or left or any(group[0].epoch != group[-1].epoch for group in groups):
        raise NotCaptured(f"{what}, and others; allowed: as many for each, and none left in an epoch", calls.backward)
    if len({step.rows for step in whole}) > 1:
        raise NotCaptured(f"{what}, of batches of several sizes; allowed: one size", calls.backward)
    if not all(group[0].clear for group in groups) or any(step.clear for group in groups for step in group[1:]):
        raise NotCaptured(f"{what}; allowed: zero_grad() once for each", calls.backward)
    return sizes[0]


def _zeroing(steps: list[Step], whole: list[Step], found: FoundLoop) -> str:
    if any(step.wiped for step in whole):
        if all(step.wiped for step in whole):
            return "before_step"
        found.notes.append("gradients are made zero between the backward pass and the update of some steps alone")
    later = steps[1:]
    if not later:
        return "each_step"
    inner = [step for step, before in zip(later, steps) if step.epoch == before.epoch]
    outer = [step for step, before in zip(later, steps) if step.epoch != before.epoch]
    if all(step.clear for step in inner):
        return "each_step" if inner or all(step.clear for step in outer) else "never"
    if any(step.clear for step in inner):
        raise NotCaptured(
            "found gradients that are made zero at some steps of an epoch alone; allowed: at each, at none"
        )
    return "each_epoch" if outer and all(step.clear for step in outer) else "never"


def _scheduling(whole: list[Step], steps: list[Step]) -> str:
    """How often a scheduler steps: "batch", "epoch" or "" for never; a step counts with the backward pass after."""
    inner = [s for s, before in zip(steps[1:], steps) if s.epoch == before.epoch]
    outer = [s for s, before in zip(steps[1:], steps) if s.epoch != before.epoch]
    if inner and all(s.scheduled for s in inner):
        return "batch"
    if any(s.scheduled for s in outer) or (not inner and any(s.scheduled for s in steps[1:])):
        return "epoch"
    return ""


def as_fit_loop(found: FoundLoop, reduction: str, left_out: list[int], detached: int | None) -> dict[str, Any]:
    """`fit.loop` without what is Keras's own loop."""
    loop: dict[str, Any] = {}
    if found.zero_grad != "each_step":
        loop["zero_grad"] = found.zero_grad
    if not found.step:
        loop["step"] = False
    if not found.eval_mode:
        loop["eval_mode"] = False
    if reduction != "mean":
        loop["reduction"] = reduction
    if left_out:
        loop["left_out"] = left_out
    if detached is not None:
        loop["detached"] = detached
    return loop


def epoch_losses(steps: list[Step]) -> list[float]:
    """The mean loss of each epoch over its rows."""
    sums: dict[int, list[float]] = {}
    for step in steps:
        total = sums.setdefault(step.epoch, [0.0, 0.0])
        total[0] += step.loss * step.rows
        total[1] += step.rows
    return [total / rows if rows else float("nan") for total, rows in (sums[epoch] for epoch in sorted(sums))]
