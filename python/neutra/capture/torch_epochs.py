"""How many epochs the loops around a training step have: the only thing that can't be seen before the script has
trained to its end. The loops' own expressions, such as range(1, args.epochs + 1), are counted out where they stand."""

from __future__ import annotations

import ast
import functools
import linecache
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from .frames import is_users
from .recording import Frame, Place, Site

#: Functions that give what they are given, one after the other.
_THROUGH = frozenset(("tqdm", "trange", "enumerate", "track", "progress_bar", "list", "tuple", "iter", "master_bar"))
_FUNCTIONS: dict[str, Any] = {
    "range": range,
    "len": len,
    "int": int,
    "min": min,
    "max": max,
    "round": round,
    "abs": abs,
}


@dataclass
class Loop:
    """A loop of the user around the step: its lines, how many times it goes round (None: not known), the call of range
    that says so, and the place of the call; `frame` tells calls of one function apart,
    `breaks` says that it may end before; `body` is the
    first line of its body, `value` that of its variable now."""

    file: str
    first: int
    last: int
    times: int | None
    kind: str
    text: str
    place: Place | None = None
    ranged: bool = False
    arguments: int = 0
    frame: int = 0
    breaks: bool = False
    body: int = 0
    value: Any = None


@functools.lru_cache(maxsize=64)
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None


def loops_around(frame: FrameType | None) -> list[Loop]:
    """The loops of the user's functions that are running, from the innermost outward. `frame` is the innermost."""
    found: list[Loop] = []
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            linecache.checkcache(file)
            tree = _tree(file)
            if tree is not None:
                found += _loops(tree, frame)
        frame = frame.f_back
    return found


def _loops(tree: ast.Module, frame: FrameType) -> list[Loop]:
    line, code = frame.f_lineno, frame.f_code
    around: list[ast.For | ast.While] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0):
            around.append(node)
    inside = _function(tree, code.co_firstlineno, code.co_name)
    mine = [node for node in around if _function_of(tree, node) is inside]
    mine.sort(key=lambda node: -node.lineno)
    return [_loop(node, frame) for node in mine]


