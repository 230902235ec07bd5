"""Has the command `neutra import` make a program of what Keras stores: one importer for files and for scripts."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any

from ..command import ExitCode, NeutraError, run
from .recording import Frame, NotCaptured

#: Assumptions of the import that the capture knows better.
_KNOWN = ("compile, fit", "data", "data.split", "fit.batch_size", "fit.epochs")
#: What else an assumption is about, by its field.
_ABOUT = {
    "fit.schedule": "optimizer",
    "compile.optimizer": "optimizer",
    "metric": "compile",
    "compile.metrics": "compile",
}


def import_model(
    model: dict[str, Any], options: dict[str, Any], name: str, lines: dict[str, Frame], fallback: Frame | None
) -> tuple[dict[str, Any], list[str]]:
    """A program without data, and notes. `lines` are the user's lines by what a message begins with: "layer 'dense'",
    "optimizer", "loss". Raises NotCaptured with all reasons where a program can't represent the model."""
    with tempfile.TemporaryDirectory() as folder:
        files = {part: os.path.join(folder, f"{part}.json") for part in (name, "training", "program")}
        for part, content in ((name, model), ("training", options)):
            with open(files[part], "w", encoding="utf-8") as file:
                json.dump(content, file)
        try:
            found = run("import", files[name], output=files["program"], training=files["training"])
        except NeutraError as error:
            if error.code != ExitCode.BAD_INPUT:
                raise NotCaptured(f"neutra import: {error}", fallback) from None
            text = error.message.replace(files[name] + ": ", "").replace(files["training"] + ": ", "")
            raise NotCaptured(*placed(text, lines, fallback)) from None
        with open(files["program"], encoding="utf-8") as file:
            program: dict[str, Any] = json.load(file)
    program["name"] = name
    notes = []
    for entry in found["assumptions"]:
        if entry["field"] not in _KNOWN and not (entry["field"] == "compile" and "not in the file" in entry["value"]):
            line = line_of(entry["value"], lines) or lines.get(_ABOUT.get(entry["field"], ""))
            text = f"{entry['field']}: {entry['value']}: {entry['reason']}"
            notes.append(f"{line}: {text}" if line else text)
    return program, notes


def line_of(text: str, lines: dict[str, Frame]) -> Frame | None:
    """The line of what a message is about."""
    layer = re.search(r"layer '[^']*'", text)
    key = layer.group() if layer else re.split(r"[:.\s]", text.strip(), maxsplit=1)[0]
    return lines.get(key)


def placed(text: str, lines: dict[str, Frame], fallback: Frame | None) -> tuple[str, Frame | None]:
    """A message of the import, each line of it with the user's line that it is about, and the place of the first."""
    messages = [re.sub(r"\s*\(exit code \d+\)$", "", line) for line in text.splitlines() if line.strip()]
    first = line_of(messages[0], lines) if messages else None
    rest = []
    for message in messages[1:]:
        line = line_of(message, lines) or fallback
        rest.append(f"{line}: {message}" if line else message)
    return "\n".join([*messages[:1], *rest]), first or fallback
