"""Records the first training of a PyTorch script: what runs, in which order, on which rows.

The first epoch is watched, and the first backward pass of the second, which shows what happens between epochs; without
--run the script ends there. Every number that the script computes stays what it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .calls import CallLog
from .frames import first, user_frames
from .recording import Frame, NotCaptured, Session
from .torch_data import Epochs, Evaluations, Origin, row_numbers
from .torch_epochs import Loop, loops_around
from .torch_evaluation import add_evaluation
from .torch_graph import Chain, Graph
from .torch_initial import DRAWING, WRITING, drawn_by
from .torch_loop import Calls, Step
from .torch_ops import Drawn, spelling
from .torch_program import recording_of
from .torch_state import State
from .torch_trace import Root, Tracer


class TorchRecorder:
    """One script's training. `torch` is the script's own module."""

    def __init__(self, session: Session, log: CallLog, torch: Any):
        self.session = session
        self.log = log
        self.torch = torch
        self.tracer = Tracer(torch, self)
        self.epochs = Epochs(session.options.max_data)
        self.evaluations = Evaluations(session.options.max_data)
        self.calls = Calls()
        self.steps: list[Step] = []
        self.pending: list[Root] = []
        self.optimizers: list[Any] = []
        self.schedulers: list[Any] = []
        self.loaders: list[Any] = []
        self.notes: list[str] = []
        self.differences: list[NotCaptured] = []
        self.chain: Chain | None = None
        self.state: State | None = None
        self.loops: list[Loop] = []
        self.batch: tuple[int, int, list[Any]] | None = None
        self.iterations: dict[int, tuple[int, int]] = {}
        self.ended_loops: set[tuple[int, int]] = set()
        self.loader_steps: set[int] = set()
        self.drawn: dict[Any, tuple[int, Drawn]] = {}
        self.scheduled = 0
        self.filled = False
        self.over = False
        self.moving = 0
        self.optimizer: Any = None
        self.before: Any = None
        self.root_modules: dict[int, Any] = {}
        self.models: list[Any] = []
        self.rates: list[float] = []
        self.fingerprint: Any = None
        self.watched: Any = None

    # -- watching

    def start(self) -> None:
        """Installs everything."""
        torch, log = self.torch, self.log
        utils, optim = torch.utils.data, torch.optim
        for base in (torch.nn.Module, optim.Optimizer, self._scheduler_base(), utils.DataLoader):
            log.watch_class(base)
        self.tracer.start()
        log.replace(optim.Optimizer, "__init__", self._registering(self.optimizers))
        log.replace(self._scheduler_base(), "__init__", self._registering(self.schedulers))
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

        self.kept_iterators: list[Any] = []
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
            self.batch = (*loop, list(_tensors(batch, self.torch.Tensor)))
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

    # -- events

    def on_drawn(self, name: str, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A parameter, or another name of its memory, gets numbers."""
        if self.steps or not isinstance(tensor, self.torch.Tensor):
            return
        drawn = drawn_by(name, args, kwargs, user_frames(3))
        entry = (len(self.drawn), drawn)
        self.drawn[(tensor.data_ptr(), tuple(tensor.shape))] = entry
        if isinstance(tensor, self.torch.nn.Parameter):
            self.drawn[id(tensor)] = entry

    def drawn_of(self, parameter: Any) -> Drawn | None:
        """How a parameter got its numbers, the last time."""
        keys = (id(parameter), (parameter.data_ptr(), tuple(parameter.shape)))
        found = [self.drawn[key] for key in keys if key in self.drawn]
        return max(found, key=lambda entry: entry[0])[1] if found else None

    def heard(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A function that writes into a tensor."""
        plain = spelling(name) + "_" if name.startswith("__i") else name
        if (plain in DRAWING or plain in WRITING) and args and not self.steps:
            with self.tracer.mute():
                self.on_drawn(plain, args[0], args[1:], kwargs)

    def on_clip(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Gradients are clipped."""
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm", kwargs.get("clip_value", 0.0))
        frame = first(user_frames(3))
        if self.watched is None:
            self.watched = (name, float(limit), frame)

    def before_root(self, module: Any, args: tuple[Any, ...]) -> None:
        """The script calls a model."""
        with self.tracer.mute():
            self.flush()
            if self.before is None and self.session.options.weights and self.torch.is_grad_enabled():
                self.before = {}
            if self.before is not None and not self.steps:
                for value in module.state_dict(keep_vars=True).values():
                    self.before.setdefault(id(value), value.detach().cpu().numpy().copy())

    def after_root(self, module: Any, args: tuple[Any, ...], result: Any, position: int) -> None:
        """A model has answered."""
        inputs = list(_tensors(args, self.torch.Tensor))
        outputs = list(_tensors(result, self.torch.Tensor))
        if not inputs or not outputs or self.over:
            return
        place = first(user_frames(3))
        grad = self.torch.is_grad_enabled()
        number = self.tracer.roots
        root = Root(number, module, inputs[0], outputs[0], module.training, grad, self.batch, place, position)
        self.pending.append(root)
        if self.chain is None:
            self.root_modules[number] = module

    def flush(self) -> None:
        """Looks at what models answered and nobody trained on: evaluations."""
        pending, self.pending = self.pending, []
        with self.tracer.mute():
            for root in pending:
                if self.steps and not self.over:
                    add_evaluation(self, root)
        if pending:
            last = pending[-1]
            self.tracer.calls[:] = [c for c in self.tracer.calls[last.position :] if c.root != last.number]

    def backward(self, run: Callable[[], Any], loss: Any) -> Any:
        """A backward pass, which `run` makes."""
        with self.tracer.mute():
            watched = self.on_backward(loss)
        with self.tracer.mute():
            result = run()
            if watched:
                self.filled = any(self._is_filled(p) for p in self.updated())
                self.tracer.calls.clear()
        return result

    def on_backward(self, loss: Any) -> bool:
        """Looks at the step that ends in a loss. Returns whether it belongs to the training that is captured."""
        if self.session.done:
            if not self.over:
                self.over = True
            self.session.stop()
            return False
        frame = first(user_frames(3))
        try:
            return self._step(loss, frame)
        except NotCaptured as error:
            if error.frame is None and frame is not None:
                error = NotCaptured(error.message, frame)
            self.over = True
            self.session.refused(error)
            return False

    def _step(self, loss: Any, frame: Frame | None) -> bool:
        graph = Graph(self.tracer.calls, lambda tensor: isinstance(tensor, self.torch.nn.Parameter))
        chain = graph.chain(loss)
        self.pending = [root for root in self.pending if root.number not in chain.roots]
        self.flush()
        self.evaluations.close()
        if self.state is None:
            self._begin(chain, frame)
        elif self._other_model(chain):
            return False
        self._check_way(chain, frame)
        x, y = self._array(chain.input), self._array(chain.loss.target)
        if self.state is not None and self.state.single:
            x, y = x[None], y[None]
        if y.ndim == 0 or len(y) != len(x):
            raise NotCaptured(
                f"found {len(x)} rows and targets of shape {y.shape}; allowed: a target for each row", frame
            )
        epoch = self.epochs.step(x, y, self._origin(chain), chain.input)
        clear = not any(self._is_filled(p) for p in self.updated())
        module = next((call.module for call in chain.calls if call.module is not None), None)
        step = Step(epoch, clear, scheduled=self.scheduled, rows=len(x), loss=float(loss.detach()))
        step.training = bool(module.training) if module is not None else True
        self.scheduled = 0
        self.steps.append(step)
        if (epoch > 0 or self.epochs.cut) and not self.session.options.run:
            self.finish(ended=False)
        return True

    def _begin(self, chain: Chain, frame: Frame | None) -> None:
        """The first step: everything that can be refused is refused now."""
        self.chain = chain
        self.calls.backward = frame
        self.tracer.detailed = False
        self.loops = loops_around(sys._getframe(1))
        self.models = [self.root_modules[number] for number in sorted(chain.roots) if number in self.root_modules]
        self.state = State(self, chain)
        self.state.layers()
        self.fingerprint = self._fingerprint()

    def _other_model(self, chain: Chain) -> bool:
        """Is this a step of another model than the one that is captured? Ends the capture where that one is done."""
        assert self.state is not None
        mine = {id(p) for p in self.parameters()}
        theirs = {id(p) for call in chain.calls if call.module is not None for p in call.module.parameters()}
        if theirs & mine:
            return False
        if not self.ended_loops and self._same_loop(loops_around(sys._getframe(1))):
            raise NotCaptured("found two models that are trained in turns; allowed: one", self.calls.backward)
        self.finish(ended=True)
        return True

    def _same_loop(self, loops: list[Loop]) -> bool:
        """Does the loop around the captured training's steps still run?"""
        mine = {(loop.frame, loop.first) for loop in self.loops[:1]}
        return any((loop.frame, loop.first) in mine for loop in loops)

    def _check_way(self, chain: Chain, frame: Frame | None) -> None:
        assert self.chain is not None
        if chain.signature != self.chain.signature:
            raise NotCaptured(
                "found steps that go different ways through the model or to its loss; allowed: one way for all rows",
                frame,
            )

    def parameters(self) -> list[Any]:
        """The parameters of the layers that are captured."""
        assert self.state is not None
        return self.state.parameters

    def updated(self) -> list[Any]:
        """Those of them that the optimiser has: the gradients of others don't matter."""
        assert self.state is not None
        return self.state.updated()

    def _is_filled(self, parameter: Any) -> bool:
        return parameter.grad is not None and bool(parameter.grad.any())

    def _array(self, tensor: Any) -> Any:
        return tensor.detach().cpu().numpy().copy()

    def _origin(self, chain: Chain) -> Origin:
        """Where a step's rows come from."""
        if self.batch is not None:
            self.loader_steps.add(self.batch[0])
            return Origin(loop=self.batch[:2])
        for call in chain.data:
            if spelling(call.name) in ("__getitem__", "index_select") and call.inputs and call.inputs[0].dim() > 0:
                rows = row_numbers(call.args[-1], len(call.inputs[0]))
                if rows is not None:
                    return Origin(rows=rows)
        tensor = chain.input
        key = (tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tuple(tensor.shape))
        return Origin(key=key)

    def on_step(self, optimizer: Any, closure: bool) -> None:
        """An optimiser is about to step."""
        if self.state is None or self.over or self.session.done:
            return
        mine = {id(p) for p in self.parameters()}
        if not any(id(p) in mine for group in optimizer.param_groups for p in group["params"]):
            return
        frame = first(user_frames(3))
        self.calls.step = self.calls.step or frame
        if closure or self.optimizer not in (None, optimizer):
            found = "an optimiser that calls a closure" if closure else "two optimisers of one model"
            self.over = True
            self.session.refused(NotCaptured(f"found {found}; allowed: one optimiser, step()", frame))
            return
        self.optimizer = optimizer
        if not self.steps:
            return
        self.rates = self.rates or [float(group["lr"]) for group in optimizer.param_groups]
        step = self.steps[-1]
        with self.tracer.mute():
            if self.filled and not any(self._is_filled(p) for p in self.updated()):
                step.wiped = True
        step.updates += 1
        step.rate = float(optimizer.param_groups[0]["lr"])

    # -- what torch_program asks

    @property
    def model_modules(self) -> list[Any]:
        """The outermost modules of the training."""
        return self.models

    @property
    def changed_by_hand(self) -> bool:
        """Did a parameter change although no optimiser stepped?"""
        return self.fingerprint is not None and self.fingerprint != self._fingerprint()

    def _fingerprint(self) -> Any:
        with self.tracer.mute():
            return [p.detach().cpu().numpy().tobytes() for p in self.parameters()[:2]]

    def first_rates(self, optimizer: Any) -> list[float]:
        """The learning rate of each group at the first step."""
        return self.rates or [float(group["lr"]) for group in optimizer.param_groups]

    def loader(self) -> Any:
        """The DataLoader that the training's rows came from."""
        number = next(iter(self.loader_steps), -1)
        return self.loaders[number] if number >= 0 else None

    def unseen_test(self) -> Any:
        """Rows of a DataLoader that the script made and had not read when capture ended."""
        return None

    # -- the end

    def finish(self, ended: bool) -> None:
        """Makes the recording, or refuses. Raises EndOfCapture unless the script is to run to its end."""
        self.over = True
        with self.tracer.mute():
            try:
                recording = recording_of(self, ended)
            except NotCaptured as error:
                self.session.refused(error)
                return
        if self.differences and not self.session.options.leave_out:
            self.session.refused(*self.differences)
            return
        recording.notes += [f"{error}: left out" for error in self.differences]
        self.session.captured(recording)

    def end(self) -> None:
        """The script has ended."""
        self.tracer.stop()
        if self.session.done or self.over or not self.steps:
            return
        run, self.session.options.run = self.session.options.run, True  # nothing is left to be ended
        try:
            self.tracer.muted += 1
            self.tracer.muted -= 1
            self.flush()
            self.finish(ended=True)
        finally:
            self.session.options.run = run


def _tensors(value: Any, tensor: type) -> Any:
    from .torch_trace import tensors_in

    return tensors_in(value, tensor)
