"""The way from a model's input to its loss, out of the calls of one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .frames import first
from .recording import Frame, NotCaptured
from .torch_loss import ARGUMENTS, LOSSES, SETTINGS
from .torch_ops import spelling
from .torch_trace import READERS, Call, library_class

#: Functions in which tensors of a model may meet.
MEETING = ("add", "sub", "mul", "maximum", "minimum", "cat")


@dataclass
class LossCall:
    """The call that computes the loss: canonical name, settings, the model's output and the targets. `producer` is the
    number of the call that gave the output, `scale` what the loss is multiplied by."""

    name: str
    called: str
    settings: dict[str, Any]
    output: Any
    target: Any
    producer: int | None
    frames: list[Frame] = field(default_factory=list)
    module: Any = None
    scale: float = 1.0


@dataclass
class Chain:
    """The operations of a model, in the order in which they ran; `links` has the tensors that each took, `sources` the
    operations that gave them, None for the model's input. `data` are calls in front of the model that made its input of
    the script's rows, the last one first."""

    calls: list[Call]
    links: list[list[Any]]
    sources: list[list[int | None]]
    input: Any
    loss: LossCall
    data: list[Call]
    readers: list[Call]

    @property
    def branches(self) -> bool:
        """Is it more than one operation after the other: do some meet, is a module with parameters called twice?"""
        modules = [
            id(call.module) for call in self.calls if call.module and any(True for _ in call.module.parameters())
        ]
        after = [[number - 1 if number else None] for number in range(len(self.calls))]
        return self.sources != after or len(set(modules)) < len(modules)

    @property
    def signature(self) -> tuple[str, ...]:
        """The names of the operations and the ways between them, to compare steps."""
        ways = [str(self.sources)] if self.branches else []
        return (*(spelling(call.name) for call in self.calls), *ways, self.loss.name)

    @property
    def roots(self) -> set[int]:
        """The numbers of the outermost calls of modules that take part."""
        return {call.root for call in self.calls}


