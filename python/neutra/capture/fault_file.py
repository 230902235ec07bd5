"""Writes what was captured: the fault file, its data and weights beside it, and where everything is written."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import linecache
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .frames import frame_at
from .recording import NotCaptured, Recording


@dataclass
class Written:
    """The files that were written, by what they hold, and what the command says of the program."""

    files: dict[str, str] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)


def digest(path: str) -> str:
    """SHA-256 of a file."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """A new file that takes the place of `path` at the end; after an exception nothing has changed."""
    new = f"{path}.new"
    try:
        yield new
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise


def stem_of(path: str) -> str:
    """The name of a fault file without .json."""
    return path[: -len(".json")] if path.endswith(".json") else path


def write(recording: Recording, path: str, script: str, arguments: list[str]) -> Written:
    """Writes the fault file `path` and the files beside it: NAME.data.npz, NAME.weights.h5. Raises
    NotCaptured where they can't be written, and where the command refuses the program, with the user's lines."""
    path = os.path.abspath(path)
    stem = stem_of(path)
    written = Written({"fault": path})
    try:
        with contextlib.ExitStack() as files:
            # Entered first, it takes its place last.
            fault = files.enter_context(replacing(path))
            data = files.enter_context(replacing(f"{stem}.data.npz"))
            _write_data(recording, data)
            written.files["data"] = f"{stem}.data.npz"
            if recording.weights:
                weights = files.enter_context(replacing(f"{stem}.weights.h5"))
                _write_weights(recording, weights)
                written.files["weights"] = f"{stem}.weights.h5"
            written.document = fault_document(recording, stem, script)
            if recording.weights:
                initial = {"file": os.path.basename(f"{stem}.weights.h5"), "sha256": digest(weights)}
                written.document["program"]["fit"] = {**written.document["program"]["fit"], "initial_weights": initial}
            checked = json.loads(json.dumps(written.document))
            checked["program"]["data"]["arguments"]["file"] = data
            if recording.weights:
                checked["program"]["fit"]["initial_weights"]["file"] = weights
            _check(checked, f"{path}.check", recording)
            # The check adds notes.
            section = script_section(recording, script, arguments, os.path.dirname(path))
            section["data"] = {"file": os.path.basename(f"{stem}.data.npz"), "sha256": digest(data)}
            if recording.weights:
                section["weights"] = {"file": os.path.basename(f"{stem}.weights.h5"), "sha256": digest(weights)}
            written.document["script"] = section
            _write_json(written.document, fault)
    except OSError as error:
        raise NotCaptured(f"{error.filename or path}: {error.strerror}; allowed: a file that can be written") from None
    return written


def fault_document(recording: Recording, stem: str, script: str) -> dict[str, Any]:
    """The fault: the captured program is the buggy one, and no fix is known."""
    program = dict(recording.program)
    data = {"source": "npz", "arguments": {"file": os.path.basename(f"{stem}.data.npz")}}
    if any(_has_nan(array) for name, array in recording.arrays.items() if name[0] in "xy"):
        data["arguments"]["allow_nan"] = True  # type: ignore[index]
    if any(name.startswith("sample_weight") for name in recording.arrays):
        data["arguments"]["sample_weight"] = True  # type: ignore[index]
    program["data"] = {**data, **program.get("data", {})}
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", os.path.basename(stem))
    return {
        "format": "neutra-fault",
        "version": 1,
        "id": name,
        "title": os.path.basename(script),
        "source": f"{os.path.basename(script)}, captured with {recording.framework}",
        "origin": "real",
        "program": program,
    }


def script_section(recording: Recording, script: str, arguments: list[str], folder: str) -> dict[str, Any]:
    """The section `script`: the user's files with digests, notes, and the places of all values."""
    found = _places(recording, arguments)
    places = [_relative(place, folder) for place in found]
    named = {frame.file for site in recording.sites for frame in site.frames} | {place["file"] for place in found}
    files = {file for file in named if os.path.isfile(file)}
    if os.path.isfile(script):
        files.add(os.path.abspath(script))
    return {
        "file": relative(os.path.abspath(script), folder),
        "arguments": list(arguments),
        "framework": recording.framework,
        "files": [{"file": relative(file, folder), "sha256": digest(file)} for file in sorted(files)],
        "notes": list(recording.notes),
        "seeds": [f"{relative(seed.file, folder)}:{seed.line}" for seed in recording.random_seeds],
        "places": places,
    }


