"""The recorder of PyTorch on models whose layers are no chain: parts that need no PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_capture_torch_parts import conv, linear

from neutra.capture.recording import NotCaptured
from neutra.capture.torch_branches import Branches
from neutra.capture.torch_ops import Op, Variable


def named(op: Op, name: str, *sources: int | None, alone: bool = True) -> Op:
    """The operation with variables of that name and inputs."""
    op.label, op.sources, op.alone = name, list(sources), alone
    op.in_shapes = op.in_shapes or [op.in_shape]
    for key, variable in op.variables.items():
        op.variables[key] = Variable(f"{name}.{key}", variable.shape, drawn=variable.drawn)
    return op


def meeting(
    kind: str, shapes: list[tuple[int, ...]], after: tuple[int, ...], *sources: int | None, **settings: Any
) -> Op:
    return Op(kind, settings, shapes[0], after, called=kind, sources=list(sources), in_shapes=shapes)


def test_a_skip_connection() -> None:
    layers = Branches((8, 5))
    layers.add(named(linear((8, 5), 5), "fc", None, alone=False))
    layers.add(Op("relu", {}, (8, 5), (8, 5), sources=[0]))
    layers.add(meeting("add", [(8, 5), (8, 5)], (8, 5), 1, None))
    layers.add(named(linear((8, 5), 2), "out", 2))
    assert [layer["class_name"] for layer in layers.layers] == ["InputLayer", "Dense", "Activation", "Add", "Dense"]
    assert [layer.get("inputs") for layer in layers.layers] == [None, None, None, ["activation_2", "input_0"], None]
    assert not layers.turned


def test_a_module_that_is_called_twice() -> None:
    layers = Branches((8, 5))
    layers.add(named(linear((8, 5), 5), "fc", None))
    layers.add(named(linear((8, 5), 5), "fc", 0, alone=False))
    layers.add(meeting("cat", [(8, 5), (8, 5)], (8, 10), 0, 1, dim=1))
    assert layers.layers[2] == {"class_name": "Dense", "config": {"name": "fc_2"}, "weights_of": "fc_1"}
    assert layers.layers[3]["inputs"] == ["fc_1", "fc_2"] and layers.layers[3]["config"]["axis"] == 1
    assert [(w.layer, w.name) for w in layers.weights] == [(1, "kernel"), (1, "bias")]


def test_channels_that_meet_and_are_flattened() -> None:
    layers = Branches((8, 3, 4, 4))
    layers.add(named(conv((8, 3, 4, 4), (8, 2, 4, 4), 3, padding=1), "a", None, alone=False))
    layers.add(named(conv((8, 3, 4, 4), (8, 1, 4, 4), 3, padding=1), "b", None, alone=False))
    layers.add(meeting("cat", [(8, 2, 4, 4), (8, 1, 4, 4)], (8, 3, 4, 4), 0, 1, dim=1))
    layers.add(Op("reshape", {}, (8, 3, 4, 4), (8, 48), sources=[2], alone=False))
    layers.add(Op("reshape", {}, (8, 2, 4, 4), (8, 32), sources=[0], alone=False))
    layers.add(meeting("cat", [(8, 48), (8, 32)], (8, 80), 3, 4, dim=1))
    layers.add(named(linear((8, 80), 2), "out", 5))
    assert layers.turned and layers.layers[3]["config"]["axis"] == 3
    rows = np.random.default_rng(0).normal(size=80)
    one, other = rows[:48].reshape(3, 4, 4), rows[48:].reshape(2, 4, 4)
    here = np.concatenate([np.moveaxis(part, 0, -1).ravel() for part in (one, other)])
    kernel = np.random.default_rng(1).normal(size=(2, 80))
    dense = next(w for w in layers.weights if w.variable.name == "out.weight")
    assert np.allclose(kernel @ rows, here @ dense.turn(kernel))
    assert np.array_equal(dense.back(dense.turn(kernel)), kernel)


@pytest.mark.parametrize(
    "op,words",
    [
        (meeting("add", [(8, 5), (8, 1)], (8, 5), 0, None), "tensors of shapes"),
        (meeting("add", [(8, 5), (8, 5)], (8, 5), 0, None, alpha=2), "tensors of the model that meet"),
        (meeting("div", [(8, 5), (8, 5)], (8, 5), 0, None), "tensors of the model that meet"),
        (meeting("cat", [(8, 5), (8, 5)], (16, 5), 0, None, dim=0), "dim=0, the rows of a batch"),
    ],
)
def test_what_no_layer_stands_for(op: Op, words: str) -> None:
    layers = Branches((8, 5))
    layers.add(named(linear((8, 5), 5), "fc", None))
    with pytest.raises(NotCaptured, match=words):
        layers.add(op)


def test_one_flatten_for_values_that_meet() -> None:
    layers = Branches((8, 3, 4, 4))
    layers.add(named(conv((8, 3, 4, 4), (8, 2, 4, 4), 3, padding=1), "a", None))
    layers.add(Op("reshape", {}, (8, 2, 4, 4), (8, 32), sources=[0]))
    layers.add(named(linear((8, 32), 32), "fc", 1, alone=False))
    with pytest.raises(NotCaptured, match="flattened in different orders"):
        layers.add(meeting("add", [(8, 32), (8, 32)], (8, 32), 2, 1))
