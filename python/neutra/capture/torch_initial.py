"""How PyTorch drew a parameter, as an initialiser of a program.

PyTorch's own start of Linear and Conv is kaiming_uniform_(a=sqrt(5)): uniform within 1 / sqrt(fan_in), which is
VarianceScaling with scale 1/3; that of biases, and of all weights of recurrent layers, is uniform within the bound of
another weight of the layer, its kernel or recurrent kernel: FanInUniform. Source: torch.nn.init; torch/nn/modules/
linear.py, conv.py, rnn.py.
"""

from __future__ import annotations

import math
from typing import Any

from .torch_ops import Drawn, Variable, plain

#: Gains of torch.nn.init.calculate_gain.
_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 0.75,
}


class Unknown(Exception):
    """No initialiser stands for it; the message says what was found."""


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """fan_in and fan_out as torch.nn.init counts them, for a weight of this shape."""
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def kaiming_gain(arguments: dict[str, Any]) -> float:
    """The gain of kaiming_*_ with these arguments."""
    nonlinearity = arguments.get("nonlinearity", "leaky_relu")
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + float(arguments.get("a", 0) or 0) ** 2))
    if nonlinearity not in _GAINS:
        raise Unknown(f"nonlinearity {nonlinearity!r}")
    return _GAINS[nonlinearity]


def _scaling(scale: float, mode: str, distribution: str) -> dict[str, Any]:
    rounded = float(f"{scale:.12g}")
    word = {
        (1.0, "fan_avg", "uniform"): "GlorotUniform",
        (2.0, "fan_in", "uniform"): "HeUniform",
        (1.0, "fan_in", "uniform"): "LecunUniform",
    }.get((rounded, mode, distribution))
    if word:
        return {"class_name": word, "config": {}}
    third = 1 / 3 if math.isclose(scale, 1 / 3, rel_tol=1e-12) else rounded
    config = {"scale": third, "mode": mode, "distribution": distribution}
    return {"class_name": "VarianceScaling", "config": config}


def _uniform(low: float, high: float) -> dict[str, Any]:
    return {"class_name": "RandomUniform", "config": {"minval": plain(low), "maxval": plain(high)}}


def _normal(mean: float, deviation: float) -> dict[str, Any]:
    return {"class_name": "RandomNormal", "config": {"mean": plain(mean), "stddev": plain(deviation)}}


def _constant(value: float) -> dict[str, Any]:
    if value in (0, 1):
        return {"class_name": "Ones" if value else "Zeros", "config": {}}
    return {"class_name": "Constant", "config": {"value": plain(value)}}


def _scaled(drawn: Drawn, shape: tuple[int, ...]) -> dict[str, Any]:
    """xavier_*_ and kaiming_*_."""
    arguments = drawn.arguments
    distribution = "uniform" if "uniform" in drawn.name else "untruncated_normal"
    if drawn.name.startswith("xavier"):
        return _scaling(float(arguments.get("gain", 1.0)) ** 2, "fan_avg", distribution)
    return _scaling(kaiming_gain(arguments) ** 2, str(arguments.get("mode", "fan_in")), distribution)


def _truncated(arguments: dict[str, Any]) -> dict[str, Any]:
    """trunc_normal_: its bounds are numbers, those of Keras two deviations."""
    mean, deviation = float(arguments.get("mean", 0.0)), float(arguments.get("std", 1.0))
    low, high = float(arguments.get("a", -2.0)), float(arguments.get("b", 2.0))
    reach = min(mean - low, high - mean) / deviation if deviation else 0
    if math.isclose(mean - low, 2 * deviation) and math.isclose(high - mean, 2 * deviation):
        return {"class_name": "TruncatedNormal", "config": {"mean": mean, "stddev": deviation}}
    if reach >= 6:  # beyond six deviations is one number in 5e8
        return _normal(mean, deviation)
    raise Unknown(f"trunc_normal_ within {reach:.3g} deviations")


