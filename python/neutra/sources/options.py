"""Values that come from the command line of a script: argparse, click, absl's flags, sys.argv."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from .calls import At, argument_of, last_name
from .scopes import Function
from .text import SourceFile

#: Calls that give the options of argparse.
PARSERS = ("parse_args", "parse_known_args", "parse_intermixed_args")
#: What absl calls the object that has the options.
FLAGS = ("FLAGS",)
_DECORATORS = ("option", "argument")


def parsed(files: Iterable[SourceFile], name: str) -> At | None:
    """The default of the argparse option that sets this attribute, or the call that adds it where it has none."""
    found = [At(file, call) for file in files for call in _calls(file, "add_argument") if _destination(call) == name]
    if len(found) != 1:
        return None
    call = found[0].node
    assert isinstance(call, ast.Call)
    default = argument_of(call, "default", ())
    return At(found[0].file, default) if default is not None else found[0]


def decorated(file: SourceFile, function: Function, name: str) -> ast.expr | None:
    """The default that a click option gives a parameter of a command, or the option itself where it has none."""
    for decorator in getattr(function, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and last_name(decorator.func) in _DECORATORS:
            names = [argument.value for argument in decorator.args if isinstance(argument, ast.Constant)]
            plain = [text for text in names if isinstance(text, str) and not text.startswith("-")]
            if name in (plain or [_plain(text) for text in names if isinstance(text, str) and text.startswith("--")]):
                return argument_of(decorator, "default", ()) or decorator
    return None


def flag(files: Iterable[SourceFile], owner: ast.AST, name: str) -> At | None:
    """The default of an absl flag: FLAGS.lr of flags.DEFINE_float("lr", 0.1, "...")."""
    if not isinstance(owner, ast.Attribute) or owner.attr not in FLAGS:
        return None
    for file in files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call) and (last_name(node.func) or "").startswith("DEFINE_") and len(node.args) > 1:
                first = node.args[0]
                if isinstance(first, ast.Constant) and first.value == name:
                    return At(file, node.args[1])
    return None


def option_of(at: At) -> tuple[str, ast.Call] | None:
    """The option, as it is written on a command line, whose default or definition stands here."""
    for node in (at.node, *at.file.ancestors(at.node)):
        if isinstance(node, ast.Call):
            names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if (last_name(node.func) or "").startswith("DEFINE_") and names:
                return "--" + names[0], node
            if last_name(node.func) in ("add_argument", *_DECORATORS) and names:
                return next((text for text in names if text.startswith("--")), names[0]), node
    return None


def given(arguments: Sequence[str], at: At) -> bool:
    """Does the command line set the option whose default stands here?"""
    option = option_of(at)
    if option is None:
        return False
    names = [a.value for a in option[1].args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    flags = [name for name in names if name.startswith("-")] or [option[0]]
    if not any(name.startswith("-") for name in names) and not option[0].startswith("-"):
        return bool(arguments)
    return any(word == name or word.startswith(name + "=") for word in arguments for name in flags)


def replaced(arguments: Sequence[str], at: At, value: str) -> list[str] | None:
    """The command line with another value of the option whose default stands here; None where it isn't on it."""
    option = option_of(at)
    if option is None:
        return None
    names = [a.value for a in option[1].args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    changed = list(arguments)
    for place, word in enumerate(arguments):
        for name in names:
            if word == name and place + 1 < len(arguments):
                changed[place + 1] = value
                return changed
            if word.startswith(name + "=") and name.startswith("--"):
                changed[place] = f"{name}={value}"
                return changed
    return None


def _calls(file: SourceFile, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and last_name(node.func) == name:
            yield node


def _destination(call: ast.Call) -> str | None:
    """The attribute that an argparse option sets."""
    given = argument_of(call, "dest", ())
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    long = [name for name in names if name.startswith("--")]
    chosen = long or names
    return _plain(chosen[0]) if chosen else None


def _plain(text: str) -> str:
    return text.lstrip("-").replace("-", "_")
