"""Tells apart objects that one call of a script makes several times: in a loop, or in a helper that is called often."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from . import options
from .argument_edits import add_argument
from .calls import At, Made, argument_of, default_of, last_name
from .edits import Edits
from .literals import is_literal
from .origin import Step
from .reasons import CannotChange
from .scopes import names_in
from .source_map import Slot, SourceMap
from .text import SourceFile, Span


def conditional(
    source_map: SourceMap, mine: Sequence[Slot], others: Sequence[Slot], new: str, old: str, level: int = 0
) -> str | None:
    """`new if n == 32 else old`, where a loop's variable tells the objects that change from those that stay. None where
    the same calls don't make them all, or no variable tells them."""
    test = condition(source_map, [slot.made for slot in mine], [slot.made for slot in others], level)
    return None if test is None else f"{new} if {test} else {old}"


def condition(source_map: SourceMap, mine: Sequence[Made], others: Sequence[Made], level: int = 0) -> str | None:
    """An expression that is true where the first ones are made and false where the others are: `n == 32`."""
    keys = {made.key(level) for made in (*mine, *others)}
    at = mine[0].calls[level] if level < len(mine[0].calls) else None
    if len(keys) != 1 or at is None:
        return None
    for loop in reversed(source_map.sources.scopes(at.file).loops_around(at.node)):
        for name, values in _variables(source_map, (*mine, *others), At(at.file, loop), level):
            chosen = list(dict.fromkeys(values[: len(mine)]))
            apart = not set(chosen) & set(values[len(mine) :])
            if apart and source_map.sources.scopes(at.file).lookup(name, at.node)[1]:
                return f"{name} == {chosen[0]}" if len(chosen) == 1 else f"{name} in ({', '.join(chosen)})"
    return None


def negated(test: str) -> str:
    """The opposite of a condition."""
    return test.replace(" == ", " != ", 1) if " == " in test else test.replace(" in ", " not in ", 1)


def _variables(source_map: SourceMap, every: Sequence[Made], loop: At, level: int) -> list[tuple[str, list[str]]]:
    """The variables of a loop with their values, as text, for each of these objects."""
    node = loop.node
    if not isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return []
    target = node.target
    targets: list[tuple[str, tuple[int, ...]]] = []
    if isinstance(target, ast.Name):
        targets = [(target.id, ())]
    elif isinstance(target, (ast.Tuple, ast.List)):
        targets = [(each.id, (place,)) for place, each in enumerate(target.elts) if isinstance(each, ast.Name)]
    found = []
    for name, unpack in targets:
        values = [_value(source_map, made, At(loop.file, node.iter), id(node), unpack, level) for made in every]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found.append((name, known))
    return found


def _value(
    source_map: SourceMap, made: Made, iterable: At, loop: int, unpack: tuple[int, ...], level: int
) -> str | None:
    context = source_map.contexts[source_map.made.index(made)]
    turn = context.turns.get(loop)
    node = iterable.node
    if turn is None:
        return None
    if isinstance(node, ast.Call) and last_name(node.func) == "enumerate" and unpack == (0,):
        start = argument_of(node, "start", ("iterable", "start"))
        first = source_map.resolver.whole_number(At(iterable.file, start), level, context) if start is not None else 0
        return str(turn + first) if first is not None else None
    if isinstance(node, ast.Call) and last_name(node.func) == "range" and not unpack:
        numbers = [source_map.resolver.whole_number(At(iterable.file, a), level, context) for a in node.args]
        known = [number for number in numbers if number is not None]
        return str(range(*known)[turn]) if len(known) == len(numbers) and known else None
    texts: set[str | None] = set()
    for at in source_map.resolver.element(iterable, turn, unpack, level, context):
        for way in source_map.resolver.follow(at, level, context, (Step(at, "use"),)):
            end = way[-1].at
            known = is_literal(end.node) and not options.given(source_map.arguments, end)
            texts.add(source_map.text_after(end.node) if known else None)
    return texts.pop() if len(texts) == 1 else None


def parameterised(
    source_map: SourceMap, slot: Slot, mine: Sequence[Slot], others: Sequence[Slot], new: str, old: str, edits: Edits
) -> None:
    """Gives the helper around a call a parameter, whose default is what stood there, and passes the wanted value where
    the objects that change are made. Raises CannotChange."""
    call = slot.made.call
    assert call is not None and isinstance(call.node, ast.Call)
    file = call.file
    function = source_map.sources.scopes(file).function_of(call.node)
    shared = "one call makes several layers here, and nothing tells those that change from the others"
    if not isinstance(function, ast.FunctionDef) or any(len(each.made.calls) < 2 for each in (*mine, *others)):
        raise CannotChange(shared, call)
    outer = {id(at.node): at for each in mine if (at := each.made.calls[1]) is not None}
    kept = {id(at.node) for each in others if (at := each.made.calls[1]) is not None}
    inner_loops = source_map.sources.scopes(file).loops_around(call.node)
    if not outer or len(kept) == 0 or inner_loops:
        raise CannotChange(shared, call)
    use = slot.chain[0].at if slot.chain else None
    if use is not None and not is_literal(use.node) and source_map.word(use) is None:
        raise CannotChange(f"`{use.text}` is the same for several layers that a helper makes", use)
    name = _free_name(slot.argument, function)
    passed: list[tuple[At, str]] = []
    for key, at in outer.items():
        text = new
        if key in kept:
            those = [each for each in mine if _outer(each) == key]
            rest = [each for each in others if _outer(each) == key]
            choice = conditional(source_map, those, rest, new, old, level=1)
            if choice is None:
                raise CannotChange(shared, at)
            text = choice
        passed.append((at, text))
    if use is not None:
        edits.add(file, file.span(use.node), name)  # type: ignore[arg-type]
    else:
        add_argument(file, call.node, f"{slot.argument}={name}", edits)
    _add_parameter(file, function, f"{name}={old}", edits)
    for at, text in passed:
        assert isinstance(at.node, ast.Call)
        add_argument(at.file, at.node, f"{name}={text}", edits)


def _outer(slot: Slot) -> int:
    at = slot.made.calls[1]
    return id(at.node) if at is not None else -1


def _free_name(name: str, function: ast.FunctionDef) -> str:
    taken = names_in(function)
    while name in taken and default_of(function, name) is None:
        name = f"{name}_"
    if name in taken:
        raise CannotChange(f"the helper {function.name} has a parameter {name} already")
    return name


def _add_parameter(file: SourceFile, function: ast.FunctionDef, text: str, edits: Edits) -> None:
    """Behind all parameters, but in front of **options."""
    arguments = function.args
    ends = [file.span(a.annotation or a).end for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    ends += [file.span(default).end for default in (*arguments.defaults, *arguments.kw_defaults) if default is not None]
    if arguments.vararg is not None:
        ends.append(file.span(arguments.vararg).end)
    if ends:
        edits.add(file, Span(max(ends), max(ends)), f", {text}")
        return
    opening = next(t for t in file.tokens if t.text == "(" and t.span.start > file.span(function).start)
    after = f"{text}, " if arguments.kwarg is not None else text
    edits.add(file, Span(opening.span.end, opening.span.end), after)
