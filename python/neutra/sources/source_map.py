"""Where each value of a captured program is written: the source map of a fault file.

A site says which call made an object and which arguments set which values. From there a value is followed to the text
that it comes from: the literal, the assignment of a variable, the argument of a helper, the list that a loop goes over,
the default of a command-line option. Where its way isn't certain, or what stands there isn't the program's value, the
value is `computed`.
"""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..capture.recording import Place, Site
from . import words
from .calls import At, Made, Sources, argument_of, unpacked
from .literals import is_literal, value_of, written
from .origin import Chain, Context, Resolver, Step, iterable_of
from .scopes import imported_modules
from .sites import linked, site_to_json
from .text import SourceFile, UnreadableSource

_OPTIMIZER = "/compile/optimizer"

#: How a value is written, docs/formats/fault.md.
KINDS = ("literal", "variable", "argument", "loop", "default", "command_line", "computed")


@dataclass(frozen=True)
class Slot:
    """An argument of a site: the JSON pointer that it sets and, where it is known, the way of its value.

    `chain` begins with the expression at the call and ends where the value is written; it is empty for an argument
    that the call leaves to its default. What stands there is the value plus `offset`: range(1, 11)
    are ten epochs.
    """

    path: str
    argument: str
    made: Made
    chain: Chain = ()
    kind: str = "default"
    offset: int = 0

    @property
    def steps(self) -> Sequence[Step]:
        """The expressions that decide the value, the one where it is written last."""
        return self.chain

    @property
    def at(self) -> At | None:
        """Where the value is written; the call for a default."""
        return self.chain[-1].at if self.chain else self.made.call


