"""A loss of PyTorch as that of a program: the word, its options, and what it adds to or takes from the layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .recording import Frame, NotCaptured

#: Class, and function, of a loss -> canonical name.
LOSSES = {
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
}

#: Arguments of the functions behind input and target, in order.
ARGUMENTS = {
    "cross_entropy": ["weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing"],
    "nll_loss": ["weight", "size_average", "ignore_index", "reduce", "reduction"],
    "binary_cross_entropy": ["weight", "size_average", "reduce", "reduction"],
    "binary_cross_entropy_with_logits": ["weight", "size_average", "reduce", "reduction", "pos_weight"],
    "mse_loss": ["size_average", "reduce", "reduction", "weight"],
    "l1_loss": ["size_average", "reduce", "reduction", "weight"],
    "smooth_l1_loss": ["size_average", "reduce", "reduction", "beta"],
    "huber_loss": ["reduction", "delta", "weight"],
}

#: Attributes of the classes that count.
SETTINGS = ("weight", "pos_weight", "ignore_index", "reduction", "label_smoothing", "beta", "delta")

_REGRESSION = {
    "mse_loss": "mean_squared_error",
    "l1_loss": "mean_absolute_error",
    "smooth_l1_loss": "huber",
    "huber_loss": "huber",
}
_ERRORS = {"mean_squared_error": "mse", "mean_absolute_error": "mae", "huber": "huber"}


@dataclass
class FoundLoss:
    """The loss of a step: canonical name and settings, shapes of output and target with rows, type of the target
    ("int64"), and the last operations of the model that matter to it, `behind` ("softmax", "log_softmax", ...)."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    output: tuple[int, ...] = ()
    target: tuple[int, ...] = ()
    whole: bool = False
    behind: str = ""
    frame: Frame | None = None
    called: str = ""


@dataclass
class ProgramLoss:
    """What a program has of it. `drops` takes the model's last operation away (a log_softmax that belongs to the
    loss), `adds` is an activation that the loss applies itself, behind one of the model's own. `targets` is what is
    done to targets: "labels", "column", "rows" or "one_hot" of `classes`. `class_weight` is fit.class_weight."""

    loss: Any
    task: str
    metrics: list[str]
    metric: dict[str, Any] | None
    reduction: str = "mean"
    drops: bool = False
    adds: str = ""
    targets: str = "rows"
    classes: int = 0
    class_weight: dict[str, float] | None = None
    notes: list[str] = field(default_factory=list)


def program_loss(found: FoundLoss) -> ProgramLoss:
    """The program's loss. Raises NotCaptured, with the place, for what no loss of programs computes."""
    reduction = found.settings.get("reduction", "mean")
    if reduction not in ("mean", "sum"):
        raise _refused(found, f"reduction={reduction!r}", "'mean' or 'sum'")
    if found.name in ("cross_entropy", "nll_loss"):
        made = _classes(found)
    elif found.name.startswith("binary_cross_entropy"):
        made = _binary(found)
    elif found.name in _REGRESSION:
        made = _regression(found)
    else:
        raise NotCaptured(
            f"found the loss {found.called or found.name}; allowed: {', '.join(sorted(LOSSES))}", found.frame
        )
    made.reduction = reduction
    made.class_weight = _class_weight(found)
    width = found.output[-1] if len(found.output) > 1 else 1
    if reduction == "sum" and found.name not in ("cross_entropy", "nll_loss") and width != 1:
        raise _refused(
            found, f"reduction='sum' over {width} outputs", "'mean', or one output: programs sum over rows alone"
        )
    return made


def _class_weight(found: FoundLoss) -> dict[str, float] | None:
    """What the rows of each class count: `weight` of a cross entropy of classes, whose mean PyTorch divides by the
    weights of the batch, as programs by its rules do, or `pos_weight` of a binary one, a mean over rows."""
    weight, positive = (found.settings.get(name) for name in ("weight", "pos_weight"))
    if weight is None and positive is None:
        return None
    width = found.output[-1] if len(found.output) > 1 else 1
    if found.name in ("cross_entropy", "nll_loss"):
        if not found.whole or found.settings.get("label_smoothing"):
            beside = "label_smoothing" if found.whole else "targets that are probabilities"
            raise _refused(found, f"weights of classes beside {beside}", "classes as targets, without label_smoothing")
        return {str(number): value for number, value in enumerate(_numbers(weight))}
    if weight is not None or width != 1:
        what = "weights of single elements" if weight is not None else f"pos_weight of {width} outputs"
        raise _refused(found, what, "pos_weight of one output, or weights of classes of CrossEntropyLoss")
    return {"0": 1.0, "1": _numbers(positive)[0]}


