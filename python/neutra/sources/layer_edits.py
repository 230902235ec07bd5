"""Layers left out, copied and added in the ways in which scripts put layers into models."""

from __future__ import annotations

import ast
from collections.abc import Callable

from . import layer_forms
from .argument_edits import (
    add_argument,
    add_statement,
    elements,
    insert_part,
    parts,
    remove_part,
    remove_statement,
)
from .calls import At, last_name
from .edits import Edits
from .layer_forms import Form
from .reasons import CannotChange
from .scopes import names_in
from .source_map import SourceMap
from .text import SourceFile, Span
from .turn_edits import copy_turns, remove_turns

#: Arguments by which the first layer says what comes in.
INPUTS = ("input_shape", "input_dim", "batch_input_shape")


class LayerEdits:
    """Edits of whole layers. `removed` are all layers that are left out: turns of loops need to know them all."""

    def __init__(self, source_map: SourceMap, removed: set[int], copied: set[int]):
        self.map = source_map
        self.removed = removed
        self.copied = copied

    def alone(self, form: Form) -> bool:
        """Does the expression make this layer only?"""
        if form.function:
            return True
        node = form.expression.node
        return sum(any(c and c.node is node for c in made.calls) for made in self.map.made) == 1

    def remove(self, layer: int, edits: Edits) -> None:
        """Raises CannotChange."""
        form = layer_forms.form_of(self.map, layer)
        if not self.alone(form):
            remove_turns(self.map, form, self.removed, edits)
            return
        file = form.where.file
        if form.how == "element":
            self._remove_element(form, edits)
        elif form.how == "added":
            self._remove_statement(form.where, edits)
        else:
            self._unapply(form, edits)
        if form.bound is not None:
            self._remove_statement(form.bound, edits)
        self._move_input(form, layer, edits, file)

    def _remove_statement(self, at: At, edits: Edits) -> None:
        assert isinstance(at.node, ast.stmt)
        block = self.map.sources.scopes(at.file).block(at.node)
        left = [each for each in block if not edits.covered(at.file, at.file.span(each))]
        remove_statement(at.file, at.node, left, edits)

    def _remove_element(self, form: Form, edits: Edits) -> None:
        spans, which = spans_of(form)
        remove_part(form.where.file, spans, which, edits)

    def _unapply(self, form: Form, edits: Edits) -> None:
        """Dense(8)(x) becomes x; a statement x = Dense(8)(x) goes."""
        file, call = form.where.file, form.where.node
        assert isinstance(call, ast.Call)
        statement = file.parents[call]
        if form.function and not call.args and isinstance(call.func, ast.Attribute):
            inner = call.func.value  # x.relu()
        elif call.args and not isinstance(call.args[0], ast.Starred) and (form.function or len(call.args) == 1):
            inner = call.args[0]
        else:
            raise CannotChange("the layer is called on more than one tensor", form.where)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if target is not None and file.text_of(target) == file.text_of(inner):
            self._remove_statement(At(file, file.statement(call)), edits)
            return
        written = file.in_parentheses(inner, file.span(call))
        whole = file.span(call)
        if isinstance(inner, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)):
            written = file.span(inner)
        edits.add(file, Span(whole.start, written.start), "")
        edits.add(file, Span(written.end, whole.end), "")

    def _move_input(self, form: Form, layer: int, edits: Edits, file: SourceFile) -> None:
        """What a removed first layer says of the input goes to the layer that is then the first."""
        call = form.made.call
        if call is None or not isinstance(call.node, ast.Call):
            return
        for keyword in call.node.keywords:
            if keyword.arg in INPUTS:
                following = layer + 1
                while following in self.removed:
                    following += 1
                after = layer_forms.made_of(self.map, following)
                assert after.call is not None and isinstance(after.call.node, ast.Call)
                if any(k.arg in INPUTS for k in after.call.node.keywords):
                    return
                at, _ = layer_forms.expression_of(self.map, after)
                if sum(each.key() == after.key() for each in self.map.made) > 1 or at.node is not after.call.node:
                    raise CannotChange(
                        "the next layer is made by a loop or a helper and can't be the first", after.call
                    )
                add_argument(after.call.file, after.call.node, call.file.text_of(keyword), edits)

    def copy(self, layer: int, edits: Edits) -> None:
        """Puts a copy behind a layer. Raises CannotChange."""
        form = layer_forms.form_of(self.map, layer)
        private = self.copied_edits(form, edits)
        if not self.alone(form):
            copy_turns(self.map, form, self.copied, edits, private)
            return
        at = form.expression
        assert isinstance(at.node, ast.expr)
        self.insert(form, private.within(at.file, at.file.span(at.node)), edits)

    @staticmethod
    def copied_edits(form: Form, edits: Edits) -> Edits:
        """The edits of a copy: what must be there once, input shape and name, goes."""
        at, call = form.expression, form.made.call
        private = edits.copy()
        if call is not None and isinstance(call.node, ast.Call) and call.node is at.node:
            written = parts(call.file, call.node)
            for place, (node, _) in enumerate(written):
                if isinstance(node, ast.keyword) and node.arg in (*INPUTS, "name"):
                    remove_part(call.file, [span for _, span in written], place, private)
        return private

    def insert(self, form: Form, text: str, edits: Edits) -> None:
        """Puts a new layer, an expression, behind that of a form."""
        file = form.where.file
        name = text
        if form.bound is not None:
            assert isinstance(form.bound.node, ast.Assign) and form.name is not None
            name = self._free(form.name, form.bound.file)
            add_statement(form.bound.file, form.bound.node, f"{name} = {text}", edits)
        if form.how == "element":
            spans, which = spans_of(form)
            insert_part(file, spans, which, self._element(form, name), edits)
        elif form.how == "added":
            assert isinstance(form.where.node, ast.stmt)
            add_statement(file, form.where.node, self._around(form.where, form.used, name), edits)
        else:
            self._apply(form, name, edits)

    def _element(self, form: Form, text: str) -> str:
        """An element of an OrderedDict has a name of its own."""
        node = form.used.node
        if not isinstance(node, ast.Tuple):
            return text
        first = node.elts[0]
        taken = {each.value for each in ast.walk(form.where.node) if isinstance(each, ast.Constant)}
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            raise CannotChange("the name of a further layer isn't clear here", form.used)
        number = 2
        while f"{first.value}_{number}" in taken:
            number += 1
        quote = form.where.file.text_of(first)[:1]
        return f"({quote}{first.value}_{number}{quote}, {text})"

    def _around(self, where: At, used: At, text: str) -> str:
        """The statement of a layer with another one in its place; add_module gets another name."""
        assert isinstance(where.node, ast.stmt) and isinstance(used.node, ast.expr)
        whole, inner = where.file.span(where.node), where.file.span(used.node)
        before, after = where.file.text[whole.start : inner.start], where.file.text[inner.end : whole.end]
        call = where.file.parents[used.node]
        if isinstance(call, ast.Call) and last_name(call.func) == "add_module":
            first = call.args[0]
            if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
                raise CannotChange("the name of a further layer isn't clear here", used)
            known = where.file.text_of(first)
            quote = known[-1]
            before = before.replace(known, f"{known[:-1]}_2{quote}", 1)
        return before + text + after

    def _apply(self, form: Form, name: str, edits: Edits) -> None:
        """x = Dense(8)(x) gets a statement behind it; within another expression the call is wrapped."""
        file, call = form.where.file, form.where.node
        assert isinstance(call, ast.Call)
        statement = file.parents[call]
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.value is call:
            target = file.text_of(statement.targets[0])
            add_statement(file, statement, f"{target} = {name}({target})", edits)
            return
        edits.wrap(file, file.span(call), f"{name}(", ")")

    @staticmethod
    def _free(name: str, file: SourceFile) -> str:
        """A name like this one that the file doesn't have."""
        taken = names_in(file.tree) | {node.attr for node in ast.walk(file.tree) if isinstance(node, ast.Attribute)}
        number = 2
        while f"{name}_{number}".rsplit(".", 1)[-1] in taken:
            number += 1
        return f"{name}_{number}"

    def replace(self, layer: int, text: Callable[[At], str], edits: Edits) -> None:
        """Puts another layer in the place of one. Raises CannotChange."""
        form = layer_forms.form_of(self.map, layer)
        if not self.alone(form):
            raise CannotChange("one call makes several layers here", form.expression)
        assert isinstance(form.expression.node, ast.expr)
        file = form.expression.file
        edits.add(file, file.span(form.expression.node), text(form.expression))


def spans_of(form: Form) -> tuple[list[Span], int]:
    """The elements that a layer is one of, and its number among them."""
    node, file = form.where.node, form.where.file
    if isinstance(node, ast.Call):
        written = parts(file, node)
        return [span for _, span in written], [each for each, _ in written].index(form.used.node)  # type: ignore[arg-type]
    if isinstance(node, (ast.List, ast.Tuple)):
        return elements(file, node), node.elts.index(form.used.node)  # type: ignore[arg-type]
    raise CannotChange("a comprehension makes the layers", form.where)
