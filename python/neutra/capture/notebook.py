"""Capture inside a program or a notebook: `with neutra.capture("fault.json") as c:`."""

from __future__ import annotations

import contextlib
import os
from types import TracebackType
from typing import Any

from . import fault_file
from .recorders import all_recorders
from .recording import EndOfCapture, Frame, NotCaptured, Options, Recording, Session
from .rows import size_of
from .runner import install


class Capture:
    """Records the first training that its block begins, and ends the block there; with `run` it trains to its end.

    Lines of layers and of compile are known where these were made inside the block; what was made before is captured,
    too. At the end of the block the fault file is written, beside it the data: `files` has their names, `notes` what
    was frozen, assumed or left out. Raises NotCaptured, with the place and what is allowed, where no program can hold
    the training, and where the block trains nothing.
    """

    def __init__(
        self,
        output: str | os.PathLike[str] = "fault.json",
        run: bool = False,
        max_data: str | int = "1G",
        weights: bool = False,
        leave_out: bool = False,
    ):
        size = size_of(max_data) if isinstance(max_data, str) else max_data
        self.fault = os.path.abspath(output)
        self.files: dict[str, str] = {}
        self.recording: Recording | None = None
        self._session = Session(Options(run, size, weights, leave_out))
        self._installed = contextlib.ExitStack()

    @property
    def notes(self) -> list[str]:
        """What was frozen, assumed or left out, with its lines."""
        return self.recording.notes if self.recording else []

    @property
    def program(self) -> dict[str, Any]:
        """The captured program (docs/formats/program.md)."""
        return self.recording.program if self.recording else {}

    def __enter__(self) -> Capture:
        self._installed.enter_context(install(self._session, all_recorders()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._installed.close()
        if error is not None and not isinstance(error, EndOfCapture):
            return False
        session = self._session
        session.end()
        if session.refusals:
            raise NotCaptured("\n".join(map(str, session.refusals)))
        if not session.recordings:
            raise NotCaptured("found no training in the block; allowed: a call that trains")
        self.recording = session.recordings[0]
        self.files = fault_file.write(self.recording, self.fault, _file_of(self.recording), []).files
        return True


def _file_of(recording: Recording) -> str:
    """The file, or the cell, that calls fit."""
    frames: list[Frame] = []
    for site in recording.sites:
        if site.path == "/fit" and site.frames:
            frames = site.frames
    return frames[-1].file if frames else "notebook"
