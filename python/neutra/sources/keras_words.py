"""A program's values as a Keras script writes them."""

from __future__ import annotations

import ast
import re
from typing import Any

from . import words
from .calls import At, Sources
from .edits import Edits
from .literals import written
from .names import Names
from .reasons import CannotChange

#: Losses whose name in the program isn't what Keras 3 calls them; tf.keras knows these names, too.
_LOSS_WORDS = {"logcosh": "log_cosh", "kullback_leibler_divergence": "kl_divergence"}
#: Settings of optimisers that only old versions have.
_OLD_SETTINGS = ("decay", "schedule_decay")


class KerasWords:
    """What stands in a file for a value; classes are imported where they must be."""

    def __init__(self, framework: str, sources: Sources):
        version = [int(part) for part in re.findall(r"\d+", framework)[:2]]
        self.keras3 = framework.startswith("keras 3")
        self.new_optimizers = self.keras3 or version >= [2, 11]
        self.notes: list[str] = []
        self.sources = sources

    def value(self, path: str, new: Any, use: At, edits: Edits, like: str | None = None) -> str:
        """The source text of a value for a JSON pointer. `use` is where it will stand. Raises CannotChange."""
        key = path.rsplit("/", 1)[-1]
        if key in ("activation", "recurrent_activation"):
            return self._activation(new, use, like)
        if key.endswith("_initializer"):
            return self._object("initializers", words.initializer(new), words.table()["initializer"], use, edits, like)
        if key == "loss":
            return self._loss(words.loss(new), use, edits, like)
        if key == "optimizer":
            return self._optimizer(words.optimizer(new), use, edits, like)
        if path == "/fit/callbacks" and isinstance(new, list):
            return f"[{', '.join(self.value(f'{path}/0', each, use, edits, like) for each in new)}]"
        if isinstance(new, dict) and "class_name" in new:
            module = "callbacks" if "/callbacks" in path else _module_of(key)
            if module is None:
                raise CannotChange(f"neutra can't write {new['class_name']} here", use)
            return self.call(module, str(new["class_name"]), new.get("config", {}), use, edits, like)
        return written(new, like)

    def _activation(self, new: Any, use: At, like: str | None) -> str:
        name = words.activation(new)
        if name == "hard_sigmoid" and self.keras3:
            raise CannotChange("hard_sigmoid of Keras 3 is another function than the program's", use)
        return written(name, like)

    def _object(self, module: str, new: Any, table: dict[str, Any], use: At, edits: Edits, like: str | None) -> str:
        entry = table.get(new["class_name"], {})
        if not new["config"] and entry.get("word") and new["class_name"] != "Constant":
            return written(entry["word"], like)
        return self.call(module, new["class_name"], new["config"], use, edits, like)

    def _loss(self, new: Any, use: At, edits: Edits, like: str | None) -> str:
        if not isinstance(new, dict):
            raise CannotChange(f"{new!r} is no loss of Keras", use)
        name = new["class_name"]
        if new["config"]:
            aliases = words.table()["loss"][name]["aliases"]
            return self.call("losses", aliases[-1], new["config"], use, edits, like)
        short = _short(name)
        if short and like is not None and like.strip("'\"") in (_short(each) for each in words.table()["loss"]):
            return written(short, like)
        return written(_LOSS_WORDS.get(name, name) if self.keras3 else name, like)

    def _optimizer(self, new: Any, use: At, edits: Edits, like: str | None) -> str:
        settings = self.settings(new, use)
        if not settings:
            return written(new["class_name"].lower(), like)
        return self.call("optimizers", new["class_name"], settings, use, edits, like)

    def settings(self, new: Any, use: At) -> dict[str, Any]:
        """The settings of an optimiser that aren't its defaults."""
        if not isinstance(new, dict) or new["class_name"] not in words.table()["optimizer"]:
            raise CannotChange(f"{new!r} is no optimiser of Keras", use)
        defaults = words.table()["optimizer"][new["class_name"]]
        found = {key: value for key, value in new["config"].items() if value != defaults.get(key)}
        for key in ("rules", "undecayed"):  # what neutra alone says; exclude_from_weight_decay is a call of its own
            found.pop(key, None)
        if new["class_name"] == "Nadam" and self.new_optimizers:
            found.pop("schedule_decay", None)
            if new["config"].get("schedule_decay") != 1:
                self._note(use, "Nadam of this Keras has a schedule_decay of 1, that of the program 0.004")
        for key in _OLD_SETTINGS:
            if key in found:
                raise CannotChange(f"{key} of {new['class_name']} is no setting of today's Keras", use)
        return found

    def _note(self, use: At, text: str) -> None:
        line = f"{use.file.name}:{use.place.line}: {text}"
        if line not in self.notes:
            self.notes.append(line)

    def call(
        self, module: str, name: str, settings: dict[str, Any], use: At, edits: Edits, like: str | None = None
    ) -> str:
        """The call that makes an object of Keras, with its settings by keyword."""
        inner = ", ".join(f"{key}={self.value(f'/{key}', value, use, edits, like)}" for key, value in settings.items())
        return f"{self.name(module, name, use, edits)}({inner})"

    def name(self, module: str, name: str, use: At, edits: Edits) -> str:
        """How a class of Keras is written at a place."""
        names = Names(use.file, self.sources.scopes(use.file))
        around = use.node.func if isinstance(use.node, ast.Call) else use.node
        root = names.root(around)
        for file in self.sources.files.values():  # a module of settings imports no Keras of its own
            root = root or Names(file, self.sources.scopes(file)).root(file.tree)
        return names.expression(use.node, f"{root or 'keras'}.{module}", name, edits)


def _short(name: str) -> str | None:
    """mse of mean_squared_error."""
    aliases = words.table()["loss"][name]["aliases"]
    return next((alias for alias in aliases if alias.islower() and len(alias) <= 4), None)


def _module_of(key: str) -> str | None:
    for ending, module in (("_regularizer", "regularizers"), ("_constraint", "constraints"), ("layer", "layers")):
        if key.endswith(ending):
            return module
    return None
