"""Layers of a loop left out or copied: an element of what the loop goes over, its number of turns, or a condition."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .argument_edits import add_statement, elements, insert_part, remove_part
from .calls import At, Made, last_name
from .edits import Edits
from .layer_forms import Form
from .origin import Step
from .reasons import CannotChange
from .sites import layer_number
from .source_map import SourceMap
from .text import Span
from .turns import condition, negated


def remove_turns(source_map: SourceMap, form: Form, layers: set[int], edits: Edits, also: Iterable[At] = ()) -> None:
    """Leaves out those of the layers that one call makes which are in `layers`; `also` are statements that go with a
    layer. Raises CannotChange."""
    mine, others = _split(source_map, form, layers)
    if _change_iterable(source_map, form, mine, layers, edits, remove=True):
        return
    test = condition(source_map, mine, others, form.level)
    if test is None or form.bound is not None:
        raise CannotChange(
            "one call makes several layers here, and nothing tells those that go from the others", form.where
        )
    file = form.where.file
    for statement in also:
        _guard(statement, negated(test), edits)
    if form.how == "added":
        _guard(form.where, negated(test), edits)
    elif form.how == "applied" and isinstance(file.parents[form.where.node], ast.Assign):
        _guard(At(file, file.statement(form.where.node)), negated(test), edits)
    elif isinstance(form.where.node, ast.ListComp):
        end = file.span(form.where.node).end - 1
        edits.add(file, Span(end, end), f" if {negated(test)}")
    else:
        raise CannotChange("one call makes several layers here", form.where)


def copy_turns(
    source_map: SourceMap, form: Form, layers: set[int], edits: Edits, as_copied: Edits, whole: bool = True
) -> None:
    """Puts copies behind those of the layers that one call makes which are in `layers`; `as_copied` are edits of the
    copies' text; `whole`: a further turn of the loop is a copy, too. Raises CannotChange."""
    mine, others = _split(source_map, form, layers)
    call = form.made.call
    named = isinstance(call.node, ast.Call) and any(k.arg == "name" for k in call.node.keywords) if call else False
    if whole and not named and _change_iterable(source_map, form, mine, layers, edits, remove=False):
        return
    test = condition(source_map, mine, others, form.level) if others else "True"
    file = form.where.file
    statement = file.statement(form.where.node)
    simple = form.how == "added" or (form.how == "applied" and isinstance(file.parents[form.where.node], ast.Assign))
    if test is None or form.bound is not None or not simple:
        raise CannotChange("one call makes several layers here, and nothing tells those that are copied", form.where)
    text = as_copied.within(file, file.span(statement))
    if form.how == "applied":
        assert isinstance(statement, ast.Assign) and isinstance(form.where.node, ast.Call)
        target = file.text_of(statement.targets[0])
        if not form.where.node.args or file.text_of(form.where.node.args[0]) != target:
            raise CannotChange("one call makes several layers here", form.where)
    if test == "True":
        add_statement(file, statement, text, edits)
        return
    indentation = file.indentation(statement.lineno)
    inner = _unit(file.lines, indentation)
    add_statement(file, statement, f"if {test}:{file.line_end(statement.lineno)}{indentation}{inner}{text}", edits)


def _split(source_map: SourceMap, form: Form, layers: set[int]) -> tuple[list[Made], list[Made]]:
    node = form.expression.node
    every = [made for made in source_map.made if any(c and c.node is node for c in made.calls)]
    every = [made for made in every if layer_number(made.site.path) is not None]
    mine = [made for made in every if layer_number(made.site.path) in layers]
    return mine, [made for made in every if made not in mine]


def _guard(at: At, test: str, edits: Edits) -> None:
    """Puts a statement under a condition."""
    file = at.file
    assert isinstance(at.node, ast.stmt)
    line = at.node.lineno
    if file.text[file.starts[line - 1] : file.span(at.node).start].strip() or at.node.end_lineno != line:
        raise CannotChange("a condition doesn't fit around this statement", at)
    indentation = file.indentation(line)
    start = file.span(at.node).start
    edits.add(file, Span(start, start), f"if {test}:{file.line_end(line)}{indentation}{_unit(file.lines, indentation)}")


