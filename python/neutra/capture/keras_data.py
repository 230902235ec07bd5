"""The rows that Keras's fit was given, as arrays of a program."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from . import rows
from .recording import Frame, NotCaptured, Options
from .streams import Stream, kind_of


@dataclass
class FitData:
    """Data of a fit: `arrays` by the names of the source npz, what they say in the sections `data` and `fit` of the
    program, and notes."""

    arrays: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    fit: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class FitRows:
    """What a call of fit trains on. Arrays are copied at once; streams are read by `finish`, or on their way into the
    script's own training (`x` is what that is to be given)."""

    def __init__(self, arguments: dict[str, Any], options: Options, frame: Frame | None):
        self._arguments = arguments
        self._max_data = options.max_data
        self._leave_out = options.leave_out
        self._frame = frame
        self.x = arguments.get("x")
        self.validation_data = arguments.get("validation_data")
        self._stream: Stream | None = None
        self._validation: Stream | None = None
        self._arrays: dict[str, Any] = {}
        self._notes: list[str] = []
        weights = arguments.get("sample_weight")
        if kind_of(self.x):
            if weights is not None:
                kind = kind_of(self.x)
                raise NotCaptured(f"found sample_weight beside a {kind}; allowed: weights in its batches", frame)
            self._stream = Stream(self.x, self._steps("steps_per_epoch"), options.max_data, frame)
            if options.run and self._stream.one_pass:
                self.x = self._stream.tee()
        else:
            self._take(self.x, arguments.get("y"), weights, "")
            self._check_steps()
        self._take_validation(options.run)
        rows.fits(self._arrays.values(), options.max_data, frame)

    def _steps(self, name: str) -> int | None:
        value = self._arguments.get(name)
        return None if value is None or value == -1 else int(value)

    def _take(self, x: Any, y: Any, weights: Any, part: str) -> None:
        """Keeps the training rows (`part` is empty) or those of validation_data ("_test")."""
        name = " of validation_data" if part else ""
        x, y = self._pair(x, y, name)
        self._arrays[f"x{part}"], self._arrays[f"y{part}"] = x, y
        if weights is None:
            return
        try:
            self._arrays[f"sample_weight{part}"] = rows.to_weights(weights, len(x), f"sample_weight{name}", self._frame)
        except NotCaptured as problem:
            if not self._leave_out:
                raise
            self._notes.append(f"{problem}: left out")

    def _pair(self, x: Any, y: Any, name: str) -> tuple[Any, Any]:
        if x is None or y is None:
            raise NotCaptured(f"found no {'y' if x is not None else 'x'}{name}; allowed: fit(x, y)", self._frame)
        x = rows.to_array(rows.one_of(x, f"x{name}", self._frame), f"x{name}", self._frame)
        y = rows.to_array(rows.one_of(y, f"y{name}", self._frame), f"y{name}", self._frame)
        if len(x) != len(y):
            raise NotCaptured(f"found {len(x)} rows of x and {len(y)} of y; allowed: as many", self._frame)
        return x, y

    def _check_steps(self) -> None:
        """steps_per_epoch beside arrays: all rows, or no program."""
        steps = self._steps("steps_per_epoch")
        batch = self._arguments.get("batch_size") or 32
        needed = math.ceil(self._trained(len(self._arrays["x"])) / batch)
        if steps is not None and steps != needed:
            raise NotCaptured(
                f"found steps_per_epoch = {steps} for arrays with {needed} batches; allowed: {needed}, or none",
                self._frame,
            )

    def _trained(self, rows: int) -> int:
        """How many rows validation_split leaves."""
        split = float(self._arguments.get("validation_split") or 0)
        return math.floor(rows * (1 - split)) if self.validation_data is None else rows

    def _take_validation(self, run: bool) -> None:
        value = self.validation_data
        if value is None:
            return
        if kind_of(value):
            self._validation = Stream(value, self._steps("validation_steps"), self._max_data, self._frame)
            if run and self._validation.one_pass:
                self.validation_data = self._validation.tee()
        elif isinstance(value, (tuple, list)) and len(value) in (2, 3):
            self._take(value[0], value[1], value[2] if len(value) == 3 else None, "_test")
        else:
            parts = f"{len(value)} parts" if isinstance(value, (tuple, list)) else type(value).__name__
            raise NotCaptured(f"found validation_data of {parts}; allowed: (x, y), (x, y, sample_weight)", self._frame)

    def finish(self) -> FitData:
        """All rows. Streams are read now, twice, to see whether their epochs differ. Raises NotCaptured."""
        found = FitData(arrays=dict(self._arrays), notes=list(self._notes))
        epochs = int(self._arguments.get("epochs") or 1)
        shuffle = self._arguments.get("shuffle", True)
        found.fit = {"batch_size": int(self._arguments.get("batch_size") or 32), "epochs": epochs}
        if self._stream:
            frozen = self._stream.freeze(compare=True)
            found.arrays["x"], found.arrays["y"] = frozen.x, frozen.y
            if frozen.weights is not None:
                found.arrays["sample_weight"] = frozen.weights
            found.notes += [f"{self._frame}: {note}" for note in frozen.notes]
            found.fit["batch_size"] = frozen.batch_size
            found.fit["shuffle"] = frozen.shuffle
            if self._stream.kind == "Sequence" and shuffle and not frozen.shuffle:
                found.fit["shuffle"] = True
                found.notes.append(f"{self._frame}: Keras shuffles the batches of a Sequence, the program its rows")
            if not frozen.repeats and epochs > 1:
                found.fit["epochs"] = 1
                found.notes.append(f"{self._frame}: the data end after one of {epochs} epochs, and so does the program")
        else:
            if not isinstance(shuffle, bool):
                raise NotCaptured(f"found shuffle = {shuffle!r}; allowed: True, False", self._frame)
            found.fit["shuffle"] = shuffle
        if self._validation:
            frozen = self._validation.freeze(compare=False)
            found.arrays["x_test"], found.arrays["y_test"] = frozen.x, frozen.y
            if frozen.weights is not None:
                found.arrays["sample_weight_test"] = frozen.weights
            found.notes += [f"{self._frame}: validation_data: {note}" for note in frozen.notes]
        self._parts(found)
        rows.fits(found.arrays.values(), self._max_data, self._frame)
        return found

    def _parts(self, found: FitData) -> None:
        """Names the arrays for what they are in the program: training and test rows."""
        split = float(self._arguments.get("validation_split") or 0)
        if "x_test" in found.arrays:
            found.data["validation"] = "test"
        elif split:
            # The metric is that of the rows that Keras holds back; fit.validation_split takes them off again.
            begin = self._trained(len(found.arrays["x"]))
            found.fit["validation_split"] = split
            found.arrays["x_test"], found.arrays["y_test"] = found.arrays["x"][begin:], found.arrays["y"][begin:]
            found.notes.append(f"{self._frame}: the metric is taken on the rows that validation_split holds back")
        else:
            found.data["test"] = "train"
            return
        if "sample_weight_test" in found.arrays and "sample_weight" not in found.arrays:
            import numpy

            found.arrays["sample_weight"] = numpy.ones(len(found.arrays["x"]), "float32")
        for name in ("x", "y", "sample_weight"):
            if name in found.arrays:
                found.arrays[f"{name}_train"] = found.arrays.pop(name)
