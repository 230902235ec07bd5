"""What the command lists, trains, mutates, asks and scores, as frames."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import pandas as pd

from .command import Option, PathLike, run
from .external_tool import Tool
from .frame import Frame, frame_of

if TYPE_CHECKING:
    Graph = nx.DiGraph[int]

# What each table prints: see frame.Frame.
_SUBJECTS = ("title", "faulty", "layers", "metric", "goal")
_FAULTS = ("title", "origin", "declared", "actual", "verdict", "buggy", "fixed", "p", "d")
_OPERATORS = ("abbreviation", "site", "fault_type", "description")
_TOOLS = ("version", "kind", "description")
_RUNS = ("tool", "run", "status", "answer", "seconds")
_TOOLS_SHOWN = 5  # in one line
_MUTANTS = ("id", "name", "operator", "site", "value", "faults", "status")


def version(*, command: PathLike | None = None) -> dict[str, Any]:
    """Versions of the command and of its libraries."""
    result: dict[str, Any] = run("--version", command=command)
    return result


def subjects(*, command: PathLike | None = None) -> Frame:
    """The bundled subject programs by id."""
    return frame_of(run("subjects", command=command), _SUBJECTS).set_index("id")


def faults(*ids: PathLike, command: PathLike | None = None, **options: Option) -> Frame:
    """The bundled faults, or those named, by id. With check=True both programs of each are trained: buggy and
    fixed metrics, p, d, whether the fault shows."""
    rows = run("faults", *ids, command=command, **options)
    # With check=True, `buggy` and `fixed` are metrics; otherwise they are long parameter strings.
    printed = _FAULTS if options.get("check") else _FAULTS[:4]
    return frame_of(rows, printed).set_index("id")


def operators(*, command: PathLike | None = None) -> Frame:
    """The mutation operators by id."""
    return frame_of(run("mutate", list=True, command=command), _OPERATORS).set_index("id")


def tools(*, command: PathLike | None = None) -> Frame:
    """The bundled fault-localisation tools by name."""
    return frame_of(run("localise", list=True, command=command), _TOOLS).set_index("tool")


def show(fault: PathLike, *, version: str = "buggy", command: PathLike | None = None) -> dict[str, Any]:
    """One program: hash, metric, parameters, layers with their shapes, keys that a repair may change, and the
    program itself. `version` is buggy or fixed."""
    result: dict[str, Any] = run("show", fault, version=version, command=command)
    return result


def train(
    fault: PathLike,
    *,
    version: str = "buggy",
    replicas: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    command: PathLike | None = None,
    **options: Option,
) -> Frame:
    """Trains one program several times: metric, status, seconds and more of each replica. `attrs` of the frame
    has what is known of all: metric, goal, mean, hash, back end."""
    options.update(version=version, replicas=replicas, seed=seed, workers=workers)
    result = run("train", fault, command=command, **options)
    frame = _with_rest(result, "replicas").set_index("replica")
    return frame.assign(metric=frame["metric"].astype(float))


def mutate(
    program: PathLike,
    *,
    operator: str | Sequence[str] | None = None,
    apply: str | Sequence[str] | None = None,
    output: PathLike | None = None,
    seed: int | None = None,
    command: PathLike | None = None,
    **options: Option,
) -> Frame:
    """Mutants of a program: `operator`, `apply`, all=True or order=N say which. They are written to `output`,
    a folder, or FILE.json for a single one; as_="fault" makes them faults. With kill=True they are trained.
    `attrs` of the frame has the rest, such as what was skipped."""
    options.update(operator=operator, apply=apply, output=output, seed=seed)
    return _with_rest(run("mutate", program, command=command, **options), "mutants", _MUTANTS)


def network(file: PathLike, *, fault: PathLike | None = None, command: PathLike | None = None) -> Graph:
    """The network of a store or of a recorded TSV file (docs/formats/network.md); nodes have a role: buggy,
    significantly_better, on_par, neutral. For a store being written, with what isn't in it yet."""
    result = run("network", file, fault=fault, command=command)
    about = {name: value for name, value in result.items() if name not in ("nodes", "links")}
    graph: Graph = nx.DiGraph(**about)
    for node in result["nodes"]:
        graph.add_node(node.pop("id"), **node)
    for link in result["links"]:
        graph.add_edge(link.pop("source"), link.pop("target"), **link)
    return graph


