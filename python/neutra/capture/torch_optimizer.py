"""An optimiser and a scheduler of PyTorch as those of a program.

Formulas: torch/optim/*.py against docs/methods/training.md. Where both are the same nothing is said; where they differ,
a note says how.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .recording import Frame, NotCaptured
from .torch_ops import plain


@dataclass
class FoundOptimizer:
    """An optimiser: class, and the settings of its groups without parameters. `frame` is where it was made."""

    name: str
    groups: list[dict[str, Any]]
    frame: Frame | None = None


@dataclass
class ProgramOptimizer:
    """What a program has of it; `arguments` maps PyTorch's arguments to fields of its config. `penalised` says that
    weight_decay is a penalty in the gradient, so that an L2 regulariser is the same."""

    class_name: str
    config: dict[str, Any]
    arguments: dict[str, str]
    penalised: bool = True
    notes: list[str] = field(default_factory=list)
    differences: list[NotCaptured] = field(default_factory=list)


_NAMES = {
    "SGD": "SGD",
    "Adam": "Adam",
    "AdamW": "Adam",
    "RMSprop": "RMSprop",
    "Adagrad": "Adagrad",
    "Adadelta": "Adadelta",
    "Adamax": "Adamax",
    "NAdam": "Nadam",
}

#: Settings that change no result, or are read elsewhere.
_IGNORED = frozenset(
    ["foreach", "capturable", "differentiable", "fused", "initial_lr", "decoupled_weight_decay", "params"]
)


def program_optimizer(found: FoundOptimizer) -> ProgramOptimizer:
    """The program's optimiser. Raises NotCaptured, with the place, for one that programs don't have."""
    if found.name not in _NAMES:
        raise NotCaptured(f"found the optimiser {found.name}; allowed: {', '.join(sorted(_NAMES))}", found.frame)
    settings = _one_group(found)
    made = ProgramOptimizer(_NAMES[found.name], {"learning_rate": _number(settings["lr"])}, {"lr": "learning_rate"})
    if settings.get("maximize"):
        raise NotCaptured("found maximize=True; allowed: False", found.frame)
    _FIELDS[made.class_name](made, settings, found.frame)
    decay = max(float(group.get("weight_decay", 0)) for group in found.groups)
    decoupled = found.name == "AdamW" or settings.get("decoupled_weight_decay")
    if decay and decoupled:
        made.penalised = False
        made.differences.append(
            NotCaptured(
                f"{found.name}: found weight_decay={decay:g}, which shrinks weights apart from "
                "the gradient; allowed: 0, or Adam's, which is a penalty",
                found.frame,
            )
        )
    elif decay:
        made.notes.append(
            f"weight_decay={decay:g} is an L2 penalty of half of it on each weight, the same gradient; "
            "losses that are printed have it in programs alone"
        )
    return made


def _one_group(found: FoundOptimizer) -> dict[str, Any]:
    """The settings of all groups, which must be equal but for weight_decay."""
    first = found.groups[0]
    for group in found.groups[1:]:
        for key, value in group.items():
            if key not in _IGNORED and key != "weight_decay" and value != first.get(key):
                raise NotCaptured(
                    f"{found.name}: found groups of parameters with {key} {first.get(key)} and {value}; allowed: one "
                    "for all",
                    found.frame,
                )
    return first


def _number(value: Any) -> float | int:
    return plain(float(value.item() if hasattr(value, "item") else value))


def _sgd(made: ProgramOptimizer, settings: dict[str, Any], frame: Frame | None) -> None:
    momentum = float(settings.get("momentum", 0))
    dampening = float(settings.get("dampening", 0))
    if momentum and dampening:
        raise NotCaptured(f"SGD: found dampening={dampening:g}; allowed: 0", frame)
    made.config.update(momentum=plain(momentum), nesterov=bool(settings.get("nesterov", False)))
    made.arguments.update(momentum="momentum", nesterov="nesterov")


def _adam(made: ProgramOptimizer, settings: dict[str, Any], frame: Frame | None) -> None:
    first, second = settings["betas"]
    epsilon = float(settings["eps"])
    made.config.update(beta_1=plain(float(first)), beta_2=plain(float(second)), epsilon=epsilon)
    made.arguments["eps"] = "epsilon"
    if made.class_name == "Adam":
        made.config["amsgrad"] = bool(settings.get("amsgrad", False))
        made.arguments["amsgrad"] = "amsgrad"
        made.notes.append(
            f"PyTorch adds eps={epsilon:g} to the root after the correction for the first steps, programs "
            "before: gradients near eps take other steps at first"
        )
    elif made.class_name == "Adamax":
        made.notes.append("PyTorch adds eps within the maximum, programs behind it")
    else:
        made.config["schedule_decay"] = plain(float(settings.get("momentum_decay", 0.004)))
        made.arguments["momentum_decay"] = "schedule_decay"


def _rmsprop(made: ProgramOptimizer, settings: dict[str, Any], frame: Frame | None) -> None:
    momentum = float(settings.get("momentum", 0))
    made.config.update(
        rho=plain(float(settings["alpha"])),
        epsilon=float(settings["eps"]),
        momentum=plain(momentum),
        centered=bool(settings.get("centered", False)),
    )
    made.arguments.update(alpha="rho", eps="epsilon", momentum="momentum", centered="centered")
    if momentum:
        made.differences.append(
            NotCaptured(
                "RMSprop: found momentum, where PyTorch adds eps to the root and programs to its square; allowed: 0",
                frame,
            )
        )


def _adagrad(made: ProgramOptimizer, settings: dict[str, Any], frame: Frame | None) -> None:
    made.config.update(
        initial_accumulator_value=plain(float(settings.get("initial_accumulator_value", 0))),
        epsilon=float(settings["eps"]),
        decay=plain(float(settings.get("lr_decay", 0))),
    )
    made.arguments.update(initial_accumulator_value="initial_accumulator_value", eps="epsilon", lr_decay="decay")


def _adadelta(made: ProgramOptimizer, settings: dict[str, Any], frame: Frame | None) -> None:
    made.config.update(rho=plain(float(settings["rho"])), epsilon=float(settings["eps"]))
    made.arguments.update(rho="rho", eps="epsilon")


_FIELDS = {
    "SGD": _sgd,
    "Adam": _adam,
    "Adamax": _adam,
    "Nadam": _adam,
    "RMSprop": _rmsprop,
    "Adagrad": _adagrad,
    "Adadelta": _adadelta,
}


@dataclass
class FoundSchedule:
    """A scheduler: class, settings, and how often it stepped: `every` "epoch", "batch" or "" (never)."""

    name: str
    settings: dict[str, Any]
    every: str
    frame: Frame | None = None


def program_schedule(found: FoundSchedule, epochs: int) -> dict[str, Any] | None:
    """`fit.schedule`; None where the rate stays as it is. Raises NotCaptured where programs have no such schedule."""
    if not found.every:
        return None
    gamma = found.settings.get("gamma")
    step = found.settings.get("step_size", 1)
    if found.name in ("ExponentialLR", "StepLR") and step == 1 and gamma is not None and 0 < float(gamma) <= 1:
        return {"decay_rate": plain(float(gamma)), "every": found.every}
    if found.name in ("StepLR", "MultiStepLR") and found.every == "epoch":
        marks = found.settings.get("milestones") or [step]
        if min(marks) >= epochs:
            return None  # the rate never changes within the training
    kind = f"{found.name}(step_size={step})" if found.name == "StepLR" else found.name
    raise NotCaptured(
        f"found {kind}; allowed: one factor for each epoch or batch (ExponentialLR, StepLR with step_size 1)",
        found.frame,
    )


def rates_schedule(rates: list[list[float]]) -> dict[str, Any] | None:
    """The schedule of rates that a script sets by hand: `rates` has those of each step, by epoch. None unless the rate
    is constant in each epoch and falls by one factor from each to the next."""
    firsts = [steps[0] for steps in rates if steps]
    if len(firsts) < 3 or any(abs(r - steps[0]) > 1e-12 * abs(steps[0]) for steps in rates for r in steps):
        return None
    factors = [b / a if a else 1.0 for a, b in zip(firsts, firsts[1:])]
    if max(factors) - min(factors) > 1e-9 or not 0 < factors[0] < 1:
        return None
    return {"decay_rate": plain(float(f"{factors[0]:.12g}")), "every": "epoch"}
