"""An optimiser and a scheduler of PyTorch as those of a program.

A program has PyTorch's own formulas and defaults with the rules "torch" (docs/formats/program.md, Optimisers).
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
    """What a program has of it; `arguments` maps PyTorch's arguments to fields of its config."""

    class_name: str
    config: dict[str, Any]
    arguments: dict[str, str]
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
_IGNORED = frozenset(["foreach", "capturable", "differentiable", "fused", "initial_lr", "params"])


def program_optimizer(found: FoundOptimizer) -> ProgramOptimizer:
    """The program's optimiser. Raises NotCaptured, with the place, for one that programs don't have."""
    if found.name not in _NAMES:
        raise NotCaptured(f"found the optimiser {found.name}; allowed: {', '.join(sorted(_NAMES))}", found.frame)
    settings = _one_group(found)
    config = {"learning_rate": _number(settings["lr"]), "rules": "torch"}
    made = ProgramOptimizer(_NAMES[found.name], config, {"lr": "learning_rate"})
    if settings.get("maximize"):
        raise NotCaptured("found maximize=True; allowed: False", found.frame)
    _FIELDS[made.class_name](made, settings)
    decay = weight_decay_of(found)
    if decay:
        made.config["weight_decay"] = plain(decay)
        made.arguments["weight_decay"] = "weight_decay"
        if found.name == "AdamW" or settings.get("decoupled_weight_decay"):
            made.config["decoupled_weight_decay"] = True
    return made


def weight_decay_of(found: FoundOptimizer) -> float:
    """The one weight_decay of the groups that have any. Raises NotCaptured where there are two."""
    decays = sorted({float(group.get("weight_decay", 0)) for group in found.groups} - {0.0})
    if len(decays) > 1:
        shown = " and ".join(f"{decay:g}" for decay in decays)
        raise NotCaptured(f"{found.name}: found weight_decay {shown}; allowed: 0 and one other for all", found.frame)
    return decays[0] if decays else 0.0


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


def _sgd(made: ProgramOptimizer, settings: dict[str, Any]) -> None:
    momentum = float(settings.get("momentum", 0))
    dampening = float(settings.get("dampening", 0))
    made.config.update(momentum=plain(momentum), nesterov=bool(settings.get("nesterov", False)))
    made.arguments.update(momentum="momentum", nesterov="nesterov", dampening="dampening")
    if momentum and dampening:
        made.config["dampening"] = plain(dampening)


def _adam(made: ProgramOptimizer, settings: dict[str, Any]) -> None:
    first, second = settings["betas"]
    made.config.update(beta_1=plain(float(first)), beta_2=plain(float(second)), epsilon=float(settings["eps"]))
    made.arguments["eps"] = "epsilon"
    if made.class_name == "Adam":
        made.config["amsgrad"] = bool(settings.get("amsgrad", False))
        made.arguments["amsgrad"] = "amsgrad"
    elif made.class_name == "Nadam":
        made.config["schedule_decay"] = plain(float(settings.get("momentum_decay", 0.004)))
        made.arguments["momentum_decay"] = "schedule_decay"


def _rmsprop(made: ProgramOptimizer, settings: dict[str, Any]) -> None:
    made.config.update(
        rho=plain(float(settings["alpha"])),
        epsilon=float(settings["eps"]),
        momentum=plain(float(settings.get("momentum", 0))),
        centered=bool(settings.get("centered", False)),
    )
    made.arguments.update(alpha="rho", eps="epsilon", momentum="momentum", centered="centered")


def _adagrad(made: ProgramOptimizer, settings: dict[str, Any]) -> None:
    made.config.update(
        initial_accumulator_value=plain(float(settings.get("initial_accumulator_value", 0))),
        epsilon=float(settings["eps"]),
        decay=plain(float(settings.get("lr_decay", 0))),
    )
    made.arguments.update(initial_accumulator_value="initial_accumulator_value", eps="epsilon", lr_decay="decay")


def _adadelta(made: ProgramOptimizer, settings: dict[str, Any]) -> None:
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
