"""Sites as JSON, and the arguments of PyTorch's layers that repeat a width that another layer sets."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from ..capture.recording import Frame, Place, Site

#: Arguments that must equal the number of outputs of the layer before: nn.Linear(64, 10) behind 64 units.
WIDTHS = ("in_features", "num_features", "in_channels", "input_size", "normalized_shape")
_LAYERS = "/model/config/layers/"


def site_to_json(site: Site, beside: str) -> dict[str, Any]:
    """A site as a fault file keeps it. Files are named as seen from the folder of the file `beside`."""
    frames = [
        [_seen_from(beside, frame.file), frame.line, frame.function, list(frame.place[1:]) if frame.place else None]
        for frame in site.frames
    ]
    return {
        "name": site.name,
        "path": site.path,
        "frames": frames,
        "arguments": dict(site.arguments),
        "parameters": list(site.parameters),
        "given": list(site.given),
    }


def site_of_json(entry: Mapping[str, Any], beside: str) -> Site:
    """A site of a fault file; `beside` is the file of its place. Raises KeyError, ValueError, TypeError where it isn't
    one."""
    frames = []
    for name, line, function, place in entry["frames"]:
        folder = posixpath.dirname(beside)
        file = name if name.startswith("<") else posixpath.normpath(posixpath.join(folder, name))
        frames.append(Frame(file, line, function, Place(file, *place) if place else None))
    return Site(
        entry["name"],
        entry["path"],
        frames,
        dict(entry["arguments"]),
        list(entry["parameters"]),
        list(entry["given"]),
    )


def _seen_from(beside: str, file: str) -> str:
    return file if file.startswith("<") else posixpath.relpath(file, posixpath.dirname(beside) or ".")


def linked(site: Site, program: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The arguments of a site with the pointers that they set, and those of PyTorch's layers with the number of outputs
    of the layer before, which they must equal."""
    found = list(site.arguments.items())
    for argument in WIDTHS:
        if argument in site.parameters and argument not in site.arguments:
            producer = _producer(site, program)
            if producer is not None:
                found.append((argument, producer))
    return found


def _producer(site: Site, program: Mapping[str, Any]) -> str | None:
    """The pointer of the number of outputs that reaches a layer unchanged from one before it."""
    number = layer_number(site.path)
    if number is None:
        return None
    layers = program["model"]["config"]["layers"]
    for before in range(min(number, len(layers)) - 1, -1, -1):
        config = layers[before].get("config", {})
        for key in ("units", "filters"):
            if key in config:
                return f"{_LAYERS}{before}/config/{key}"
        if layers[before].get("class_name") in ("Flatten", "Reshape", "Permute", "Embedding", "RepeatVector"):
            return None
    return None


def layer_number(path: str) -> int | None:
    """The number of the layer that a JSON pointer leads into."""
    if not path.startswith(_LAYERS):
        return None
    part = path[len(_LAYERS) :].split("/", 1)[0]
    return int(part) if part.isdigit() else None
