"""Records the first training of a PyTorch script: what runs, in which order, on which rows.

The first epoch is watched, and the first backward pass of the second, which shows what happens between epochs; without
--run the script ends there. Every number that the script computes stays what it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .calls import CallLog
from .frames import first, user_frames
from .recording import Frame, NotCaptured, Session
from .torch_data import Epochs, Evaluations, Origin, row_numbers
from .torch_epochs import Loop, loops_around
from .torch_evaluation import add_evaluation, is_plain, unseen_rows
from .torch_graph import Chain, Graph
from .torch_hooks import Hooks, guarded
from .torch_initial import DRAWING, WRITING, drawn_by
from .torch_loop import Step
from .torch_ops import Drawn, spelling
from .torch_program import recording_of
from .torch_state import State
from .torch_trace import Root, tensors_in


class TorchRecorder(Hooks):
    """One script's training. `torch` is the script's own module."""

    def __init__(self, session: Session, log: CallLog, torch: Any):
        super().__init__(session, log, torch)
        self.epochs = Epochs(session.options.max_data)
        self.evaluations = Evaluations(session.options.max_data)
        self.steps: list[Step] = []
        self.pending: list[Root] = []
        self.notes: list[str] = []
        self.differences: list[NotCaptured] = []
        self.chain: Chain | None = None
        self.state: State | None = None
        self.loops: list[Loop] = []
        self.later_loops: list[Loop] = []
        self.loader_steps: set[int] = set()
        self.drawn: dict[Any, tuple[int, Drawn]] = {}
        self.draws = 0
        self.filled = False
        self.optimizer: Any = None
        self.before: Any = None
        self.root_modules: dict[int, Any] = {}
        self.models: list[Any] = []
        self.plain = False
        self.rates: list[float] = []
        self.fingerprint: Any = None
        self.watched: Any = None

    # -- events

    @guarded
    def on_drawn(self, name: str, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A parameter, or another name of its memory, gets numbers."""
        if self.steps or not isinstance(tensor, self.torch.Tensor):
            return
        drawn = drawn_by(name, args, kwargs, user_frames(3))
        self.draws += 1
        entry = (self.draws, drawn)
        self.drawn[(tensor.data_ptr(), tuple(tensor.shape))] = entry
        if isinstance(tensor, self.torch.nn.Parameter):
            self.drawn[id(tensor)] = entry
        else:
            self.drawn[("memory", tensor.untyped_storage().data_ptr(), tensor.numel())] = entry

    def drawn_of(self, parameter: Any) -> Drawn | None:
        """How a parameter got its numbers, the last time."""
        keys = (id(parameter), (parameter.data_ptr(), tuple(parameter.shape)))
        found = [self.drawn[key] for key in keys if key in self.drawn]
        if not found:
            return None
        last, drawn = max(found, key=lambda entry: entry[0])
        memory = ("memory", parameter.untyped_storage().data_ptr())
        for key, (number, part) in self.drawn.items():
            if isinstance(key, tuple) and key[:2] == memory and key[2] < parameter.numel() and number > last:
                drawn = replace(drawn, part=part)
        return drawn

    def heard(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A function that writes into a tensor."""
        plain = spelling(name) + "_" if name.startswith("__i") else name
        if (plain in DRAWING or plain in WRITING) and args and not self.steps:
            with self.tracer.mute():
                self.on_drawn(plain, args[0], args[1:], kwargs)

    @guarded
    def on_clip(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Gradients are clipped."""
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm", kwargs.get("clip_value", 0.0))
        norm = args[2] if len(args) > 2 else kwargs.get("norm_type", 2.0)
        frame = first(user_frames(3))
        if self.watched is None:
            self.watched = (name, float(limit), float(norm), frame)

    @guarded
    def before_root(self, module: Any, args: tuple[Any, ...]) -> None:
        """The script calls a model."""
        with self.tracer.mute():
            self.flush(module)
            if self.before is None and self.session.options.weights and self.torch.is_grad_enabled():
                self.before = {}
            if self.before is not None and not self.steps:
                for value in module.state_dict(keep_vars=True).values():
                    self.before.setdefault(id(value), value.detach().cpu().numpy().copy())

    @guarded
    def after_root(self, module: Any, args: tuple[Any, ...], result: Any, serial: int) -> None:
        """A model has answered."""
        inputs = list(tensors_in(args, self.torch.Tensor))
        outputs = list(tensors_in(result, self.torch.Tensor))
        if not inputs or not outputs or self.over:
            return
        place = first(user_frames(3))
        grad = self.torch.is_grad_enabled()
        number = self.tracer.roots
        root = Root(number, module, inputs[0], outputs[0], module.training, grad, self.batch, place, serial)
        self.pending.append(root)
        if self.chain is None:
            self.root_modules[number] = module

    @guarded
    def flush(self, called: Any = None) -> None:
        """Looks at what models answered and nobody trained on: evaluations. Where `called` is about to answer, an
        answer of another module may still be on its way through this one."""
        ready = [root for root in self.pending if called is None or root.module is called]
        if not ready:
            return
        self.pending = [root for root in self.pending if root not in ready]
        with self.tracer.mute():
            for root in ready:
                if self.steps and not self.over:
                    add_evaluation(self, root)
        done = {root.number for root in ready}
        first_left = min((root.serial for root in self.pending), default=ready[-1].serial)
        self.tracer.calls[:] = [c for c in self.tracer.calls if c.serial > first_left and c.root not in done]

    def backward(self, run: Callable[[], Any], loss: Any) -> Any:
        """A backward pass, which `run` makes."""
        with self.tracer.mute():
            watched = self.on_backward(loss)
        with self.tracer.mute():
            result = run()
            if watched:
                if self.steps[-1].epoch <= 2:
                    self.filled = any(self._is_filled(p) for p in self.updated())
                self.tracer.calls.clear()
        return result

    def on_backward(self, loss: Any) -> bool:
        """Looks at the step that ends in a loss. Returns whether it belongs to the training that is captured."""
        if self.session.done:
            self.session.stop()
            return False
        return bool(self._step(loss, first(user_frames(3))))

    @guarded
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
        if self.compiled and self.session.options.run:
            raise NotCaptured("found torch.compile; allowed: without --run, where it does nothing", self.compiled)
        x, y = self._array(chain.input), self._array(chain.loss.target)
        if self.state is not None and self.state.single:
            x, y = x[None], y[None]
        if y.ndim == 0 or len(y) != len(x):
            raise NotCaptured(
                f"found {len(x)} rows and targets of shape {y.shape}; allowed: a target for each row", frame
            )
        epoch = self.epochs.step(x, y, self._origin(chain), chain.input)
        clear = self._is_clear(epoch)
        module = next((call.module for call in chain.calls if call.module is not None), None)
        step = Step(epoch, clear, scheduled=self.scheduled, rows=len(x))
        step.scale = chain.loss.scale
        step.loss = float(loss.detach()) / step.scale
        step.training = bool(module.training) if module is not None else True
        self.scheduled = 0
        self.steps.append(step)
        if (epoch > 0 or self.epochs.cut) and not self.session.options.run:
            self.later_loops = loops_around(sys._getframe(1))
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
        self.plain = is_plain(self.batch, chain)

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
        self.session.again("another model is trained", first(user_frames(3)))
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

    def _is_clear(self, epoch: int) -> bool:
        """Are all gradients zero or none? Beyond the second epoch nothing new can be seen."""
        if epoch > 2:
            return self.steps[-1].clear
        return not any(self._is_filled(p) for p in self.updated())

    def _is_filled(self, parameter: Any) -> bool:
        return parameter.grad is not None and bool(parameter.grad.any())

    def _array(self, tensor: Any) -> Any:
        return tensor.detach().cpu().numpy().copy()

    def _origin(self, chain: Chain) -> Origin:
        """Where a step's rows come from."""
        if self.batch is not None and self.fetched:
            self.fetched = False
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

    @guarded
    def on_step(self, optimizer: Any, closure: bool) -> None:
        """An optimiser is about to step."""
        if self.session.done:
            return
        frame = first(user_frames(3))
        if closure:
            raise NotCaptured("found an optimiser that calls a closure; allowed: step()", frame)
        if self.state is None or not self._is_mine(optimizer):
            return
        self.calls.step = self.calls.step or frame
        if self.optimizer not in (None, optimizer):
            raise NotCaptured("found two optimisers of one model; allowed: one", frame)
        self.optimizer = optimizer
        if not self.steps:
            return
        self.rates = self.rates or [float(group["lr"]) for group in optimizer.param_groups]
        step = self.steps[-1]
        with self.tracer.mute():
            if step.epoch <= 2 and self.filled and not any(self._is_filled(p) for p in self.updated()):
                step.wiped = True
        step.updates += 1
        step.rate = float(optimizer.param_groups[0]["lr"])

    def _is_mine(self, optimizer: Any) -> bool:
        """Has an optimiser parameters of the model that is captured?"""
        mine = {id(p) for p in self.parameters()}
        return any(id(p) in mine for group in optimizer.param_groups for p in group["params"])

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
        """The learning rate of each group at the first step; with LinearLR, which has a start, the one before it."""
        mine = [each for each in self.schedulers if each.optimizer is optimizer]
        if [type(each).__name__ for each in mine] == ["LinearLR"]:
            return [float(group["initial_lr"]) for group in optimizer.param_groups]
        return self.rates or [float(group["lr"]) for group in optimizer.param_groups]

    def loader(self) -> Any:
        """The DataLoader that the training's rows came from."""
        number = next(iter(self.loader_steps), -1)
        return self.loaders[number] if number >= 0 else None

    def unseen_test(self) -> Any:
        """Rows of a DataLoader that the script made and had not read when capture ended."""
        return unseen_rows(self) if self.plain and not self.evaluations.sets else None

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
            self.flush()
            if not self.over:
                self.finish(ended=True)
        except NotCaptured:
            raise
        except Exception as error:
            raise NotCaptured(f"found what capture can't follow ({type(error).__name__}: {error})") from error
        finally:
            self.session.options.run = run
