"""Wraps what a script calls of PyTorch, and gives it back at the end. What is called does what it always does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .calls import CallLog
from .frames import first, user_frames
from .recording import Frame, NotCaptured, Session
from .torch_initial import DRAWING
from .torch_loop import Calls
from .torch_trace import Tracer, tensors_in


def guarded(event: Callable[..., Any]) -> Callable[..., Any]:
    """A listener that never breaks the script: what it can't follow is refused, with the line."""

    @functools.wraps(event)
    def listen(self: Hooks, *args: Any, **kwargs: Any) -> Any:
        if self.over:
            return None
        try:
            return event(self, *args, **kwargs)
        except NotCaptured as error:
            refusal = error
        except Exception as error:  # tensors that NumPy doesn't know, objects of the script's own
            refusal = NotCaptured(f"found what capture can't follow ({type(error).__name__}: {error})")
        self.over = True
        self.session.refused(NotCaptured(refusal.message, refusal.frame or first(user_frames(2))))
        return None

    return listen


class Hooks:
    """What a recorder of PyTorch listens to. The recorder has the events: on_step, on_drawn, on_clip, backward."""

    def __init__(self, session: Session, log: CallLog, torch: Any):
        self.session = session
        self.log = log
        self.torch = torch
        self.tracer = Tracer(torch, self)
        self.calls = Calls()
        self.optimizers: list[Any] = []
        self.schedulers: list[Any] = []
        self.loaders: list[Any] = []
        self.batch: tuple[int, int, list[Any]] | None = None
        self.fetched = False
        self.iterations: dict[int, tuple[int, int]] = {}
        self.ended_loops: set[tuple[int, int]] = set()
        self.kept_iterators: list[Any] = []
        self.scheduled = 0
        self.watched_metrics: list[float] = []
        self.moving = 0
        self.over = False
        self.child = False
        self.compiled: Frame | None = None

    def start(self) -> None:
        """Installs everything."""
        torch, log = self.torch, self.log
        utils, optim = torch.utils.data, torch.optim
        for base in (torch.nn.Module, optim.Optimizer, self._scheduler_base(), utils.DataLoader):
            log.watch_class(base)
        self.tracer.start()
        log.replace(optim.Optimizer, "__init__", self._registering(self.optimizers))
        log.replace(self._scheduler_base(), "__init__", self._registering(self.schedulers))
        for name in ("SequentialLR", "ChainedScheduler"):  # they leave the base's __init__ out
            log.replace(getattr(optim.lr_scheduler, name), "__init__", self._registering(self.schedulers))
        log.replace(utils.DataLoader, "__init__", self._registering(self.loaders))
        for kind in vars(optim).values():
            if isinstance(kind, type) and issubclass(kind, optim.Optimizer) and "step" in vars(kind):
                log.replace(kind, "step", self._stepping)
        for kind in vars(optim.lr_scheduler).values():
            if isinstance(kind, type) and "step" in vars(kind):
                log.replace(kind, "step", self._scheduling)
        log.replace(optim.Optimizer, "zero_grad", self._zeroing)
        log.replace(torch.nn.Module, "zero_grad", self._zeroing)
        log.replace(torch.nn.Module, "_apply", self._moving)
        log.replace(utils.DataLoader, "__iter__", self._iterating)
        log.replace(utils.dataloader._BaseDataLoaderIter, "__next__", self._fetching)
        log.replace(torch.autograd, "backward", self._autograd)
        log.replace(torch, "compile", self._compiling)
        for name in DRAWING:
            log.replace(torch.nn.init, name, self._drawing(name))
        for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
            for name in ("clip_grad_norm_", "clip_grad_value_"):
                log.replace(owner, name, self._clipping(name))
        self.session.at_end(self.end)

    def _scheduler_base(self) -> Any:
        module = self.torch.optim.lr_scheduler
        return getattr(module, "LRScheduler", None) or module._LRScheduler

    def _registering(self, made: list[Any]) -> Callable[[Any], Any]:
        def replacement(plain: Any) -> Any:
            def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
                self.moving += 1  # a scheduler steps once while it is made
                try:
                    with self.tracer.mute():
                        plain(self_, *args, **kwargs)
                finally:
                    self.moving -= 1
                if not any(self_ is one for one in made):
                    made.append(self_)

            return __init__

        return replacement

    def _stepping(self, plain: Any) -> Any:
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.tracer.silent():
                self.on_step(optimizer, bool(args) or kwargs.get("closure") is not None)
            with self.tracer.mute():
                return plain(optimizer, *args, **kwargs)

        return step

    def _scheduling(self, plain: Any) -> Any:
        def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.moving:
                self.scheduled += 1
                given = args[0] if args else kwargs.get("metrics")
                if given is not None and not isinstance(given, int):
                    self.watched_metrics.append(float(given))
                self.calls.schedule = self.calls.schedule or first(user_frames())
            with self.tracer.mute():
                return plain(scheduler, *args, **kwargs)

        return step

    def _zeroing(self, plain: Any) -> Any:
        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            self.calls.zero_grad = self.calls.zero_grad or first(user_frames())
            with self.tracer.mute():
                return plain(owner, *args, **kwargs)

        return zero_grad

    def _moving(self, plain: Any) -> Any:
        def _apply(module: Any, *args: Any, **kwargs: Any) -> Any:
            with self.tracer.mute():  # moving a model to a device changes no number
                return plain(module, *args, **kwargs)

        return _apply

    def _iterating(self, plain: Any) -> Any:
        def __iter__(loader: Any) -> Any:
            with self.tracer.mute():
                iterator = plain(loader)
            number = next((n for n, each in enumerate(self.loaders) if each is loader), -1)
            self.iterations[id(iterator)] = (number, len(self.iterations))
            self.kept_iterators.append(iterator)
            return iterator

        return __iter__

    def _fetching(self, plain: Any) -> Any:
        def __next__(iterator: Any) -> Any:
            if self.tracer.silent():
                return plain(iterator)
            self.flush()
            loop = self.iterations.get(id(iterator), (-1, -1))
            try:
                with self.tracer.mute():
                    batch = plain(iterator)
            except StopIteration:
                self.ended_loops.add(loop)
                self.batch = None
                raise
            self.fetched = True
            self.batch = (*loop, list(tensors_in(batch, self.torch.Tensor)))
            return batch

        return __next__

    def _autograd(self, plain: Any) -> Any:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            one = tensors[0] if isinstance(tensors, (tuple, list)) and len(tensors) == 1 else tensors
            if self.tracer.silent() or not isinstance(one, self.torch.Tensor):
                return plain(tensors, *args, **kwargs)
            return self.backward(lambda: plain(tensors, *args, **kwargs), one)

        return backward

    def _drawing(self, name: str) -> Callable[[Any], Any]:
        def replacement(plain: Any) -> Any:
            def draw(tensor: Any, *args: Any, **kwargs: Any) -> Any:
                silent = self.tracer.silent()
                with self.tracer.mute():
                    result = plain(tensor, *args, **kwargs)
                    if not silent:
                        self.on_drawn(name, tensor, args, kwargs)
                return result

            return draw

        return replacement

    def _clipping(self, name: str) -> Callable[[Any], Any]:
        def replacement(plain: Any) -> Any:
            def clip(*args: Any, **kwargs: Any) -> Any:
                if not self.tracer.silent():
                    self.on_clip(name, args, kwargs)
                with self.tracer.mute():
                    return plain(*args, **kwargs)

            return clip

        return replacement

    def _compiling(self, plain: Any) -> Any:
        def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
            self.compiled = self.compiled or first(user_frames())
            if self.session.options.run:
                return plain(model, *args, **kwargs)
            return model if model is not None else lambda function: function

        return compile

    # -- what a recorder makes of it

    def on_step(self, optimizer: Any, closure: bool) -> None:
        """An optimiser is about to step."""

    def on_drawn(self, name: str, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A tensor gets numbers."""

    def on_clip(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Gradients are clipped."""

    def flush(self, called: Any = None) -> None:
        """Another batch comes, or a model is called."""

    def in_child(self) -> None:
        """A process that the script has forked trains: it isn't captured, but named."""
        if not self.child:
            self.child = self.session.is_child(first(user_frames(3)))

    def backward(self, run: Callable[[], Any], loss: Any) -> Any:
        """A backward pass, which `run` makes."""
        return run()

    def end(self) -> None:
        """The script has ended."""