def _numbers(weights: Any) -> list[float]:
    """Weights in single precision, as numbers that are short."""
    return [float(f"{value:.9g}") for value in weights.detach().cpu().reshape(-1).tolist()]


def _refused(found: FoundLoss, what: str, allowed: str) -> NotCaptured:
    return NotCaptured(f"{found.called or found.name}: found {what}; allowed: {allowed}", found.frame)


def _classes(found: FoundLoss) -> ProgramLoss:
    if len(found.output) != 2:
        raise _refused(found, f"outputs of shape {found.output}", "one row of scores for each example")
    name, behind = found.name, found.behind
    smoothing = float(found.settings.get("label_smoothing", 0) or 0)
    classes = int(found.output[1])
    word = "sparse_categorical_crossentropy" if found.whole else "categorical_crossentropy"
    made = ProgramLoss("", "classification", ["accuracy"], {"name": "accuracy", "goal": "maximize"}, classes=classes)
    made.targets = "labels" if found.whole else "rows"
    if smoothing and found.whole:
        made.targets, word = "one_hot", "categorical_crossentropy"
    if behind == "log_softmax":
        made.drops = True
        if name == "cross_entropy":
            made.notes.append("log_softmax before CrossEntropyLoss changes nothing and is left out")
    elif name == "nll_loss":
        raise _refused(
            found,
            f"outputs of {behind or 'a layer'} that are no logarithms: it is minus the output itself",
            "log_softmax before it, or CrossEntropyLoss",
        )
    config: dict[str, Any] = {"from_logits": True}
    if behind == "softmax":  # from_logits would take the softmax's own input (docs/methods/training.md)
        made.adds, config = "softmax", {}
        made.notes.append("CrossEntropyLoss has a softmax of its own behind the model's: the program has both")
    if smoothing:
        config["label_smoothing"] = smoothing
    made.loss = {"class_name": word, "config": config} if config else word
    return made


def _binary(found: FoundLoss) -> ProgramLoss:
    _same_shapes(found)
    made = ProgramLoss("binary_crossentropy", "classification", ["accuracy"], {"name": "accuracy", "goal": "maximize"})
    if len(found.output) > 1 and found.output[-1] > 1:
        made.metrics, made.metric = ["binary_accuracy"], {"name": "binary_accuracy", "goal": "maximize"}
    if found.name == "binary_cross_entropy":
        if found.behind != "sigmoid":
            made.notes.append(
                "BCELoss without a sigmoid before it: logarithms stop at -100 in PyTorch, at 1e-7 in programs"
            )
        return made
    if found.behind == "sigmoid":
        made.adds = "sigmoid"
        made.notes.append("BCEWithLogitsLoss has a sigmoid of its own behind the model's: the program has both")
        return made
    made.loss = {"class_name": "binary_crossentropy", "config": {"from_logits": True}}
    made.metrics = []
    made.metric = {"name": "binary_accuracy", "goal": "maximize", "threshold": 0}
    return made


def _regression(found: FoundLoss) -> ProgramLoss:
    _same_shapes(found)
    word = _REGRESSION[found.name]
    scale = float(found.settings.get("beta", found.settings.get("delta", 1.0)) or 0)
    if word == "huber" and scale != 1:
        raise _refused(found, f"{'beta' if found.name.startswith('smooth') else 'delta'}={scale:g}", "1")
    error = _ERRORS[word]
    return ProgramLoss(word, "regression", [error], {"name": error, "goal": "minimize"})


def _same_shapes(found: FoundLoss) -> None:
    """PyTorch broadcasts (n, 1) against (n,) to n by n; programs, as Keras, drop the 1."""
    output, target = found.output, found.target
    if output == target:
        return
    try:
        shape = np.broadcast_shapes(output, target)
    except ValueError:
        shape = ()
    raise _refused(
        found,
        f"outputs of shape {output} and targets of shape {target}, which PyTorch makes {shape}",
        "equal shapes: programs compare each row with its own target",
    )
