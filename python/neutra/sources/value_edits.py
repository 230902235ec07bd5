"""Changes of single values: which text decides a value, and what it has to become."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Protocol

from . import options, words
from .argument_edits import add_argument
from .calls import At, last_name
from .edits import Edits
from .literals import is_literal, value_of, written
from .reasons import CannotChange
from .sites import layer_number
from .source_map import Slot, SourceMap
from .torch_words import TorchWords
from .turns import conditional, parameterised


class Words(Protocol):
    """How a framework writes the values of a program."""

    def value(self, path: str, new: Any, use: At, edits: Edits, like: str | None = None) -> str: ...


class ValueEdits:
    """Finds the edits for values that differ. `wanted` has the new value of each JSON pointer that changes; `removed`
    and `copied` are layers that other edits leave out and copy, `inserted` those that get a new one behind them."""

    def __init__(self, source_map: SourceMap, language: Words, wanted: dict[str, Any]):
        self.removed: set[int] = set()
        self.copied: set[int] = set()
        self.inserted: set[int] = set()
        self.map = source_map
        self.words = language
        self.wanted = wanted
        source_map.text_after = self.text_after
        self.arguments = list(source_map.arguments)
        self.notes: list[str] = []
        self._through: dict[int, list[Slot]] = {}
        self._of_call: dict[tuple[int, str], list[Slot]] = {}
        for slot in source_map.slots:
            for step in slot.chain:
                self._through.setdefault(id(step.at.node), []).append(slot)
            if slot.made.call is not None:
                self._of_call.setdefault((id(slot.made.call.node), slot.argument), []).append(slot)

    def slots(self, path: str) -> list[Slot]:
        """The arguments that set a pointer. One that no site lists is an argument of its name that the call of the
        object leaves out."""
        found = [slot for slot in self.map.slots if slot.path == path]
        parent, _, key = path.rpartition("/config/")
        if path.startswith(("/fit/", "/compile/")) and not parent:
            parent, _, key = path.rpartition("/")
        if not found and parent and "/" not in key:
            named = ("fit", "compile") if parent in ("/fit", "/compile") else None
            of = [m for m in self.map.made if m.site.path == parent and (named is None or m.site.name in named)]
            if isinstance(self.words, TorchWords):  # PyTorch has other names: the call must have one like this
                of = [m for m in of if key in m.site.parameters]
            found = [Slot(path, key, made) for made in of][:1]
            for slot in found:
                if slot.made.call is not None:
                    self._of_call.setdefault((id(slot.made.call.node), key), []).append(slot)
        return found

    def change(self, path: str, edits: Edits) -> None:
        """Adds the edits that give one pointer its wanted value. Raises CannotChange."""
        slots = self.slots(path)
        if not slots:
            raise CannotChange("no call of the script sets it")
        for slot in slots:
            self._change(slot, edits)

    def _change(self, slot: Slot, edits: Edits) -> None:
        call = slot.made.call
        if call is None:
            frame = slot.made.site.frames[0] if slot.made.site.frames else None
            where = f" at {frame}" if frame else ""
            raise CannotChange(f"the call that makes it{where} isn't found in the text")
        if not slot.chain:
            self._give(slot, edits)
            return
        if slot.argument == "lr" and slot.kind == "computed":
            self._today(slot, edits)
            return
        step = self._step(slot)
        if step is None:
            self._apart(slot, edits)
            return
        at = slot.chain[step].at
        if slot.chain[step].how == "command_line":
            self._option(slot, at, edits)
            return
        if step == 0 and self._is_star(slot):
            edits.add(at.file, at.file.span(at.node), self._star(slot, at, edits))  # type: ignore[arg-type]
            return
        self._replace(slot, at, edits)
        self._note_others(slot, step)

    def _replace(self, slot: Slot, at: At, edits: Edits) -> None:
        """Writes the wanted value over an expression."""
        assert isinstance(at.node, ast.expr)
        text = self.text(slot, at, edits)
        if isinstance(at.node, ast.Call) or not is_literal(at.node):
            origin = slot.chain[0].at
            if slot.kind == "computed" and origin.node is at.node:
                self.notes.append(f"{at.file.name}:{at.place.line}: the value takes the place of `{_short(at.text)}`")
        edits.add(at.file, at.file.span(at.node), text)

    def _today(self, slot: Slot, edits: Edits) -> None:
        """Keras from 2.11 on passes over `lr`: it becomes `learning_rate`."""
        use = slot.chain[0].at
        keyword = use.file.parents[use.node]
        assert isinstance(keyword, ast.keyword)
        edits.add(use.file, use.file.span(keyword), f"learning_rate={self.text(slot, use, edits)}")

    def text(self, slot: Slot, at: At, edits: Edits) -> str:
        """The wanted value of a slot as it is written at a place."""
        like = at.text if is_literal(at.node) else self.quotes(at)
        new = self.wanted[slot.path]
        if slot.offset:
            new = int(new) + slot.offset
        if (
            is_literal(at.node)
            and isinstance(value_of(at.node), float)
            and isinstance(new, int)
            and not isinstance(new, bool)
        ):
            new = float(new)
        if isinstance(new, float) and new.is_integer() and is_literal(at.node) and isinstance(value_of(at.node), int):
            new = int(new)
        if isinstance(new, list) and is_literal(at.node) and isinstance(value_of(at.node), int) and len(set(new)) == 1:
            new = new[0]
        return self.words.value(slot.path, new, at, edits, like)

    def text_after(self, node: ast.AST) -> str | None:
        """What will be written in the place of a literal."""
        decided = [s for s in self.map.slots if s.chain and s.chain[-1].at.node is node and s.path in self.wanted]
        for slot in decided:
            step = self._step(slot)
            if step is None or slot.chain[step].at.node is not node or isinstance(self.wanted[slot.path], dict):
                return None
            return written(self.wanted[slot.path], written(value_of(node)))
        return written(value_of(node))

    @staticmethod
    def quotes(at: At) -> str | None:
        """The quotes that the file prefers, as an example."""
        single = sum(token.text.startswith("'") and len(token.text) > 2 for token in at.file.tokens)
        double = sum(token.text.startswith('"') and not token.text.startswith('"""') for token in at.file.tokens)
        return '""' if double > single else None

    def _agree(self, slots: Iterable[Slot], slot: Slot) -> bool:
        """Do all of these change to the same value?"""
        there = [each for each in slots if layer_number(each.path) not in self.removed]
        return all(each.path in self.wanted and self.wanted[each.path] == self.wanted[slot.path] for each in there)

    def _step(self, slot: Slot) -> int | None:
        """The last step of a value's way that may be changed without changing what shall stay; None where none may."""
        for place in range(len(slot.chain) - 1, -1, -1):
            node = slot.chain[place].at.node
            through = self._through[id(node)]
            if place == 0 and self._is_star(slot):
                through = [each for each in through if each.argument == slot.argument]
            if not self._agree(through, slot):
                continue
            if all(self._read_here_alone(step.at) for step in slot.chain[:place]):
                return place
        return None

    def _read_here_alone(self, at: At) -> bool:
        """Does nothing unknown compute another part of the program from what this expression reads? Reads that are on
        the way of known values count where these ways end."""
        for other in self.map.sources.scopes(at.file).other_reads(at.node):
            if id(other) not in self._through and self._makes_program(at, other):
                return False
        return True

    def _makes_program(self, at: At, node: ast.AST) -> bool:
        """Is an expression part of what a recorded call is given, or of a value computed from it?"""
        calls = {
            id(made.call.node) for made in self.map.made if made.call is not None and made.site.name not in ("fit",)
        }
        computed = False
        for parent in at.file.ancestors(node):
            if isinstance(parent, (ast.BinOp, ast.IfExp, ast.Compare)):
                computed = True
            if isinstance(parent, ast.Call):
                if id(parent) in calls:
                    return True
                if last_name(parent.func) in ("print", "format", "plot", "range", "arange", "linspace"):
                    return False
            if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) and computed:
                return True
            if isinstance(parent, ast.stmt):
                return False
        return False

    def _is_star(self, slot: Slot) -> bool:
        at = slot.chain[0].at
        parent = at.file.parents.get(at.node)
        return isinstance(parent, ast.keyword) and parent.arg is None

    def _star(self, slot: Slot, at: At, edits: Edits) -> str:
        text = self.words.value(slot.path, self.wanted[slot.path], at, edits, self.quotes(at))
        return f"{{**{at.text}, {written(slot.argument, self.quotes(at))}: {text}}}"

    def _option(self, slot: Slot, at: At, edits: Edits) -> None:
        """The default of an option, or the command line where that sets it."""
        option = options.option_of(at)
        assert option is not None
        if options.given(self.arguments, at):
            new = written(self.wanted[slot.path])
            changed = options.replaced(self.arguments, at, new.strip("'"))
            if changed is None:
                raise CannotChange(f"the command line gives {option[0]}", at)
            self.arguments = changed
            return
        if isinstance(at.node, ast.Call) and at.node is option[1]:
            raise CannotChange(f"the option {option[0]} has no default", at)
        self._replace(slot, at, edits)

    def _give(self, slot: Slot, edits: Edits) -> None:
        """Adds an argument that a call leaves out."""
        call = slot.made.call
        assert call is not None and isinstance(call.node, ast.Call)
        together = self._of_call[id(call.node), slot.argument]
        if any(each.kind != "default" for each in together):
            raise CannotChange("the call is given it by something that isn't known", call)
        if not self._agree(together, slot):
            self._apart(slot, edits)
            return
        text = self.words.value(slot.path, self.wanted[slot.path], call, edits, self.quotes(call))
        add_argument(call.file, call.node, f"{slot.argument}={text}", edits)

    def _apart(self, slot: Slot, edits: Edits) -> None:
        """Tells objects apart that one call makes: by the loop's variable, or by a parameter of the helper."""
        call = slot.made.call
        assert call is not None
        together = self._of_call[id(call.node), slot.argument]
        use = slot.chain[0].at if slot.chain else None
        if use is not None and self._is_star(slot):
            raise CannotChange("several layers share the options that are unpacked here", use)
        new = self.wanted[slot.path]
        mine = [each for each in together if self.wanted.get(each.path) == new and each.path in self.wanted]
        others = [each for each in together if each not in mine and layer_number(each.path) not in self.removed]
        if any(each.path in self.wanted for each in others):
            raise CannotChange("the layers that this call makes would have to change in different ways", call)
        at = use if use is not None else call
        text = self.words.value(
            slot.path, new, at, edits, use.text if use and is_literal(use.node) else self.quotes(at)
        )
        old = use.text if use is not None else self._default(slot, call, edits)
        choice = conditional(self.map, mine, others, text, old)
        if choice is not None:
            if use is None:
                add_argument(call.file, call.node, f"{slot.argument}={choice}", edits)  # type: ignore[arg-type]
            else:
                edits.add(use.file, use.file.span(use.node), choice)  # type: ignore[arg-type]
            return
        parameterised(self.map, slot, mine, others, text, old, edits)

    def _default(self, slot: Slot, call: At, edits: Edits) -> str:

        try:
            old = words.pointer(self.map.program, slot.path)
        except KeyError:
            old = words.table()["fields"].get(slot.path.rsplit("/", 1)[-1])
        return self.words.value(slot.path, old, call, edits, self.quotes(call))

    def _note_others(self, slot: Slot, step: int) -> None:
        """Says where else a variable that changes is read."""
        for each in slot.chain[:step]:
            scopes = self.map.sources.scopes(each.at.file)
            lines = {n.lineno for n in scopes.other_reads(each.at.node) if id(n) not in self._through}
            if lines and slot.chain[step].how in ("variable", "argument", "default"):
                where = ", ".join(str(line) for line in sorted(lines))
                note = f"{each.at.file.name}: `{_short(each.at.text)}` is read in line {where}, too"
                if note not in self.notes:
                    self.notes.append(note)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
