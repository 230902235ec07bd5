"""What a wanted program has otherwise than the program of a script: changes by JSON pointer, and of whole layers."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import words

LAYERS = "/model/config/layers"
_LAYER = 10


@dataclass(frozen=True)
class Change:
    """A value that differs: `path` points into the script's program. `old` and `new` are in normal form, so that
    spelling makes no difference; None where there is none."""

    path: str
    old: Any
    new: Any

    @property
    def key(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    def __str__(self) -> str:
        return f"{self.path}: {_shown(self.old)} -> {_shown(self.new)}"


@dataclass(frozen=True)
class Removed:
    """Layer `layer` of the script's program is left out."""

    layer: int

    def __str__(self) -> str:
        return f"layer {self.layer} is left out"


@dataclass(frozen=True)
class Added:
    """A layer, whole, stands behind layer `after` of the script's program (-1: in front of all). `copy_of`: the layer
    that it is like, `place`: its number among those behind the same layer."""

    after: int
    layer: Mapping[str, Any]
    copy_of: int | None = None
    place: int = 0

    def __str__(self) -> str:
        what = f"a copy of layer {self.copy_of}" if self.copy_of is not None else f"a layer {self.layer['class_name']}"
        return f"{what} behind layer {self.after}" if self.after >= 0 else f"{what} in front of all layers"


def _shown(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"class_name", "config"}:
        settings = ", ".join(f"{key}={json.dumps(each)}" for key, each in value["config"].items())
        return f"{value['class_name']}({settings})" if settings else str(value["class_name"])
    return json.dumps(value)


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change | Removed | Added]:
    """The differences of two programs, those of layers first. Names, tasks and metrics aren't looked at: they are what
    programs are called and compared by. Raises ValueError where one has no layers."""
    found: list[Change | Removed | Added] = list(_layer_changes(_layers(old), _layers(new)))
    found += _optimizer(old.get("compile", {}), new.get("compile", {}))
    before = words.loss(old.get("compile", {}).get("loss"))
    after = words.loss(new.get("compile", {}).get("loss"))
    if before != after:
        found.append(Change("/compile/loss", before, after))
    fits = [each.get("fit", {}) for each in (old, new)]
    found += _section("/fit", fits[0], fits[1], words.table()["fit"], ("loop", "callbacks"))
    found += _callbacks(fits[0].get("callbacks", []), fits[1].get("callbacks", []))
    loops = [each.get("fit", {}).get("loop", {}) for each in (old, new)]
    found += _section("/fit/loop", loops[0], loops[1], words.table()["loop"])
    for name in ("data", "trained"):
        if old.get(name) != new.get(name) and (name == "data" or _mutations(old) != _mutations(new)):
            found.append(Change(f"/{name}", old.get(name), new.get(name)))
    return found


def _mutations(program: Mapping[str, Any]) -> Any:
    return program.get("trained", {}).get("mutations", [])


def _layers(program: Mapping[str, Any]) -> list[dict[str, Any]]:
    try:
        config = program["model"]["config"]
        layers = config if isinstance(config, list) else config["layers"]
        return [{"class_name": layer["class_name"], "config": dict(layer.get("config", {}))} for layer in layers]
    except (KeyError, TypeError, AttributeError):
        raise ValueError("a program without /model/config/layers") from None


def _section(
    path: str, old: Mapping[str, Any], new: Mapping[str, Any], defaults: Mapping[str, Any], without: Sequence[str] = ()
) -> list[Change]:
    found = []
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, defaults.get(key)), new.get(key, defaults.get(key))
        if key not in without and before != after:
            found.append(Change(f"{path}/{key}", before, after))
    return found


def _callbacks(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Change]:
    """Settings where both have the same callbacks, else all of them."""
    path = "/fit/callbacks"
    if [each.get("class_name") for each in old] != [each.get("class_name") for each in new]:
        return [Change(path, old, new)]
    found = []
    for number, (before, after) in enumerate(zip(old, new)):
        found += _section(f"{path}/{number}/config", before.get("config", {}), after.get("config", {}), {})
    return found


def _optimizer(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    before = words.optimizer(old.get("optimizer", "rmsprop"))
    after = words.optimizer(new.get("optimizer", "rmsprop"))
    path = "/compile/optimizer"
    if not (isinstance(before, dict) and isinstance(after, dict)) or before["class_name"] != after["class_name"]:
        return [Change(path, before, after)] if before != after else []
    one, other = ({**each["config"]} for each in (before, after))
    for config in (one, other):
        if 0 < (config.get("momentum") or 0) < 1e-20:  # what Keras 2.11 computes without momentum
            config["momentum"] = 0
    return _section(f"{path}/config", one, other, {})


def _config_changes(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Differences of the configs of two layers of one class."""
    found = []
    defaults = words.table()["fields"]
    for key in dict.fromkeys((*old, *new)):
        if key in ("name", "dtype", "build_config", "registered_name", "module", "batch_input_shape", "batch_shape"):
            continue
        before = words.normal(key, old.get(key, defaults.get(key)))
        after = words.normal(key, new.get(key, defaults.get(key)))
        wrapped = key == "layer" and isinstance(before, dict) and isinstance(after, dict)
        if wrapped and before.get("class_name") == after.get("class_name"):
            found += _config_changes(f"{path}/layer/config", before.get("config", {}), after.get("config", {}))
            continue
        if before != after and not words.same(key, before, after):
            found.append(Change(f"{path}/{key}", before, after))
    return found


def _layer_changes(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[Change | Removed | Added]:
    """Layers are matched so that as little as possible differs: a setting costs 1, a layer more or less 10."""
    costs = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old), -1, -1):
        for j in range(len(new), -1, -1):
            options = []
            if i < len(old) and j < len(new) and old[i]["class_name"] == new[j]["class_name"]:
                options.append(len(_config_changes("", old[i]["config"], new[j]["config"])) + costs[i + 1][j + 1])
            if i < len(old):
                options.append(_LAYER + costs[i + 1][j])
            if j < len(new):
                options.append(_LAYER + costs[i][j + 1])
            costs[i][j] = min(options, default=0)
    found: list[Change | Removed | Added] = []
    i = j = 0
    kept: dict[int, int] = {}  # of the new layers: the old one that each was
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i]["class_name"] == new[j]["class_name"]:
            differences = _config_changes(f"{LAYERS}/{i}/config", old[i]["config"], new[j]["config"])
            if costs[i][j] == len(differences) + costs[i + 1][j + 1]:
                found += differences
                kept[j] = i
                i, j = i + 1, j + 1
                continue
        if j < len(new) and costs[i][j] == _LAYER + costs[i][j + 1]:
            place = sum(isinstance(each, Added) and each.after == i - 1 for each in found)
            found.append(Added(i - 1, copy.deepcopy(new[j]), _twin(new, j, kept), place))
            j += 1
        else:
            found.append(Removed(i))
            i += 1
    return found


def _twin(new: Sequence[Mapping[str, Any]], j: int, kept: Mapping[int, int]) -> int | None:
    """The old layer in front of new layer j that it is a copy of."""
    for before in range(j - 1, -1, -1):
        if new[before]["class_name"] != new[j]["class_name"]:
            return None
        if _config_changes("", new[before]["config"], new[j]["config"]):
            return None
        if before in kept:
            return kept[before]
    return None
