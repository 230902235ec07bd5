"""Streams of batches that scripts train on: tf.data, Keras's Sequence and PyDataset, DataLoaders, generators.

No framework is imported: a stream is known by the names of its classes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from . import rows
from .recording import Frame, NotCaptured


def _is(value: Any, names: tuple[str, ...], packages: tuple[str, ...]) -> bool:
    return any(each.__name__ in names and each.__module__.split(".")[0] in packages for each in type(value).__mro__)


def kind_of(value: Any) -> str | None:
    """What a stream is called; None for what is no stream."""
    if _is(value, ("DatasetV2", "Dataset"), ("tensorflow",)):
        return "tf.data.Dataset"
    if _is(value, ("Sequence", "PyDataset"), ("keras", "tf_keras", "tensorflow")):
        return "Sequence"
    if _is(value, ("DataLoader",), ("torch",)):
        return "DataLoader"
    if hasattr(value, "__next__"):
        return "generator"
    return None


def shuffles(dataset: Any) -> bool:
    """Is there a `shuffle` among the steps of a tf.data.Dataset, or a random order in a DataLoader?"""
    if "Random" in type(getattr(dataset, "sampler", None)).__name__:
        return True
    while dataset is not None:
        if "Shuffle" in type(dataset).__name__:
            return True
        dataset = getattr(dataset, "_input_dataset", None)
    return False


def endless(value: Any) -> bool:
    """A dataset that repeats itself for ever."""
    try:
        return int(value.cardinality()) == -1
    except Exception:  # no dataset, or one that does not know
        return False


def length(sequence: Any) -> int | None:
    """Batches of a Sequence; None for an endless one."""
    try:
        return len(sequence)
    except (TypeError, ValueError):
        number = getattr(sequence, "num_batches", None)
        return number if isinstance(number, int) else None


@dataclass
class Frozen:
    """A stream as it was in one epoch: arrays (`weights` is None where batches have none), batch size, whether its rows
    come in another order in each epoch, and what had to be frozen. `repeats` is false for a stream that has nothing for
    a second epoch."""

    x: Any
    y: Any
    weights: Any
    batch_size: int
    shuffle: bool
    notes: list[str]
    repeats: bool = True


class Stream:
    """A stream of batches, of which an epoch has `steps` or, with None, all."""

    def __init__(self, value: Any, steps: int | None, max_data: int, frame: Frame | None):
        self.value = value
        self.kind = kind_of(value) or ""
        self._steps = steps
        self._bounds = max_data, frame
        self._iterator: Iterator[Any] | None = None
        self._first: rows.Collector | None = None
        self._second: rows.Collector | None = None
        self._error: NotCaptured | None = None

    @property
    def one_pass(self) -> bool:
        """What was taken of it is gone: a generator."""
        return self.kind == "generator"

    def tee(self) -> Generator[Any, None, None]:
        """The same batches for the script's own training; the first two epochs of them are kept on the way."""
        self._first = rows.Collector(self._steps, *self._bounds)
        self._second = rows.Collector(self._steps, *self._bounds, keep=False)
        for batch in self.value:
            collector = self._second if self._first.full else self._first
            if self._error is None and not collector.full:
                try:
                    collector.take(batch)
                except NotCaptured as error:
                    self._error = error
            yield batch

    def _batches(self) -> Iterator[Any]:
        """Those of the next epoch."""
        if self.kind == "Sequence":
            number = self._steps or length(self.value)
            if self._iterator is not None and hasattr(self.value, "on_epoch_end"):
                self.value.on_epoch_end()
            self._iterator = (self.value[i] for i in range(number if number is not None else 1 << 62))
        elif self._iterator is None or (self._steps is None and not self.one_pass):
            self._iterator = iter(self.value)
        return self._iterator

    def freeze(self, compare: bool) -> Frozen:
        """One epoch of it. With `compare` a second one is read, to see whether it is the same. Raises NotCaptured."""
        if self._error is not None:
            raise self._error
        if self._first is not None and self._second is not None:
            first, second = self._first.epoch, self._second.epoch
            again: rows.Epoch | None = second if second.sizes else None
        else:
            first = rows.collect(self._batches(), self._steps, *self._bounds)
            again = None
            if compare and not first.cut and not (self.one_pass and first.ended):
                again = rows.collect(self._batches(), self._steps, *self._bounds, keep=False)
        if not first.sizes:
            raise NotCaptured(f"found no batch in the {self.kind}; allowed: one at least", self._bounds[1])
        return self._frozen(first, again)

    def _frozen(self, first: rows.Epoch, again: rows.Epoch | None) -> Frozen:
        verdict = rows.compared(first, again)
        notes = []
        if first.cut:
            bound = rows.shown_size(self._bounds[0])
            notes.append(f"the {self.kind} is frozen at its first {sum(first.sizes)} rows: --max-data is {bound}")
        if verdict == "other":
            notes.append(f"the {self.kind} has other rows in each epoch: it is frozen at the first one")
        if self._steps is not None and (endless(self.value) or (self.one_pass and not first.ended)):
            notes.append(f"an epoch is {self._steps} batches of an endless {self.kind}, as steps_per_epoch says")
        if first.uneven:
            notes.append(
                f"{first.uneven} batches before the last have fewer rows than {first.batch_size}: the program's don't"
            )
        shuffled = verdict in ("shuffled", "other") or (verdict == "unknown" and shuffles(self.value))
        if verdict == "unknown" and not shuffled and not first.ended:
            notes.append(f"the order of the {self.kind}'s rows is taken to be the same in each epoch")
        x, y, weights = first.arrays()
        repeats = not (self.one_pass and first.ended) and not (again is not None and not again.sizes)
        return Frozen(x, y, weights, first.batch_size, shuffled, notes, repeats)
