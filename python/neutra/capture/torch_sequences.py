"""PyTorch's Embedding and recurrent layers as layers of a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .torch_layers import Layers
from .torch_ops import Op, Variable, plain

#: Where torch's gates go in Keras's kernels: LSTM i, f, g, o in both; GRU r, z, n becomes z, r, h.
_GATES = {"lstm": (0, 1, 2, 3), "gru": (1, 0, 2), "rnn": (0,)}
_LAYERS = {"lstm": "LSTM", "gru": "GRU", "rnn": "SimpleRNN"}


def _embedding(to: Layers, op: Op) -> None:
    weight = op.variables["weight"]
    if op.settings.get("max_norm") is not None:
        raise to.refuse(op, "max_norm", "none")
    if op.settings.get("padding_idx") is not None:
        to.note(op, f"padding_idx={op.settings['padding_idx']}: its row isn't kept at zeros in programs")
        if weight.drawn is not None:
            weight = replace(weight, drawn=replace(weight.drawn, part=None))
            op = replace(op, variables={**op.variables, "weight": weight})
    config = {
        "input_dim": int(weight.shape[0]),
        "output_dim": int(weight.shape[1]),
        **to.variable_fields(op, {"weight": "embeddings"}, {"weight": 2}),
    }
    number = to.emit("Embedding", config, op, {"num_embeddings": "input_dim", "embedding_dim": "output_dim"})
    to.add_weight(number, "embeddings", weight)
    to.trained(op, number)


def by_gates(kind: str, array: Any) -> Any:
    """The rows of a torch weight, gate after gate, in Keras's order of gates."""
    parts = np.split(array, len(_GATES[kind]))
    return np.concatenate([parts[gate] for gate in _GATES[kind]])


def _recurrent(to: Layers, op: Op) -> None:
    settings = op.settings
    wrong = [name for name in ("bidirectional", "proj_size") if settings.get(name)]
    if not settings.get("batch_first", False):
        wrong.append("batch_first=False")
    if wrong:
        raise to.refuse(op, ", ".join(wrong), "one direction with batch_first=True")
    to.as_torch(op)
    count, rate = int(settings.get("num_layers", 1)), float(settings.get("dropout", 0) or 0)
    for layer in range(count):
        if layer and rate and op.training is not False:
            between = Op("dropout", label=f"{op.label}_dropout", frames=op.frames, called=op.called)
            to.emit("Dropout", {"rate": plain(rate)}, between)
        own = {name: op.variables[each] for name in _VARIABLES if (each := f"{name}_l{layer}") in op.variables}
        # arguments of a module with several layers belong to all of them
        _recurrent_layer(to, op if count == 1 else replace(op, made=None), own, layer)


_VARIABLES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _recurrent_layer(to: Layers, op: Op, variables: dict[str, Variable], layer: int) -> None:
    settings = op.settings
    kernel, recurrent = variables["weight_ih"], variables["weight_hh"]
    biases = [variables[name] for name in ("bias_ih", "bias_hh") if name in variables]
    op = replace(op, variables=variables, label=f"{op.label}_l{layer}" if layer else op.label)
    fields = to.variable_fields(
        op,
        {"weight_ih": "kernel", "weight_hh": "recurrent", "bias_ih": "bias"},
        {"weight_ih": 2, "weight_hh": 2, "bias_ih": 1},
    )
    if len(biases) > 1:
        other = to.variable_fields(
            op,
            {"weight_ih": "kernel", "weight_hh": "recurrent", "bias_hh": "bias"},
            {"weight_ih": 2, "weight_hh": 2, "bias_hh": 1},
        )["bias_initializer"]
        if other != fields["bias_initializer"]:
            text = f"{biases[1].name}: found another start than that of {biases[0].name}; allowed: one for both"
            to.differs(op, text)
    config: dict[str, Any] = {
        "units": int(settings["hidden_size"]),
        "use_bias": bool(biases),
        "return_sequences": True,
        **fields,
    }
    if op.name == "lstm":
        config["unit_forget_bias"] = False
    if op.name == "gru":
        config["reset_after"] = True
    if op.name == "rnn":
        config["activation"] = settings.get("nonlinearity", "tanh")
    if biases and op.name != "gru":
        config["two_biases"] = True
    number = to.emit(_LAYERS[op.name], config, op, {"hidden_size": "units", "bias": "use_bias"})
    _recurrent_weights(to, op.name, number, kernel, recurrent, biases)
    to.trained(op, number)


def _recurrent_weights(
    to: Layers, kind: str, number: int, kernel: Variable, recurrent: Variable, biases: list[Variable]
) -> None:
    # swapping two gates is its own inverse
    for name, variable in (("kernel", kernel), ("recurrent_kernel", recurrent)):
        to.add_weight(number, name, variable, lambda a: by_gates(kind, a).T, lambda a: by_gates(kind, a.T))
    if not biases:
        return
    for row, variable in enumerate(biases):
        to.add_weight(number, f"bias/{row}", variable, lambda a: by_gates(kind, a), lambda a: by_gates(kind, a))


def _getitem(to: Layers, op: Op) -> None:
    """The last step of a recurrent layer's outputs: out[:, -1], out[:, -1, :]."""
    index = op.settings.get("index")
    if op.in_shape[-1] == 1 and op.out_shape == op.in_shape[:-1]:
        return  # a column that becomes a vector
    parts = list(index) if isinstance(index, tuple) else [index]
    while parts and parts[-1] == slice(None):
        parts.pop()
    last = len(parts) == 2 and parts[0] == slice(None) and parts[1] in (-1, op.in_shape[1] - 1)
    if not last or to.last is None or to.last["class_name"] not in _LAYERS.values():
        raise to.refuse(op, f"index {index}", "the last step of a recurrent layer, [:, -1]")
    to.last["config"]["return_sequences"] = False


def _select(to: Layers, op: Op) -> None:
    index = (slice(None), int(op.settings["index"]))
    if int(op.settings["dim"]) != 1:
        raise to.refuse(op, f"dim={op.settings['dim']}", "the last step of a recurrent layer")
    _getitem(to, Op("getitem", {"index": index}, op.in_shape, op.out_shape, called=op.called, frames=op.frames))


SEQUENCES: dict[str, Callable[[Layers, Op], None]] = {
    "embedding": _embedding,
    "lstm": _recurrent,
    "gru": _recurrent,
    "rnn": _recurrent,
    "getitem": _getitem,
    "select": _select,
}
