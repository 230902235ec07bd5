"""PyTorch's operations on images and sequences of channels as layers of a program.

PyTorch pads both sides alike; padding "same" of Keras depends on the extents and puts an odd cell at the end. Where the
windows are the same ones, padding is "valid" or "same"; else zeros are a layer of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .torch_layers import Layers, dropout_rate
from .torch_ops import Op, pair, plain


def same_before(extent: int, kernel: int, stride: int, dilation: int) -> int:
    """Cells that padding "same" puts in front of an axis [tensorflow/python/ops/nn_ops.py]."""
    outputs = -(-extent // stride)
    return max((outputs - 1) * stride + dilation * (kernel - 1) + 1 - extent, 0) // 2


def padding_word(
    extents: tuple[int, ...],
    outputs: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: tuple[int, ...],
) -> str | None:
    """ "valid" or "same" where that makes the very windows of PyTorch, else None. All are by axis."""
    axes = list(zip(extents, outputs, kernel, stride, dilation, padding))
    if all(p == 0 and out == (n - d * (k - 1) - 1) // s + 1 for n, out, k, s, d, p in axes):
        return "valid"
    if all(out == -(-n // s) and p == same_before(n, k, s, d) for n, out, k, s, d, p in axes):
        return "same"
    return None


def _windows(to: Layers, op: Op, axes: int) -> dict[str, tuple[int, ...]]:
    settings = op.settings
    kernel = pair(settings["kernel_size"], axes)
    stride = settings.get("stride")
    dilation = pair(settings.get("dilation", 1) or 1, axes)
    padding = settings.get("padding", 0)
    if padding == "same":
        cells = tuple(d * (k - 1) // 2 for k, d in zip(kernel, dilation))
    else:
        cells = (0,) * axes if padding == "valid" else pair(padding, axes)
    steps = pair(stride, axes) if stride not in (None, (), []) else kernel
    return {"kernel": kernel, "stride": steps, "dilation": dilation, "padding": cells}


def _pad(to: Layers, op: Op, cells: tuple[int, ...]) -> None:
    if len(cells) != 2:
        raise to.refuse(op, f"padding {cells[0]}", '0, or that of padding "same"')
    to.emit(
        "ZeroPadding2D",
        {"padding": [[p, p] for p in cells]},
        Op("pad", label=f"{op.label or op.name}_pad", frames=op.frames, called=op.called),
    )


def _word(to: Layers, op: Op, windows: dict[str, tuple[int, ...]]) -> str | None:
    return padding_word(
        op.in_shape[2:], op.out_shape[2:], windows["kernel"], windows["stride"], windows["dilation"], windows["padding"]
    )


def _convolution(to: Layers, op: Op) -> None:
    weight, bias = op.variables["weight"], op.variables.get("bias")
    axes = len(weight.shape) - 2
    if op.settings.get("padding_mode", "zeros") != "zeros":
        raise to.refuse(op, f"padding_mode={op.settings['padding_mode']!r}", "'zeros'")
    to.channels_last(op)
    windows = _windows(to, op, axes)
    if max(windows["stride"]) > 1 and max(windows["dilation"]) > 1:
        raise to.refuse(op, "a stride and a dilation", "one of them")
    word = _word(to, op, windows)
    if word is None:
        _pad(to, op, windows["padding"])
    config = {
        "filters": int(weight.shape[0]),
        "kernel_size": list(windows["kernel"]),
        "strides": list(windows["stride"]),
        "padding": word or "valid",
        "dilation_rate": list(windows["dilation"]),
        "groups": int(op.settings.get("groups", 1)),
        "activation": "linear",
        "use_bias": bias is not None,
        **to.variable_fields(op, {"weight": "kernel", "bias": "bias"}, {"weight": axes + 2, "bias": 1}),
    }
    arguments = {
        "out_channels": "filters",
        "kernel_size": "kernel_size",
        "stride": "strides",
        "bias": "use_bias",
        "dilation": "dilation_rate",
        "groups": "groups",
        "padding": "padding",
    }
    number = to.emit(f"Conv{axes}D", config, op, arguments)
    turn = (*range(2, axes + 2), 1, 0)
    to.add_weight(number, "kernel", weight, lambda a: a.transpose(turn), lambda a: a.transpose(np.argsort(turn)))
    if bias is not None:
        to.add_weight(number, "bias", bias)
    to.trained(op, number)


def _transposed(to: Layers, op: Op) -> None:
    weight, bias = op.variables["weight"], op.variables.get("bias")
    to.channels_last(op)
    windows = _windows(to, op, 2)
    output_padding = pair(op.settings.get("output_padding", 0))
    if int(op.settings.get("groups", 1)) != 1 or max(windows["dilation"]) > 1:
        raise to.refuse(op, "groups or a dilation", "neither")
    total = [max(k - s, 0) for k, s in zip(windows["kernel"], windows["stride"])]
    if (
        not any(windows["padding"])
        and not any(output_padding)
        and min(k - s for k, s in zip(windows["kernel"], windows["stride"])) >= 0
    ):
        word = "valid"
    elif not any(output_padding) and all(2 * p == t for p, t in zip(windows["padding"], total)):
        word = "same"
    else:
        raise to.refuse(
            op,
            f"padding {windows['padding']}, output_padding {output_padding}",
            "no padding, or (kernel_size - stride) / 2, without output_padding",
        )
    config = {
        "filters": int(weight.shape[1]),
        "kernel_size": list(windows["kernel"]),
        "strides": list(windows["stride"]),
        "padding": word,
        "activation": "linear",
        "use_bias": bias is not None,
        **to.variable_fields(op, {"weight": "kernel", "bias": "bias"}, {"weight": 4, "bias": 1}),
    }
    number = to.emit(
        "Conv2DTranspose",
        config,
        op,
        {"out_channels": "filters", "kernel_size": "kernel_size", "stride": "strides", "bias": "use_bias"},
    )
    to.add_weight(number, "kernel", weight, lambda a: a.transpose(2, 3, 1, 0), lambda a: a.transpose(3, 2, 0, 1))
    if bias is not None:
        to.add_weight(number, "bias", bias)
    to.trained(op, number)


def _pool(to: Layers, op: Op) -> None:
    kind, axes = ("Max" if op.name.startswith("max") else "Average"), int(op.name[-2])
    if op.settings.get("return_indices") or op.settings.get("divisor_override"):
        raise to.refuse(op, "return_indices or divisor_override", "neither")
    to.channels_last(op)
    windows = _windows(to, op, axes)
    if max(windows["dilation"]) > 1:
        raise to.refuse(op, f"dilation {windows['dilation']}", "1")
    word = _word(to, op, windows)
    padded = any(windows["padding"])
    if kind == "Average" and padded and op.settings.get("count_include_pad", True):
        word = None
    if word is None:
        positive = to.last is not None and to.last["config"].get("activation") in ("relu", "sigmoid", "softplus")
        if op.settings.get("ceil_mode") or not padded or (kind == "Max" and not positive):
            raise to.refuse(
                op,
                f"padding {windows['padding']}, ceil_mode {bool(op.settings.get('ceil_mode'))}",
                'no padding, or that of padding "same"',
            )
        _pad(to, op, windows["padding"])
    config = {"pool_size": list(windows["kernel"]), "strides": list(windows["stride"]), "padding": word or "valid"}
    to.emit(
        f"{kind}Pooling{axes}D", config, op, {"kernel_size": "pool_size", "stride": "strides", "padding": "padding"}
    )


def _global(to: Layers, op: Op, kind: str) -> None:
    axes = len(op.in_shape) - 2
    to.emit(f"Global{kind}Pooling{axes}D", {}, op)
    to.first = False
    to.flat = len(op.out_shape) > 2


def _adaptive(to: Layers, op: Op) -> None:
    kind = "Max" if "max" in op.name else "Average"
    extents, outputs = op.in_shape[2:], op.out_shape[2:]
    to.channels_last(op)
    if max(outputs) == 1:
        _global(to, op, kind)
    elif extents != outputs:
        if any(n % out for n, out in zip(extents, outputs)):
            raise to.refuse(op, f"{extents} cells that become {outputs}", "a whole number of cells for each")
        size = [n // out for n, out in zip(extents, outputs)]
        to.emit(f"{kind}Pooling{len(size)}D", {"pool_size": size, "strides": size, "padding": "valid"}, op)


def _reduce(to: Layers, op: Op) -> None:
    """mean or amax over all steps or cells."""
    kind = "Average" if op.name == "mean" else "Max"
    rank, dims = len(op.in_shape), op.settings.get("dim")
    listed = list(dims) if isinstance(dims, (tuple, list)) else [dims]
    axes = sorted(int(d) % rank for d in listed if d is not None)
    if rank >= 3 and axes == list(range(2, rank)):
        to.channels_last(op)
    elif rank == 3 and axes == [1]:
        to.as_torch(op)
    else:
        raise to.refuse(op, f"dim={dims} of shape {op.in_shape}", "all steps or cells of each channel")
    _global(to, op, kind)


def _feature_dropout(to: Layers, op: Op) -> None:
    rate = plain(dropout_rate(to, op))
    axes = len(op.in_shape) - 2
    if axes not in (1, 2):
        to.emit("Dropout", {"rate": rate}, op, {"p": "rate"})
        return
    to.channels_last(op)
    to.emit(f"SpatialDropout{axes}D", {"rate": rate}, op, {"p": "rate"})


def _zero_pad(to: Layers, op: Op) -> None:
    left, right, top, bottom = pair(op.settings["padding"], 4)
    if min(left, right, top, bottom) < 0:
        raise to.refuse(op, "negative padding", "0 and more")
    to.channels_last(op)
    to.emit("ZeroPadding2D", {"padding": [[top, bottom], [left, right]]}, op, {"padding": "padding"})


def _interpolate(to: Layers, op: Op) -> None:
    mode = op.settings.get("mode", "nearest")
    sizes = [out // n if n and out % n == 0 else 0 for n, out in zip(op.in_shape[2:], op.out_shape[2:])]
    if mode not in ("nearest", "bilinear") or op.settings.get("align_corners") or len(sizes) != 2 or 0 in sizes:
        raise to.refuse(
            op,
            f"mode {mode!r} from {op.in_shape[2:]} to {op.out_shape[2:]}",
            "'nearest', or 'bilinear' without align_corners, by whole numbers, on images",
        )
    to.channels_last(op)
    to.emit(
        "UpSampling2D", {"size": sizes, "interpolation": mode}, op, {"scale_factor": "size", "mode": "interpolation"}
    )


def flat_order(row: tuple[int, ...]) -> Any:
    """Torch's place, in a flattened row (channels, ...), of each feature of the row flattened with channels last."""
    places = np.arange(math.prod(row)).reshape(row)
    return np.moveaxis(places, 0, -1).ravel()


