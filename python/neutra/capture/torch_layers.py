"""The operations between a model's input and output as layers of a program.

PyTorch's images and sequences have their channels first, a program's last. So rows are turned once, at the input; what
PyTorch then calls channel 1 is neutra's last axis, and a Dense behind a Flatten gets its kernel's rows in another
order. Plain data: no torch is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .recording import NotCaptured, Site
from .torch_initial import Unknown, bounds, initializer
from .torch_ops import FUNCTIONS, Op, Variable, plain, recurrent_parameters

Turn = Callable[[Any], Any]


@dataclass
class Weight:
    """A weight of a layer: `turn` makes neutra's array of torch's, `back` the other way."""

    layer: int
    name: str
    variable: Variable
    turn: Turn
    back: Turn


def keep(array: Any) -> Any:
    """The array as it is."""
    return array


@dataclass
class Layers:
    """Builds the layers, one operation after the other.

    `first` says whether torch's rows have their channels first while neutra's have them last; `order[j]` is torch's
    place of neutra's j-th feature, None where they are the same. `flat` says that neutra's rows lack the extents of 1
    that torch's have behind a global pooling. `turned` says that the input's rows are to be turned.
    """

    in_shape: tuple[int, ...]
    layers: list[dict[str, Any]] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    weights: list[Weight] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    differences: list[NotCaptured] = field(default_factory=list)
    detached: int | None = None
    left_out: list[int] = field(default_factory=list)
    first: bool = False
    turned: bool = False
    pointwise: bool = True
    order: Any = None
    flat: bool = False
    row: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.row = tuple(self.in_shape[1:])

    # -- what handlers use

    @property
    def last(self) -> dict[str, Any] | None:
        """The layer that gives the value that an operation takes; None where it may not be changed any more."""
        return self.layers[-1] if self.layers else None

    def refuse(self, op: Op, found: str, allowed: str) -> NotCaptured:
        """The error of an operation that no layer stands for."""
        return NotCaptured(f"{op.called or op.name}: found {found}; allowed: {allowed}", op.place)

    def note(self, op: Op, text: str) -> None:
        """Says what differs, once."""
        line = f"{op.place}: {text}" if op.place else text
        if line not in self.notes:
            self.notes.append(line)

    def differs(self, op: Op, text: str) -> None:
        """Says what changes the training and no program holds."""
        self.differences.append(NotCaptured(text, op.place))

    def emit(self, kind: str, config: dict[str, Any], op: Op, arguments: dict[str, str] | None = None) -> int:
        """Adds a layer. `arguments` maps torch's arguments to fields of its config. Returns the layer's number."""
        number = len(self.layers)
        path = f"/model/config/layers/{number}"
        config = {"name": f"{op.label or kind.lower()}_{number}".replace(".", "_"), **config}
        self.layers.append({"class_name": kind, "config": config})
        pointers = {key: f"{path}/config/{value}" for key, value in (arguments or {}).items()}
        made = op.made
        if made is not None:
            names = made.parameters or recurrent_parameters(op.name)
            self.sites.append(Site(made.name, path, made.frames, pointers, names, made.given))
            self.sites.append(Site("forward", path, op.frames))
        else:
            names = ["input", *FUNCTIONS[op.called][1]] if pointers and op.called in FUNCTIONS else []
            self.sites.append(Site(op.called or op.name, path, op.frames, pointers, names))
        return number

    def channels_last(self, op: Op) -> None:
        """Sees to it that neutra's rows have their channels last where torch's have them first."""
        axes = len(self.row)
        if self.flat:
            extents = [*self.row[1:], self.row[0]]
            self.emit("Reshape", {"target_shape": extents}, Op("reshape", label="cells", frames=op.frames))
            self.first, self.flat = True, False
        if self.first:
            return
        if self.order is not None:
            raise self.refuse(op, "channels of features that were flattened before", "layers on images before Flatten")
        if self.pointwise:
            self.turned = True
        elif self.last is not None and self.last["class_name"] == "Reshape" and self.row[0] == 1:
            self.last["config"]["target_shape"] = [*self.row[1:], 1]
        else:
            self.emit(
                "Permute", {"dims": [*range(2, axes + 1), 1]}, Op("permute", label="channels_last", frames=op.frames)
            )
            self.note(op, "a Permute turns channels to the last axis, where layers of programs have them")
        self.first = True

    def as_torch(self, op: Op) -> None:
        """Sees to it that neutra's rows have torch's order of axes."""
        if self.flat:
            self.emit("Reshape", {"target_shape": list(self.row)}, Op("reshape", label="cells", frames=op.frames))
            self.flat = False
        if not self.first:
            return
        if len(self.row) > 1:
            if self.turned and self.pointwise:
                self.turned = False
            else:
                axes = len(self.row)
                self.emit(
                    "Permute", {"dims": [axes, *range(1, axes)]}, Op("permute", label="as_torch", frames=op.frames)
                )
                self.pointwise = False
        self.first = False

    def add_weight(self, layer: int, name: str, variable: Variable, turn: Turn = keep, back: Turn = keep) -> None:
        """Remembers whose weight a torch variable is."""
        self.weights.append(Weight(layer, name, variable, turn, back))

    def drawn(
        self,
        op: Op,
        variable: Variable,
        rank: int,
        default: dict[str, Any] | None = None,
        of: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """The initialiser of a variable; a note, and `default` or zeros, where none stands for it. `of`: the bounds of
        weights whose inputs it may count."""
        try:
            return initializer(variable, rank, of)
        except Unknown as unknown:
            self.differs(op, f"{variable.name}: found {unknown} at the start; allowed: a function of torch.nn.init")
            return default or {"class_name": "Zeros", "config": {}}

    def undecayed(self) -> list[str]:
        """The variables that no weight decay shrinks: "bias" where it is all of that name, else "2/bias"."""
        without = {(w.layer, w.name.partition("/")[0]) for w in self.weights if w.variable.weight_decay == 0.0}
        decayed = {(w.layer, w.name.partition("/")[0]) for w in self.weights if w.variable.weight_decay}
        without = {each for each in without - decayed if not each[1].startswith("moving")}
        if not decayed:
            return []
        names = {name for _, name in without} - {name for _, name in decayed}
        return sorted(names) + [f"{layer}/{name}" for layer, name in sorted(without) if name not in names]

    def variable_fields(self, op: Op, names: dict[str, str], ranks: dict[str, int]) -> dict[str, Any]:
        """Initialisers of a layer: `names` maps torch's names to Keras's ("weight": "kernel")."""
        config: dict[str, Any] = {}
        weights = {names[each]: op.variables[each].shape for each in names if each in op.variables}
        recurrent = {"recurrent_kernel": weights["recurrent"]} if "recurrent" in weights else {}
        for torch_name, name in names.items():
            variable = op.variables.get(torch_name)
            if variable is None:
                continue
            of = recurrent or ({"kernel": weights["kernel"]} if ranks[torch_name] == 1 and "kernel" in weights else {})
            config[f"{name}_initializer"] = self.drawn(
                op,
                variable,
                ranks[torch_name],
                {"class_name": "GlorotUniform", "config": {}} if ranks[torch_name] > 1 else None,
                bounds(of),
            )
        return config

    def trained(self, op: Op, layer: int) -> None:
        """Says which layers are frozen, and which the optimiser wasn't given."""
        learnt = [v for key, v in op.variables.items() if not key.startswith("running")]
        if not learnt:
            return
        frozen = [v for v in learnt if not v.requires_grad]
        absent = [v for v in learnt if v.requires_grad and v.weight_decay is None]
        if not frozen and not absent:
            return
        if len(frozen) + len(absent) < len(learnt):
            names = ", ".join(v.name for v in frozen + absent)
            raise self.refuse(
                op, f"{names} not trained, its layer's others are", "layers that are trained or not as a whole"
            )
        if absent or op.name == "batch_norm":
            self.left_out.append(layer)
        else:
            self.layers[layer]["config"]["trainable"] = False

    # -- the operations

    def add(self, op: Op) -> None:
        """Adds what an operation becomes; raises NotCaptured where no layer stands for it."""
        from .torch_images import IMAGES
        from .torch_sequences import SEQUENCES

        if op.in_shape and op.out_shape and op.in_shape[0] != op.out_shape[0]:
            raise self.refuse(
                op,
                f"{op.in_shape[0]} rows that become {op.out_shape[0]} (shapes {op.in_shape} and {op.out_shape})",
                "operations on each row",
            )
        handler = IMAGES.get(op.name) or SEQUENCES.get(op.name) or FEATURES.get(op.name)
        if handler is None:
            raise NotCaptured(f"found {op.called or op.name}, which no layer of programs stands for", op.place)
        before = len(self.layers)
        handler(self, op)
        if op.name not in POINTWISE and len(self.layers) > before:
            self.pointwise = False
        self.row = tuple(op.out_shape[1:])
        if op.cut:
            self.cut(op)

    def skip(self, op: Op) -> None:
        """A softmax that is part of the loss: no layer stands for it."""
        class_axis(self, op)
        if op.made:
            self.note(op, f"{op.called} is part of the loss")

    def cut(self, op: Op) -> None:
        """No gradient passes back from here."""
        if not self.layers:
            return
        self.detached = len(self.layers) - 1
        self.sites.append(Site(op.called or op.name, "/fit/loop/detached", op.frames))