class SourceMap:
    """The slots of a program's sites, found in the text of the user's files."""

    def __init__(
        self,
        sites: Iterable[Site],
        files: Mapping[str, bytes],
        program: Mapping[str, Any],
        arguments: Sequence[str] = (),
    ):
        """`files` are the user's files as the frames of the sites name them, `arguments` the script's command line.
        Raises UnreadableSource."""
        self.sources = Sources(files)
        self.program = program
        self.arguments = list(arguments)
        #: What will be written for a literal, None where that isn't clear; a patch sets it.
        self.text_after: Callable[[ast.AST], str | None] = lambda node: written(value_of(node))
        self.resolver = Resolver(self.sources)
        self.made = self.sources.made(sites)
        self.contexts = _contexts(self.made, self.resolver)
        self.slots: list[Slot] = []
        for made, context in zip(self.made, self.contexts):
            found = [self._slot(made, context, *each) for each in linked(made.site, self.program)]
            found = _without_spare(found)
            self.slots += self._of_groups(found, made, context) if made.site.path == _OPTIMIZER else found
            if made.site.path == "/fit/epochs" and not found:
                self.slots += self._range(made, context)

    def _slot(self, made: Made, context: Context, argument: str, path: str) -> Slot:
        call = made.call
        if call is None or not isinstance(call.node, ast.Call):
            return Slot(path, argument, made)
        if argument == "":  # what is called is the value: nn.ReLU(), F.relu(x)
            return self._called(At(call.file, call.node.func), made, context, argument, path)
        given = argument_of(call.node, argument, made.site.parameters)
        if given is None:
            for star in unpacked(call.node):
                if argument in made.site.given:
                    return self._from_unpacked(At(call.file, star), made, context, argument, path)
            return Slot(path, argument, made)
        use = At(call.file, given)
        return self._decided(path, argument, made, self.resolver.chains(use, 0, context), use)

    def _called(self, called: At, made: Made, context: Context, argument: str, path: str) -> Slot:
        """What a call calls, followed to the class where that is an argument or a variable: activation()."""
        plain = Slot(path, argument, made, (Step(called, "use"),), "literal")
        if self.word(called) is not None:
            return plain
        ends = [way for way in self.resolver.chains(called, 0, context) if len(way) > 1 and self.word(way[-1].at)]
        return Slot(path, argument, made, ends[0], _kind(ends[0])) if len(ends) == 1 else plain

    def _of_groups(self, slots: Sequence[Slot], made: Made, context: Context) -> list[Slot]:
        """Settings that groups of parameters of PyTorch have of their own: [{"params": ..., "lr": 0.1}]."""
        call = made.call
        if call is None or not isinstance(call.node, ast.Call):
            return list(slots)
        given = argument_of(call.node, "params", made.site.parameters)
        ways = self.resolver.chains(At(call.file, given), 0, context) if given is not None else []
        end = ways[0][-1].at if len(ways) == 1 else None
        groups = end.node.elts if end is not None and isinstance(end.node, (ast.List, ast.Tuple)) else []
        if end is None or not groups or not all(isinstance(group, ast.Dict) for group in groups):
            return list(slots)
        found: list[Slot] = []
        for slot in slots:
            own = [
                At(end.file, value)
                for group in groups
                if isinstance(group, ast.Dict)
                for key, value in zip(group.keys, group.values)
                if isinstance(key, ast.Constant) and key.value == slot.argument
            ]
            for at in own:
                decided = self._decided(slot.path, slot.argument, made, self.resolver.chains(at, 0, context), at)
                # Groups whose weights don't decay go on so: the program's number is that of the others.
                if slot.argument != "weight_decay" or not _is_zero(decided.chain):
                    found.append(decided)
            found += [slot] if len(own) < len(groups) else []
        return found

    def _range(self, made: Made, context: Context) -> list[Slot]:
        """Epochs that are counted by range(1, EPOCHS + 1)."""
        call = made.call
        if call is None or not isinstance(call.node, ast.Call) or len(call.node.args) != 2:
            return []
        first, stop = call.node.args
        start = self.resolver.whole_number(At(call.file, first), 0, context)
        if start is None:
            return []
        offset = start
        if isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add) and not is_literal(stop):
            more = self.resolver.whole_number(At(call.file, stop.right), 0, context)
            stop, offset = (stop.left, start - more) if more is not None else (stop, start)
        use = At(call.file, stop)
        fitting = []
        for chain in self.resolver.chains(use, 0, context):
            end = chain[-1].at.node
            if is_literal(end) and value_of(end) == words.pointer(self.program, made.site.path) + offset:
                fitting.append(chain)
        if len(fitting) != 1:
            return [Slot(made.site.path, "stop", made, (Step(use, "use"),), "computed", offset)]
        return [Slot(made.site.path, "stop", made, fitting[0], _kind(fitting[0]), offset)]

    def _from_unpacked(self, star: At, made: Made, context: Context, argument: str, path: str) -> Slot:
        """An argument that comes from f(**options): the entry of the dict, where it can be found."""
        entries = self.resolver.entries_of(star, argument, context)
        chains = [(Step(star, "use"), *way) for entry in entries for way in self.resolver.chains(entry, 0, context)]
        chains = [(chain[0], Step(chain[1].at, "variable"), *chain[2:]) for chain in chains]
        return self._decided(path, argument, made, chains, star)

    def _decided(self, path: str, argument: str, made: Made, chains: Sequence[Chain], use: At) -> Slot:
        """Takes the one way whose end is the program's value; without one the value is computed."""
        fitting = [chain for chain in chains if self.agrees(path, argument, chain[-1].at)]
        if len(chains) == 1 and not fitting:
            end = chains[0][-1]
            if end.how == "command_line":
                return Slot(path, argument, made, chains[0], "command_line")
        if len(fitting) != 1:
            return Slot(path, argument, made, (Step(use, "use"),), "computed")
        chain = fitting[0]
        return Slot(path, argument, made, chain, _kind(chain))

    def agrees(self, path: str, argument: str, at: At) -> bool:
        """Does what is written here mean the program's value? True where the program doesn't say."""
        key = path.rsplit("/", 1)[-1]
        try:
            value = words.pointer(self.program, path)
        except KeyError:
            return is_literal(at.node) or self.word(at) is not None
        if key == "batch_input_shape":  # input_dim=8 and input_shape=(8,) are what is behind the rows
            there = value_of(at.node) if is_literal(at.node) else None
            return value in (there, [None, there], [None, *(there if isinstance(there, list) else [])])
        if is_literal(at.node):
            there = value_of(at.node)
            return words.same(key, there, value) or key in _CONVERTED or _names(there, value)
        word = self.word(at)
        if word is None:
            return False
        if words.same(key, word, value) or _names(word, value):
            return True
        stated = words.normal(key, value)
        meant = words.normal(key, word)
        if isinstance(stated, dict) and isinstance(meant, dict):
            return bool(stated.get("class_name") == meant.get("class_name"))
        return False

    def word(self, at: At) -> str | None:
        """The last part of an imported name (`relu` of tf.nn.relu), or of the class that a call makes an object of."""
        node = at.node.func if isinstance(at.node, ast.Call) else at.node
        if isinstance(node, (ast.Name, ast.Attribute)):
            dotted = self.sources.scopes(at.file).dotted(node)
            return dotted.rsplit(".", 1)[-1] if dotted else None
        return None

    def places(self) -> list[dict[str, Any]]:
        """The `places` of a fault file: for each site its own path, then those of its arguments."""
        found = []
        for made in self.made:
            call = made.call
            frame = made.site.frames[0] if made.site.frames else None
            if call is None and frame is None:
                continue
            kind = "loop" if self.repeated(made) else "argument" if len(made.calls) > 1 and call else "literal"
            entry = _entry(made.site.path, call, frame, kind if call else "computed")
            entry["site"] = site_to_json(made.site, entry["file"])
            found.append(entry)
            for slot in self.slots:
                if slot.made is made:
                    found.append(_entry(slot.path, slot.at, frame, slot.kind if call else "computed"))
        return found

    def repeated(self, made: Made) -> bool:
        """Did a loop make this object and others with the same calls?"""
        return sum(other.key() == made.key() for other in self.made) > 1


