"""One run of a script for --check: `python -m neutra.capture.check_run RESULT WEIGHTS FAULT NUMBER SCRIPT [ARGUMENTS]`.

Runs the script to its end with random numbers of its own from the first layer on, and writes the weights that the
training ended with.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Callable
from typing import Any

from . import seeds
from .calls import Call, CallLog
from .fault_file import _write_weights
from .recorders import all_recorders
from .recording import Options, Recording, Session
from .runner import run_script

#: Classes that draw no weights, so that making one doesn't begin a model.
_NO_MODEL = ("torch.nn.modules.loss", "torch.optim", "torch.utils", "losses", "optimizers", "metrics", "callbacks")


class Reseeder:
    """Gives random numbers new seeds once the script makes its first layer; seeds that it sets later are replaced."""

    def __init__(self, number: int):
        self.begun = False
        self._count = 0
        self._number = number
        self._inside = False

    def next(self) -> int:
        """A seed of this run: another for each time that the script sets one."""
        self._count += 1
        digest = hashlib.sha256(f"neutra check {self._number} {self._count}".encode()).digest()
        return int.from_bytes(digest[:4], "little") >> 1

    def made(self, thing: Any) -> None:
        """The script makes an object of a framework."""
        module = type(thing).__module__
        if self.begun or any(part in module for part in _NO_MODEL):
            return
        if not any(kind.__name__ in ("Module", "Layer") for kind in type(thing).__mro__):
            return
        self.begun = True
        self.reseed()

    def reseed(self) -> None:
        """New seeds for everything that is imported."""
        self._inside = True
        random.seed(self.next())
        for name, path in (
            ("numpy", "random.seed"),
            ("torch", "manual_seed"),
            ("tensorflow", "random.set_seed"),
            ("keras", "utils.set_random_seed"),
        ):
            function: Any = sys.modules.get(name)
            for part in path.split("."):
                function = getattr(function, part, None)
            if function is not None:
                function(self.next())
        self._inside = False

    def replacing(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """A function that sets a seed, with another one where a model has begun."""

        def set_seed(*args: Any, **kwargs: Any) -> Any:
            if self.begun and not self._inside and (args or kwargs):
                return plain(self.next())
            return plain(*args, **kwargs)

        return set_seed


def watch(reseeder: Reseeder) -> None:
    """Has the recorders' own watchers of constructors and seeds tell the reseeder."""
    note, noting = CallLog.note, seeds._noting

    def heard(log: CallLog, made: Any, call: Call) -> None:
        reseeder.made(made)
        note(log, made, call)

    CallLog.note = heard  # type: ignore[method-assign,assignment]
    seeds._noting = lambda session, plain: noting(session, reseeder.replacing(plain))


def row_marks(arrays: dict[str, Any], test: bool = True) -> list[str]:
    """The rows of all arrays, in no order; with `test` the test rows, too."""
    marks = []
    for part in ("", "_train", "_test") if test else ("", "_train"):
        x, y = arrays.get(f"x{part}"), arrays.get(f"y{part}")
        if x is None or y is None:
            continue
        name = part or "_train"
        rows = [a.tobytes() + b.tobytes() for a, b in zip(x, y)]
        weights = arrays.get(f"sample_weight{part}")
        if weights is not None:
            rows = [row + weight.tobytes() for row, weight in zip(rows, weights)]
        marks += [f"{name}{hashlib.sha256(row).hexdigest()}" for row in rows]
    return sorted(marks)


def same_rows(recording: Recording, fault: str) -> bool:
    """Did the script train and evaluate on the rows that are kept with the fault? What it evaluates on behind its
    training is seen by a run alone, and doesn't count where the fault has no test rows."""
    import numpy

    with open(fault, encoding="utf-8") as file:
        name = json.load(file)["program"]["data"]["arguments"]["file"]
    with numpy.load(os.path.join(os.path.dirname(os.path.abspath(fault)), name)) as kept:
        test = "x_test" in kept
        return row_marks(dict(kept), test) == row_marks(recording.arrays, test)


def main(words: list[str]) -> int:
    """Runs the script; its own words begin at the fifth."""
    result, weights, fault, number, script, *arguments = words
    session = Session(Options(run=True, leave_out=True))
    watch(Reseeder(int(number)))
    found: dict[str, Any] = {}

    def finish(_: Any) -> None:
        session.end()
        if session.refusals:
            found["refused"] = str(session.refusals[0])
        elif not session.recordings:
            found["refused"] = "the script never trained"
        elif session.recordings[0].final_weights is None:
            found["refused"] = f"the weights that {session.recordings[0].framework} ends with were not kept"
        else:
            recording = session.recordings[0]
            final = recording.final_weights or []
            recording.weights = final
            _write_weights(recording, weights)
            mark = hashlib.sha256(b"".join(array.tobytes() for _, _, array in final)).hexdigest()
            found.update(mark=mark, losses=recording.loss_history, rows=same_rows(recording, fault))
        with open(f"{result}.new", "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(f"{result}.new", result)

    run_script(script, arguments, session, all_recorders(), finish)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
