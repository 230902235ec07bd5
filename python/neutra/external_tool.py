"""A Python function as a fault-localisation tool of the command (docs/formats/tool.md)."""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, TypedDict, Union, overload

import pandas as pd

from .command import PathLike, run

#: What a function may ask for, by the names of its parameters, and what the command gives it for that.
NEEDS = {"program": "program", "seed": "program", "script": "script", "data": "data"}


class Suspect(TypedDict, total=False):
    """A place of a ranking: a layer, a neuron of a layer or a fault type, alone or together."""

    layer: int
    neuron: int
    type: str
    suspiciousness: float  #: finite, higher is more suspicious; required


class _Text(TypedDict):
    text: str


class Message(_Text, total=False):
    """What a tool says (docs/formats/answer.md)."""

    code: str
    severity: str
    actionability: str  #: none, location or fix
    epochs: Sequence[int]
    layers: Sequence[int]
    detail: str
    faults: str
    ignored: str


class Answer(TypedDict, total=False):
    """A tool's answer; at least one of faults, ranking and messages."""

    faults: str  #: "ACH(0,1), LCH"; "-": nothing found; "N/A": can't handle the program
    ranking: Sequence[Suspect]
    messages: Sequence[Message]
    reason: str


Localise = Callable[..., Union[str, Answer]]


class Tool:
    """A function that localises faults; made by `tool`. Called, it is the function."""

    def __init__(
        self,
        function: Localise,
        *,
        name: str | None = None,
        version: str = "0",
        source: str = "",
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ):
        self.function = function
        self.name = name or function.__name__
        self.version = version
        self.source = source
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.__doc__ = function.__doc__
        self.parameters = []
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in NEEDS and parameter.kind != parameter.POSITIONAL_ONLY:
                self.parameters.append(parameter.name)
            elif parameter.default is parameter.empty:
                raise TypeError(
                    f"{self.name}: found the parameter {parameter.name}; allowed: {', '.join(NEEDS)},"
                    " and others with a default"
                )

    def __call__(self, *arguments: Any, **named: Any) -> str | Answer:
        return self.function(*arguments, **named)

    def __repr__(self) -> str:
        return f"<neutra tool {self.name}>"

    def write(self, folder: PathLike, *, python: str = sys.executable) -> Path:
        """Writes the description NAME.json into a folder and returns its path: `neutra localise FAULT --tool
        NAME.json`. The command then runs the function with the interpreter `python` in a process of its own,
        so it has to be in a file, at the top level. Raises ValueError where it isn't, and for a name that is
        no file's."""
        if Path(self.name).name != self.name:
            raise ValueError(f"tool name: found {self.name!r}; allowed: a name without folders")
        file, function = _place(self.function)
        description: dict[str, Any] = {
            "format": "neutra-tool",
            "version": 1,
            "name": self.name,
            "tool_version": self.version,
            "description": (inspect.getdoc(self.function) or self.name).partition("\n")[0],
            "source": self.source or file.name,
            "command": [python, "-m", "neutra.run_tool", str(file), function],
            "needs": sorted({"program", *(NEEDS[parameter] for parameter in self.parameters)}),
        }
        limits = {"time_limit": self.time_limit, "memory_limit": self.memory_limit}
        description.update((name, value) for name, value in limits.items() if value is not None)
        path = Path(folder) / f"{self.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
        return path

    def check(self, fault: PathLike | None = None, *, command: PathLike | None = None) -> pd.DataFrame:
        """Runs the tool on a small program, or on `fault`, and goes through the protocol: a row for each step
        with verdict (ok, remark, failed) and detail. `attrs["conforms"]` has the result."""
        with tempfile.TemporaryDirectory(prefix="neutra-") as folder:
            file, programs = self.write(folder), () if fault is None else (fault,)
            result = run("localise", *programs, check_tool=file, command=command)
        steps = pd.DataFrame(result.pop("steps"))
        steps.attrs.update(result)
        return steps


def _place(function: Localise) -> tuple[Path, str]:
    """File and name by which another process finds the function."""
    name = function.__qualname__
    source = inspect.getsourcefile(function)
    if source is None or not Path(source).is_file():
        found = "a function that is in no file"
    elif not name.isidentifier():  # f.<locals>.g, <lambda>, Class.method
        found = f"{name} in {source}"
    else:
        return Path(source).resolve(), name
    raise ValueError(
        f"{found}; allowed: one at the top level of a Python file (in a notebook: %%writefile my_tool.py,"
        " then import it)"
    )


@overload
def tool(function: Localise) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    version: str = "0",
    source: str = "",
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> Callable[[Localise], Tool]: ...


def tool(function: Localise | None = None, **about: Any) -> Tool | Callable[[Localise], Tool]:
    """Makes a function a tool: `localise(fault, tool=my_tool)` runs it like any other.

    Its parameters say what it needs: `program` (program.json as a dict), `data` (arrays by name: x_train,
    y_train, x_test, y_test, x_validation, y_validation), `script` (path of the Keras script train.py), `seed`
    (another one in each run). It returns the faults in the study's notation, "ACH(1), HLR", or an Answer. Its
    docstring's first line describes it. `about`: name (default: the function's), version, source (default: its
    file), time_limit (seconds of a run), memory_limit (bytes).
    """
    if function is not None:
        return Tool(function)
    return lambda decorated: Tool(decorated, **about)