@dataclasses.dataclass(frozen=True, repr=False)
class Localisation:
    """What tools said about a program."""

    fault: str
    declared: str  #: the faults that the fault's file names
    tools: Frame  #: by name: version, kind, answer (the most frequent), seconds of a run
    runs: Frame  #: tool, run, status, answer, seconds, messages; where there are any ranking, reason

    def __repr__(self) -> str:
        """The fault, and each tool's answer and runs: one line."""
        said = []
        for tool, answer in self.tools["answer"].head(_TOOLS_SHOWN).items():
            states = self.runs.loc[self.runs["tool"] == tool, "status"]
            count = f"{len(states)} run{'' if len(states) == 1 else 's'}"
            if not (states == "ok").all():
                count += ": " + ", ".join(f"{number} {state}" for state, number in states.value_counts().items())
            said.append(f"{tool} {answer} ({count})")
        if len(self.tools) > _TOOLS_SHOWN:
            said.append(f"and {len(self.tools) - _TOOLS_SHOWN} tools more")
        return f"<neutra localisation of {self.fault}, declared {self.declared or '-'}: {'; '.join(said)}>"

    @property
    def answers(self) -> pd.DataFrame:
        """The answers as `score` takes them."""
        answers = self.tools.reset_index()[["tool", "answer", "seconds"]]
        answers.insert(0, "fault", self.fault)
        return answers


def localise(
    fault: PathLike,
    *,
    tool: PathLike | Tool | Sequence[PathLike | Tool] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    command: PathLike | None = None,
    **options: Option,
) -> Localisation:
    """Asks tools where the faults of a program are: names, description files of external ones, or functions
    under `neutra.tool`; default: all bundled ones. A run that failed or ran out of time has that as its status."""
    with _tool_names(tool) as names:
        options.update(tool=names, runs=runs, seed=seed, workers=workers)
        result = run("localise", fault, command=command, **options)
    all_runs = [{"tool": t["tool"], **one} for t in result["tools"] for one in t["runs"]]
    columns = ["tool", "version", "kind", "answer", "seconds"]
    return Localisation(
        result["fault"],
        result["declared"],
        frame_of(result["tools"])[columns].set_index("tool"),
        frame_of(all_runs, _RUNS),
    )


def score(
    answers: PathLike | pd.DataFrame,
    *,
    network: PathLike | Sequence[PathLike] | None = None,
    command: PathLike | None = None,
    **options: Option,
) -> dict[str, Frame]:
    """Scores tools' answers, a frame or a CSV file (docs/formats/answers.md), before and after neutrality
    analysis. `network` names stores or recorded networks. Returns the tables: repairs, scores, averages, ..."""
    with tempfile.TemporaryDirectory(prefix="neutra-") as folder:
        if isinstance(answers, pd.DataFrame):
            file = Path(folder) / "answers.csv"
            answers.to_csv(file, index=False)
            answers = file
        result = run("score", answers=answers, network=network, command=command, **options)
    return {
        name: frame_of(value)
        for name, value in result.items()
        if isinstance(value, list) and all(isinstance(row, dict) for row in value)
    }


def _with_rest(result: dict[str, Any], table: str, printed: Sequence[str] = ()) -> Frame:
    """The rows of one list; what else there is as attrs."""
    frame = frame_of(result.pop(table), printed)
    frame.attrs.update(result)
    return frame


@contextlib.contextmanager
def _tool_names(
    tool: PathLike | Tool | Sequence[PathLike | Tool] | None,
) -> Iterator[list[PathLike]]:
    """Names as the command takes them; descriptions of functions are there inside."""
    given = [tool] if isinstance(tool, (str, os.PathLike, Tool)) else tool or []
    with tempfile.TemporaryDirectory(prefix="neutra-") as folder:
        yield [one.write(folder) if isinstance(one, Tool) else one for one in given]