def relative(file: str, folder: str) -> str:
    """A file's name relative to the fault file's folder where it lies in it or below, else absolute."""
    inside = os.path.join(folder, "")
    return file[len(inside) :] if file.startswith(inside) else file


def _relative(place: dict[str, Any], folder: str) -> dict[str, Any]:
    return {**place, "file": relative(place["file"], folder)} if "file" in place else place


def _places(recording: Recording, arguments: list[str]) -> list[dict[str, Any]]:
    """What sources.source_map finds. Without it, and of files that it can't read, the lines of the calls."""
    names = {frame.file for site in recording.sites for frame in site.frames}
    texts = {name: text for name in names if (text := _text_of(name))}
    try:
        source_map = importlib.import_module("..sources.source_map", __package__)
        found: list[dict[str, Any]] = source_map.places(recording.sites, texts, recording.program, arguments)
        return found
    except ModuleNotFoundError:
        pass
    except Exception as error:  # a file that isn't read as Python: the program is good without its map
        recording.notes.append(f"the source map is left out: {error}")
    return [
        {"path": site.path, "file": site.frames[0].file, "line": site.frames[0].line, "kind": "computed"}
        for site in recording.sites
        if site.frames
    ]


def _text_of(file: str) -> bytes:
    """The text of a file, or of a cell of a notebook, as it was run."""
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:
        return "".join(linecache.getlines(file)).encode()


def _has_nan(array: Any) -> bool:
    import numpy

    return array.dtype.kind == "f" and not bool(numpy.isfinite(array).all())


def _write_json(document: dict[str, Any], path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2, ensure_ascii=False)
        file.write("\n")


def _write_data(recording: Recording, path: str) -> None:
    import numpy

    with open(path, "wb") as file:
        numpy.savez(file, **recording.arrays)


def _write_weights(recording: Recording, path: str) -> None:
    """As save_weights of Keras 2 does, which `neutra evaluate --weights` reads. Raises NotCaptured without h5py."""
    try:
        import h5py
    except ImportError:
        raise NotCaptured("weights: found no package h5py, which writes them; allowed: pip install h5py") from None

    layers: dict[int, list[tuple[str, Any]]] = {}
    for layer, name, array in recording.weights or []:
        layers.setdefault(layer, []).append((name, array))
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [f"layer_{layer}".encode() for layer in layers]
        file.attrs["backend"] = b"tensorflow"
        file.attrs["keras_version"] = b"2.15.0"
        for layer, arrays in layers.items():
            group = file.create_group(f"layer_{layer}")
            names = [f"layer_{layer}/{index}_{name}:0" for index, (name, _) in enumerate(arrays)]
            group.attrs["weight_names"] = [name.encode() for name in names]
            for name, (_, array) in zip(names, arrays):
                group.create_dataset(name, data=array)


def _check(document: dict[str, Any], path: str, recording: Recording) -> None:
    """Has the command read the fault with its data: what it refuses is refused here, with the user's lines."""
    from ..command import NeutraError, run

    try:
        _write_json(document, path)
        found = run("show", path)
    except NeutraError as error:
        lines = []
        for line in error.message.replace(f"{path}: ", "").splitlines():
            pointer = re.search(r"/(?:model|compile|fit|data)\S*?(?=[:\s]|$)", line)
            frame = frame_at(recording.sites, pointer.group()) if pointer else None
            lines.append(f"{frame}: {line}" if frame else line)
        raise NotCaptured("\n".join(lines)) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
    for warning in found["warnings"]:
        if warning["path"] == "/data/test":  # the recorder says why
            continue
        frame = frame_at(recording.sites, warning["path"])
        # With data at hand, shapes are unknown where Keras would end with an error.
        if found["weights"] is None:
            raise NotCaptured(warning["text"], frame)
        recording.notes.append(f"{frame}: {warning['text']}" if frame else warning["text"])