def places(
    sites: Sequence[Site], files: Mapping[str, bytes], program: Mapping[str, Any], arguments: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The source map of a recording as the `places` of its fault file (docs/formats/fault.md). `files` has the text of
    the files that the frames of the sites name; modules of settings that they import are read from beside them. A file
    without a text has the lines of calls only. Raises UnreadableSource."""
    texts = {**files_of(files), **files}
    return SourceMap(sites, texts, program, arguments).places()


def files_of(names: Iterable[str]) -> dict[str, bytes]:
    """The bytes of these files and of the modules that they import from their folders, such as a module of settings.
    What can't be read is left out."""
    found: dict[str, bytes] = {}
    waiting = list(names)
    folders = {os.path.dirname(name) for name in waiting}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        with contextlib.suppress(OSError, UnreadableSource):
            data = Path(name).read_bytes()
            imported = imported_modules(SourceFile(name, data).tree)
            found[name] = data
            for module in imported:
                tail = module.lstrip(".").replace(".", os.sep)
                for folder in folders | {os.path.dirname(name)}:
                    paths = (os.path.join(folder, f"{tail}.py"), os.path.join(folder, tail, "__init__.py"))
                    waiting += [path for path in paths if tail and os.path.isfile(path)]
    return found


#: Settings that a framework counts or spells otherwise than the program: PyTorch's momentum of averages is 1 - Keras's,
#: "acc" is accuracy.
_CONVERTED = ("momentum", "metrics")


def _names(word: Any, value: Any) -> bool:
    """Is a word the class of a value, whose settings may be others than those that the word alone has? 'rmsprop' is
    RMSprop, l1_l2 is L1L2."""
    kind = value.get("class_name") if isinstance(value, dict) else None
    return isinstance(word, str) and isinstance(kind, str) and word.lower().replace("_", "") == kind.lower()


def _without_spare(slots: Sequence[Slot]) -> list[Slot]:
    """Of several arguments of a call that set the same value (lr and learning_rate) those that are given, else the
    first."""
    found: dict[str, Slot] = {}
    for slot in slots:
        known = found.get(slot.path)
        if known is None or (known.kind == "default" and slot.kind != "default"):
            found[slot.path] = slot
    return list(found.values())


def _is_zero(chain: Chain) -> bool:
    """Does a value end in a literal 0?"""
    node = chain[-1].at.node if chain else None
    return isinstance(node, ast.Constant) and node.value == 0 and not isinstance(node.value, bool)


def _kind(chain: Chain) -> str:
    """The kind of a way by its last turn."""
    end = chain[-1]
    if len(chain) == 1:
        return "literal"
    hows = [step.how for step in chain]
    if "command_line" in hows:
        return "command_line"
    return "argument" if end.how == "default" else end.how


def _entry(path: str, at: At | None, frame: Any, kind: str) -> dict[str, Any]:
    place: Place
    if at is not None:
        place, text = at.place, at.text
    else:
        place, text = frame.place or Place(frame.file, frame.line, 1, frame.line, 1), ""
    return {"path": path, **place._asdict(), "kind": kind, "text": text}


def _contexts(every: Sequence[Made], resolver: Resolver) -> list[Context]:
    """Which turn of the loops around its calls made each site. Known where the turns of the loops are written and there
    are as many sites as turns."""
    groups: dict[tuple[Any, ...], list[Made]] = {}
    for made in every:
        groups.setdefault(_group(made), []).append(made)
    found = []
    for made in every:
        context = Context(made)
        group = groups[_group(made)]
        loops = []
        for level in range(len(made.calls) - 1, -1, -1):
            at = made.calls[level]
            if at is not None:
                loops += [(At(at.file, loop), level) for loop in resolver.sources.scopes(at.file).loops_around(at.node)]
        lengths = []
        for loop, level in loops:
            iterable = iterable_of(loop.node)
            length = resolver.length(At(loop.file, iterable), level, context) if iterable is not None else None
            lengths.append(length)
        number = group.index(made)
        _assign_turns(context, [loop.node for loop, _ in loops], lengths, number, len(group))
        found.append(context)
    return found


def _group(made: Made) -> tuple[Any, ...]:
    return (made.site.name, *made.key())


def _assign_turns(
    context: Context, loops: Sequence[ast.AST], lengths: Sequence[int | None], number: int, count: int
) -> None:
    """The innermost loops that have as many turns together as there are sites made them; loops around those, over folds
    say, make whole models."""
    total = 1
    turns: dict[int, int] = {}
    for loop, length in zip(reversed(loops), reversed(lengths)):
        if length is None or total * length > count:
            break
        turns[id(loop)] = number // total % length
        total *= length
    if total == count:
        context.turns.update(turns)