# -- layers on features


def _dense(to: Layers, op: Op) -> None:
    weight, bias = op.variables["weight"], op.variables.get("bias")
    if len(op.in_shape) > 2:
        to.as_torch(op)
    config = {
        "units": int(weight.shape[0]),
        "activation": "linear",
        "use_bias": bias is not None,
        **to.variable_fields(op, {"weight": "kernel", "bias": "bias"}, {"weight": 2, "bias": 1}),
    }
    arguments = {"out_features": "units", "bias": "use_bias"}
    order, to.order = to.order, None
    number = to.emit("Dense", config, op, arguments)

    def turn(array: Any) -> Any:
        return array.T if order is None else array.T[order]

    def back(array: Any) -> Any:
        return (array if order is None else array[np.argsort(order)]).T

    to.add_weight(number, "kernel", weight, turn, back)
    if bias is not None:
        to.add_weight(number, "bias", bias)
    to.trained(op, number)


def _batch_norm(to: Layers, op: Op) -> None:
    settings = op.settings
    if settings.get("momentum") is None or not settings.get("track_running_stats", True):
        raise to.refuse(
            op,
            f"momentum {settings.get('momentum')}, track_running_stats {settings.get('track_running_stats')}",
            "a momentum, running statistics",
        )
    if len(op.in_shape) > 2:
        to.channels_last(op)
    affine = "weight" in op.variables
    names = {"weight": "gamma", "bias": "beta"}
    config = {
        "momentum": plain(round(1 - float(settings["momentum"]), 12)),
        "epsilon": plain(float(settings["eps"])),
        "center": affine,
        "scale": affine,
        "sample_variance": True,
        **to.variable_fields(op, names, {"weight": 1, "bias": 1}),
    }
    if op.training is False:
        to.differs(op, f"{op.called}: found evaluation mode while the script trains; allowed: model.train()")
    number = to.emit("BatchNormalization", config, op, {"eps": "epsilon", "momentum": "momentum", "affine": "scale"})
    order = to.order
    names = {**names, "running_mean": "moving_mean", "running_var": "moving_variance"}
    for torch_name, name in names.items():
        if torch_name in op.variables:
            to.add_weight(number, name, op.variables[torch_name], *_ordered(order))
    to.trained(op, number)


