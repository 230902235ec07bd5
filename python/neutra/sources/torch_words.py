"""A program's values as a PyTorch script writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from . import words
from .calls import At, Sources
from .edits import Edits
from .literals import written
from .names import Names, add_line
from .reasons import CannotChange
from .text import SourceFile

#: What a truncated normal distribution's standard deviation is divided by (docs/methods/training.md, Initialisers).
_TRUNCATED = 0.87962566103423978
#: The scale of initialisers that depend on the size of a weight.
_SCALED = {
    "GlorotNormal": 1,
    "GlorotUniform": 1,
    "HeNormal": 2,
    "HeUniform": 2,
    "LecunNormal": 1,
    "LecunUniform": 1,
}
#: Activations that torch.nn has no class for, as functions of x.
_OWN = {"exponential": "torch.exp({x})", "hard_sigmoid": "torch.clamp(0.2 * {x} + 0.5, 0, 1)"}
_CLASSES = {"exponential": "Exponential", "hard_sigmoid": "HardSigmoid"}

#: Settings that say how weights decay, or that the loop around the optimiser does.
_LOOPS = frozenset(
    [
        "rules",
        "undecayed",
        "weight_decay",
        "decoupled_weight_decay",
        "dampening",
        "clipnorm",
        "clipvalue",
        "global_clipnorm",
    ]
)


class TorchWords:
    """What stands in a file for a value."""

    def __init__(self, sources: Sources):
        self.sources = sources
        self.table = words.table("torch_words.json")

    def value(self, path: str, new: Any, use: At, edits: Edits, like: str | None = None) -> str:
        """A plain value; classes and functions have methods of their own."""
        if isinstance(new, dict):
            raise CannotChange(f"PyTorch has no argument for {new.get('class_name', 'this')}", use)
        key = path.rsplit("/", 1)[-1]
        if key == "momentum" and path.startswith("/model") and isinstance(new, (int, float)):
            new = round(1 - new, 12)  # of moving averages
        return written(new, like)

    def name(self, target: str, use: At, edits: Edits) -> str:
        """How something of torch is written at a place: "torch.nn.Linear"."""
        module, _, name = target.rpartition(".")
        return Names(use.file, self.sources.scopes(use.file)).expression(use.node, module, name, edits)

    def activation_module(self, name: str, use: At, edits: Edits) -> str:
        """The layer of an activation; one that torch.nn doesn't have is defined in the file."""
        entry = self._activation(name, use)
        if "module" in entry:
            return f"{self.name('torch.nn.' + entry['module'], use, edits)}({entry.get('arguments', '')})"
        module = self.name("torch.nn.Module", use, edits)
        _define(use.file, _CLASSES[name], module, self._own(name, "x", use, edits), edits)
        return f"{_CLASSES[name]}()"

    def activation_call(self, name: str, argument: str, use: At, edits: Edits) -> str:
        """An activation of an expression."""
        entry = self._activation(name, use)
        if name == "linear":
            return argument
        if name in _OWN:
            return self._own(name, argument, use, edits)
        rest = f", {entry['arguments']}" if "arguments" in entry else ""
        return f"{self.name(entry['function'], use, edits)}({argument}{rest})"

    def _activation(self, name: str, use: At) -> Mapping[str, str]:
        if name in _OWN:
            return {}
        entry = self.table["activation"].get(name)
        if entry is None:
            raise CannotChange(f"PyTorch has no activation {name}", use)
        found: Mapping[str, str] = entry
        return found

    def _own(self, name: str, argument: str, use: At, edits: Edits) -> str:
        function = _OWN[name].split("(", 1)
        return f"{self.name(function[0], use, edits)}({function[1].format(x=argument)}"

    def loss(self, old: Any, new: Any, use: At) -> Mapping[str, str]:
        """The entry of a loss; its targets must be of the kind that the script has."""
        before, after = (self.table["loss"].get(loss_name(each)) for each in (old, new))
        if after is None:
            raise CannotChange(f"PyTorch has no loss {new['class_name']}", use)
        if before is not None and before["targets"] != after["targets"]:
            raise CannotChange(f"{new['class_name']} needs other targets than the script's", use)
        found: Mapping[str, str] = after
        return found

    def settings(self, new: Any, use: At) -> tuple[str, dict[str, str]]:
        """The class of an optimiser, and its arguments that aren't PyTorch's defaults, as text."""
        entry = self.table["optimizer"].get(new["class_name"])
        if entry is None:
            raise CannotChange(f"PyTorch has no optimiser {new['class_name']}", use)
        config = new["config"]
        found: dict[str, str] = {}
        for key, argument in entry["arguments"].items():
            value = config.get(key)
            usual = value is not None and math.isclose(value, entry["defaults"][key], rel_tol=1e-9, abs_tol=0)
            if value is None or (usual and argument != "lr"):  # older versions want lr of SGD
                continue
            if argument == "betas":
                found[argument] = f"({written(config['beta_1'])}, {written(config['beta_2'])})"
            else:
                found[argument] = written(config[key])
        defaults = words.table()["optimizer"][new["class_name"]]
        for key in config:
            if key not in entry["arguments"] and key not in _LOOPS and config[key] != defaults.get(key):
                raise CannotChange(f"{key} is no setting of PyTorch's {entry['class']}", use)
        decay, name = config.get("weight_decay", 0), entry["class"]
        if config.get("decoupled_weight_decay") and name == "Adam":
            name = "AdamW"
        if decay != (0.01 if name == "AdamW" else 0):
            found["weight_decay"] = written(decay)
        if config.get("decoupled_weight_decay") and name == "NAdam":
            found["decoupled_weight_decay"] = "True"
        if config.get("dampening"):
            found["dampening"] = written(config["dampening"])
        return name, found

    def initializer(self, new: Any, weight: str, fans: tuple[int, int] | None, use: At, edits: Edits) -> str:
        """The call of torch.nn.init that draws a weight as a program's initialiser does. `fans` are the numbers of
        inputs and outputs, of a bias both its length; None where they aren't known."""
        name = new["class_name"]
        settings = {**words.table()["initializer"][name]["defaults"], **new["config"]}
        scaled = _SCALED.get(name)
        vector = weight.endswith(".bias")
        if scaled is not None and (vector or not name.endswith("Uniform")):
            if fans is None:
                raise CannotChange("the number of inputs isn't written here", use)
            variance = scaled / (fans[0] if not name.startswith("Glorot") else (fans[0] + fans[1]) / 2)
            if name.endswith("Uniform"):
                limit = _digits(math.sqrt(3 * variance))
                name, settings = "RandomUniform", {"minval": -limit, "maxval": limit}
            else:
                name, settings = "TruncatedNormal", {"mean": 0.0, "stddev": math.sqrt(variance) / _TRUNCATED}
        form = self.table["initializer"].get(name)
        if form is None or (vector and name in ("Orthogonal", "Identity")):
            raise CannotChange(f"PyTorch has no function for {name}", use)
        if name == "TruncatedNormal":
            mean, deviation = settings["mean"], _digits(settings["stddev"])
            low, high = _digits(mean - 2 * deviation), _digits(mean + 2 * deviation)
            settings = {"mean": mean, "stddev": deviation, "low": low, "high": high}
        texts = {key: written(value) for key, value in settings.items()}
        function = form.split("(", 1)
        return f"{self.name('torch.nn.init.' + function[0], use, edits)}({function[1].format(w=weight, **texts)}"


def _digits(value: float) -> float:
    return float(f"{value:.9g}")


def loss_name(loss: Any) -> str:
    """A loss as the table has it."""
    return str(loss["class_name"]) + (" from_logits" if loss.get("config", {}).get("from_logits") else "")


def _define(file: SourceFile, name: str, module: str, body: str, edits: Edits) -> None:
    """Adds a small layer behind the imports of a file."""
    import ast

    imports = [node for node in file.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not imports:
        raise CannotChange(f"{name} would have to be defined in a file without imports")
    end = file.newline
    lines = ["", "", f"class {name}({module}):", "    def forward(self, x):", f"        return {body}"]
    add_line(file, imports[-1], end.join(lines), edits)
