"""The store of a search as pandas frames and a networkx graph (docs/formats/store.md)."""

from __future__ import annotations

import contextlib
import html
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import networkx as nx
import numpy as np
import pandas as pd

from .command import NeutraError, PathLike, run
from .frame import Frame, frame_of

if TYPE_CHECKING:
    Graph = nx.DiGraph[int]

FORMAT, VERSION = "neutra-store", 1
_JSON_ATTRIBUTES = ("config", "counters", "libraries")
_FLAGS = ("neutral", "queued", "alternative", "significant")
# What each table prints: see frame.Frame.
_NODES = ("change", "depth", "status", "mean", "neutral", "alternative")
_REPAIRS = ("mean", "change", "significant")
_EVALUATIONS = ("hash", "replica", "status", "metric", "seconds", "backend")
_REPAIRS_SHOWN = 5  # in the view of a notebook


class Run:
    """What a search has found so far, or in the end.

    Every attribute is read from the file anew, as the search saved it last; the file is not kept open, and
    reading never disturbs a search. `neutra.status` also counts what isn't in the file yet.
    """

    def __init__(self, store: PathLike):
        self.store = Path(store)

    def __repr__(self) -> str:
        """Its store, fault and state, what was found, and the metric of it: one line."""
        try:
            facts = self._facts()
        except NeutraError as error:  # it names the store
            return f"<neutra run: {' '.join(error.message.split())}>"
        best = f" -> {facts['best repair']}" if facts["best repair"] else ""
        level = f", {facts['level to reach']} to reach" if facts["level to reach"] else ""
        state = facts["search"].replace(": ", " (") + (")" if ": " in facts["search"] else "")
        repairs = f"{facts['repairs']} repair{'' if facts['repairs'] == '1' else 's'}"
        metric = facts["metric"].partition(",")[0]
        found = f"{facts['programs']}, {repairs}; {metric} {facts['buggy program'] or '-'}{best}{level}"
        return f"<neutra run {os.fspath(self.store)}: {facts['fault']}, {state}, {found}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: summary, best repairs, and a picture of the network where the command and
        Graphviz are at hand."""
        try:
            parts = [_summary(self._facts())]
            repairs = self.repairs
            if len(repairs):
                some = f", the best {_REPAIRS_SHOWN} of {len(repairs)}" if len(repairs) > _REPAIRS_SHOWN else ""
                parts += [f"<p>Repairs{some}</p>", repairs.head(_REPAIRS_SHOWN)._repr_html_()]
            else:
                parts.append("<p>No repair was found.</p>")
        except NeutraError as error:  # a search that has not saved yet
            return f"<p>{html.escape(error.message)}</p>"
        try:
            parts.append(self.picture())
        except NeutraError as error:
            parts.append(f"<p>no picture: {html.escape(error.message)}</p>")
        return "\n".join(parts)

    def picture(self, *, command: PathLike | None = None) -> str:
        """The network as SVG text, drawn by `neutra network --format svg`: needs the command and Graphviz."""
        text = str(run("network", self.store, format="svg", command=command))
        return text[max(text.find("<svg"), 0) :]  # a notebook takes no XML declaration

    @property
    def info(self) -> dict[str, Any]:
        """How it was made and how far it is: fault, seed, metric, goal, start, config, counters, finished,
        end, ground_truth (the level of a repair; None: not measured yet) and more."""
        with self._open() as file:
            return _info(file)

    @property
    def finished(self) -> bool:
        return bool(self.info["finished"])

    @property
    def nodes(self) -> Frame:
        """All generated programs by id: parameters, `change` (from the buggy program), key, before and after
        (the change that made them of their parent), status, mean and metrics of their replicas, and what the
        search made of them. 0 is the buggy program."""
        with self._open() as file:
            return _nodes(file)

    @property
    def repairs(self) -> Frame:
        """The rows of `nodes` that are repairs, the best mean first."""
        with self._open() as file:
            nodes, ascending = _nodes(file), _info(file)["goal"] == "minimize"
            repairs = nodes[nodes["alternative"]]
            return frame_of(repairs.sort_values("mean", ascending=ascending, kind="stable"), _REPAIRS)

    @property
    def alternatives(self) -> Frame:
        """The same as `repairs`: the name that repairs have in JSON and in files."""
        return self.repairs

    @property
    def edges(self) -> Frame:
        """The rows of the network: parent and child by id."""
        with self._open() as file:
            return _table(file["edges"])

    @property
    def evaluations(self) -> Frame:
        """One row for each training: hash of the program, replica, status, metric, seconds, back end, ..."""
        with self._open() as file:
            return _table(file["evaluations"], _EVALUATIONS)

    @property
    def fixed_metrics(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The metric of each replica of the known fix; empty where it isn't trained."""
        with self._open() as file:
            return np.asarray(file["fixed/metrics"][()], dtype=np.float64)

    @property
    def graph(self) -> Graph:
        """The network: the buggy program and what the search kept, each with its row of `nodes` as
        attributes; edges with the change: key, before, after. Graph attributes: fault, metric, goal."""
        with self._open() as file:
            return _graph(_nodes(file), _table(file["edges"]), _info(file))

    def _facts(self) -> dict[str, str]:
        with self._open() as file:
            return _facts(_info(file), file["nodes/mean"][()], file["nodes/alternative"][()].astype(bool))

    @contextlib.contextmanager
    def _open(self) -> Iterator[h5py.File]:
        try:
            # The file is replaced, never changed: no lock is needed.
            file = h5py.File(self.store, "r", locking=False)
        except OSError as error:
            if self.store.exists():
                raise NeutraError(f"{self.store}: no HDF5 file that can be read: {error}") from None
            if Path(f"{self.store}.journal").exists():
                raise NeutraError(f"{self.store}: the search has not saved yet") from None
            raise NeutraError(f"{self.store}: there is no such file") from None
        with file:
            found = file.attrs.get("format")
            if found != FORMAT:
                raise NeutraError(f"{self.store}: found another kind of file; allowed: a store made by neutra search")
            try:
                version = int(file.attrs["version"])
                if version > VERSION:
                    raise NeutraError(
                        f"{self.store}: found {FORMAT} version {version}; allowed: versions up"
                        f" to {VERSION}: a newer neutra made it"
                    )
                yield file
            except NeutraError:
                raise
            except Exception as error:  # whatever h5py, pandas and json say of what isn't there or is something else
                raise NeutraError(
                    f"{self.store}: the file is damaged: {error}; neutra store repair takes what is whole"
                ) from error


