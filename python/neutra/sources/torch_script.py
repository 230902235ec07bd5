"""Changes of a PyTorch script: values, activations, loss, optimiser, initial weights and layers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from . import layer_forms, words
from .argument_edits import parts, remove_part
from .calls import At, Made, argument_of
from .difference import LAYERS, Added, Change, Removed
from .edits import Edits
from .layer_edits import LayerEdits
from .layer_forms import Form
from .literals import is_literal, value_of
from .reasons import CannotChange
from .sites import WIDTHS, layer_number
from .source_map import Slot, SourceMap
from .text import Span
from .torch_loop_edits import LoopEdits
from .torch_weights import WeightEdits
from .torch_words import TorchWords, loss_name
from .turn_edits import copy_turns, remove_turns
from .turns import conditional
from .value_edits import ValueEdits

_OPTIMIZER = "/compile/optimizer"


def _needs_probabilities(program: Mapping[str, Any]) -> bool:
    """Does a binary cross entropy without logits get outputs that may be no probabilities?"""
    if loss_name(words.loss(program["compile"]["loss"])) != "binary_crossentropy":
        return False
    for layer in reversed(program["model"]["config"]["layers"]):
        if layer["class_name"] not in ("Flatten", "Reshape", "InputLayer"):
            word = words.activation(layer["config"].get("activation", "linear"))
            return word not in ("sigmoid", "softmax", "hard_sigmoid")
    return True


class TorchScript:
    """Turns changes into edits of a script that uses PyTorch."""

    def __init__(self, source_map: SourceMap, framework: str, wanted: Mapping[str, Any], values: dict[str, Any]):
        self.map = source_map
        self.wanted = wanted
        self.words = TorchWords(source_map.sources)
        self.values = ValueEdits(source_map, self.words, values)
        self.loop = LoopEdits(source_map)
        self.weights = WeightEdits(source_map, self.words, self.values)

    def forbidden(self, difference: Change | Removed | Added) -> str | None:
        """Why a difference gives a script that PyTorch ends with an error: BCELoss takes nothing but probabilities,
        programs cut off what isn't between 0 and 1."""
        turns = (
            not isinstance(difference, Change) or difference.key == "activation" or difference.path == "/compile/loss"
        )
        if turns and _needs_probabilities(self.wanted) and not _needs_probabilities(self.map.program):
            return "BCELoss ends with an error where outputs aren't between 0 and 1"
        return None

    def value(self, change: Change, edits: Edits) -> None:
        """Raises CannotChange."""
        if change.path in ("/data", "/trained"):
            raise CannotChange("how the data are made isn't part of the map")
        if change.path.startswith("/fit/loop") and change.key != "reduction":
            self.loop.change(change, edits)
        elif change.path == "/compile/loss":
            self._loss(change, edits)
        elif change.path == _OPTIMIZER:
            self._optimizer(change, edits)
        elif change.path.startswith(f"{_OPTIMIZER}/config/beta_"):
            raise CannotChange("a change of one of the betas", self._at(_OPTIMIZER))
        elif change.key == "activation" and layer_number(change.path) is not None:
            self._activation(change, edits)
        elif change.key.endswith("_initializer"):
            self.weights.change(change, edits)
        else:
            self._widths_known(change)
            self.values.change(change.path, edits)
            if change.key in ("units", "filters"):
                self._note_start(change.path)

    def _widths_known(self, change: Change) -> None:
        """The next layer that says its width must say that of this one: behind a Flatten it is a product."""
        layer = layer_number(change.path)
        if layer is None or change.key not in ("units", "filters"):
            return
        behind = []
        for made in self.map.made:
            number = layer_number(made.site.path)
            if number is not None and number > layer and any(name in made.site.parameters for name in WIDTHS):
                behind.append((number, made))
        if behind:
            following = min(behind, key=lambda pair: pair[0])[1]
            if not any(slot.made is following and slot.path == change.path for slot in self.map.slots):
                raise CannotChange("the width of the next layer is computed from it", following.call)

    def _note_start(self, path: str) -> None:
        """PyTorch's own start of a bias depends on the layer's width."""
        for slot in self.map.slots:
            if slot.path == path and slot.argument in WIDTHS and slot.made.call is not None:
                note = (
                    f"{slot.made.call.file.name}:{slot.made.call.place.line}: PyTorch draws this layer's bias within "
                )
                note += "1 / sqrt(inputs) of the new width, the program within that of the old one"
                if slot.made.site.name == "Linear" and note not in self.values.notes:
                    self.values.notes.append(note)

    def _at(self, path: str) -> At | None:
        return next((m.call for m in self.map.made if m.site.path == path and m.call is not None), None)

    def _sites(self, layer: int) -> tuple[Made, Made | None]:
        """The call that makes a layer and the one that runs it; a function's call is both."""
        made = layer_forms.made_of(self.map, layer)
        path = f"{LAYERS}/{layer}"
        runs = next((m for m in self.map.made if m.site.path == path and m.site.name == "forward"), None)
        return made, runs

    # -- activations

    def _activation(self, change: Change, edits: Edits) -> None:
        layer = layer_number(change.path)
        assert layer is not None
        made, runs = self._sites(layer)
        slots = [slot for slot in self.map.slots if slot.path == change.path]
        if not slots:
            self._activate(layer, made, runs, change.new, edits)
        elif runs is None:
            self._function(slots[0], change.new, edits)
        else:
            self._module(slots[0], runs, change.new, edits)

    def _function(self, slot: Slot, new: str, edits: Edits) -> None:
        """F.relu(x), torch.relu(x), x.relu()."""
        call = slot.made.call
        assert call is not None and isinstance(call.node, ast.Call)
        self._alone(slot)
        file, node = call.file, call.node
        if not node.args and isinstance(node.func, ast.Attribute):
            self._around(call, file.span(node.func.value), new, edits)
        elif node.args:
            self._around(call, parts(file, node)[0][1], new, edits)
        else:
            raise CannotChange("what the activation is applied to isn't clear", call)

    def _around(self, call: At, argument: Span, new: str, edits: Edits) -> None:
        """Applies another activation to the argument of a call; the argument itself stays."""
        before, after = self.words.activation_call(new, "\0", call, edits).split("\0")
        whole = call.file.span(call.node)  # type: ignore[arg-type]
        edits.add(call.file, Span(whole.start, argument.start), before)
        edits.add(call.file, Span(argument.end, whole.end), after)

    def _alone(self, slot: Slot) -> None:
        """Raises CannotChange where the call makes other layers, too, that stay."""
        others = [each for each in self.map.slots if each.made.call is not None and slot.made.call is not None]
        others = [each for each in others if each.made.call.node is slot.made.call.node]  # type: ignore[union-attr]
        if not all(self.values.wanted.get(each.path) == self.values.wanted[slot.path] for each in others):
            raise CannotChange("the same call makes other layers, too", slot.made.call)

    def _module(self, slot: Slot, runs: Made, new: str, edits: Edits) -> None:
        """nn.ReLU(): another class where it is made; where other layers share it, a function where it is run."""
        call = slot.made.call
        assert call is not None and isinstance(call.node, ast.Call)
        together = [s for s in self.map.slots if s.argument == "" and s.made.call is not None]
        together = [s for s in together if s.made.call.node is call.node]  # type: ignore[union-attr]
        wanted = self.values.wanted
        mine = [s for s in together if s.path in wanted and wanted[s.path] == new]
        others = [s for s in together if s not in mine]
        text = self.words.activation_module(new, call, edits)
        if not others:
            edits.add(call.file, call.file.span(call.node), text)
            return
        if any(s.path in wanted for s in others):
            raise CannotChange("the layers that this call makes would have to change in different ways", call)
        choice = conditional(self.map, mine, others, text, call.text)
        if choice is not None:
            edits.add(call.file, call.file.span(call.node), choice)
            return
        at = runs.call
        same = [m for m in self.map.made if m.site.name == "forward" and at and m.call and m.call.node is at.node]
        if at is None or not isinstance(at.node, ast.Call) or len(same) != 1 or len(at.node.args) != 1:
            raise CannotChange("the same layer is used in several places", call)
        self._around(at, parts(at.file, at.node)[0][1], new, edits)

    def _activate(self, layer: int, made: Made, runs: Made | None, new: str, edits: Edits) -> None:
        """A layer without an activation gets one behind it."""
        form = layer_forms.form_of(self.map, layer)
        if form.how != "applied":
            assert made.call is not None
            layers = LayerEdits(self.map, set(), set())
            if not layers.alone(form):
                raise CannotChange("one call makes several layers here", form.expression)
            plain = Form(form.how, made, form.level, form.expression, form.where, form.used)
            if form.bound is not None:
                raise CannotChange("the layer has a name of its own", form.bound)
            layers.insert(plain, self.words.activation_module(new, form.where, edits), edits)
            return
        self._wrap(form.where, {"class_name": "Activation", "config": {"activation": new}}, edits)

    # -- loss and optimiser

    def _loss(self, change: Change, edits: Edits) -> None:
        made = next((m for m in self.map.made if m.site.path == "/compile/loss"), None)
        if made is None or made.call is None or not isinstance(made.call.node, ast.Call):
            raise CannotChange("the call of the loss isn't known")
        at, call = made.call, made.call.node
        entry = self.words.loss(change.old, change.new, at)
        assert isinstance(call.func, (ast.Name, ast.Attribute))
        smoothing = change.new["config"].get("label_smoothing", 0)
        if smoothing != change.old["config"].get("label_smoothing", 0):
            raise CannotChange("another smoothing of labels", at)
        functional = self.map.word(At(at.file, call.func)) == self.words.table["loss"].get(
            loss_name(change.old), {}
        ).get("function")
        target = f"torch.nn.functional.{entry['function']}" if functional else f"torch.nn.{entry['module']}"
        edits.add(at.file, at.file.span(call.func), self.words.name(target, at, edits))
        written = parts(at.file, call)
        for place, (node, _) in enumerate(written):
            if isinstance(node, ast.keyword) and node.arg not in ("reduction", "input", "target"):
                remove_part(at.file, [span for _, span in written], place, edits)

    def _optimizer(self, change: Change, edits: Edits) -> None:
        made = next((m for m in self.map.made if m.site.path == _OPTIMIZER), None)
        if made is None or made.call is None or not isinstance(made.call.node, ast.Call):
            raise CannotChange("the call of the optimiser isn't known")
        at, call = made.call, made.call.node
        name, settings = self.words.settings(change.new, at)
        names = iter(made.site.parameters)
        kept = []
        for node, span in parts(at.file, call):
            if isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and node.arg is None):
                raise CannotChange("the settings of the optimiser are unpacked here", at)
            argument = node.arg if isinstance(node, ast.keyword) else next(names, None)
            text = at.file.text[span.start : span.end]
            if argument == "params":
                kept.append(text)
            elif argument == "weight_decay" and change.old["config"].get(argument) == change.new["config"].get(
                argument
            ):
                kept.append(text)
                settings.pop(argument, None)
            elif argument == "lr" and change.old["config"]["learning_rate"] == change.new["config"]["learning_rate"]:
                kept.append(text)
                settings.pop("lr", None)
        kept += [f"{key}={text}" for key, text in settings.items()]
        written = self.words.name(f"torch.optim.{name}", at, edits)
        edits.add(at.file, at.file.span(call), f"{written}({', '.join(kept)})")

    # -- layers

    def copy(self, layer: int, layers: LayerEdits, edits: Edits) -> None:
        """A copy behind a layer takes in what the layer gives. Raises CannotChange."""
        form = layer_forms.form_of(self.map, layer)
        if form.function:
            self._again(form.where, edits)
            return
        if form.made.call is None or form.expression.node is not form.made.call.node:
            layers.copy(layer, edits)
            return
        file, call = form.expression.file, form.expression.node
        assert isinstance(call, ast.Call) and isinstance(form.expression.node, ast.expr)
        private = edits.copy()
        width = argument_of(call, "out_features", form.made.site.parameters)
        takes = argument_of(call, "in_features", form.made.site.parameters)
        if width is not None and takes is not None:
            private = private.without(file, file.span(takes))
            private.add(file, file.span(takes), private.within(file, file.span(width)))
        elif takes is not None:
            raise CannotChange("the widths of the layer aren't written here", form.expression)
        if layers.alone(form):
            layers.insert(form, private.within(file, file.span(call)), edits)
        else:
            copy_turns(self.map, form, layers.copied, edits, private, takes is None)

    def _again(self, at: At, edits: Edits) -> None:
        """A function is called once more, on what it gives: F.relu(F.relu(x)), x.relu().relu()."""
        file, call = at.file, at.node
        assert isinstance(call, ast.Call)
        whole = file.span(call)
        if edits.within(file, whole) != file.text_of(call):
            raise CannotChange("the call that is copied changes, too", at)
        if call.args:
            inner = parts(file, call)[0][1]
        elif isinstance(call.func, ast.Attribute):
            inner = file.span(call.func.value)
        else:
            raise CannotChange("what the function is applied to isn't clear", at)
        edits.wrap(file, whole, file.text[whole.start : inner.start], file.text[inner.end : whole.end])

    def remove(self, layer: int, layers: LayerEdits, edits: Edits) -> None:
        """What follows the layer takes in what the layer took in. Raises CannotChange."""
        form = layer_forms.form_of(self.map, layer)
        if layers.alone(form):
            self._narrow_behind(layer, form.made, layers, edits)
            layers.remove(layer, edits)
            return
        remove_turns(self.map, form, layers.removed, edits, self._widths_in_loop(form))

    def _widths_in_loop(self, form: Form) -> list[At]:
        """Statements of a loop that keep a layer's width for the next turn: width = n."""
        call = form.made.call
        if call is None or not isinstance(call.node, ast.Call):
            return []
        takes = argument_of(call.node, "in_features", form.made.site.parameters)
        gives = argument_of(call.node, "out_features", form.made.site.parameters)
        if takes is None or (gives is not None and call.file.text_of(takes) == call.file.text_of(gives)):
            return []
        scopes = self.map.sources.scopes(call.file)
        loops = scopes.loops_around(call.node)
        bindings = scopes.lookup(takes.id, takes)[1] if isinstance(takes, ast.Name) else []
        inside = [b for b in bindings if loops and loops[-1] in (b.node, *call.file.ancestors(b.node))]
        if not inside or any(b.how != "value" for b in inside):
            raise CannotChange("the widths of the layers that a loop makes aren't clear", call)
        return [At(call.file, b.node) for b in inside]

    def _narrow_behind(self, layer: int, made: Made, layers: LayerEdits, edits: Edits) -> None:
        for slot in self.map.slots:
            own = slot.path in (f"{LAYERS}/{layer}/config/units", f"{LAYERS}/{layer}/config/filters")
            removed = layer_number(slot.made.site.path) in layers.removed
            if own and slot.argument in WIDTHS and not removed:
                self._narrow(slot, made, edits)
                self._note_start(slot.path)

    def _narrow(self, slot: Slot, removed: Made, edits: Edits) -> None:
        """Gives a layer behind a removed one the width that the removed one took in."""
        call = removed.call
        takes = None
        for name in WIDTHS:
            takes = takes or argument_of(call.node, name, removed.site.parameters)  # type: ignore[union-attr,arg-type]
        use = slot.chain[0].at if slot.chain else None
        if use is None or takes is None or call is None:
            raise CannotChange("the width of the next layer isn't written there", slot.made.call)
        scopes = self.map.sources.scopes(call.file)
        here = use.file is call.file and scopes.function_of(use.node) is scopes.function_of(takes)
        text = call.file.text_of(takes)
        if not here and not is_literal(takes):
            raise CannotChange("the width of the next layer is computed elsewhere", use)
        if len([s for s in self.map.slots if s.chain and s.chain[0].at.node is use.node]) > 1:
            raise CannotChange("several layers share this width", use)
        assert isinstance(use.node, ast.expr)
        edits.add(use.file, use.file.span(use.node), str(value_of(takes)) if is_literal(takes) else text)

    def layer(self, added: Added, layers: LayerEdits, edits: Edits, instead_of: int | None = None) -> None:
        """A layer that the script doesn't have: an activation or a dropout. Raises CannotChange."""
        kind, config = added.layer["class_name"], added.layer["config"]
        if kind not in ("Activation", "Dropout"):
            raise CannotChange(f"neutra can't write a new {kind} for PyTorch")
        if added.after < 0 and instead_of is None:
            raise CannotChange("a new first layer")
        form = layer_forms.form_of(self.map, added.after if instead_of is None else instead_of)
        if not layers.alone(form):
            raise CannotChange("one call makes several layers here", form.expression)
        if instead_of is not None and form.function:
            raise CannotChange("another layer in the place of a function", form.where)
        if form.how == "applied" and instead_of is None:
            self._wrap(form.where, added.layer, edits)
            return
        at = form.expression
        if kind == "Activation":
            text = self.words.activation_module(words.activation(config["activation"]), at, edits)
        else:
            rate = self.words.value("/rate", config["rate"], at, edits)
            text = f"{self.words.name('torch.nn.Dropout', at, edits)}({rate})"
        if instead_of is not None:
            self._narrow_behind(instead_of, form.made, layers, edits)
            layers.replace(instead_of, lambda _: text, edits)
        else:
            layers.insert(form, text, edits)

    def _wrap(self, at: At, layer: Mapping[str, Any], edits: Edits) -> None:
        """Puts a function around the call that runs a layer."""
        config = layer["config"]
        if layer["class_name"] == "Activation":
            text = self.words.activation_call(words.activation(config["activation"]), "\0", at, edits)
        else:
            name = self.words.name("torch.nn.functional.dropout", at, edits)
            function = self.map.sources.scopes(at.file).function_of(at.node)
            first = function.args.args[0].arg if function is not None and function.args.args else "self"
            text = f"{name}(\0, {self.words.value('/rate', config['rate'], at, edits)}, {first}.training)"
        before, after = text.split("\0")
        edits.wrap(at.file, at.file.span(at.node), before, after)  # type: ignore[arg-type]
