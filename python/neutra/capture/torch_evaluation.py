"""Finds the rows and targets of an evaluation: a model's answer that nothing is trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .torch_data import matching
from .torch_trace import Call, Root

if TYPE_CHECKING:
    from .torch_watch import TorchRecorder


def add_evaluation(recorder: TorchRecorder, root: Root) -> None:
    """Adds the rows of a root to the sets that the script evaluates, if their targets can be found."""
    chain, state = recorder.chain, recorder.state
    if chain is None or state is None or not recorder.epochs.rows.y or not _is_model(root, chain.calls[0]):
        return
    x = root.input.detach().cpu().numpy().copy()
    first_x, first_y = recorder.epochs.rows.x[0], recorder.epochs.rows.y[0]
    if state.single:
        x = x[None]
    if x.shape[1:] != first_x.shape[1:]:
        return
    target = _partner(recorder, root, len(x))
    y = None if target is None else target.detach().cpu().numpy()
    if y is not None and state.single:
        y = y.reshape(1, *first_y.shape[1:]) if y.size == first_y[0].size else None
    y = None if y is None else matching(y, first_y)
    if y is None or len(y) != len(x):
        return
    recorder.calls.evaluation = recorder.calls.evaluation or root.place
    key = root.batch[0] if root.batch is not None else str(root.place)
    recorder.evaluations.add(key, x, y, root.training, root.place)


def _is_model(root: Root, first: Call) -> bool:
    """Is this the module that is trained? It has the chain's first layer, or is it."""
    layer = first.module
    return layer is None or any(module is layer for module in root.module.modules())


def _partner(recorder: TorchRecorder, root: Root, rows: int) -> Any | None:
    """The tensor that the model's answer is first compared with; else the second part of the DataLoader's batch."""
    derived = {id(root.output)}
    for call in recorder.tracer.calls[root.position :]:
        if call.root == root.number:
            derived.update(id(tensor) for tensor in call.outputs)
            continue
        if not any(id(tensor) in derived for tensor in call.inputs):
            continue
        for tensor in call.inputs:
            if id(tensor) not in derived and _is_target(recorder, tensor, root, rows):
                return tensor
        derived.update(id(tensor) for tensor in call.outputs)
    if root.batch is not None and len(root.batch[2]) > 1 and len(root.batch[2][1]) == rows:
        return root.batch[2][1]
    return None


def _is_target(recorder: TorchRecorder, tensor: Any, root: Root, rows: int) -> bool:
    if tensor is root.input or isinstance(tensor, recorder.torch.nn.Parameter):
        return False
    if recorder.state is not None and recorder.state.single:
        return True
    return tensor.dim() > 0 and len(tensor) == rows
