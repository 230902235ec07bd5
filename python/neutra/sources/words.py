"""Keras's words for a program's values: spellings and defaults (words.json, after program/keras_names.json)."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from typing import Any, cast

Json = Any


@cache
def table(name: str = "words.json") -> dict[str, Any]:
    """A data file of this package."""
    text = (resources.files(__package__) / name).read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def activation(value: Json) -> Json:
    """The one name of an activation; None is linear."""
    if value is None:
        return "linear"
    if isinstance(value, dict):
        value = value.get("class_name", value)
    for name, aliases in table()["activation"].items():
        if isinstance(value, str) and (value == name or value in aliases):
            return name
    return "swish" if value == "silu" else value


def initializer(value: Json) -> Json:
    """An initialiser as {class_name, config}, settings that are its defaults left out."""
    return _without_defaults("initializer", value)


def loss(value: Json) -> Json:
    """A loss as {class_name, config}, options that are its defaults left out."""
    return _without_defaults("loss", value)


def _without_defaults(section: str, value: Json) -> Json:
    """The entry of a section of the table that a value names, by its class, word or alias; else the value."""
    name, config = _parts(value)
    for known, entry in table()[section].items():
        if name in (known, entry.get("word", known), *entry["aliases"]):
            kept = {k: v for k, v in config.items() if k in entry["defaults"] and v != entry["defaults"][k]}
            return {"class_name": known, "config": kept}
    return value


def optimizer(value: Json) -> Json:
    """An optimiser as {class_name, config} with all of its settings; defaults are those of its rules."""
    name, config = _parts(value)
    for known, defaults in table()["optimizer"].items():
        if isinstance(name, str) and name.lower() == known.lower():
            rules = table()["optimizer_rules"].get(known, {}).get(config.get("rules"), {})
            full = {**defaults, **rules}
            for key, given in config.items():
                key = "learning_rate" if key == "lr" else key
                if key in full and not (given is None and key == "epsilon"):
                    full[key] = given
            return {"class_name": known, "config": full}
    return value


def normal(key: str, value: Json) -> Json:
    """A value in the one form that all of its spellings share; `key` is the last part of its JSON pointer."""
    if key in ("activation", "recurrent_activation"):
        return activation(value)
    if key.endswith("_initializer"):
        return initializer(value)
    if key == "loss":
        return loss(value)
    if key == "optimizer":
        return optimizer(value)
    if isinstance(value, tuple):
        return list(value)
    return value


def same(key: str, one: Json, other: Json) -> bool:
    """Do two spellings mean the same value?"""
    one, other = normal(key, one), normal(key, other)
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if one == other:
        return True
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-7)
    for short, long in ((one, other), (other, one)):
        if isinstance(short, int) and isinstance(long, list) and long and all(each == short for each in long):
            return True
    return False


def _parts(value: Json) -> tuple[Json, dict[str, Any]]:
    if isinstance(value, dict):
        config = value.get("config", {})
        return value.get("class_name"), config if isinstance(config, dict) else {}
    return value, {}


def pointer(document: Json, path: str) -> Json:
    """The value at a JSON pointer (RFC 6901). Raises KeyError where there is none."""
    for part in path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            if not key.isdigit() or int(key) >= len(document):
                raise KeyError(path)
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            raise KeyError(path)
    return document
