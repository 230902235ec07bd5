"""One name and one set of settings for each operation of PyTorch, whether it is a module, a function or a method.

Plain data: no torch is imported, so that the tables can be tested without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from .calls import Call
from .recording import Frame


@dataclass
class Drawn:
    """How a parameter got its numbers: the function of torch.nn.init or of a tensor ("uniform_") and its arguments.
    `part` is how a part of the parameter got others behind that."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    part: Drawn | None = None


@dataclass
class Variable:
    """A parameter or buffer of a layer: `name` in the model ("fc1.weight"), torch's shape, and what trains it.
    `weight_decay` is that of its group of the optimiser, None where no optimiser has it."""

    name: str
    shape: tuple[int, ...]
    requires_grad: bool = True
    weight_decay: float | None = 0.0
    drawn: Drawn | None = None
    value: Any = None  # NumPy array before the first step, where it was asked for


@dataclass
class Op:
    """One operation between the model's input and its output.

    `name` is canonical ("linear", "max_pool2d", "relu"), `called` what the script calls it ("Linear", "relu"), `label`
    how the model names the layer ("fc1"). Shapes include the rows. `cut` says that no gradient passes back. Where
    operations are no chain, `sources` are the operations that gave its inputs, None for the model's input, `in_shapes`
    theirs, and `alone` says that no other takes the first of them.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    in_shape: tuple[int, ...] = ()
    out_shape: tuple[int, ...] = ()
    variables: dict[str, Variable] = field(default_factory=dict)
    called: str = ""
    label: str = ""
    frames: list[Frame] = field(default_factory=list)
    made: Call | None = None
    training: bool | None = None
    cut: bool = False
    sources: list[int | None] = field(default_factory=list)
    in_shapes: list[tuple[int, ...]] = field(default_factory=list)
    alone: bool = True

    @property
    def place(self) -> Frame | None:
        """The line that made the layer, else the one that calls it."""
        frames = self.made.frames if self.made and self.made.frames else self.frames
        return frames[0] if frames else None


_CONVOLUTION = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode")
_TRANSPOSED = (*_CONVOLUTION[:5], "output_padding", "groups", "dilation", "padding_mode")
_POOL = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
_AVERAGE = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
_NORM = ("num_features", "eps", "momentum", "affine", "track_running_stats")
_RECURRENT = [
    "input_size",
    "hidden_size",
    "num_layers",
    "nonlinearity",
    "bias",
    "batch_first",
    "dropout",
    "bidirectional",
    "proj_size",
]


def recurrent_parameters(name: str) -> list[str]:
    """The positional parameters of RNN, LSTM and GRU, which their constructors hide behind *args."""
    if name not in ("rnn", "lstm", "gru"):
        return []
    return [each for each in _RECURRENT if name == "rnn" or each != "nonlinearity"]


#: Class of torch.nn -> (canonical name, attributes that are its settings).
MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Linear": ("linear", ("in_features", "out_features")),
    "Conv1d": ("conv1d", _CONVOLUTION),
    "Conv2d": ("conv2d", _CONVOLUTION),
    "ConvTranspose2d": ("conv_transpose2d", _TRANSPOSED),
    "MaxPool1d": ("max_pool1d", _POOL),
    "MaxPool2d": ("max_pool2d", _POOL),
    "AvgPool1d": ("avg_pool1d", _AVERAGE[:5]),
    "AvgPool2d": ("avg_pool2d", _AVERAGE),
    "AdaptiveAvgPool1d": ("adaptive_avg_pool1d", ("output_size",)),
    "AdaptiveAvgPool2d": ("adaptive_avg_pool2d", ("output_size",)),
    "AdaptiveMaxPool1d": ("adaptive_max_pool1d", ("output_size",)),
    "AdaptiveMaxPool2d": ("adaptive_max_pool2d", ("output_size",)),
    "BatchNorm1d": ("batch_norm", _NORM),
    "BatchNorm2d": ("batch_norm", _NORM),
    "LayerNorm": ("layer_norm", ("normalized_shape", "eps", "elementwise_affine")),
    "Dropout": ("dropout", ("p", "inplace")),
    "Dropout1d": ("feature_dropout", ("p", "inplace")),
    "Dropout2d": ("feature_dropout", ("p", "inplace")),
    "Flatten": ("reshape", ()),
    "Unflatten": ("reshape", ()),
    "Identity": ("identity", ()),
    "Embedding": ("embedding", ("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "sparse")),
    "RNN": ("rnn", tuple(_RECURRENT)),
    "LSTM": ("lstm", tuple(_RECURRENT)),
    "GRU": ("gru", tuple(_RECURRENT)),
    "ZeroPad2d": ("zero_pad2d", ("padding",)),
    "Upsample": ("interpolate", ("size", "scale_factor", "mode", "align_corners")),
    "UpsamplingNearest2d": ("interpolate", ("size", "scale_factor", "mode", "align_corners")),
    "ReLU": ("relu", ("inplace",)),
    "ReLU6": ("relu6", ("inplace",)),
    "LeakyReLU": ("leaky_relu", ("negative_slope", "inplace")),
    "PReLU": ("prelu", ("num_parameters",)),
    "ELU": ("elu", ("alpha", "inplace")),
    "SELU": ("selu", ("inplace",)),
    "GELU": ("gelu", ("approximate",)),
    "SiLU": ("silu", ("inplace",)),
    "Sigmoid": ("sigmoid", ()),
    "Tanh": ("tanh", ()),
    "Softplus": ("softplus", ("beta", "threshold")),
    "Softsign": ("softsign", ()),
    "Softmax": ("softmax", ("dim",)),
    "LogSoftmax": ("log_softmax", ("dim",)),
}

#: Function or method -> (canonical name, its arguments behind the input, in order).
FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "relu": ("relu", ("inplace",)),
    "relu6": ("relu6", ("inplace",)),
    "leaky_relu": ("leaky_relu", ("negative_slope", "inplace")),
    "elu": ("elu", ("alpha", "inplace")),
    "selu": ("selu", ("inplace",)),
    "gelu": ("gelu", ("approximate",)),
    "silu": ("silu", ("inplace",)),
    "sigmoid": ("sigmoid", ()),
    "tanh": ("tanh", ()),
    "softplus": ("softplus", ("beta", "threshold")),
    "softsign": ("softsign", ()),
    "exp": ("exp", ()),
    "softmax": ("softmax", ("dim", "_stacklevel", "dtype")),
    "log_softmax": ("log_softmax", ("dim", "_stacklevel", "dtype")),
    "dropout": ("dropout", ("p", "training", "inplace")),
    "dropout1d": ("feature_dropout", ("p", "training", "inplace")),
    "dropout2d": ("feature_dropout", ("p", "training", "inplace")),
    "max_pool1d": ("max_pool1d", (*_POOL, "return_indices")),
    "max_pool2d": ("max_pool2d", (*_POOL, "return_indices")),
    "avg_pool1d": ("avg_pool1d", _AVERAGE[:5]),
    "avg_pool2d": ("avg_pool2d", _AVERAGE),
    "adaptive_avg_pool1d": ("adaptive_avg_pool1d", ("output_size",)),
    "adaptive_avg_pool2d": ("adaptive_avg_pool2d", ("output_size",)),
    "adaptive_max_pool1d": ("adaptive_max_pool1d", ("output_size", "return_indices")),
    "adaptive_max_pool2d": ("adaptive_max_pool2d", ("output_size", "return_indices")),
    "interpolate": ("interpolate", ("size", "scale_factor", "mode", "align_corners")),
    "mean": ("mean", ("dim", "keepdim")),
    "amax": ("amax", ("dim", "keepdim")),
    "mul": ("mul", ("other",)),
    "div": ("div", ("other",)),
    "add": ("add", ("other",)),
    "sub": ("sub", ("other",)),
    "maximum": ("maximum", ("other",)),
    "minimum": ("minimum", ("other",)),
    "cat": ("cat", ("dim",)),
    "__getitem__": ("getitem", ("index",)),
    "select": ("select", ("dim", "index")),
    "detach": ("detach", ()),
    "data": ("detach", ()),
    "permute": ("permute", ()),
    "transpose": ("transpose", ("dim0", "dim1")),
    **dict.fromkeys(
        ["view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as", "ravel"], ("reshape", ())
    ),
    **dict.fromkeys(
        ["to", "float", "contiguous", "clone", "cpu", "cuda", "requires_grad_", "type_as"], ("identity", ())
    ),
}

#: In-place methods and other spellings of the functions above.
_SPELLINGS = {
    "true_divide": "div",
    "multiply": "mul",
    "divide": "div",
    "__truediv__": "div",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__add__": "add",
    "__radd__": "add",
    "__sub__": "sub",
    "__iadd__": "add",
    "__isub__": "sub",
    "__imul__": "mul",
    "__itruediv__": "div",
    "subtract": "sub",
    "concat": "cat",
    "concatenate": "cat",
    "swapaxes": "transpose",
    "permute": "permute",
    "movedim": "permute",
    "hardtanh": "hardtanh",
    "swish": "silu",
}

#: What a setting is where the call leaves it out, if that isn't None.
DEFAULTS: dict[str, dict[str, Any]] = {
    "leaky_relu": {"negative_slope": 0.01},
    "elu": {"alpha": 1.0},
    "gelu": {"approximate": "none"},
    "softplus": {"beta": 1.0, "threshold": 20.0},
    "dropout": {"p": 0.5, "training": True},
    "feature_dropout": {"p": 0.5, "training": True},
    "interpolate": {"mode": "nearest"},
    **{name: {"padding": 0, "dilation": 1, "ceil_mode": False} for name in ("max_pool1d", "max_pool2d")},
    **{name: {"padding": 0, "ceil_mode": False, "count_include_pad": True} for name in ("avg_pool1d", "avg_pool2d")},
}


def spelling(name: str) -> str:
    """The table's name of a function: relu for relu_, div for __truediv__."""
    if name in FUNCTIONS or name in _SPELLINGS:
        return _SPELLINGS.get(name, name)
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def function_settings(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Canonical name and settings of a function that was called with these arguments behind its input. A function
    that no table knows keeps its name and has no settings."""
    name = spelling(name)
    canonical, parameters = FUNCTIONS.get(name, (name, ()))
    settings = dict(DEFAULTS.get(canonical, {}))
    settings.update(zip(parameters, args))
    settings.update({key: value for key, value in kwargs.items() if key != "input"})
    if canonical in ("permute",):
        dims = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        settings = {"dims": tuple(kwargs.get("dims", dims))}
    return canonical, settings


def pair(value: Any, extents: int = 2) -> tuple[int, ...]:
    """One number, or one for each axis, as a tuple."""
    if isinstance(value, (tuple, list)):
        return tuple(int(item) for item in value) if len(value) == extents else (int(value[0]),) * extents
    return (int(value),) * extents


def plain(number: Any) -> float | int:
    """A number without type of NumPy or PyTorch; whole ones without a point."""
    value = float(number)
    return int(value) if value.is_integer() and not math.isinf(value) and isinstance(number, int) else value
