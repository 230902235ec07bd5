"""Makes NumPy arrays of what scripts train on: arrays, frames and tensors of any library, and streams of batches.

NumPy is imported where it is used, after the script's own choice of version and settings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .recording import Frame, NotCaptured

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size_of(text: str) -> int:
    """Bytes of a size such as 512M or 2G. Raises ValueError for another text."""
    word = text.strip().upper().removesuffix("B")
    unit = word[-1:] if word[-1:] in ("K", "M", "G", "T") else ""
    number = float(word.removesuffix(unit))
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return int(number * _UNITS[unit])


def shown_size(size: int) -> str:
    """A number of bytes for people."""
    for unit in ("T", "G", "M", "K"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g}{unit}"
    return f"{size} bytes"


def is_array(value: Any) -> bool:
    """An array, tensor, frame or column of any library: it has a shape and numbers."""
    return hasattr(value, "shape") and (hasattr(value, "__array__") or hasattr(value, "numpy") or _is_sparse(value))


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "toarray") and hasattr(value, "nnz")


def to_array(value: Any, what: str, frame: Frame | None) -> Any:
    """The numbers of an array, list, frame or tensor as a NumPy array of their own. Raises NotCaptured for what holds
    no numbers."""
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if _is_sparse(value):
        value = value.toarray()
    try:
        array = numpy.array(value.numpy() if hasattr(value, "numpy") else value)
    except Exception as error:  # ragged lists, ragged and symbolic tensors, each library with an error of its own
        raise NotCaptured(f"found {what} that is no array ({error}); allowed: numbers in equal rows", frame) from None
    if array.dtype.kind not in "biuf":
        texts = array.dtype.kind in "US" or (array.size and isinstance(array.flat[0], str))
        found = "texts" if texts else f"values of type {array.dtype}"
        raise NotCaptured(f"found {found} in {what}; allowed: numbers", frame)
    if array.dtype.kind == "f" and array.dtype.itemsize not in (2, 4, 8):
        array = array.astype("float64")
    if array.ndim == 0:
        raise NotCaptured(f"found one number as {what}; allowed: an array with a row for each example", frame)
    return array


def one_of(value: Any, what: str, frame: Frame | None) -> Any:
    """The one array in a list, tuple or dict of arrays, as models with one input and one output take it."""
    if isinstance(value, dict):
        several = list(value.values())
    elif isinstance(value, (list, tuple)) and value and all(is_array(each) for each in value):
        # Rows that are arrays themselves: Keras takes a list of arrays for several inputs.
        several = list(value)
    else:
        return value
    if len(several) != 1:
        raise NotCaptured(f"found {len(several)} arrays as {what}; allowed: one input and one output", frame)
    return one_of(several[0], what, frame)


def fits(arrays: Iterable[Any], max_data: int, frame: Frame | None) -> None:
    """Raises NotCaptured where arrays need more than `max_data` bytes together."""
    size = sum(array.nbytes for array in arrays)
    if size > max_data:
        raise NotCaptured(
            f"found {shown_size(size)} of data; allowed: {shown_size(max_data)}, or more with --max-data", frame
        )


@dataclass
class Epoch:
    """The batches of one epoch: arrays `x`, `y` and `weights` (ones for a batch without), the sizes of the batches, and
    a digest of each row. `weighted` says that a batch had weights, `cut` that it was ended by the bound of memory,
    `ended` that the stream had no more batches."""

    x: list[Any] = field(default_factory=list)
    y: list[Any] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    weighted: bool = False
    cut: bool = False
    ended: bool = False

    @property
    def batch_size(self) -> int:
        """Rows of a batch: of the largest."""
        return max(self.sizes)

    @property
    def uneven(self) -> int:
        """How many batches before the last are smaller than the largest."""
        return sum(size != self.batch_size for size in self.sizes[:-1])

    def arrays(self) -> tuple[Any, Any, Any]:
        """All rows of the epoch in their order, and their weights: None where there are none."""
        import numpy

        weights = numpy.concatenate(self.weights) if self.weighted else None
        return numpy.concatenate(self.x), numpy.concatenate(self.y), weights


def to_weights(value: Any, count: int, what: str, frame: Frame | None) -> Any:
    """The weights of `count` rows as a vector. Raises NotCaptured where there is not one for each row."""
    array = to_array(one_of(value, what, frame), what, frame)
    if array.shape not in ((count,), (count, 1)):
        shape = "x".join(map(str, array.shape))
        raise NotCaptured(f"found {what} of the shape {shape}; allowed: {count}, one for each row", frame)
    array = array.reshape(-1)
    return array if array.dtype.kind == "f" else array.astype("float32")


def triple(batch: Any, frame: Frame | None) -> tuple[Any, Any, Any]:
    """Features, targets and weights of a batch, None without weights. Raises NotCaptured for batches without
    targets."""
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        kind = f"{len(batch)} parts" if isinstance(batch, (tuple, list)) else type(batch).__name__
        raise NotCaptured(f"found batches of {kind}; allowed: (x, y), (x, y, sample_weight)", frame)
    x = to_array(one_of(batch[0], "x", frame), "x", frame)
    y = to_array(one_of(batch[1], "y", frame), "y", frame)
    if len(x) != len(y):
        raise NotCaptured(f"found a batch of {len(x)} rows of x and {len(y)} of y; allowed: as many", frame)
    given = batch[2] if len(batch) == 3 else None
    return x, y, None if given is None else to_weights(given, len(x), "sample weights", frame)


class Collector:
    """Takes the batches of one epoch: `steps` of them, or all, at most `max_data` bytes. Without `keep` it has the
    digests of the rows alone."""

    def __init__(self, steps: int | None, max_data: int, frame: Frame | None, keep: bool = True):
        self.epoch = Epoch()
        self._steps, self._max_data, self._frame, self._keep = steps, max_data, frame, keep
        self._size = 0

    @property
    def full(self) -> bool:
        """It takes no more."""
        return self.epoch.cut or (self._steps is not None and len(self.epoch.sizes) >= self._steps)

    def take(self, batch: Any) -> None:
        """One more batch."""
        import numpy

        x, y, weights = triple(batch, self._frame)
        self.epoch.weighted |= weights is not None
        weights = numpy.ones(len(x), "float32") if weights is None else weights
        self._size += x.nbytes + y.nbytes
        if self.epoch.sizes and self._size > self._max_data:
            self.epoch.cut = True
            return
        self.epoch.sizes.append(len(x))
        self.epoch.digests += digests(x, y, weights)
        if self._keep:
            self.epoch.weights.append(weights)
            self.epoch.x.append(x)
            self.epoch.y.append(y)


def collect(batches: Iterator[Any], steps: int | None, max_data: int, frame: Frame | None, keep: bool = True) -> Epoch:
    """One epoch of a stream, by a Collector."""
    collector = Collector(steps, max_data, frame, keep)
    while not collector.full:
        try:
            batch = next(batches)
        except StopIteration:
            collector.epoch.ended = True
            break
        collector.take(batch)
    return collector.epoch


def digests(*arrays: Any) -> list[bytes]:
    """A digest of each row of arrays with equally many rows."""
    import numpy

    whole = [numpy.ascontiguousarray(array) for array in arrays]
    return [
        hashlib.blake2b(b"".join(each[i].tobytes() for each in whole), digest_size=8).digest()
        for i in range(len(whole[0]))
    ]


def compared(first: Epoch, second: Epoch | None) -> str:
    """How a second epoch differs: "same", "shuffled" (the same rows in another order), "other" rows, or "unknown"."""
    if second is None or not second.sizes or second.cut or first.cut:
        return "unknown"
    if first.digests == second.digests:
        return "same"
    return "shuffled" if sorted(first.digests) == sorted(second.digests) else "other"