def _info(file: h5py.File) -> dict[str, Any]:
    info = {name: value.item() if isinstance(value, np.generic) else value for name, value in file.attrs.items()}
    for name in _JSON_ATTRIBUTES:
        if name in info:
            info[name] = json.loads(info[name])
    info["finished"] = bool(info["finished"])
    level = json.loads(file["header"].asstr()[1])["ground_truth"]
    info["ground_truth"] = None if level is None else float(level)  # also "inf", "nan"
    return info


def _table(group: h5py.Group, printed: tuple[str, ...] = ()) -> Frame:
    return frame_of({name: _column(dataset) for name, dataset in group.items()}, printed)


def _column(dataset: h5py.Dataset) -> Any:
    return dataset[()] if dataset.dtype.kind in "if" else dataset.asstr()[()]


def _nodes(file: h5py.File) -> Frame:
    nodes = _table(file["nodes"])
    ends = nodes["metric_count"].cumsum()
    metrics = file["metrics"][()]
    nodes["metrics"] = [metrics[end - count : end].tolist() for end, count in zip(ends, nodes["metric_count"])]
    flags = {name: nodes[name].astype(bool) for name in _FLAGS}
    nodes = nodes.assign(**flags).drop(columns="metric_count").set_index("id")
    return frame_of(nodes.assign(change=_changes(nodes)), _NODES)


def _changes(nodes: pd.DataFrame) -> list[str]:
    """How each program differs from the buggy one, as `neutra network` says it: "epochs 200->400, lr 0.001->0.01".
    A parent has a smaller id than its children."""
    changes: dict[int, dict[str, tuple[str, str]]] = {}
    for node, parent, key, before, after in nodes[["parent", "key", "before", "after"]].itertuples():
        of_parent = changes.get(parent, {})
        first = of_parent.get(key, (before, before))[0]
        changes[node] = {**of_parent, key: (first, after)} if key else of_parent
    return [
        ", ".join(f"{key} {first}->{last}" for key, (first, last) in sorted(change.items()) if first != last)
        for change in changes.values()
    ]


def _facts(info: dict[str, Any], means: Any, alternative: Any) -> dict[str, str]:
    """What was searched, how far, and what was found; "" where there is none. `means`, `alternative`: of all nodes."""
    level, end, repairs = info["ground_truth"], info.get("end", ""), means[alternative]
    numbers = repairs[~np.isnan(repairs)]
    best = (np.min if info["goal"] == "minimize" else np.max)(numbers) if len(numbers) else None
    return {
        "fault": str(info["fault"]),
        "metric": f"{info['metric']}, {'lower' if info['goal'] == 'minimize' else 'higher'} is better",
        "buggy program": f"{means[0]:.4g}" if len(means) else "",
        "level to reach": "" if level is None else f"{level:.4g}",
        "best repair": "" if best is None else f"{best:.4g}",
        "programs": f"{len(means)} generated, {info['counters'].get('evaluations', 0)} evaluated",
        "repairs": str(len(repairs)),
        "search": f"finished: {str(end).replace('_', ' ')}" if info["finished"] else "not finished",
    }


def _summary(facts: dict[str, str]) -> str:
    """A table of two columns, as HTML."""
    cells = "".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in facts.items())
    return f"<table>{cells}</table>"


def _graph(nodes: Frame, edges: Frame, info: dict[str, Any]) -> Graph:
    graph: Graph = nx.DiGraph(**{name: info[name] for name in ("fault", "metric", "goal")})
    if nodes.empty:
        return graph
    kept = nodes.loc[sorted({0, *edges["parent"], *edges["child"]})]
    rows: Any = kept.to_dict("index")
    graph.add_nodes_from(rows.items())
    for parent, child in zip(edges["parent"], edges["child"]):
        change = {name: graph.nodes[child][name] for name in ("key", "before", "after")}
        graph.add_edge(int(parent), int(child), **change)
    return graph
