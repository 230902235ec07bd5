"""How a script puts a layer into its model: an element of a list, model.add(...), a call on a tensor, an attribute."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .calls import At, Made, last_name
from .difference import LAYERS
from .reasons import CannotChange
from .source_map import SourceMap

#: Methods that put a layer behind the others.
_ADDERS = ("add", "append", "add_module")


@dataclass(frozen=True)
class Form:
    """`how` a layer's expression stands in the model:

    "element": one of a list, or of the arguments of a Sequential, `holder`;
    "added": `where` is the statement model.add(...) or layers.append(...);
    "applied": `where` is the call on a tensor, Dense(8)(x).

    `expression` is what makes the layer, its call or that of a helper; where it was bound to a name first, `bound` is
    that statement and `name` how it is written (self.fc1), and `used` the use that the form is about. `function`: what
    is there is the call of a function, F.relu(x), or of a layer that other calls run, too.
    """

    how: str
    made: Made
    level: int
    expression: At
    where: At
    used: At
    bound: At | None = None
    name: str | None = None
    function: bool = False


def form_of(source_map: SourceMap, layer: int) -> Form:
    """The form of a layer of the program. Raises CannotChange."""
    made = made_of(source_map, layer)
    path = f"{LAYERS}/{layer}"
    runs = [each for each in source_map.made if each.site.path == path and each.site.name == "forward"]
    if any(slot.made is made and slot.argument == "" for slot in source_map.slots):
        at = made.call if not runs else runs[0].call
        if at is not None and isinstance(at.node, ast.Call) and (not runs or _several_uses(source_map, made)):
            same = [each for each in source_map.made if each.call is not None and each.call.node is at.node]
            if len(same) == 1:
                return Form("applied", made, 0, at, at, at, function=True)
    at, level = expression_of(source_map, made)
    return _form(source_map, made, level, at, at)


def _several_uses(source_map: SourceMap, made: Made) -> bool:
    """Is a layer that an attribute holds run in several places?"""
    at = made.call
    parent = at.file.parents.get(at.node) if at is not None else None
    if at is None or not isinstance(parent, ast.Assign):
        return False
    return len(list(uses_of(source_map, At(at.file, parent.targets[0])))) > 1


def made_of(source_map: SourceMap, layer: int) -> Made:
    """The site of a layer. Raises CannotChange where it has none, or its call isn't found."""
    found = [made for made in source_map.made if made.site.path == f"{LAYERS}/{layer}" and made.site.frames]
    if not found:
        raise CannotChange(f"no call of the script is known that makes layer {layer}")
    if found[0].call is None:
        raise CannotChange(f"the call that makes layer {layer} at {found[0].site.frames[0]} isn't found in the text")
    return found[0]


def expression_of(source_map: SourceMap, made: Made) -> tuple[At, int]:
    """The expression that makes a layer and nothing else: its call, or the call of a helper that returns it."""
    at, level = made.call, 0
    assert at is not None
    while True:
        parent = at.file.parents.get(at.node)
        outer = made.calls[level + 1] if level + 1 < len(made.calls) else None
        makes = [each for each in source_map.made if outer and any(c and c.node is outer.node for c in each.calls)]
        turns = {each.key() for each in makes}
        if not isinstance(parent, (ast.Return, ast.Lambda)) or outer is None or len(turns) != 1:
            return at, level
        at, level = outer, level + 1


def _form(source_map: SourceMap, made: Made, level: int, expression: At, used: At) -> Form:
    file = used.file
    parent = file.parents.get(used.node)
    if isinstance(parent, ast.Starred):
        raise CannotChange("the layer is unpacked", used)
    if isinstance(parent, (ast.List, ast.Tuple)):
        grand = file.parents.get(parent)
        if isinstance(parent, ast.Tuple) and isinstance(grand, (ast.List, ast.Tuple)):
            return Form("element", made, level, expression, At(file, grand), At(file, parent))
        return Form("element", made, level, expression, At(file, parent), used)
    if isinstance(parent, ast.Call) and parent.func is used.node:
        return Form("applied", made, level, expression, At(file, parent), used)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in _ADDERS:
        return Form("added", made, level, expression, At(file, file.statement(parent)), used)
    if isinstance(parent, ast.Call) and last_name(parent.func) == "Sequential" and used.node in parent.args:
        return Form("element", made, level, expression, At(file, parent), used)
    if isinstance(parent, ast.ListComp) and parent.elt is used.node:
        return Form("element", made, level, expression, At(file, parent), used)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is used.node:
        name = file.text_of(parent.targets[0])
        uses = list(uses_of(source_map, At(file, parent.targets[0])))
        if len(uses) == 1:
            found = _form(source_map, made, level, expression, uses[0])
            return Form(found.how, made, level, expression, found.where, uses[0], At(file, parent), name)
        what = "isn't used" if not uses else f"is used {len(uses)} times"
        raise CannotChange(f"{name} {what} in this file", At(file, parent))
    raise CannotChange("how the layer gets into the model isn't clear here", used)


def uses_of(source_map: SourceMap, target: At) -> Iterator[At]:
    """Reads of the name or attribute that is assigned here, in its function or its class."""
    node, file = target.node, target.file
    scopes = source_map.sources.scopes(file)
    if isinstance(node, ast.Name):
        home = scopes.lookup(node.id, node)[0]
        for other in ast.walk(home):
            read = isinstance(other, ast.Name) and other.id == node.id and isinstance(other.ctx, ast.Load)
            if read and scopes.lookup(node.id, other)[0] is home:
                yield At(file, other)
    elif isinstance(node, ast.Attribute):
        owner = next((each for each in file.ancestors(node) if isinstance(each, ast.ClassDef)), file.tree)
        for other in ast.walk(owner):
            named = isinstance(other, ast.Attribute) and other.attr == node.attr and isinstance(other.ctx, ast.Load)
            if named and isinstance(other, ast.Attribute) and ast.dump(other.value) == ast.dump(node.value):
                yield At(file, other)
