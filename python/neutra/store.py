"""The store of a search as pandas frames and a networkx graph (docs/formats/store.md)."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import networkx as nx
import numpy as np
import pandas as pd

from .command import NeutraError, PathLike

if TYPE_CHECKING:
    Graph = nx.DiGraph[int]

FORMAT, VERSION = "neutra-store", 1
_JSON_ATTRIBUTES = ("config", "counters", "libraries")
_FLAGS = ("neutral", "queued", "alternative", "significant")


class Run:
    """What a search has found so far, or in the end.

    Every attribute is read from the file anew, as the search saved it last; the file is not kept open, and
    reading never disturbs a search. `neutra.status` also counts what isn't in the file yet.
    """

    def __init__(self, store: PathLike):
        self.store = Path(store)

    def __repr__(self) -> str:
        return f"Run({os.fspath(self.store)!r})"

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
    def nodes(self) -> pd.DataFrame:
        """All generated programs by id: parameters, the change that made them of their parent, status, mean
        and metrics of their replicas, and what the search made of them. 0 is the buggy program."""
        with self._open() as file:
            return _nodes(file)

    @property
    def alternatives(self) -> pd.DataFrame:
        """The rows of `nodes` that are repairs, the best mean first."""
        with self._open() as file:
            nodes, ascending = _nodes(file), _info(file)["goal"] == "minimize"
            repairs = nodes[nodes["alternative"]]
            return repairs.sort_values("mean", ascending=ascending, kind="stable")

    @property
    def edges(self) -> pd.DataFrame:
        """The rows of the network: parent and child by id."""
        with self._open() as file:
            return _table(file["edges"])

    @property
    def evaluations(self) -> pd.DataFrame:
        """One row for each training: hash of the program, replica, status, metric, seconds, back end, ..."""
        with self._open() as file:
            return _table(file["evaluations"])

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


def _table(group: h5py.Group) -> pd.DataFrame:
    return pd.DataFrame({name: _column(dataset) for name, dataset in group.items()})


def _column(dataset: h5py.Dataset) -> Any:
    return dataset[()] if dataset.dtype.kind in "if" else dataset.asstr()[()]


def _nodes(file: h5py.File) -> pd.DataFrame:
    nodes = _table(file["nodes"])
    ends = nodes["metric_count"].cumsum()
    metrics = file["metrics"][()]
    nodes["metrics"] = [metrics[end - count : end].tolist() for end, count in zip(ends, nodes["metric_count"])]
    flags = {name: nodes[name].astype(bool) for name in _FLAGS}
    return nodes.assign(**flags).drop(columns="metric_count").set_index("id")


def _graph(nodes: pd.DataFrame, edges: pd.DataFrame, info: dict[str, Any]) -> Graph:
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
