"""Starts and watches searches."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Optional

import pandas as pd

from .command import Call, ExitCode, NeutraError, Option, PathLike, run
from .run import Run


@dataclasses.dataclass(frozen=True)
class Status:
    """How far a search is (neutra status)."""

    fault: str
    state: str  #: waiting, running, stopped (the same call goes on), finished, damaged
    nodes: int  #: generated programs
    alternatives: int  #: repairs among them
    evaluations: int
    evaluations_an_hour: Optional[float]
    hours: Optional[float]  #: so far
    hours_left: Optional[float]  #: in the budget
    note: Optional[str]  #: where it runs, why it ended, or what is damaged
    store: str


def _statuses(paths: tuple[PathLike, ...], command: Optional[PathLike]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = run("status", *paths, command=command)["searches"]
    return rows


def status(*paths: PathLike, command: Optional[PathLike] = None) -> pd.DataFrame:
    """How far the searches of these stores and folders are, one row for each, with the fields of Status."""
    columns = [field.name for field in dataclasses.fields(Status)]
    return pd.DataFrame(_statuses(paths, command), columns=columns)


def _status_of(store: PathLike, command: Optional[PathLike]) -> Status:
    (row,) = _statuses((store,), command)
    return Status(**{field.name: row[field.name] for field in dataclasses.fields(Status)})


def watch(
    store: PathLike, *, interval: float = 2, command: Optional[PathLike] = None
) -> Iterator[Status]:
    """Says every `interval` seconds how far the search of a store is, whoever runs it. Ends after it is
    finished, or when nobody runs it any more."""
    while True:
        current = _status_of(store, command)
        yield current
        if current.state not in ("waiting", "running"):
            return
        time.sleep(interval)


class Search:
    """A search at work in a process of its own; made by `start_search`. As a context manager it is stopped at
    the end of the block, if it still runs."""

    def __init__(self, call: Call, store: PathLike, command: Optional[PathLike]):
        self.store = Path(store)
        self._call = call
        self._command = command

    def __enter__(self) -> Search:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        return self._call.code is None

    def status(self) -> Optional[Status]:
        """How far it is; None while nothing of it is on the disk."""
        was_running = self.running
        try:
            return _status_of(self.store, self._command)
        except NeutraError as error:
            # Before its first record there is no store; `wait` says what is wrong with another file.
            if was_running and error.code == ExitCode.BAD_INPUT:
                return None
            raise

    def watch(self, interval: float = 1) -> Iterator[Status]:
        """Says every `interval` seconds how far it is, and once more when it is finished or stopped."""
        while not self._call.wait(interval):
            current = self.status()
            if current is not None:
                yield current
        if self._call.code in (ExitCode.DONE, ExitCode.INTERRUPTED):
            yield _status_of(self.store, self._command)

    def stop(self) -> None:
        """Has it save, and waits for its end. The same call goes on later."""
        self._call.stop()

    def wait(
        self, progress: Optional[Callable[[Status], object]] = None, interval: float = 1
    ) -> Run:
        """Waits for its end and returns what it found. `progress` is called every `interval` seconds. An
        exception meanwhile, such as KeyboardInterrupt, stops it. Raises NeutraError where it failed or was
        interrupted."""
        try:
            if progress is not None:
                for current in self.watch(interval):
                    progress(current)
        except BaseException:
            self.stop()
            raise
        self._call.result()
        return Run(self.store)


def start_search(
    fault: PathLike,
    *,
    store: PathLike,
    budget_evaluations: Optional[int] = None,
    budget_time: Option = None,
    replicas: Optional[int] = None,
    seed: Optional[int] = None,
    workers: Optional[int] = None,
    fresh: bool = False,
    command: Optional[PathLike] = None,
    **options: Option,
) -> Search:
    """Starts `neutra search FAULT --store STORE` and returns at once. `fault` is a bundled id or a file;
    `options` are any others of the command, `neutra search --help`: preset="keras", curtail=False."""
    options.update(
        store=store,
        budget_evaluations=budget_evaluations,
        budget_time=budget_time,
        replicas=replicas,
        seed=seed,
        workers=workers,
        fresh=fresh,
    )
    return Search(Call("search", (fault,), options, command), store, command)


def search(
    fault: PathLike,
    *,
    store: PathLike,
    budget_evaluations: Optional[int] = None,
    budget_time: Option = None,
    replicas: Optional[int] = None,
    seed: Optional[int] = None,
    workers: Optional[int] = None,
    fresh: bool = False,
    progress: Optional[Callable[[Status], object]] = None,
    interval: float = 1,
    command: Optional[PathLike] = None,
    **options: Option,
) -> Run:
    """Searches all small patches that repair a faulty program, and returns what was found. The same call goes
    on from what a store holds; Ctrl-C saves. `progress` is called every `interval` seconds; the rest is as of
    `start_search`, errors as of `Search.wait`."""
    begun = start_search(
        fault,
        store=store,
        budget_evaluations=budget_evaluations,
        budget_time=budget_time,
        replicas=replicas,
        seed=seed,
        workers=workers,
        fresh=fresh,
        command=command,
        **options,
    )
    return begun.wait(progress, interval)
