"""Changes of a Keras script: its values, its optimiser and its layers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from . import words
from .argument_edits import parts
from .calls import At, Made
from .difference import Added, Change, Removed
from .edits import Edits
from .keras_words import KerasWords
from .layer_edits import LayerEdits
from .layer_forms import form_of
from .reasons import CannotChange
from .sites import layer_number
from .source_map import SourceMap
from .text import Span
from .value_edits import ValueEdits

_OPTIMIZER = "/compile/optimizer"
#: Settings that are the number of a layer's outputs, and arguments that say the shape of its inputs.
_WIDTHS = ("units", "filters")
_INPUTS = ("input_shape", "input_dim", "batch_input_shape")
#: What no argument of Keras says.
_NOT_KERAS = {
    "/fit/schedule": "a schedule of the learning rate is a callback of its own in Keras",
    "/data": "how the data are made isn't part of the map",
    "/trained": "the mutation of a trained model is no part of a script",
}


class KerasScript:
    """Turns changes into edits of a script that uses Keras."""

    def __init__(self, source_map: SourceMap, framework: str, wanted: Mapping[str, Any], values: dict[str, Any]):
        self.map = source_map
        self.wanted = wanted
        self.words = KerasWords(framework, source_map.sources)
        self.values = ValueEdits(source_map, self.words, values)
        self.words.notes = self.values.notes

    def forbidden(self, difference: Change | Removed | Added) -> str | None:
        """Why a difference gives a script that ends with an error; Keras has no such."""
        return None

    def value(self, change: Change, edits: Edits) -> None:
        """Raises CannotChange."""
        for path, reason in _NOT_KERAS.items():
            if change.path == path:
                raise CannotChange(reason)
        if change.path.startswith("/fit/loop"):
            raise CannotChange("fit is the loop of a Keras script")
        if change.path in ("/fit/batch_size", "/fit/shuffle") and self._is_stream(change):
            raise CannotChange("batches come as they are from what fit is given here", self._at("/fit"))
        self._check_widths(change)
        if change.path == "/fit/callbacks" and change.old:
            raise CannotChange("the callbacks of the script would have to be others", self._at("/fit"))
        if change.path == "/fit/callbacks":
            self.values.wanted[change.path] = change.new
        at = self._at(_OPTIMIZER) or self._at("/compile")
        if change.key == "schedule_decay" and self.words.new_optimizers and at is not None:
            self.words.settings(words.optimizer(self.wanted["compile"]["optimizer"]), at)  # which notes it
        elif change.path.startswith(_OPTIMIZER):
            self._optimizer(change, edits)
        else:
            self.values.change(change.path, edits)

    def _is_stream(self, change: Change) -> bool:
        """Is fit given batches, by no call that says how many rows they have? Its own arguments say nothing then."""
        fits = [made.site for made in self.map.made if made.site.path == "/fit"]
        own = all("batch_size" not in site.arguments for site in fits)
        return bool(fits) and own and not any(slot.path == change.path for slot in self.map.slots)

    def _check_widths(self, change: Change) -> None:
        """Raises CannotChange where a layer behind is told the number of outputs that changes, in its input_shape."""
        layer = layer_number(change.path)
        if layer is None or change.key not in _WIDTHS:
            return
        layers = self.map.program["model"]["config"]["layers"]
        for made in self.map.made:
            behind = layer_number(made.site.path)
            told = next((name for name in _INPUTS if name in made.site.given), None)
            if told is None or behind is None or behind <= layer or made.site.path.count("/") > 4:
                continue
            between = layers[layer + 1 : behind]
            if not any(key in each.get("config", {}) for each in between for key in _WIDTHS):
                raise CannotChange(f"layer {behind} has an {told} of its own, which this changes", made.call)

    def _at(self, path: str) -> At | None:
        return next((made.call for made in self.map.made if made.site.path == path), None)

    def _optimizer(self, change: Change, edits: Edits) -> None:
        made = next((m for m in self.map.made if m.site.path == _OPTIMIZER and _is_optimizer(m)), None)
        if made is not None and made.call is not None:
            if change.path == _OPTIMIZER:
                self._other_optimizer(made, change, edits)
            else:
                self.values.change(change.path, edits)
            return
        self.values.wanted[_OPTIMIZER] = words.optimizer(self.wanted["compile"]["optimizer"])
        self.values.change(_OPTIMIZER, edits)

    def _other_optimizer(self, made: Made, change: Change, edits: Edits) -> None:
        """Another class, with the settings that both have and the script says; all others go."""
        at = made.call
        assert at is not None and isinstance(at.node, ast.Call)
        file, call = at.file, at.node
        settings = self.words.settings(change.new, At(file, call))
        defaults = words.table()["optimizer"][change.new["class_name"]]
        kept = []
        names = iter(made.site.parameters)
        for node, span in parts(file, call):
            if isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and node.arg is None):
                raise CannotChange("the settings of the optimiser are unpacked here", at)
            name = node.arg if isinstance(node, ast.keyword) else next(names, None)
            key = "learning_rate" if name == "lr" else name
            text = self._kept(name, key, span, file.text[span.start : span.end], at, change, edits)
            if key in defaults and text is not None:
                kept.append(text)
                settings.pop(str(key), None)
        for key, value in settings.items():
            kept.append(f"{key}={self.words.value(f'/{key}', value, at, edits)}")
        legacy = ".legacy." in (self.map.sources.scopes(file).dotted(call.func) or "")
        module = "optimizers.legacy" if legacy else "optimizers"
        name = self.words.name(module, change.new["class_name"], at, edits)
        edits.add(file, file.span(call), f"{name}({', '.join(kept)})")

    def _kept(
        self, name: str | None, key: str | None, span: Span, text: str, at: At, change: Change, edits: Edits
    ) -> str | None:
        """An argument of the old optimiser as the new one gets it, None where it goes."""
        if key is None:
            return None
        old, new = change.old["config"].get(key), change.new["config"].get(key)
        if old == new and new is not None and (key == name or self._acts(f"{_OPTIMIZER}/config/{key}")):
            return text
        if key != "learning_rate":
            return None
        path = f"{_OPTIMIZER}/config/{key}"
        self.values.wanted[path] = new
        private = Edits()
        self.values.change(path, private)
        call = at.file.span(at.node)  # type: ignore[arg-type]
        for edit in private:
            if edit.file != at.file.name or not (call.start <= edit.span.start and edit.span.end <= call.end):
                edits.add(self.map.sources.files[edit.file], edit.span, edit.text)
        return private.within(at.file, Span(span.start - 1, span.end + 1))[1:-1]

    def _acts(self, path: str) -> bool:
        """Does what the script says set the value? `lr` doesn't in Keras 2.11 and newer."""
        return all(slot.kind != "computed" for slot in self.map.slots if slot.path == path)

    def copy(self, layer: int, layers: LayerEdits, edits: Edits) -> None:
        """A copy of a layer behind it. Raises CannotChange."""
        layers.copy(layer, edits)

    def remove(self, layer: int, layers: LayerEdits, edits: Edits) -> None:
        """A layer is left out. Raises CannotChange."""
        layers.remove(layer, edits)

    def layer(self, added: Added, layers: LayerEdits, edits: Edits, instead_of: int | None = None) -> None:
        """A layer that the script doesn't have. Raises CannotChange."""

        def text(at: At) -> str:
            return self._layer_text(added.layer, at, edits)

        if instead_of is not None:
            layers.replace(instead_of, text, edits)
            return
        if added.after < 0:
            raise CannotChange("a new first layer")
        form = form_of(self.map, added.after)
        if not layers.alone(form):
            raise CannotChange("one call makes several layers here", form.expression)
        layers.insert(form, text(form.expression), edits)

    def _layer_text(self, layer: Mapping[str, Any], at: At, edits: Edits) -> str:
        config = {}
        defaults = words.table()["fields"]
        for key, value in layer["config"].items():
            dropped = key in ("name", "dtype", "trainable", "batch_input_shape", "batch_shape")
            if not dropped and not words.same(key, value, defaults.get(key)):
                config[key] = value
        return self.words.call("layers", layer["class_name"], config, at, edits, ValueEdits.quotes(at))


def _is_optimizer(made: Made) -> bool:
    return made.site.name.lower() in {name.lower() for name in words.table()["optimizer"]}
