"""Initial weights of PyTorch's layers: a call of torch.nn.init behind the statement that makes the layer."""

from __future__ import annotations

import ast

from . import layer_forms, words
from .argument_edits import add_statement
from .calls import At, Made, argument_of, last_name
from .difference import LAYERS, Change
from .edits import Edits
from .layer_edits import LayerEdits, spans_of
from .layer_forms import Form
from .reasons import CannotChange
from .sites import layer_number
from .source_map import SourceMap
from .torch_words import TorchWords
from .value_edits import ValueEdits

_HOLDERS = ("Sequential", "ModuleList", "OrderedDict")
_NO_NAME = "the layer has no name here"


class WeightEdits:
    """Edits of initialisers."""

    def __init__(self, source_map: SourceMap, language: TorchWords, values: ValueEdits):
        self.map = source_map
        self.words = language
        self.values = values

    def change(self, change: Change, edits: Edits) -> None:
        """Raises CannotChange."""
        layer = layer_number(change.path)
        assert layer is not None
        made = layer_forms.made_of(self.map, layer)
        weight = {"kernel_initializer": "weight", "bias_initializer": "bias"}.get(change.key)
        if weight is None or made.site.name not in ("Linear", "Conv1d", "Conv2d"):
            raise CannotChange("no function of torch.nn.init draws it", made.call)
        if layer in self.values.copied:
            raise CannotChange("a layer that is copied, too", made.call)
        self._not_drawn_elsewhere()
        target, statement = self._held(layer, made)
        outputs = self._new(layer, "units") or self._new(layer, "filters")
        inputs = self._inputs(made) if made.site.name == "Linear" and weight == "weight" else None
        inputs = outputs if weight == "bias" else inputs
        fans = (inputs, outputs) if inputs is not None and outputs is not None else None
        text = self.words.initializer(change.new, f"{target}.{weight}", fans, statement, edits)
        assert isinstance(statement.node, ast.stmt)
        add_statement(statement.file, statement.node, text, edits)

    def _new(self, layer: int, key: str) -> int | None:
        """A number of a layer's config as the patched script has it."""
        config = self.map.program["model"]["config"]["layers"][layer]["config"]
        value = self.values.wanted.get(f"{LAYERS}/{layer}/config/{key}", config.get(key))
        return int(value) if value is not None else None

    def _not_drawn_elsewhere(self) -> None:
        """A script that draws its weights itself would draw over it."""
        for file in self.map.sources.files.values():
            for call in self.map.sources.calls_in(file):
                meaning = self.map.sources.scopes(file).dotted(call.func) or ""
                if meaning.startswith("torch.nn.init."):
                    raise CannotChange("the script draws initial weights itself", At(file, call))

    def _inputs(self, made: Made) -> int | None:
        """in_features of a Linear, as the patched script has it."""
        for slot in self.map.slots:
            if slot.made is made and slot.argument == "in_features":
                new = self.values.wanted.get(slot.path)
                return int(new if new is not None else words.pointer(self.map.program, slot.path))
        call = made.call
        if call is None or not isinstance(call.node, ast.Call):
            return None
        given = argument_of(call.node, "in_features", made.site.parameters)
        context = self.map.contexts[self.map.made.index(made)]
        return self.map.resolver.whole_number(At(call.file, given), 0, context) if given is not None else None

    def _held(self, layer: int, made: Made) -> tuple[str, At]:
        """How a layer is written once it is made, and the statement behind which it is."""
        form = layer_forms.form_of(self.map, layer)
        alone = LayerEdits(self.map, set(), set()).alone(form)
        call = made.call
        assert call is not None
        if form.bound is not None and form.name is not None and form.expression.node is call.node:
            return (form.name, form.bound) if alone else self._through(made, form.name, form)
        place: int | str | None = None
        if form.how == "element" and isinstance(form.where.node, ast.ListComp):
            context = self.map.contexts[self.map.made.index(made)]
            place = context.turns.get(id(form.where.node.generators[0]))
            alone = len(form.where.node.generators) == 1 and not self.values.removed and not self.values.copied
        elif form.how == "element":
            place = spans_of(form)[1] + self._shift(form, layer)
        elif form.how == "added":
            place = _added_name(form)
        statement = _statement(form) if place is not None and alone else None
        if statement is None:
            return self._element_of_list(layer, form)
        holder, at = statement
        held = f"{holder}[{place}]" if isinstance(place, int) else f"{holder}.{place}"
        if isinstance(at.node, ast.Return):
            return self._through(made, f"self[{place}]" if isinstance(place, int) else f"self.{place}", form)
        return held, at

    def _through(self, made: Made, name: str, form: Form) -> tuple[str, At]:
        """A layer in an object that a call makes once: self.block1 has self.linear."""
        outer = made.calls[1] if len(made.calls) > 1 else None
        parent = outer.file.parents.get(outer.node) if outer is not None else None
        once = sum(each.calls[1:2] == [outer] and each.call == made.call for each in self.map.made) == 1
        if outer is None or not isinstance(parent, ast.Assign) or not name.startswith("self") or not once:
            raise CannotChange(_NO_NAME, form.expression)
        return outer.file.text_of(parent.targets[0]) + name[len("self") :], At(outer.file, parent)

    def _element_of_list(self, layer: int, form: Form) -> tuple[str, At]:
        """A layer that a loop or a list puts into the one nn.Sequential(*layers) of the script."""
        found = []
        for file in self.map.sources.files.values():
            for call in self.map.sources.calls_in(file):
                if last_name(call.func) == "Sequential" and any(isinstance(a, ast.Starred) for a in call.args):
                    found.append(At(file, call))
        layers = [m for m in self.map.made if m.site.path.startswith(f"{LAYERS}/") and m.site.name != "forward"]
        run = {m.site.path for m in self.map.made if m.site.name == "forward"}
        numbers = sorted({number for m in layers if (number := layer_number(m.site.path)) is not None})
        statement = found[0].file.parents.get(found[0].node) if len(found) == 1 else None
        unmoved = not self.values.removed and not self.values.copied and not self.values.inserted
        if not isinstance(statement, ast.Assign) or {m.site.path for m in layers} != run or not unmoved:
            raise CannotChange(_NO_NAME, form.expression)
        if len(found[0].node.args) != 1:  # type: ignore[attr-defined]
            raise CannotChange(_NO_NAME, form.expression)
        holder = found[0].file.text_of(statement.targets[0])
        return f"{holder}[{numbers.index(layer)}]", At(found[0].file, statement)

    def _shift(self, form: Form, layer: int) -> int:
        """By how many places other edits move an element of a Sequential."""
        moved = 0
        for other in range(layer):
            if other in self.values.removed or other in self.values.copied:
                known = layer_forms.form_of(self.map, other)
                if known.where.node is form.where.node:
                    moved += 1 if other in self.values.copied else -1
            if other in self.values.inserted:
                moved += layer_forms.form_of(self.map, other).where.node is form.where.node
            path = f"{LAYERS}/{other}/config/activation"
            if path in self.values.wanted and not any(slot.path == path for slot in self.map.slots):
                moved += 1
        return moved


def _statement(form: Form) -> tuple[str, At] | None:
    """The assignment of the Sequential or ModuleList that a layer is put into, with what it is assigned to; the return
    of a helper that makes one."""
    file, node = form.where.file, form.where.node
    if form.how == "added" and isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        assert isinstance(node.value.func, ast.Attribute)
        return file.text_of(node.value.func.value), form.where
    while isinstance(node, (ast.List, ast.Tuple, ast.ListComp, ast.Starred, ast.Call)):
        parent = file.parents[node]
        if isinstance(parent, ast.Call) and last_name(parent.func) not in _HOLDERS:
            return None
        if isinstance(parent, (ast.Assign, ast.Return)):
            made = isinstance(node, ast.Call) and last_name(node.func) in _HOLDERS
            if not made or (isinstance(parent, ast.Assign) and len(parent.targets) != 1):
                return None
            return file.text_of(parent.targets[0]) if isinstance(parent, ast.Assign) else "", At(file, parent)
        node = parent
    return None


def _added_name(form: Form) -> str | None:
    """The name of add_module("fc1", ...)."""
    node = form.where.node
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and last_name(call.func) == "add_module" and len(call.args) == 2:
        name = call.args[0]
        return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    return None
