"""`python -m neutra.run_tool FILE.py FUNCTION`: runs a tool of `neutra.tool` in the folder that the command
gave it, and writes its answer there. Whatever goes wrong is an exception, whose last line the command reports."""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union

import numpy as np

from .command import forbidden
from .external_tool import Answer, Tool


def load(file: Path, name: str) -> Tool:
    """The tool of that name in a Python file, which may belong to a package."""
    folder, words = file.parent, [file.stem]
    while (folder / "__init__.py").exists():
        words.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    # A script that asks its own tool would start itself again and again.
    with forbidden(f"{file} runs neutra when it is imported; allowed: under if __name__ == '__main__'"):
        module = importlib.import_module(".".join(words))
    if not module.__file__ or Path(module.__file__).resolve() != file:
        raise ImportError(f"{file}: found the module {module.__name__} elsewhere; allowed: another file name")
    found = getattr(module, name)
    return found if isinstance(found, Tool) else Tool(found)


def arguments_for(tool: Tool, folder: Path) -> dict[str, Any]:
    """What its parameters ask for."""
    read: dict[str, Callable[[], Any]] = {
        "program": lambda: json.loads((folder / "program.json").read_text(encoding="utf-8")),
        "seed": lambda: json.loads((folder / "request.json").read_text(encoding="utf-8"))["seed"],
        "script": lambda: folder / "train.py",
        "data": lambda: {file.stem: np.load(file) for file in sorted(folder.glob("*.npy"))},
    }
    return {name: read[name]() for name in tool.parameters}


def answer_text(answer: Union[str, Answer]) -> str:
    """The answer as answer.json has it (docs/formats/answer.md)."""
    if isinstance(answer, str):
        answer = {"faults": answer}
    if not isinstance(answer, dict):
        raise TypeError(f"found the answer {answer!r}; allowed: a string of faults, or a dict")
    document = {"format": "neutra-answer", "version": 1, **answer}
    return json.dumps(document, allow_nan=False, default=_plain)


def _plain(value: Any) -> object:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"found {value!r} in the answer; allowed: what JSON can hold")


def main() -> None:
    file, name = sys.argv[1:]
    tool = load(Path(file).resolve(), name)
    text = answer_text(tool(**arguments_for(tool, Path.cwd())))
    Path("answer.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