def _function(tree: ast.Module, first: int, name: str) -> ast.AST | None:
    """The function whose code starts at a line; None for a module."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            lines = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
            if first in lines:
                return node
    return None


def _function_of(tree: ast.Module, wanted: ast.AST) -> ast.AST | None:
    """The innermost function around a node."""
    best: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or wanted not in ast.walk(node):
            continue
        if best is None or node.lineno >= best.lineno:
            best = node
    return best


def _loop(node: ast.For | ast.While, frame: FrameType) -> Loop:
    file = frame.f_code.co_filename
    file = file if file.startswith("<") else os.path.abspath(file)
    last = node.end_lineno or node.lineno
    if isinstance(node, ast.While):
        return Loop(file, node.lineno, last, None, "while", f"while {ast.unparse(node.test)}", frame=id(frame))
    loop = Loop(
        file,
        node.lineno,
        last,
        None,
        "for",
        f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}",
        frame=id(frame),
    )
    loop.body = node.body[0].lineno
    if isinstance(node.target, ast.Name):
        value = frame.f_locals.get(node.target.id)
        loop.value = value if isinstance(value, (int, float, str)) else id(value)
    loop.breaks = any(_breaks(statement) for statement in node.body)
    values = _iterated(node.iter)
    try:
        loop.times = len(_value(values, frame))
    except Exception:  # whatever the script's own objects do when they are counted
        loop.times = None
    if isinstance(values, ast.Call) and isinstance(values.func, ast.Name) and values.func.id in ("range", "trange"):
        loop.ranged, loop.arguments = True, len(values.args)
        end = (values.end_lineno or values.lineno, (values.end_col_offset or 0) + 1)
        loop.place = Place(file, values.lineno, values.col_offset + 1, *end)
    return loop


def _breaks(node: ast.AST) -> bool:
    """Is there a break of the loop in which a statement stands?"""
    if isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return any(isinstance(each, ast.Break) for each in getattr(node, "orelse", []))
    return isinstance(node, ast.Break) or any(_breaks(child) for child in ast.iter_child_nodes(node))


def _iterated(node: ast.expr) -> ast.expr:
    """What is counted: tqdm(range(9)) is range(9)."""
    while isinstance(node, ast.Call) and node.args:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in _THROUGH or name == "trange":
            break
        node = node.args[0]
    return node


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of an expression of names, attributes, items, numbers and a few functions. Raises ValueError for any
    other, so that nothing of the script runs."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        for scope in (frame.f_locals, frame.f_globals):
            if node.id in scope:
                return scope[node.id]
        raise ValueError(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, frame), node.attr)
    if isinstance(node, ast.Subscript):
        return _value(node.value, frame)[_value(node.slice, frame)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, frame)
    if isinstance(node, ast.BinOp):
        return _operation(node.op, _value(node.left, frame), _value(node.right, frame))
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item, frame) for item in node.elts]
    if isinstance(node, ast.Call):
        return _call(node, frame)
    raise ValueError(ast.dump(node))


def _operation(operator: ast.operator, left: Any, right: Any) -> Any:
    table: dict[type, Any] = {
        ast.Add: lambda: left + right,
        ast.Sub: lambda: left - right,
        ast.Mult: lambda: left * right,
        ast.FloorDiv: lambda: left // right,
        ast.Div: lambda: left / right,
        ast.Mod: lambda: left % right,
    }
    return table[type(operator)]()


def _call(node: ast.Call, frame: FrameType) -> Any:
    name = getattr(node.func, "id", "")
    arguments = [_value(item, frame) for item in node.args]
    if name == "trange":
        return range(*arguments)
    if name in _FUNCTIONS and frame.f_globals.get(name) is None:
        return _FUNCTIONS[name](*arguments)
    if name == "zip":
        return min(arguments, key=len)
    raise ValueError(name)


@dataclass
class Epochs:
    """How often the rows are gone through; None where it can't be counted, with the loop that can't."""

    count: int | None
    loop: Loop | None


def count_epochs(loops: list[Loop], steps: int, made: list[Frame], later: Sequence[Loop] = ()) -> Epochs:
    """Epochs of `steps` steps each, by the loops around a step. `made` are the frames in which the optimiser was made:
    a loop around that starts a training of its own each time, and so do those outside of it. `later` are the loops in
    the second epoch: a loop in that one that goes on, whose variable is what it was, counts parts of an epoch."""
    inside: list[Loop] = []
    for loop in loops:
        if any(frame.file == loop.file and max(loop.body, loop.first) <= frame.line <= loop.last for frame in made):
            break
        inside.append(loop)
    if not inside:
        return Epochs(1, None)
    if steps > 1:  # the innermost loop goes over batches, unless it counts steps alone
        if len(inside) == 1 and inside[0].times is not None and inside[0].times > steps:
            return Epochs(max(1, inside[0].times // steps), inside[0])
        inside = inside[1:]
    elif len(inside) > 1 and inside[0].times == 1:
        inside = inside[1:]
    inside = _going_on(inside, later)
    count, by = 1, None
    for loop in inside:
        if loop.times is None:
            return Epochs(None, loop)
        count *= loop.times
        by = loop if by is None or loop.times > 1 else by
    return Epochs(count, by)


def _going_on(loops: list[Loop], later: Sequence[Loop]) -> list[Loop]:
    """The loops from the innermost on that went on between the first and the second epoch; all if none is known to."""
    values = {(loop.file, loop.first): loop.value for loop in later}
    for number, loop in enumerate(loops):
        key = (loop.file, loop.first)
        if key in values and values[key] != loop.value:
            return loops[number:]
    return loops


def epochs_site(loop: Loop | None) -> Site | None:
    """The call of range that says how many epochs there are."""
    if loop is None or not loop.ranged:
        return None
    names = {1: ["stop"], 2: ["start", "stop"], 3: ["start", "stop", "step"]}.get(loop.arguments, [])
    frame = Frame(loop.file, loop.first, "", loop.place)
    arguments = {"stop": "/fit/epochs"} if loop.arguments == 1 else {}
    return Site("range", "/fit/epochs", [frame], arguments, names, names)


def batches_site(loops: list[Loop]) -> Site | None:
    """The call of range whose step is the batch size: `for i in range(0, n, size)` with `i + size` in its body, so that
    both change where `size` is written. None where that stands nowhere."""
    loop = loops[0] if loops else None
    tree = _tree(loop.file) if loop and loop.ranged and loop.arguments == 3 else None
    if loop is None or tree is None:
        return None
    node = next(each for each in ast.walk(tree) if isinstance(each, ast.For) and each.lineno == loop.first)
    call = _iterated(node.iter)
    if not isinstance(call, ast.Call) or not isinstance(call.args[-1], (ast.Name, ast.Attribute)):
        return None
    size, variable = ast.unparse(call.args[-1]), ast.unparse(node.target)
    sums = [each for part in node.body for each in ast.walk(part) if isinstance(each, ast.BinOp)]
    if not any(ast.unparse(each) in (f"{variable} + {size}", f"{size} + {variable}") for each in sums):
        return None
    names = ["start", "stop", "step"]
    return Site(
        "range",
        "/fit/batch_size",
        [Frame(loop.file, loop.first, "", loop.place)],
        {"step": "/fit/batch_size"},
        names,
        names,
    )