def _reshape(to: Layers, op: Op) -> None:
    before, after = tuple(op.in_shape[1:]), tuple(op.out_shape[1:])
    if before == after or math.prod(before) == 1 == len(before) + len(after):
        return
    if len(after) == 0 or (len(before) == 0 and after == (1,)):
        return  # a column that becomes a vector, or the other way
    if to.flat:
        to.flat = False
        if len(after) > 1:
            to.emit("Reshape", {"target_shape": list(after)}, op)
    elif len(after) == 1:
        to.emit("Flatten", {}, op)
        if to.first and math.prod(before[1:]) > 1 and before[0] > 1:
            to.order = flat_order(before)
        to.first = False
    else:
        if to.order is not None:
            raise to.refuse(op, f"rows {before} that become {after} behind a Flatten of images", "a Linear in between")
        to.as_torch(op)
        to.emit("Reshape", {"target_shape": list(after)}, op)


def _permute(to: Layers, op: Op) -> None:
    rank = len(op.in_shape)
    if op.name == "transpose":
        dims = list(range(rank))
        one, other = int(op.settings["dim0"]) % rank, int(op.settings["dim1"]) % rank
        dims[one], dims[other] = other, one
    else:
        dims = [int(d) % rank for d in op.settings["dims"]]
    if dims[0] != 0:
        raise to.refuse(op, f"dims {tuple(dims)}, which move the rows", "dims that begin with 0")
    if not to.first and dims == [0, rank - 1, *range(1, rank - 1)]:
        to.first = True
    elif to.first and dims == [0, *range(2, rank), 1]:
        to.first = False
    else:
        to.as_torch(op)
        to.emit("Permute", {"dims": dims[1:]}, op)


IMAGES: dict[str, Callable[[Layers, Op], None]] = {
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv_transpose2d": _transposed,
    **{f"{kind}_pool{axes}d": _pool for kind in ("max", "avg") for axes in (1, 2)},
    **{f"adaptive_{kind}_pool{axes}d": _adaptive for kind in ("max", "avg") for axes in (1, 2)},
    "mean": _reduce,
    "amax": _reduce,
    "feature_dropout": _feature_dropout,
    "zero_pad2d": _zero_pad,
    "interpolate": _interpolate,
    "reshape": _reshape,
    "permute": _permute,
    "transpose": _permute,
}