def _ordered(order: Any) -> tuple[Turn, Turn]:
    if order is None:
        return keep, keep
    return lambda array: array[order], lambda array: array[np.argsort(order)]


def _layer_norm(to: Layers, op: Op) -> None:
    if len(tuple(op.settings.get("normalized_shape", ()))) != 1:
        raise to.refuse(op, f"normalized_shape {tuple(op.settings['normalized_shape'])}", "the last axis alone")
    if len(op.in_shape) > 2:
        to.as_torch(op)
    affine = "weight" in op.variables
    names = {"weight": "gamma", "bias": "beta"}
    config = {
        "epsilon": plain(float(op.settings["eps"])),
        "center": "bias" in op.variables,
        "scale": affine,
        **to.variable_fields(op, names, {"weight": 1, "bias": 1}),
    }
    number = to.emit("LayerNormalization", config, op, {"eps": "epsilon", "elementwise_affine": "scale"})
    for torch_name, name in names.items():
        if torch_name in op.variables:
            to.add_weight(number, name, op.variables[torch_name], *_ordered(to.order))
    to.trained(op, number)


def dropout_rate(to: Layers, op: Op) -> float:
    """The rate that acts: 0 where the script trains the layer in evaluation mode."""
    rate = float(op.settings.get("p", 0.5))
    if op.training is False or op.settings.get("training") is False:
        to.note(op, f"{op.called} is in evaluation mode while the script trains: its rate here is 0, not {rate:g}")
        return 0.0
    if rate >= 1:
        raise to.refuse(op, f"p={rate:g}", "below 1")
    return rate


def _dropout(to: Layers, op: Op) -> None:
    to.emit("Dropout", {"rate": plain(dropout_rate(to, op))}, op, {"p": "rate"})


