"""The user's own lines on the stack: which call, in which of the user's files, made something."""

from __future__ import annotations

import functools
import linecache
import os
import sys
import sysconfig
from itertools import islice
from types import FrameType

from .recording import Frame, Place, Site

_PACKAGES = ("site-packages", "dist-packages")
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib")
    found = {os.path.join(os.path.abspath(sysconfig.get_paths()[name]), "") for name in names}
    return (*sorted(found), os.path.join(_OWN, ""))


_NOT_THE_USERS = _folders()


def is_users(file: str) -> bool:
    """Is this a file of the user: neither Python's, nor of an installed package, nor made by a framework? A cell of a
    notebook is the user's."""
    if file.startswith("<ipython-input"):
        return True
    if file.startswith("<") or "__autograph_generated_file" in file:
        return False
    path = os.path.abspath(file)
    if any(part in _PACKAGES for part in path.split(os.sep)):
        return False
    return not path.startswith(_NOT_THE_USERS) and not _installed(os.path.dirname(path))


@functools.cache
def _installed(folder: str) -> bool:
    """Was a folder, or one around it, filled by pip install --target?"""
    try:
        if any(name.endswith(".dist-info") for name in os.listdir(folder)):
            return True
    except OSError:
        pass
    around = os.path.dirname(folder)
    return around != folder and _installed(around)


def _column(file: str, line: int, offset: int) -> int:
    """The column, from 1 in characters, of a byte offset in a line."""
    text = linecache.getline(file, line)
    return len(text.encode()[:offset].decode("utf-8", "replace")) + 1


def place_of(frame: FrameType) -> Place | None:
    """The expression that a frame evaluates now, where Python keeps it (3.11 and newer)."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return None
    line, end_line, start, end = next(islice(positions(), frame.f_lasti // 2, None), (None,) * 4)
    if line is None or end_line is None or start is None or end is None:
        return None
    file = frame.f_code.co_filename
    return Place(os.path.abspath(file), line, _column(file, line, start), end_line, _column(file, end_line, end))


def stack(depth: int = 1) -> tuple[list[Frame], list[str]]:
    """The user's frames, from the innermost outward, beginning `depth` calls above this one; and the names of the
    functions that stand between here and the first of them, from the outermost inward."""
    found: list[Frame] = []
    through: list[str] = []
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            name = file if file.startswith("<") else os.path.abspath(file)
            place = place_of(frame)
            found.append(Frame(name, frame.f_lineno, frame.f_code.co_name, place and place._replace(file=name)))
        elif not found and not file.startswith(_OWN):
            through.insert(0, frame.f_code.co_name)
        frame = frame.f_back
    return found, through


def user_frames(depth: int = 1) -> list[Frame]:
    """The user's frames alone."""
    return stack(depth + 1)[0]


def first(frames: list[Frame]) -> Frame | None:
    """The innermost of the user's frames, if there is one."""
    return frames[0] if frames else None


def frame_at(sites: list[Site], path: str) -> Frame | None:
    """The user's line behind a JSON pointer: that of the nearest part around it."""
    while path:
        for site in sites:
            if site.path == path and site.frames:
                return site.frames[0]
        path = path.rpartition("/")[0]
    return None
