"""Follows the calls of PyTorch that a script makes, without changing a number of it.

A TorchFunctionMode hears every function of torch that gets or makes a tensor; a wrapper around Module.__call__ hears
modules. Layers of torch.nn count as one call, what happens inside them isn't looked at. Nothing is read of the script's
text: what is recorded is what ran.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .frames import user_frames
from .recording import Frame

#: Calls kept until the next step; a script that calls more between two steps loses the oldest.
KEPT_CALLS = 20000

#: Functions that make no tensor of a model and are called often.
_QUIET = frozenset(
    [
        "size",
        "dim",
        "numel",
        "shape",
        "dtype",
        "device",
        "is_cuda",
        "requires_grad",
        "grad_fn",
        "is_leaf",
        "grad",
        "_version",
        "stride",
        "storage_offset",
        "_set_grad_enabled",
        "is_floating_point",
        "is_complex",
        "data_ptr",
        "untyped_storage",
        "element_size",
        "ndim",
        "layout",
        "is_sparse",
        "is_meta",
        "is_contiguous",
        "__len__",
        "__repr__",
        "__format__",
        "__hash__",
        "is_nested",
        "names",
        "get_device",
        "names",
        "retain_grad",
    ]
)

#: Functions that take numbers out of tensors: what a script decides by them is not in the trace.
READERS = frozenset(("__bool__", "item", "__float__", "__int__", "__index__", "tolist", "numpy", "__array__"))

#: Modules of torch.nn that only call other modules.
_CONTAINERS = frozenset(("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel"))


@dataclass(eq=False)
class Call:
    """One call: `name` of the function ("relu") or of the class of a layer ("Linear"), `module` if it is a layer of
    torch.nn. `root` is the number of the outermost call of a module around it, 0 outside; `grad` says whether
    gradients were recorded, `frames` are the user's lines, if asked for."""

    name: str
    module: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: list[Any]
    root: int
    grad: bool
    frames: list[Frame] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    training: bool | None = None
    serial: int = 0


@dataclass(eq=False)
class Root:
    """One call of an outermost module that has parameters: number, module, what it was given and gave."""

    number: int
    module: Any
    input: Any
    output: Any
    training: bool
    grad: bool
    batch: Any
    place: Frame | None
    serial: int


def function_name(function: Any) -> str:
    """The plain name of a function of torch: "relu" for F.relu, relu_ and Tensor.relu; "data" for Tensor.data."""
    name = str(getattr(function, "__name__", ""))
    if name in ("__get__", "__set__", "__delete__"):
        of = getattr(getattr(function, "__self__", None), "__name__", "")
        return of if name == "__get__" else f"{of}="
    return name


def tensors_in(value: Any, tensor: type) -> Iterator[Any]:
    """The tensors in arguments or results: alone, or in tuples, lists and dicts."""
    if isinstance(value, tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item, tensor)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item, tensor)


def library_class(module: Any) -> str:
    """The name of the nearest class of torch.nn of a module: "Linear" for a subclass of nn.Linear that has no forward
    of its own; "" where the module runs code of the script."""
    for kind in type(module).__mro__:
        if kind.__module__.startswith("torch.nn."):
            return "" if kind.__name__ in (*_CONTAINERS, "Module") else kind.__name__
        if "forward" in vars(kind):
            return ""
    return ""


class Tracer:
    """Keeps the calls since the last step, and tells a listener of roots and backward passes.

    `muted` is above 0 while code runs whose calls don't count. `detailed` asks for the user's lines of each call.
    """

    def __init__(self, torch: Any, listener: Any):
        self.torch = torch
        self.listener = listener
        self.calls: list[Call] = []
        self.muted = 0
        self.detailed = True
        self.process = os.getpid()
        self.thread = threading.get_ident()
        self.depth = 0
        self.count = 0
        self.roots = 0
        self._mode: Any = None
        self._module_call: Any = None

    def forked(self) -> bool:
        """Is this a process that the script has forked?"""
        return os.getpid() != self.process

    def silent(self) -> bool:
        """Is this a call that doesn't count: in our own code, in a layer, in a worker of a DataLoader?"""
        return self.muted > 0 or self.forked() or threading.get_ident() != self.thread

    @contextmanager
    def mute(self) -> Iterator[None]:
        """Calls inside don't count."""
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1

    def start(self) -> None:
        """Hears calls from now on."""
        module = self.torch.nn.Module
        self._module_call = module.__call__
        module.__call__ = self._wrapped_module_call(module.__call__)
        self._mode = _mode(self.torch, self)
        self._mode.__enter__()

    def stop(self) -> None:
        """Hears no more."""
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
            self.torch.nn.Module.__call__ = self._module_call
            self._mode = None

    def called(
        self, name: str, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, inside: bool
    ) -> None:
        """Keeps a call that has ended; `inside` says whether a module was running."""
        tensor = self.torch.Tensor
        outputs = list(tensors_in(result, tensor))
        if not outputs and name not in READERS:
            return
        frames = user_frames(3) if self.detailed else []
        root = self.roots if inside else 0
        grad = self.torch.is_grad_enabled()
        call = Call(name, module, args, kwargs, outputs, root, grad, frames)
        call.inputs = list(tensors_in((args, kwargs), tensor))
        call.training = None if module is None else bool(module.training)
        self.count += 1
        call.serial = self.count
        self.calls.append(call)
        if len(self.calls) > 2 * KEPT_CALLS:
            del self.calls[:KEPT_CALLS]

    def _wrapped_module_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        tracer = self

        @functools.wraps(original)
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if tracer.silent():
                return original(module, *args, **kwargs)
            name = library_class(module)
            outermost = tracer.depth == 0
            is_model = outermost and next(module.parameters(), None) is not None
            if is_model:
                tracer.roots += 1
                tracer.listener.before_root(module, args)
            serial = tracer.count
            tracer.depth += 1
            tracer.muted += bool(name)
            try:
                result = original(module, *args, **kwargs)
            finally:
                tracer.depth -= 1
                tracer.muted -= bool(name)
            if name:
                tracer.called(name, module, args, kwargs, result, is_model or not outermost)
            if is_model:
                tracer.listener.after_root(module, args, result, serial)
            return result

        return call


def _mode(torch: Any, tracer: Tracer) -> Any:
    names: dict[Any, str] = {}

    class Mode(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if tracer.silent():
                if tracer.forked() and function_name(func) == "backward":
                    tracer.listener.in_child()
                return func(*args, **kwargs)
            name = names.get(func)
            if name is None:
                name = names[func] = function_name(func)
            if name in _QUIET:
                return func(*args, **kwargs)
            if name == "backward":
                return tracer.listener.backward(lambda: func(*args, **kwargs), args[0])
            if name.endswith(("_", "=")):
                tracer.listener.heard(name, args, kwargs)
            result = func(*args, **kwargs)
            tracer.called(name, None, args, kwargs, result, tracer.depth > 0)
            return result

    return Mode()
