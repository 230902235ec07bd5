"""The model that is trained, as the first step found it: its operations, layers and loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .frames import first
from .recording import NotCaptured
from .torch_branches import Branches
from .torch_graph import Chain, layer_name
from .torch_layers import Layers
from .torch_loss import FoundLoss, ProgramLoss, program_loss
from .torch_ops import MODULES, Op, Variable, function_settings
from .torch_trace import Call

if TYPE_CHECKING:
    from .torch_watch import TorchRecorder

#: Layers whose input without rows has so many axes.
_ALONE = {"linear": 1, "conv1d": 2, "conv2d": 3}


class State:
    """The model that is trained: its operations, as the first step found them."""

    def __init__(self, recorder: TorchRecorder, chain: Chain):
        self.recorder = recorder
        self.chain = chain
        self.names = self._names(recorder, chain)
        modules = [call.module for call in chain.calls if call.module is not None]
        self.parameters = list({id(p): p for module in modules for p in module.parameters()}.values())
        weighed = next(
            (c for c in chain.calls if c.module is not None and next(c.module.parameters(), None) is not None), None
        )
        kind = MODULES.get(layer_name(weighed), ("", ()))[0] if weighed else ""
        self.single = weighed is not None and weighed.inputs[0].dim() == _ALONE.get(kind, -1)

    @staticmethod
    def _names(recorder: TorchRecorder, chain: Chain) -> dict[int, str]:
        """The names of modules and their parameters in the model that holds them, by id. Of several models, an encoder
        and a decoder say, parameters have the number of theirs in front: no two have one name."""
        names: dict[int, str] = {}
        roots = [root for root in recorder.model_modules if root is not None]
        for number, model in enumerate(roots):
            prefix = f"{number}." if number else ""
            for name, module in model.named_modules():
                names.setdefault(id(module), name)
            for name, value in [*model.named_parameters(), *model.named_buffers()]:
                names.setdefault(id(value), prefix + name)
        return names

    def weight_decay(self, parameter: Any) -> float | None:
        """What the optimiser's group of a parameter says; None where no optimiser has it."""
        optimizer = self.recorder.optimizer or self._candidate()
        if optimizer is None:
            return 0.0
        for group in optimizer.param_groups:
            if any(each is parameter for each in group["params"]):
                return float(group.get("weight_decay", 0) or 0)
        return None

    def updated(self) -> list[Any]:
        """The parameters that the optimiser has; all where there is none."""
        optimizer = self.recorder.optimizer or self._candidate()
        groups = optimizer.param_groups if optimizer is not None else []
        given = {id(p) for group in groups for p in group["params"]}
        return [p for p in self.parameters if id(p) in given] or self.parameters

    def _candidate(self) -> Any:
        """The optimiser that was made last of those that have some of the parameters."""
        mine = {id(p) for p in self.parameters}
        for optimizer in reversed(self.recorder.optimizers):
            if any(id(p) in mine for group in optimizer.param_groups for p in group["params"]):
                return optimizer
        return None

    def ops(self) -> list[Op]:
        """The operations from the input to the output."""
        made: list[Op] = []
        taken = [source for sources in self.chain.sources for source in sources]
        for number, (call, links) in enumerate(zip(self.chain.calls, self.chain.links)):
            op = self._op(call, links[0])
            op.sources = self.chain.sources[number]
            op.in_shapes = [((1,) if self.single else ()) + tuple(link.shape) for link in links]
            op.alone = taken.count(op.sources[0]) == 1
            source = op.sources[0]
            if source is not None and made[source].name in ("lstm", "gru", "rnn"):
                before = self.chain.calls[source]
                if links[0] is not before.outputs[0]:
                    _last_step(op, made[source], links[0] is before.outputs[1])
            made.append(op)
        return made

    def _op(self, call: Call, link: Any) -> Op:
        output = call.outputs[0]
        shape, after = tuple(link.shape), tuple(output.shape)
        if self.single:
            shape, after = (1, *shape), (1, *after)
        if call.module is not None:
            name, fields = MODULES.get(layer_name(call), (layer_name(call) or call.name, ()))
            settings = {key: getattr(call.module, key) for key in fields if hasattr(call.module, key)}
        else:
            name, settings = function_settings(call.name, call.args[1:], call.kwargs)
        op = Op(name, settings, shape, after, called=call.name, frames=call.frames)
        trainable = False
        if call.module is not None:
            op.label = self.names.get(id(call.module), "")
            op.made = self.recorder.log.of(call.module)
            op.training = call.training
            op.variables = self._variables(call.module)
            trainable = any(v.requires_grad for v in op.variables.values())
        if name in ("lstm", "gru", "rnn") and any(bool(state.any()) for state in call.inputs[1:]):
            raise NotCaptured(f"{call.name}: found a first state that isn't zeros; allowed: zeros", op.place)
        op.cut = not output.requires_grad and (bool(link.requires_grad) or trainable)
        return op

    def _variables(self, module: Any) -> dict[str, Variable]:
        found: dict[str, Variable] = {}
        before = self.recorder.before or {}
        for name, value in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
            if name == "num_batches_tracked" or value is None:
                continue
            variable = Variable(self.names.get(id(value), name), tuple(value.shape), bool(value.requires_grad))
            variable.value = before.get(id(value))
            if isinstance(value, self.recorder.torch.nn.Parameter):
                variable.weight_decay = self.weight_decay(value)
                variable.drawn = self.recorder.drawn_of(value)
            found[name] = variable
        return found

    def values(self) -> dict[str, Any]:
        """The numbers of all variables now, by name."""
        modules = [call.module for call in self.chain.calls if call.module is not None]
        found: dict[str, Any] = {}
        for module in modules:
            for name, value in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
                found[self.names.get(id(value), name)] = value.detach().cpu().numpy().copy()
        return found

    def layers(self) -> tuple[Layers, ProgramLoss]:
        """The layers and the loss. Raises NotCaptured for what no program holds."""
        ops = self.ops()
        found = self._found_loss(ops)
        loss = program_loss(found)
        layers = Branches(ops[0].in_shape) if self.chain.branches else Layers(ops[0].in_shape)
        last = max((n for n, op in enumerate(ops) if op.name == "log_softmax"), default=-1)
        for number, op in enumerate(ops):
            if loss.drops and number == last:
                layers.skip(op)
            else:
                layers.add(op)
        if loss.adds:
            frames = self.chain.loss.frames
            layers.emit(
                "Activation",
                {"activation": loss.adds},
                Op(loss.adds, label="of_loss", called=found.called, frames=frames),
            )
        place = first(self.chain.loss.frames)
        layers.notes += [f"{place}: {note}" for note in loss.notes]
        return layers, loss

    def _found_loss(self, ops: list[Op]) -> FoundLoss:
        call = self.chain.loss
        behind = [op.name for op in ops if op.name not in ("identity", "reshape", "getitem", "detach")]
        output, target = tuple(call.output.shape), tuple(call.target.shape)
        if self.single:
            output, target = (1, *output), (1, *target)
        whole = not (call.target.is_floating_point() or call.target.is_complex())
        frame = first(call.frames)
        return FoundLoss(
            call.name, call.settings, output, target, whole, behind[-1] if behind else "", frame, call.called
        )


def _last_step(op: Op, layer: Op, hidden: bool) -> None:
    """h[-1] of a recurrent layer's last hidden state is the last step of its outputs."""
    count = int(layer.settings.get("num_layers", 1))
    index = op.settings.get("index")
    index = index[0] if isinstance(index, tuple) and index else index
    last = count == 1 or (op.name != "reshape" and index in (-1, count - 1))
    known = hidden and last and op.name in ("getitem", "select", "reshape")
    if not known or op.out_shape != layer.out_shape[::2]:
        raise NotCaptured(
            f"{op.called}: found a state of {layer.called}; allowed: its outputs, or the last hidden state, [-1]",
            op.place,
        )
    op.name, op.settings, op.in_shape = "getitem", {"index": (slice(None), -1)}, layer.out_shape