def _unit(lines: Iterable[str], around: str) -> str:
    """What the file indents by."""
    if "\t" in around:
        return "\t"
    widths = [len(line) - len(line.lstrip(" ")) for line in lines if line.startswith(" ") and line.strip()]
    return "\t" if not widths and any(line.startswith("\t") for line in lines) else " " * (min(widths) if widths else 4)


def _change_iterable(
    source_map: SourceMap, form: Form, mine: list[Made], layers: set[int], edits: Edits, remove: bool
) -> bool:
    """Changes what the loop goes over, where each turn makes nothing but layers that are meant; says whether it did."""
    at = mine[0].calls[form.level]
    if at is None:
        return False
    loops = source_map.sources.scopes(at.file).loops_around(at.node)
    if len(loops) != 1 or not isinstance(loops[0], (ast.For, ast.comprehension)):
        return False
    loop = loops[0]
    turns: dict[int, list[Made]] = {}
    for made, context in zip(source_map.made, source_map.contexts):
        inside = any(
            c is not None and loop in source_map.sources.scopes(c.file).loops_around(c.node) for c in made.calls
        )
        if inside:
            turn = context.turns.get(id(loop))
            if turn is None:
                return False
            turns.setdefault(turn, []).append(made)
    chosen = [turn for turn, each in turns.items() if all(layer_number(made.site.path) in layers for made in each)]
    those = {id(made) for turn in chosen for made in turns[turn]}
    if not chosen or any(id(made) not in those for made in mine):
        return False
    context = source_map.contexts[source_map.made.index(mine[0])]
    iterable = At(at.file, loop.iter)
    if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range":
        return _change_range(loop, iterable, len(chosen), len(turns), edits, remove)
    if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "enumerate" and len(loop.iter.args) == 1:
        if not isinstance(loop.target, ast.Tuple) or _is_read(loop, loop.target.elts[0], at):
            return False
        iterable = At(at.file, loop.iter.args[0])
    ways = source_map.resolver.follow(iterable, form.level, context, (Step(iterable, "use"),))
    end = ways[0][-1].at if len(ways) == 1 else None
    if end is None or not isinstance(end.node, (ast.List, ast.Tuple)) or len(end.node.elts) != len(turns):
        return False
    spans = elements(end.file, end.node)
    if (len(spans) == len(chosen) and remove) or (isinstance(end.node, ast.Tuple) and len(spans) < 3 and remove):
        return False
    if any(source_map.sources.scopes(step.at.file).other_reads(step.at.node) for step in ways[0][:-1]):
        return False
    for turn in chosen:
        if remove:
            remove_part(end.file, spans, turn, edits)
        else:
            insert_part(end.file, spans, turn, end.file.text[spans[turn].start : spans[turn].end], edits)
    return True


def _is_read(loop: ast.For | ast.comprehension, target: ast.expr, at: At) -> bool:
    """Does the body of a loop read this variable of it?"""
    body = loop.body if isinstance(loop, ast.For) else [at.file.parents[loop]]
    names = [n for each in body for n in ast.walk(each) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return not isinstance(target, ast.Name) or any(name.id == target.id for name in names)


def _change_range(loop: ast.AST, iterable: At, chosen: int, count: int, edits: Edits, remove: bool) -> bool:
    """range(3) becomes range(2) where the turns are alike: the loop's variable isn't read."""
    assert isinstance(loop, (ast.For, ast.comprehension)) and isinstance(iterable.node, ast.Call)
    if not isinstance(loop.target, ast.Name) or len(iterable.node.args) != 1:
        return False
    if _is_read(loop, loop.target, iterable):
        return False
    number = iterable.node.args[0]
    span = iterable.file.span(number)
    if isinstance(number, ast.Constant):
        edits.add(iterable.file, span, str(count - chosen if remove else count + chosen))
    else:
        edits.add(iterable.file, Span(span.end, span.end), f" - {chosen}" if remove else f" + {chosen}")
    return True