def _activation(word: str) -> Callable[[Layers, Op], None]:
    def handler(to: Layers, op: Op) -> None:
        to.emit("Activation", {"activation": word}, op)
        to.sites[-2 if op.made else -1].arguments[""] = f"/model/config/layers/{len(to.layers) - 1}/config/activation"

    return handler


def _elu(to: Layers, op: Op) -> None:
    alpha = float(op.settings.get("alpha", 1.0))
    if alpha == 1:
        _activation("elu")(to, op)
    else:
        to.emit("ELU", {"alpha": plain(alpha)}, op, {"alpha": "alpha"})


def _gelu(to: Layers, op: Op) -> None:
    if op.settings.get("approximate", "none") != "none":
        raise to.refuse(op, f"approximate={op.settings['approximate']!r}", "'none'")
    _activation("gelu")(to, op)


def _softplus(to: Layers, op: Op) -> None:
    if float(op.settings.get("beta", 1)) != 1:
        raise to.refuse(op, f"beta={op.settings['beta']}", "1")
    _activation("softplus")(to, op)


def class_axis(to: Layers, op: Op) -> None:
    """Raises NotCaptured unless a softmax goes over the classes of a row."""
    rank, dim = len(op.in_shape), op.settings.get("dim")
    if dim is None:
        dim = 0 if rank in (0, 1, 3) else 1
    dim = int(dim) % rank
    if dim == 0:
        raise to.refuse(op, "dim=0, over the rows of a batch", "over the classes of a row")
    if rank > 2 and dim != (1 if to.first else rank - 1):
        to.as_torch(op)
        if dim != rank - 1:
            raise to.refuse(op, f"dim={dim} of {rank}", f"the classes' axis, {rank - 1}")


def _softmax(to: Layers, op: Op) -> None:
    class_axis(to, op)
    _activation("softmax")(to, op)


def _prelu(to: Layers, op: Op) -> None:
    weight = op.variables["weight"]
    rank, size = len(op.in_shape), int(weight.shape[0])
    if rank > 2:
        to.channels_last(op)
    shared = list(range(1, rank if size == 1 else rank - 1))
    config = {"shared_axes": shared or None, **to.variable_fields(op, {"weight": "alpha"}, {"weight": 1})}
    number = to.emit("PReLU", config, op, {})
    shape = tuple([1] * (rank - 2) + [size])
    to.add_weight(number, "alpha", weight, lambda a: a.reshape(shape), lambda a: a.reshape(-1))
    to.trained(op, number)


def _rescaling(to: Layers, op: Op) -> None:
    number = op.settings.get("other")
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        raise to.refuse(op, "an operation with another tensor", "a number")
    value = float(number)
    scale, offset = {
        "mul": (value, 0.0),
        "div": (1 / value if value else 0.0, 0.0),
        "add": (1.0, value),
        "sub": (1.0, -value),
    }[op.name]
    to.emit("Rescaling", {"scale": plain(scale), "offset": plain(offset)}, op)


def _nothing(to: Layers, op: Op) -> None:
    """Changes no number."""


def _simple(kind: str, **fields: Any) -> Callable[[Layers, Op], None]:
    return lambda to, op: void(to.emit(kind, dict(fields), op))


def void(_: Any) -> None:
    """Drops a value."""


def _leaky(to: Layers, op: Op) -> None:
    slope = plain(float(op.settings.get("negative_slope", 0.01)))
    to.emit("LeakyReLU", {"alpha": slope}, op, {"negative_slope": "alpha"})


FEATURES: dict[str, Callable[[Layers, Op], None]] = {
    "linear": _dense,
    "batch_norm": _batch_norm,
    "layer_norm": _layer_norm,
    "dropout": _dropout,
    **{word: _activation(word) for word in ("relu", "selu", "sigmoid", "tanh", "softsign")},
    "silu": _activation("swish"),
    "exp": _activation("exponential"),
    "elu": _elu,
    "gelu": _gelu,
    "softplus": _softplus,
    "softmax": _softmax,
    "relu6": _simple("ReLU", max_value=6),
    "leaky_relu": _leaky,
    "prelu": _prelu,
    **dict.fromkeys(("mul", "div", "add", "sub"), _rescaling),
    "identity": _nothing,
    "detach": _nothing,
}

#: Operations on each number alone: rows can still be turned in front of them.
POINTWISE = frozenset(
    [
        "relu",
        "selu",
        "sigmoid",
        "tanh",
        "softsign",
        "exp",
        "silu",
        "elu",
        "gelu",
        "softplus",
        "relu6",
        "leaky_relu",
        "dropout",
        "mul",
        "div",
        "add",
        "sub",
        "identity",
        "detach",
    ]
)
