"""Changes of texts: spans that are replaced, the unified diff of them, and writing the files."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .text import SourceFile, Span


@dataclass(frozen=True)
class Edit:
    """Replaces a span of a file's text; an empty span inserts."""

    file: str
    span: Span
    text: str


class Overlap(Exception):
    """Two edits want the same characters."""


class Edits:
    """Edits of several files, each only once. They are in the files' order, those at one place in the order in which
    they were added."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._edits)

    def __len__(self) -> int:
        return len(self._edits)

    def copy(self) -> Edits:
        other = Edits()
        other._edits = list(self._edits)
        return other

    def take(self, other: Edits) -> None:
        self._edits = other._edits

    def add(self, file: SourceFile, span: Span, text: str) -> None:
        """Raises Overlap where another edit covers some of the span."""
        edit = Edit(file.name, span, text)
        if edit in self._edits:
            return
        for known in self._edits:
            if known.file == edit.file and _overlap(known.span, span):
                raise Overlap(f"line {file.line_of(span.start)} of {file.name} would be changed in two ways")
        self._edits.append(edit)

    def wrap(self, file: SourceFile, span: Span, before: str, after: str) -> None:
        """Puts texts around an expression. Raises Overlap where something is put there already: which is inside?"""
        for known in self._edits:
            if known.file == file.name and known.span in ((span.start, span.start), (span.end, span.end)):
                raise Overlap(f"line {file.line_of(span.start)} of {file.name} would be changed in two ways")
        self.add(file, Span(span.start, span.start), before)
        self.add(file, Span(span.end, span.end), after)

    def covered(self, file: SourceFile, span: Span) -> bool:
        """Is this span within one that is replaced?"""
        return any(e.file == file.name and e.span.start <= span.start and span.end <= e.span.end for e in self._edits)

    def applied(self, file: SourceFile) -> str:
        """The text of a file after its edits."""
        mine = [edit for edit in self._edits if edit.file == file.name]
        text = file.text
        for _, edit in sorted(enumerate(mine), key=lambda pair: (pair[1].span.start, pair[1].span.end, pair[0]))[::-1]:
            text = text[: edit.span.start] + edit.text + text[edit.span.end :]
        return text

    def without(self, file: SourceFile, span: Span) -> Edits:
        """These edits but for those within a span."""
        other = Edits()
        for edit in self._edits:
            if not (edit.file == file.name and span.start <= edit.span.start and edit.span.end <= span.end):
                other._edits.append(edit)
        return other

    def within(self, file: SourceFile, span: Span) -> str:
        """The text of a span after the edits within it; an insertion right in front of it or behind it isn't."""
        inner = Edits()
        for edit in self._edits:
            inside = span.start <= edit.span.start and edit.span.end <= span.end
            at_edge = edit.span.start == edit.span.end and edit.span.start in span
            if edit.file == file.name and inside and not at_edge:
                inner._edits.append(edit)
        grown = inner.applied(file)
        return grown[span.start : len(grown) - (len(file.text) - span.end)]

    def files(self) -> list[str]:
        """The files that change."""
        return sorted({edit.file for edit in self._edits})


def _overlap(one: Span, other: Span) -> bool:
    if one.start == one.end or other.start == other.end:
        inner, outer = (one, other) if one.start == one.end else (other, one)
        return outer.start < inner.start < outer.end
    return one.start < other.end and other.start < one.end


def unified_diff(changes: Mapping[str, tuple[bytes, bytes]]) -> bytes:
    """What `patch -p1` applies: each file's name with its old and new bytes; an absolute name is seen from the current
    folder where it lies below that, else from /. Lines end where `patch` thinks they do, at line feeds."""
    out: list[bytes] = []
    for name, (old, new) in changes.items():
        if old == new:
            continue
        label = os.fsencode(name.removeprefix(os.path.join(os.getcwd(), "")).lstrip("/"))
        end = b"\t" if b" " in label else b""
        lines = difflib.diff_bytes(
            difflib.unified_diff, _lines(old), _lines(new), b"a/" + label + end, b"b/" + label + end, lineterm=b""
        )
        for line in lines:
            header = line.startswith((b"--- ", b"+++ ", b"@@ ")) and not line.endswith(b"\n")
            out.append(
                line if line.endswith(b"\n") else line + (b"\n" if header else b"\n\\ No newline at end of file\n")
            )
    return b"".join(out)


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


class Unwritten(Exception):
    """Files could not be written; all of them are as they were."""


def write_all(contents: Sequence[tuple[Path, bytes]]) -> None:
    """Writes all files or none: each new content is complete beside its file before the first is put in place. Modes
    stay, links are followed. Raises Unwritten."""
    made: list[tuple[Path, Path, bytes]] = []
    try:
        for path, data in contents:
            target = Path(os.path.realpath(path))
            before = target.read_bytes()
            handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            made.append((target, Path(name), before))
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            shutil.copymode(target, name)
    except OSError as error:
        _discard(new for _, new, _ in made)
        raise Unwritten(f"{error.filename}: {error.strerror}") from None
    done: list[tuple[Path, bytes]] = []
    try:
        for target, new, before in made:
            os.replace(new, target)
            done.append((target, before))
    except OSError as error:
        for target, before in done:
            target.write_bytes(before)
        _discard(new for _, new, _ in made)
        raise Unwritten(f"{error.filename}: {error.strerror}") from None


def _discard(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
