"""Starts and watches searches."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Callable

import pandas as pd

from .command import Call, ExitCode, NeutraError, Option, PathLike, run
from .frame import Frame, frame_of
from .store import Run

# What `status` prints: see frame.Frame.
_STATUS = ("fault", "state", "nodes", "alternatives", "evaluations", "hours_left", "note")


@dataclasses.dataclass(frozen=True)
class Status:
    """How far a search is (neutra status)."""

    fault: str
    state: str  #: waiting, running, stopped (the same call goes on), finished, damaged
    nodes: int  #: generated programs
    alternatives: int  #: repairs among them
    evaluations: int  #: generated programs that are decided on, the unit of the budget
    evaluations_an_hour: float | None
    hours: float | None  #: so far
    hours_left: float | None  #: in the budget
    budget_used: float | None  #: part of it, 0 to 1
    saved_ago: float | None  #: seconds since a running search was last saved: the counts are as of then
    note: str | None  #: where it runs, why it ended, or what is damaged
    store: str

    @property
    def repairs(self) -> int:
        """The same as `alternatives`, in the word of the glossary."""
        return self.alternatives


def _statuses(paths: tuple[PathLike, ...], command: PathLike | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = run("status", *paths, command=command)["searches"]
    return rows


def status(*paths: PathLike, command: PathLike | None = None) -> Frame:
    """How far the searches of these stores and folders are, one row for each, with the fields of Status."""
    columns = [field.name for field in dataclasses.fields(Status)]
    return frame_of(pd.DataFrame(_statuses(paths, command), columns=columns), _STATUS)


def _status_of(store: PathLike, command: PathLike | None) -> Status:
    (row,) = _statuses((store,), command)
    return Status(**{field.name: row[field.name] for field in dataclasses.fields(Status)})


def watch(store: PathLike, *, interval: float = 5, command: PathLike | None = None) -> Iterator[Status]:
    """Says every `interval` seconds how far the search of a store is, whoever runs it. A look starts the
    command, which costs about a second of one core. Ends after it is
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

    def __init__(self, call: Call, store: PathLike, command: PathLike | None):
        self.store = Path(store)
        self._call = call
        self._command = command

    def __enter__(self) -> Search:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        return self._call.code is None

    def status(self) -> Status | None:
        """How far it is; None while nothing of it is on the disk."""
        was_running = self.running
        try:
            return _status_of(self.store, self._command)
        except NeutraError as error:
            # A file of another kind is what `wait` reports.
            if error.code == ExitCode.BAD_INPUT and (was_running or not self.store.exists()):
                return None
            raise

    def watch(self, interval: float = 5) -> Iterator[Status]:
        """Says every `interval` seconds how far it is, and once more when it is finished or stopped."""
        while True:
            ended = self._call.wait(interval)
            if ended and self._call.code not in (ExitCode.DONE, ExitCode.INTERRUPTED):
                return
            current = self.status()
            if current is not None:
                yield current
            if ended:
                return

    def stop(self) -> None:
        """Has it save, and waits for its end. The same call goes on later."""
        self._call.stop()

    def wait(self, progress: Callable[[Status], object] | None = None, interval: float = 5) -> Run:
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
    budget_evaluations: int | None = None,
    budget_time: Option = None,
    replicas: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    fresh: bool = False,
    command: PathLike | None = None,
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
    budget_evaluations: int | None = None,
    budget_time: Option = None,
    replicas: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    fresh: bool = False,
    progress: Callable[[Status], object] | None = None,
    interval: float = 5,
    command: PathLike | None = None,
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
