"""Finds the rows and targets of an evaluation: a model's answer that nothing is trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .frames import first
from .torch_data import Rows, matching
from .torch_graph import Chain
from .torch_trace import Call, Root, tensors_in

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
    for call in recorder.tracer.calls:
        if call.serial <= root.serial:
            continue
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


def is_plain(batch: Any, chain: Chain) -> bool:
    """Did the model and the loss get the two parts of a DataLoader's batch, at most in another shape?"""
    if batch is None or len(batch[2]) != 2:
        return False
    for part, given in zip(batch[2], (chain.input, chain.loss.target)):
        if part.numel() != given.numel() or not bool((part.reshape(-1) == given.reshape(-1).to(part.device)).all()):
            return False
    return True


def unseen_rows(recorder: TorchRecorder) -> tuple[Any, Rows] | None:
    """The rows of the last DataLoader that the script made and didn't train on: it reads them behind its training. They
    are read here, once the script has ended."""
    if recorder.session.options.run:
        return None
    trained = {id(recorder.loaders[number].dataset) for number in recorder.loader_steps if number >= 0}
    others = [n for n, loader in enumerate(recorder.loaders) if id(loader.dataset) not in trained]
    if not others:
        return None
    loader = recorder.loaders[others[-1]]
    first_x, first_y = recorder.epochs.rows.x[0], recorder.epochs.rows.y[0]
    rows = Rows()
    for batch in loader:
        tensors = list(tensors_in(batch, recorder.torch.Tensor))
        if len(tensors) != 2 or tensors[0][0].numel() != first_x[0].size:
            return None
        x, y = (tensor.detach().cpu().numpy() for tensor in tensors)
        y = matching(y, first_y)
        if y is None or rows.size + x.nbytes > recorder.session.options.max_data:
            return None
        rows.add(x.reshape(len(x), *first_x.shape[1:]).copy(), y)
    call = recorder.log.of(loader)
    place = first(call.frames) if call else None
    recorder.notes.append(
        f"{place}: test rows are those of this DataLoader, which was not read before the end of capture"
    )
    return (others[-1], rows) if rows.x else None