def bounds(shapes: dict[str, tuple[int, ...]]) -> dict[str, float]:
    """The bounds of FanInUniform of these weights of a layer, by name; a bias counts none."""
    return {name: 1 / math.sqrt(fans(shape)[0]) for name, shape in shapes.items() if len(shape) > 1}


def initializer(variable: Variable, rank: int, of: dict[str, float] | None = None) -> dict[str, Any]:
    """The initialiser that draws a variable as the script did; `rank` is the number of axes of neutra's variable, `of`
    the bounds of weights whose inputs it may count.

    Raises Unknown where none does: numbers that were copied, or drawn in a way Keras has no word for.
    """
    drawn = variable.drawn
    if drawn is None:
        raise Unknown("numbers of the script's own")
    if drawn.part:
        raise Unknown(f"{drawn.part.name} of a part of it")
    name, arguments = drawn.name, drawn.arguments
    if name.startswith(("kaiming", "xavier")) and len(variable.shape) >= 2:
        return _scaled(drawn, variable.shape)
    if name == "uniform_":
        low, high = float(arguments.get("a", 0.0)), float(arguments.get("b", 1.0))
        for weight, limit in (of or {}).items():
            if math.isclose(high, limit) and math.isclose(low, -limit):
                return {"class_name": "FanInUniform", "config": {} if weight == "kernel" else {"of": weight}}
        bound = 1 / math.sqrt(fans(variable.shape)[0]) if len(variable.shape) > 1 else 0.0
        if bound and math.isclose(high, bound) and math.isclose(low, -bound):
            return _scaling(1 / 3, "fan_in", "uniform")
        return _uniform(low, high)
    if name == "normal_":
        return _normal(float(arguments.get("mean", 0.0)), float(arguments.get("std", 1.0)))
    if name == "trunc_normal_":
        return _truncated(arguments)
    if name in ("zeros_", "zero_"):
        return _constant(0)
    if name == "ones_":
        return _constant(1)
    if name in ("constant_", "fill_"):
        return _constant(float(arguments.get("val", 0.0)))
    if name == "orthogonal_" and rank >= 2:
        gain = float(arguments.get("gain", 1.0))
        return {"class_name": "Orthogonal", "config": {"gain": plain(gain)}}
    if name == "eye_" and rank == 2:
        return {"class_name": "Identity", "config": {}}
    raise Unknown(f"numbers by {name}")


#: Functions that draw the numbers of a parameter -> the names of their arguments behind the tensor.
DRAWING: dict[str, tuple[str, ...]] = {
    "uniform_": ("a", "b"),
    "normal_": ("mean", "std"),
    "trunc_normal_": ("mean", "std", "a", "b"),
    "zeros_": (),
    "zero_": (),
    "ones_": (),
    "constant_": ("val",),
    "fill_": ("val",),
    "eye_": (),
    "orthogonal_": ("gain",),
    "xavier_uniform_": ("gain",),
    "xavier_normal_": ("gain",),
    "kaiming_uniform_": ("a", "mode", "nonlinearity"),
    "kaiming_normal_": ("a", "mode", "nonlinearity"),
    "sparse_": ("sparsity", "std"),
    "dirac_": ("groups",),
}

#: Methods that write numbers into a parameter in another way.
WRITING = frozenset(
    [
        "copy_",
        "mul_",
        "add_",
        "div_",
        "sub_",
        "clamp_",
        "data=",
        "set_",
        "exponential_",
        "bernoulli_",
        "random_",
        "__setitem__",
    ]
)


def drawn_by(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], frames: list[Any]) -> Drawn:
    """A call of one of these functions; tensors' methods call the bounds `from` and `to`."""
    names = {"from": "a", "to": "b", "value": "val"}
    arguments = dict(zip(DRAWING.get(name, ()), args))
    arguments.update(
        {names.get(key, key): value for key, value in kwargs.items() if key not in ("tensor", "generator")}
    )
    return Drawn(name, arguments, frames)
