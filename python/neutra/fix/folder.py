"""The folder of a fix: what is in it, and whether it is still of this script."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .steps import Failed

#: What is written: the captured program, the search's store, the patches, the page and the search's
#: report, the result.
FAULT, STORE, PATCHES, PAGE, REPORT, RESULT, STATE = (
    "captured.json",
    "repairs.h5",
    "patches",
    "fix.html",
    "report.html",
    "fix.json",
    "state.json",
)
_BAD_INPUT = 3


class Folder:
    """The folder, held by one process at a time. Raises Failed where it can't be made or another process works in
    it."""

    def __init__(self, path: Path):
        self.path = path

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Makes the folder and keeps others out."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = open(self.path / "lock", "w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise Failed(
                _BAD_INPUT, f"{self.path}: {error.strerror}; -o FOLDER names one that can be written to"
            ) from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Failed(
                    _BAD_INPUT, f"{self.path}: another neutra fix works there; -o FOLDER names another one"
                ) from None
            yield

    @property
    def fault(self) -> Path:
        return self.path / FAULT

    @property
    def store(self) -> Path:
        return self.path / STORE

    def state(self) -> dict[str, Any]:
        """What the last fix here was of; {}: there was none, or its state can't be read."""
        try:
            found = json.loads((self.path / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def is_of(self, capture: dict[str, Any]) -> bool:
        """Was the same script captured with the same words and options, and are its files and the data as they were?"""
        return self.state().get("capture") == capture and self._unchanged()

    def _unchanged(self) -> bool:
        try:
            section = json.loads(self.fault.read_text(encoding="utf-8"))["script"]
            files = [*section["files"], section["data"]]
            return all(digest(self.path / each["file"]) == each["sha256"] for each in files)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False

    def write(self, name: str, text: str | bytes) -> Path:
        """Writes a file, which takes the place of an older one whole."""
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        new = path.with_name(f"{path.name}.new")
        try:
            new.write_bytes(text.encode() if isinstance(text, str) else text)
            os.replace(new, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink()
            raise Failed(1, f"{path}: {error.strerror}") from None
        return path

    def write_patches(self, patches: dict[str, str]) -> None:
        """Patches by name; older ones go."""
        (self.path / PATCHES).mkdir(exist_ok=True)
        for old in (self.path / PATCHES).glob("*.diff"):
            if old.name not in patches:
                old.unlink()
        for name, diff in patches.items():
            self.write(f"{PATCHES}/{name}", diff)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
