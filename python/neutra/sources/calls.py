"""Calls of a script: which expression a recorded frame was, and what it passes for a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..capture.recording import Frame, Place, Site
from .scopes import Function, Scopes
from .text import SourceFile


@dataclass(frozen=True)
class At:
    """A node and the file that it is in."""

    file: SourceFile
    node: ast.AST

    @property
    def place(self) -> Place:
        assert isinstance(self.node, (ast.expr, ast.stmt, ast.keyword, ast.arg))
        return self.file.place(self.node)

    @property
    def text(self) -> str:
        assert isinstance(self.node, (ast.expr, ast.stmt, ast.keyword, ast.arg))
        return self.file.text_of(self.node)


@dataclass
class Made:
    """A site with the calls that made it, from the innermost outward; None where a frame isn't a call that is known."""

    site: Site
    calls: list[At | None] = field(default_factory=list)

    @property
    def call(self) -> At | None:
        """The call that made the object."""
        return self.calls[0] if self.calls else None

    def key(self, start: int = 0) -> tuple[int, ...]:
        """Equal for sites that the same calls made."""
        return tuple(id(at.node) if at else -1 for at in self.calls[start:])


class Sources:
    """The user's files, by name, with their scopes."""

    def __init__(self, files: Mapping[str, bytes]):
        self.files = {name: SourceFile(name, data) for name, data in files.items()}
        self._scopes: dict[str, Scopes] = {}
        self._calls: dict[str, list[ast.Call]] = {}

    def scopes(self, file: SourceFile) -> Scopes:
        if file.name not in self._scopes:
            self._scopes[file.name] = Scopes(file)
        return self._scopes[file.name]

    def calls_in(self, file: SourceFile) -> list[ast.Call]:
        """All calls of a file in the order in which they end, which is that of their evaluation."""
        if file.name not in self._calls:
            found = [node for node in ast.walk(file.tree) if isinstance(node, ast.Call)]
            self._calls[file.name] = sorted(found, key=lambda call: file.span(call).end)
        return self._calls[file.name]

    def made(self, sites: Iterable[Site]) -> list[Made]:
        """The calls of each site. Sites without positions on a line with several such calls are told by their order."""
        found: list[Made] = []
        seen: dict[tuple[Any, ...], int] = {}
        for site in sites:
            made = Made(site)
            for level, frame in enumerate(site.frames):
                if level and site.frames[level - 1].function in _INLINE:
                    continue
                inner = _run_as(made, found) if level == 0 else self._called(site.frames[level - 1])
                candidates = self._candidates(frame, inner)
                number = 0
                if level == 0 and len(candidates) > 1:
                    key = (site.name, *((f.file, f.line) for f in site.frames))
                    number = seen[key] = seen.get(key, -1) + 1
                made.calls.append(candidates[number % len(candidates)] if candidates else None)
            found.append(made)
        return found

    def _called(self, frame: Frame) -> set[str]:
        """The names by which the function of a frame may be called: its own, a constructor's class."""
        names = {frame.function}
        file = self.files.get(frame.file)
        if file is not None and frame.function == "__init__":
            for node in ast.walk(file.tree):
                if isinstance(node, ast.ClassDef) and node.lineno <= frame.line <= (node.end_lineno or 0):
                    names.add(node.name)
        return names

    def _candidates(self, frame: Frame, names: set[str]) -> list[At]:
        """The calls that a frame may be at; `names` are what it calls, as far as that is known."""
        file = self.files.get(frame.file)
        if file is None or not 1 <= frame.line <= len(file.lines):
            return []
        calls = self.calls_in(file)
        if frame.place is not None:
            exact = [call for call in calls if file.place(call)[1:] == frame.place[1:]]
            if exact:
                return [At(file, call) for call in exact]
        here = [call for call in calls if call.lineno == frame.line]
        here = here or [call for call in calls if call.lineno <= frame.line <= (call.end_lineno or 0)]
        named = [call for call in here if self._may_call(file, call, names)]
        return [At(file, call) for call in (named or (here if len(here) == 1 else []))]

    def _may_call(self, file: SourceFile, call: ast.Call, names: set[str]) -> bool:
        written = last_name(call.func)
        if written in names:
            return True
        meaning = self.scopes(file).dotted(call.func)
        return meaning is not None and meaning.rsplit(".", 1)[-1] in names

    def caller(self, made: Made, file: SourceFile, function: Function) -> tuple[int, At] | None:
        """The call of a function that encloses one of the calls that made a site, with its level among them; else the
        only call of that function in the files."""
        for level, at in enumerate(made.calls[:-1]):
            outer = made.calls[level + 1]
            if at and outer and at.file is file and self.scopes(file).function_of(at.node) is function:
                return level + 1, outer
        name = getattr(function, "name", None)
        owner = self.scopes(file).class_of(function)
        if owner is not None and name == "__init__":
            name = owner.name
        every = [At(each, call) for each in self.files.values() for call in self.calls_in(each)]
        found = [at for at in every if isinstance(at.node, ast.Call) and last_name(at.node.func) == name]
        return (len(made.calls), found[0]) if name and len(found) == 1 else None

    def module(self, name: str, beside: SourceFile) -> SourceFile | None:
        """The user's file that a module's name means, as seen from another file."""
        tail = name.lstrip(".").replace(".", "/")
        endings = (f"{tail}.py", f"{tail}/__init__.py")
        found = [file for file in self.files.values() if file.name.endswith(endings) and tail]
        exact = [file for file in found if _in_folder_of(beside.name, file.name, endings)]
        return exact[0] if exact else found[0] if len(found) == 1 else None


#: Comprehensions have a frame of their own before Python 3.12: the one around it makes no call of its own.
_INLINE = ("<listcomp>", "<setcomp>", "<dictcomp>")


def _run_as(made: Made, before: Sequence[Made]) -> set[str]:
    """What a site calls: its name; the run of a layer of PyTorch the attribute that has it."""
    if made.site.name != "forward":
        return {made.site.name}
    for other in before:
        at = other.call if other.site.path == made.site.path else None
        parent = at.file.parents.get(at.node) if at is not None else None
        if isinstance(parent, ast.Assign):
            return {name for target in parent.targets if (name := last_name(target))}
    return {made.site.name}


def _in_folder_of(beside: str, name: str, endings: Sequence[str]) -> bool:
    folder = beside.rsplit("/", 1)[0] + "/" if "/" in beside else ""
    return any(name == folder + ending for ending in endings)


def last_name(node: ast.expr) -> str | None:
    """`Dense` of Dense, layers.Dense and keras.layers.Dense."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def argument_of(call: ast.Call, name: str, parameters: Sequence[str]) -> ast.expr | None:
    """What a call passes for a parameter, by keyword or by position; None where it doesn't, or by * and **."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if name in parameters:
        place = list(parameters).index(name)
        if place < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: place + 1]):
            return call.args[place]
    return None


def unpacked(call: ast.Call) -> list[ast.expr]:
    """The expressions that a call unpacks with * and **."""
    stars = [argument.value for argument in call.args if isinstance(argument, ast.Starred)]
    return stars + [keyword.value for keyword in call.keywords if keyword.arg is None]


def parameters_of(function: Function) -> list[str]:
    """The positional parameters of a function."""
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def default_of(function: Function, name: str) -> ast.expr | None:
    """The default of a parameter."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults = function.args.defaults
    for argument, value in zip(positional[len(positional) - len(defaults) :], defaults):
        if argument.arg == name:
            return value
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults):
        if argument.arg == name:
            return default
    return None