class Graph:
    """Calls with who made what. `is_parameter` tells tensors that are trained from others."""

    def __init__(self, calls: list[Call], is_parameter: Callable[[Any], bool]):
        self.calls = calls
        self.is_parameter = is_parameter
        self.inputs: list[list[tuple[Any, int | None]]] = []
        self.tracked: list[bool] = []
        self.current: dict[int, int] = {}
        self.derived: set[int] = set()
        for number, call in enumerate(calls):
            inputs = [(tensor, self.current.get(id(tensor))) for tensor in call.inputs]
            self.inputs.append(inputs)
            own = call.module is not None and any(True for _ in call.module.parameters())
            self.tracked.append(own or any(self._depends(tensor, made) for tensor, made in inputs))
            for output in call.outputs:
                self.current[id(output)] = number

    def _depends(self, tensor: Any, made: int | None) -> bool:
        """Does a tensor depend on parameters?"""
        return self.tracked[made] if made is not None else bool(self.is_parameter(tensor))

    def chain(self, loss: Any) -> Chain:
        """The way back from a loss. Raises NotCaptured, with the line, where it is no single way."""
        made = self.current.get(id(loss))
        if made is None:
            raise NotCaptured("found a loss that no function of PyTorch gave; allowed: a loss of torch.nn")
        found = self._loss(made)
        numbers, input_tensor, before = self._model(found)
        position = {number: place for place, number in enumerate(numbers)}
        calls = [self.calls[number] for number in numbers]
        links, sources = [], []
        for number in numbers:
            taken = self._taken(number, input_tensor)
            links.append([tensor for tensor, _ in taken])
            sources.append([position.get(by) if by is not None else None for _, by in taken])
        if not any(self.calls_parameters(call) for call in calls):
            raise NotCaptured(
                "found a loss of no layer with parameters; allowed: a model of torch.nn", first(found.frames)
            )
        readers = [c for c in self.calls if c.name in READERS and c.root and c.root in {call.root for call in calls}]
        return Chain(calls, links, sources, input_tensor, found, self._data(before), readers)

    def _model(self, found: LossCall) -> tuple[list[int], Any, int | None]:
        """The calls between the model's input and the loss, in their order, that input, and the call that made it."""
        tensor, number = found.output, found.producer
        seen: set[int] = set()
        ends: list[tuple[Any, int | None]] = []
        todo = [(tensor, number)]
        while todo:
            tensor, number = todo.pop()
            if number is None or not (self.tracked[number] or self.calls[number].root):
                if not any(each is tensor for each, _ in ends):
                    ends.append((tensor, number))
            elif number not in seen:
                seen.add(number)
                todo += self._before(number)
        # The input may also go past layers: x + f(x).
        first_tensor, before = ends[0]
        self.derived = derived = self._derived(first_tensor, before)
        grown = True
        while grown:
            grown = False
            for call in sorted(seen):
                fresh = {made for _, made in self.inputs[call] if made in derived} - seen
                grown = grown or bool(fresh)
                seen |= fresh
        ends = [end for end in ends if end[0] is first_tensor or end[1] not in derived]
        if len(ends) > 1:
            raise NotCaptured(
                f"found {len(ends)} tensors that go into the model; allowed: one input", first(found.frames)
            )
        return sorted(seen), first_tensor, before

    def _derived(self, tensor: Any, before: int | None) -> set[int]:
        """The calls of the model that depend on its input."""
        derived: set[int] = set()
        for number, call in enumerate(self.calls):
            if before is not None and number <= before:
                continue
            if call.root and any(
                (each is tensor and made == before) or made in derived for each, made in self.inputs[number]
            ):
                derived.add(number)
        return derived

    def _taken(self, number: int, input_tensor: Any) -> list[tuple[Any, int | None]]:
        """The tensors of the model that a call works on, in their order."""
        call = self.calls[number]
        mine = [
            (tensor, made)
            for tensor, made in self.inputs[number]
            if not self.is_parameter(tensor)
            and (tensor is input_tensor or made in self.derived or self._depends(tensor, made))
        ]
        if spelling(call.name) in MEETING and call.module is None and len(mine) > 1:
            return mine
        return self._before(number)[:1] if len(mine) < 2 else self._meeting(call, mine)

    def _meeting(self, call: Call, mine: list[tuple[Any, int | None]]) -> list[tuple[Any, int | None]]:
        if len({id(tensor) for tensor, _ in mine}) == 1:
            return mine[:1]
        raise NotCaptured(
            f"{call.name}: found {len(mine)} tensors of the model that meet here; allowed: {', '.join(MEETING)}",
            first(call.frames),
        )

    def calls_parameters(self, call: Call) -> bool:
        """Has a call parameters of its own?"""
        return call.module is not None and next(call.module.parameters(), None) is not None

    def _before(self, number: int) -> list[tuple[Any, int | None]]:
        """The tensors that a call works on, and who made them: those of the model, else the first."""
        call = self.calls[number]
        seen: dict[int, tuple[Any, int | None]] = {}
        for tensor, made in self.inputs[number]:
            if not self.is_parameter(tensor):
                seen.setdefault(id(tensor), (tensor, made))
        moving = [(tensor, made) for tensor, made in seen.values() if self._depends(tensor, made)]
        if any(self.is_parameter(tensor) for tensor, _ in self.inputs[number]):
            raise NotCaptured(
                f"{call.name}: found parameters of the script's own; allowed: layers of torch.nn", first(call.frames)
            )
        if moving:
            return moving
        if not seen:
            raise NotCaptured(f"{call.name}: found no tensor that it works on; allowed: one", first(call.frames))
        return [next(iter(seen.values()))]

    def _data(self, number: int | None) -> list[Call]:
        """The calls that made a model's input of the script's rows."""
        found: list[Call] = []
        while number is not None and len(found) < 50:
            found.append(self.calls[number])
            inputs = self.inputs[number]
            number = inputs[0][1] if inputs else None
        return found

    # -- losses

    def _loss(self, number: int) -> LossCall:
        call = self.calls[number]
        name = LOSSES.get(call.name) or (call.name if call.name in LOSSES.values() else "")
        if name:
            return self._known(number, name)
        plain = spelling(call.name)
        if (
            plain in ("mean", "sum")
            and len(self.inputs[number]) == 1
            and len(call.args) < 2
            and not call.kwargs.get("dim")
        ):
            made = self.inputs[number][0][1]
            return self._by_hand(number, made, plain)
        inner, factor = self._scaled(number, plain)
        if inner is not None:
            found = self._loss(inner)
            found.scale *= factor
            return found
        raise NotCaptured(
            f"found a loss that ends in {plain}; allowed: {', '.join(sorted(LOSSES))}, their functions, or the mean or "
            "sum of squares or absolute values of a difference",
            first(call.frames),
        )

    def _scaled(self, number: int, plain: str) -> tuple[int | None, float]:
        """The call of which this one is a multiple, and the factor."""
        call, inputs = self.calls[number], self.inputs[number]
        others = [each for each in call.args if not any(each is tensor for tensor, _ in inputs)]
        if plain not in ("div", "mul") or len(inputs) != 1 or len(others) != 1 or call.kwargs:
            return None, 1.0
        number_given = isinstance(others[0], (int, float)) and bool(others[0]) and call.args[-1] is others[0]
        if not number_given:
            return None, 1.0
        return inputs[0][1], float(others[0]) if plain == "mul" else 1 / float(others[0])

    def _known(self, number: int, name: str) -> LossCall:
        call = self.calls[number]
        if call.module is not None:
            settings = {key: getattr(call.module, key) for key in SETTINGS if hasattr(call.module, key)}
            args = dict(zip(("input", "target"), call.args)) | call.kwargs
        else:
            names = ["input", "target", *ARGUMENTS[name]]
            args = dict(zip(names, call.args)) | call.kwargs
            settings = {key: value for key, value in args.items() if key in SETTINGS}
        pair = [args.get("input"), args.get("target")]
        made = [self._made(number, tensor) for tensor in pair]
        moving = [tensor is not None and self._depends(tensor, by) for tensor, by in zip(pair, made)]
        if moving[0] == moving[1]:
            found = "both depend on the model" if moving[0] else "neither depends on the model"
            raise NotCaptured(
                f"{call.name}: found input and target of which {found}; allowed: targets of the data",
                first(call.frames),
            )
        output = 0 if moving[0] else 1
        if output and name in ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"):
            raise NotCaptured(f"{call.name}: found the model's output as target; allowed: as input", first(call.frames))
        return LossCall(
            name, call.name, settings, pair[output], pair[1 - output], made[output], call.frames, call.module
        )

    def _made(self, number: int, tensor: Any) -> int | None:
        for each, made in self.inputs[number]:
            if each is tensor:
                return made
        return None

    def _by_hand(self, number: int, inner: int | None, reduction: str) -> LossCall:
        """mean or sum of (output - target)², |output - target| or a loss that isn't reduced."""
        call = self.calls[number]
        refusal = NotCaptured(
            f"found a loss by {spelling(call.name)} of something else; allowed: squares or absolute values of a "
            "difference",
            first(call.frames),
        )
        if inner is None:
            raise refusal
        each = self.calls[inner]
        name = LOSSES.get(each.name) or each.name
        if name in LOSSES.values():
            found = self._known(inner, name)
            found.settings["reduction"] = reduction
            return found
        plain = spelling(each.name)
        squared = plain in ("square", "pow", "__pow__") and (
            plain == "square" or each.args[1:] == (2,) or each.kwargs.get("exponent") == 2
        )
        made = self.inputs[inner][0][1] if self.inputs[inner] else None
        if plain == "mul" and len({id(t) for t, _ in self.inputs[inner]}) == 1:
            squared = True
        if not (squared or plain in ("abs", "absolute")) or made is None:
            raise refusal
        if (
            spelling(self.calls[made].name) not in ("sub", "subtract", "__rsub__", "rsub")
            or len(self.inputs[made]) != 2
        ):
            raise refusal
        pair = self.inputs[made]
        moving = [self._depends(tensor, by) for tensor, by in pair]
        if moving[0] == moving[1]:
            raise refusal
        (output, producer), (target, _) = (pair[0], pair[1]) if moving[0] else (pair[1], pair[0])
        return LossCall(
            "mse_loss" if squared else "l1_loss", plain, {"reduction": reduction}, output, target, producer, call.frames
        )


def layer_name(call: Call) -> str:
    """The class of torch.nn of a call's module."""
    return library_class(call.module) if call.module is not None else ""
