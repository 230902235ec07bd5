"""What recorders make of a script: a program, its data, and the calls that made each part of it.

No framework is imported here. A recorder (keras_recorder, torch_recorder) has a table HOOKS: name of a module ->
function(session, log, module), which runner calls once the script has imported that module. The function wraps what it
must, fills a Recording at the first training step and hands it to the Session. fault_file writes it;
sources.source_map finds the places in the text.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

#: Bytes of data that are kept where --max-data says nothing.
DEFAULT_MAX_DATA = 1 << 30


_HERE = os.path.join(os.getcwd(), "")


def shown_file(file: str) -> str:
    """A file's name for people: relative where it lies below the folder in which capture was started."""
    return file.removeprefix(_HERE)


class Place(NamedTuple):
    """An expression in a file: lines and columns count from 1, columns in characters; the end is the column behind
    the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{shown_file(self.file)}:{self.line}"


class Frame(NamedTuple):
    """A call on the stack that stands in a file of the user: `place` is the call's expression where Python knows it
    (3.11 and newer), else None; `function` is the function around it, "<module>" at the top."""

    file: str
    line: int
    function: str
    place: Place | None = None

    def __str__(self) -> str:
        return f"{shown_file(self.file)}:{self.line}"


class NotCaptured(Exception):
    """Something in the script that no program can hold. `frame` is where, as far as it is known."""

    def __init__(self, message: str, frame: Frame | Place | None = None):
        super().__init__(f"{frame}: {message}" if frame else message)
        self.message = message
        self.frame = frame


class EndOfCapture(BaseException):
    """Ends the script at its first training step; no `except Exception` of the script catches it."""


@dataclass
class Site:
    """A call that made a part of the program: a layer, an optimiser, `compile`, `fit`, a DataLoader.

    `name` is what was called ("Dense", "fit"), `path` the JSON pointer of what it made ("/model/config/layers/2").
    `frames` are the user's frames, from the innermost outward: a layer that a helper makes has the line in the helper,
    then the line that calls the helper. `arguments` maps each argument, given or not, to the JSON pointer that it sets;
    `parameters` are the names of the callable's positional parameters in order (without self), so that a positional
    argument can be told; `given` are those that the call passed.
    """

    name: str
    path: str
    frames: list[Frame] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)


@dataclass
class Recording:
    """One training as a script asked for it.

    `framework` is its name and version ("tf.keras 2.15.0", "keras 3.15.1 (jax)", "torch 2.15.0"). `program` is a whole
    neutra-program; its data section has at most `validation` and `split` until fault_file completes it. `arrays` are
    NumPy arrays x_train, y_train, x_test, y_test, or x and y. `weights` are (layer, name, array) before the first step,
    layers counted as in the program, `final_weights` those behind the last step. `loss_history` has the loss of each
    epoch where the script trained to its end. `notes` say what was frozen, assumed or left out, each with its place.
    `random_seeds` are calls that set a seed.
    """

    framework: str
    program: dict[str, Any]
    arrays: dict[str, Any] = field(default_factory=dict)
    weights: list[tuple[int, str, Any]] | None = None
    final_weights: list[tuple[int, str, Any]] | None = None
    loss_history: list[float] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    random_seeds: list[Frame] = field(default_factory=list)


@dataclass
class Options:
    """What the user asked for: `run` trains to the end, `max_data` is in bytes, `weights` keeps the initial weights,
    `leave_out` notes what changes the training and no program holds, instead of refusing it."""

    run: bool = False
    max_data: int = DEFAULT_MAX_DATA
    weights: bool = False
    leave_out: bool = False


class Session:
    """One capture: its options and what the recorders found, in the order of the script.

    A process that the script forks trains as if alone: what it trains is only named.
    """

    def __init__(self, options: Options):
        self.options = options
        self.recordings: list[Recording] = []
        self.refusals: list[NotCaptured] = []
        self.random_seeds: list[Frame] = []
        self.children: list[str] = []
        self._owner = os.getpid()
        self._at_end: list[Callable[[], None]] = []
        self._file: int | None = None

    @property
    def done(self) -> bool:
        """A training was recorded or refused: further ones are only noted."""
        return bool(self.recordings or self.refusals)

    def is_child(self, place: Frame | None) -> bool:
        """Is this a process that the script has forked? Then recorders do nothing. `place` is where it trains."""
        if os.getpid() == self._owner:
            return False
        if self._file is not None:
            os.write(self._file, f"{place or 'somewhere'}\n".encode())
        return True

    def captured(self, recording: Recording) -> None:
        """A recorder has a training; its script is about to take the first step. Raises EndOfCapture unless the script
        is to run to its end."""
        recording.random_seeds = self.random_seeds
        self.recordings.append(recording)
        self.stop()

    def refused(self, *errors: NotCaptured) -> None:
        """A training that no program can hold, for these reasons. Raises EndOfCapture unless the script is to run to
        its end."""
        self.refusals.extend(errors)
        self.stop()

    def stop(self) -> None:
        """Raises EndOfCapture unless the script is to run to its end: also where the script caught the first one."""
        if not self.options.run:
            raise EndOfCapture

    def again(self, what: str, frame: Frame | None) -> None:
        """A further training of the script, which isn't captured: noted with the first one."""
        text = f"{frame}: {what} again" if frame else f"{what} again"
        for recording in self.recordings[:1]:
            note = f"{text}: captured is the first training alone"
            if note not in recording.notes:
                recording.notes.append(note)

    def at_end(self, function: Callable[[], None]) -> None:
        """Has a function called once the script has ended, when nothing it draws or reads can change the script."""
        self._at_end.append(function)

    def end(self) -> None:
        """Calls what waits for the end of the script. What cannot be captured after all becomes a refusal."""
        while self._at_end:
            try:
                self._at_end.pop(0)()
            except NotCaptured as error:
                self.refusals.append(error)
                self.recordings.clear()

    def watch_children(self, file: int | None) -> None:
        """Where forked processes write the places at which they train: an open file."""
        self._file = file

    def read_children(self) -> None:
        """Reads those places."""
        if self._file is not None:
            os.lseek(self._file, 0, os.SEEK_SET)
            text = os.read(self._file, 1 << 16).decode()
            self.children = list(dict.fromkeys(text.splitlines()))
            self._file = None
