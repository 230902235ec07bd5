"""The rows that a script trains and evaluates on, as it gave them to its model, and where its epochs begin."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Origin:
    """Where a batch comes from: `loop` is the number of a DataLoader's iteration (None without one), `rows` are places
    in a tensor of the script, `key` tells a piece of memory from others."""

    loop: tuple[int, int] | None = None
    rows: frozenset[int] | None = None
    key: Any = None


def digests(*arrays: Any) -> list[bytes]:
    """A digest of each row of arrays with equally many rows."""
    count = len(arrays[0])
    flat = [np.ascontiguousarray(array.reshape(count, -1)) for array in arrays]
    return [
        hashlib.blake2b(b"".join(array[row].tobytes() for array in flat), digest_size=12).digest()
        for row in range(count)
    ]


@dataclass
class Rows:
    """Batches of features and targets in their order."""

    x: list[Any] = field(default_factory=list)
    y: list[Any] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    first: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, x: Any, y: Any) -> None:
        """One more batch."""
        marks = digests(x, y)
        if not self.x:
            self.first = marks
        self.x.append(x)
        self.y.append(y)
        self.seen.update(marks)
        self.size += int(x.nbytes + y.nbytes)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(len(x) for x in self.x)

    def arrays(self) -> tuple[Any, Any]:
        """All rows."""
        return np.concatenate(self.x), np.concatenate(self.y)

    def batch_size(self) -> int | None:
        """Rows of a batch: all alike, but a last one that may be smaller; None where they are not."""
        sizes = [len(x) for x in self.x]
        if any(size != sizes[0] for size in sizes[:-1]) or sizes[-1] > sizes[0]:
            return None
        return sizes[0]


class Epochs:
    """Tells the epoch of each training step, and keeps the rows of the first. `guessed` says that an epoch's end was
    told by rows that came again."""

    def __init__(self, max_data: int):
        self.rows = Rows()
        self.number = 0
        self.steps = 0
        self.cut = False
        self.guessed = False
        self.shuffled: bool | None = None
        self.differing = False
        self._max_data = max_data
        self._origin: Origin | None = None
        self._places: set[int] = set()
        self._keys: dict[Any, Any] = {}
        self._in_order = True
        self._highest = -1

    def step(self, x: Any, y: Any, origin: Origin, held: Any = None) -> int:
        """The epoch, from 0, of a step with these rows; `held` is kept so that its memory isn't used again."""
        begins = self._origin is not None and self._begins(x, y, origin)
        if begins:
            self.number += 1
            if self.number == 1:
                self._compare(x, y)
            self._places.clear()
            self._keys.clear()
        self._origin = origin
        if origin.rows is not None:
            self._places |= origin.rows
            if self.number == 0:
                self._in_order &= min(origin.rows, default=0) > self._highest
                self._highest = max(origin.rows, default=0)
        elif origin.key is not None:
            self._keys[origin.key] = held
        if self.number == 0:
            self.steps += 1
            self._keep(x, y)
        return self.number

    def _keep(self, x: Any, y: Any) -> None:
        if not self.cut and self.rows.x and self.rows.size + x.nbytes + y.nbytes > self._max_data:
            self.cut = True
        if not self.cut:
            self.rows.add(x, y)

    def _begins(self, x: Any, y: Any, origin: Origin) -> bool:
        before = self._origin
        assert before is not None
        if origin.loop is not None or before.loop is not None:
            return origin.loop != before.loop
        if origin.rows is not None:
            return bool(origin.rows & self._places)
        if origin.key in self._keys:
            return True
        if self.number == 0 and all(mark in self.rows.seen for mark in digests(x, y)):
            self.guessed = True
            return True
        return self.number > 0 and self.guessed and digests(x, y) == self.rows.first

    def _compare(self, x: Any, y: Any) -> None:
        """The first batch of the second epoch says whether rows come in another order, or are other rows."""
        marks = digests(x, y)
        self.shuffled = (marks != self.rows.first and self.steps > 1) or set(marks) != set(self.rows.first)
        self.differing = not self.cut and any(mark not in self.rows.seen for mark in marks)

    @property
    def in_order(self) -> bool:
        """Did the rows of the first epoch come in the order of the script's own tensor?"""
        return self._in_order and self._highest >= 0


class Evaluations:
    """The sets of rows that a script evaluates its model on, in their order, each kept once."""

    def __init__(self, max_data: int):
        self.sets: dict[Any, Rows] = {}
        self._closed: set[Any] = set()
        self._open: Any = None
        self._max_data = max_data
        self.training_mode: dict[Any, bool] = {}
        self.places: dict[Any, Any] = {}

    def add(self, key: Any, x: Any, y: Any, training: bool, place: Any) -> None:
        """Rows of a set; a set that comes again after others is not kept twice."""
        if key != self._open:
            self.close()
            self._open = key
        self.training_mode[key] = training
        self.places.setdefault(key, place)
        if key in self._closed:
            return
        rows = self.sets.setdefault(key, Rows())
        if rows.size + x.nbytes + y.nbytes <= self._max_data:
            rows.add(x, y)

    def close(self) -> None:
        """A step of training, or another set, ends a set."""
        if self._open is not None:
            self._closed.add(self._open)
            self._open = None

    def test(self, training: Rows) -> tuple[Any, Rows] | None:
        """The last set that isn't the training rows."""
        for key in reversed(list(self.sets)):
            if self.sets[key].seen != training.seen:
                return key, self.sets[key]
        return None


def matching(targets: Any, like: Any) -> Any | None:
    """Targets of an evaluation in the form of those of the training; None where they can't be."""
    if targets.ndim == like.ndim and targets.shape[1:] == like.shape[1:]:
        return targets.astype(like.dtype)
    if targets.size == len(targets) * int(np.prod(like.shape[1:])):
        return targets.reshape(len(targets), *like.shape[1:]).astype(like.dtype)
    if targets.ndim == 1 and like.ndim == 2 and targets.dtype.kind in "iu" and set(np.unique(like)) <= {0, 1}:
        return np.eye(like.shape[1], dtype=like.dtype)[targets]
    return None


def row_numbers(index: Any, rows: int) -> frozenset[int] | None:
    """The rows that an index picks of a tensor with so many; None for indices that pick otherwise."""
    if isinstance(index, tuple):
        index = index[0] if index else slice(None)
    if hasattr(index, "detach"):
        index = index.detach().cpu().numpy()
    try:
        picked = np.arange(rows)[index]
    except (IndexError, TypeError, ValueError):
        return None
    return frozenset(int(row) for row in np.atleast_1d(picked).ravel())


def union(sets: Iterable[Rows]) -> set[bytes]:
    """The digests of several sets."""
    return set().union(*(rows.seen for rows in sets))
