"""The operations of a model whose layers are no chain: branches that meet again, skip connections, shared modules.

Each value between operations keeps how neutra's rows differ from torch's, and the layer that gives it. Plain data: no
torch is imported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .recording import NotCaptured
from .torch_layers import Layers
from .torch_ops import Op

#: Operations on several tensors of the model, and the layer of each.
MERGES = {
    "add": "Add",
    "sub": "Subtract",
    "mul": "Multiply",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "cat": "Concatenate",
}


@dataclass
class Value:
    """What an operation gave: the layer's number, and Layers' account of it."""

    layer: int
    first: bool
    order: Any
    flat: bool
    row: tuple[int, ...]


@dataclass
class Branches(Layers):
    """Layers that name their inputs. The first one is an InputLayer; images are turned there."""

    values: list[Value] = field(default_factory=list)
    owners: dict[str, tuple[int, Any]] = field(default_factory=dict)
    at: int = 0
    alone: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.layers.append({"class_name": "InputLayer", "config": {"name": "input_0"}})
        self.pointwise = False
        self.first = self.turned = len(self.row) == 3
        self._pending = [0]
        self._input = self._value()

    @property
    def last(self) -> dict[str, Any] | None:
        """The layer that gives the value, where no other operation takes that."""
        return self.layers[self.at] if self.alone and self.at > 0 else None

    def _value(self) -> Value:
        return Value(self.at, self.first, self.order, self.flat, self.row)

    def _load(self, value: Value) -> None:
        self.at, self.first, self.order, self.flat, self.row = (
            value.layer,
            value.first,
            value.order,
            value.flat,
            value.row,
        )
        self._pending = [value.layer]

    def emit(self, kind: str, config: dict[str, Any], op: Op, arguments: dict[str, str] | None = None) -> int:
        """Adds a layer on the current value, or on those that meet."""
        number = super().emit(kind, config, op, arguments)
        if self._pending != [number - 1]:
            self.layers[number]["inputs"] = [self.layers[n]["config"]["name"] for n in self._pending]
        self._pending, self.at, self.alone = [number], number, True
        return number

    def add(self, op: Op) -> None:
        """Adds what an operation becomes."""
        taken = [self._input if source is None else self.values[source] for source in op.sources or [None]]
        self._load(taken[0])
        self.alone = op.alone
        if len(taken) > 1:
            self._merge(op, taken)
        else:
            weights, order, left_out = len(self.weights), self.order, len(self.left_out)
            super().add(op)
            self._share(op, weights, order, left_out)
        self.values.append(self._value())

    def skip(self, op: Op) -> None:
        """An operation that no layer stands for since the loss has it."""
        super().skip(op)
        self._load(self._input if op.sources[0] is None else self.values[op.sources[0]])
        self.values.append(self._value())

    def cut(self, op: Op) -> None:
        """No gradient passes back from here."""
        super().cut(op)
        self.detached = self.at

    def _merge(self, op: Op, taken: list[Value]) -> None:
        kind = MERGES.get(op.name)
        if kind is None or op.settings.get("alpha", 1) != 1:
            raise self.refuse(op, "tensors of the model that meet in it", ", ".join(sorted(MERGES)) + " of them")
        if op.name != "cat" and any(shape != op.out_shape for shape in op.in_shapes):
            shapes = " and ".join(map(str, op.in_shapes))
            raise self.refuse(op, f"tensors of shapes {shapes}", "tensors of one shape")
        if any(value.flat or value.first != taken[0].first for value in taken):
            taken = [self._as_torch(op, value) for value in taken]
        orders = [value.order for value in taken]
        config: dict[str, Any] = {}
        if op.name == "cat":
            rank = len(op.out_shape)
            dim = int(op.settings.get("dim", 0)) % rank
            if dim == 0:
                raise self.refuse(op, "dim=0, the rows of a batch", "another dim")
            config["axis"] = (rank - 1 if dim == 1 else dim - 1) if taken[0].first else dim
        self._load(taken[0])
        self._pending = [value.layer for value in taken]
        self.emit(kind, config, op, {"dim": "axis"} if config else None)
        self.row = tuple(op.out_shape[1:])
        if op.name == "cat":
            self.order = _joined(orders, [int(shape[-1]) for shape in op.in_shapes])
        elif any((order is None) != (orders[0] is None) or not np.array_equal(order, orders[0]) for order in orders):
            raise self.refuse(op, "features of images that were flattened in different orders", "one Flatten")
        if op.cut:
            self.cut(op)

    def _as_torch(self, op: Op, value: Value) -> Value:
        self._load(value)
        self.as_torch(op)
        return self._value()

    def _share(self, op: Op, weights: int, order: Any, left_out: int) -> None:
        """A layer whose variables another has already is that one called once more."""
        fresh = self.weights[weights:]
        known = [self.owners[w.variable.name] for w in fresh if w.variable.name in self.owners]
        if not known:
            self.owners.update({w.variable.name: (w.layer, order) for w in fresh})
            return
        if len({w.layer for w in fresh}) > 1:
            raise NotCaptured(
                f"{op.called}: found a module of several layers that is called once more; allowed: one call", op.place
            )
        owner, before = known[0]
        number = fresh[0].layer
        first, again = self.layers[owner], self.layers[number]
        same = {**first["config"], "name": ""} == {**again["config"], "name": ""}
        turned = (order is None) != (before is None) or (order is not None and not np.array_equal(order, before))
        if len(known) < len(fresh) or first["class_name"] != again["class_name"] or not same or turned:
            raise NotCaptured(
                f"{op.called}: found a module that is called once more in another way; allowed: the same way", op.place
            )
        del self.weights[weights:]
        del self.left_out[left_out:]
        self.layers[number] = {
            "class_name": again["class_name"],
            "config": {"name": again["config"]["name"]},
            **({"inputs": again["inputs"]} if "inputs" in again else {}),
            "weights_of": first["config"]["name"],
        }


def _joined(orders: list[Any], sizes: list[int]) -> Any:
    """Torch's places of features that stand one behind the other; None where they are neutra's."""
    if all(order is None for order in orders):
        return None
    starts = np.cumsum([0, *sizes[:-1]])
    return np.concatenate(
        [start + (np.arange(size) if order is None else order) for start, size, order in zip(starts, sizes, orders)]
    )
