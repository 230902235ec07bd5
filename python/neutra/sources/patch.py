"""The patch of the user's own files that makes another program of a script.

The differences of the script's program and the wanted one become edits of the text: a literal is replaced where the
value is written, an argument is added where a default was, layers are left out, copied or added in the way in which the
script puts them into its model. A difference that has no edit is refused, with the reason and the place.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from ..capture.recording import Place, Site
from .difference import LAYERS, Added, Change, Removed, changes
from .edits import Edits, Overlap, unified_diff, write_all
from .keras_script import KerasScript
from .layer_edits import LayerEdits
from .reasons import CannotChange
from .sites import layer_number, site_of_json
from .source_map import SourceMap
from .text import UnreadableSource
from .torch_script import TorchScript

Difference = Union[Change, Removed, Added]


class BadFault(Exception):
    """A fault file without a script, or files that aren't those that it was captured from."""


@dataclass(frozen=True)
class Refused:
    """A difference that isn't in the patch."""

    difference: Difference
    reason: str
    place: Place | None = None

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place is not None else ""
        return f"{where}cannot be changed here: {self.difference}: {self.reason}"


@dataclass
class Script:
    """A captured script: its program, the calls that made it, and the bytes of its files by the names that the calls'
    frames have. `arguments` is its command line."""

    program: Mapping[str, Any]
    sites: Sequence[Site]
    files: Mapping[str, bytes]
    framework: str = "keras"
    arguments: Sequence[str] = ()


@dataclass
class Patch:
    """What has to change in the user's files.

    `contents` are old and new bytes by file. `differences` are those that are in the patch, `refused` the others.
    `arguments` is the command line with which the patched script has to run, None where it stays. `notes` say what
    else the reader should know.
    """

    contents: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    arguments: list[str] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def diff(self) -> bytes:
        """A unified diff with names a/FILE and b/FILE, which `patch -p1` applies; each file in its own encoding."""
        return unified_diff(self.contents)

    def apply(self, folder: Path) -> list[Path]:
        """Writes the changed files, all of them or none; names are relative to `folder`. Raises Unwritten."""
        changed = [(folder / name, new) for name, (old, new) in self.contents.items() if old != new]
        write_all(changed)
        return [path for path, _ in changed]


def make_patch(script: Script, wanted: Mapping[str, Any]) -> Patch:
    """The patch that turns a script into one whose program is `wanted`. Raises UnreadableSource, ValueError."""
    source_map = SourceMap(script.sites, script.files, script.program, script.arguments)
    return _Maker(source_map, script, wanted).patch()


class _Maker:
    """Makes one patch; each difference is an edit as a whole, or refused."""

    def __init__(self, source_map: SourceMap, script: Script, wanted: Mapping[str, Any]):
        self.map = source_map
        self.differences = changes(script.program, wanted)
        self.removed = {each.layer for each in self.differences if isinstance(each, Removed)}
        copied = {each.copy_of for each in self.differences if isinstance(each, Added) and each.copy_of is not None}
        values = {each.path: each.new for each in self.differences if isinstance(each, Change)}
        values = {path: new for path, new in values.items() if layer_number(path) not in self.removed}
        language = TorchScript if script.framework.startswith("torch") else KerasScript
        self.script: KerasScript | TorchScript = language(source_map, script.framework, wanted, values)
        self.script.values.removed, self.script.values.copied = self.removed, copied
        new = (each for each in self.differences if isinstance(each, Added) and each.copy_of is None)
        self.script.values.inserted = {each.after for each in new if each.after + 1 not in self.removed}
        self.layers = LayerEdits(source_map, self.removed, copied)
        self.edits = Edits()
        self.result = Patch()
        self._optimizer_done = False

    def patch(self) -> Patch:
        swaps = self._swaps()
        for each in self.differences:
            if isinstance(each, Change):
                self._try(each, lambda edits, each=each: self.script.value(each, edits))  # type: ignore[misc]
        for each in self.differences:
            if isinstance(each, Added):
                self._try(each, self._adding(each, swaps))
        for each in self.differences:
            if isinstance(each, Removed) and each.layer not in swaps.values():
                self._try(each, self._removing(each))
        for name in self.edits.files():
            file = self.map.sources.files[name]
            text = self.edits.applied(file)
            ast.parse("\n".join(text.splitlines()))
            self.result.contents[name] = (file.data, file.encode(text))
        values = self.script.values
        self.result.notes = values.notes
        if values.arguments != self.map.arguments:
            self.result.arguments = values.arguments
        return self.result

    def _swaps(self) -> dict[int, int]:
        """Layers that take another one's place: the number of the difference that adds one, and the layer that goes."""
        found = {}
        for number, each in enumerate(self.differences):
            if isinstance(each, Added) and each.copy_of is None and each.place == 0 and each.after + 1 in self.removed:
                found[number] = each.after + 1
        return found

    def _adding(self, added: Added, swaps: Mapping[int, int]) -> Callable[[Edits], None]:
        def edit(edits: Edits) -> None:
            instead = swaps.get(self.differences.index(added))
            if added.place > 0 and added.copy_of is not None:
                raise CannotChange("more than one copy of a layer")
            if added.copy_of is not None:
                self.script.copy(added.copy_of, self.layers, edits)
            else:
                before = len(edits)
                self.script.layer(added, self.layers, edits, instead)
                if added.place > 0 and len(edits) == before:
                    raise CannotChange("two equal layers in one place")

        return edit

    def _removing(self, removed: Removed) -> Callable[[Edits], None]:
        return lambda edits: self.script.remove(removed.layer, self.layers, edits)

    def _try(self, difference: Difference, edit: Callable[[Edits], None]) -> None:
        edits = self.edits.copy()
        try:
            if reason := self.script.forbidden(difference):
                raise CannotChange(reason)
            edit(edits)
        except CannotChange as error:
            self._refuse(difference, error.reason, error.at.place if error.at is not None else None)
        except Overlap as error:
            self._refuse(difference, str(error), None)
        else:
            self.edits.take(edits)
            self.result.differences.append(difference)

    def _refuse(self, difference: Difference, reason: str, place: Place | None) -> None:
        if place is None:
            place = self._nearest(difference)
        self.result.refused.append(Refused(difference, reason, place))

    def _nearest(self, difference: Difference) -> Place | None:
        """The place of what a difference is about, or of what that is part of."""
        if isinstance(difference, Change):
            path = difference.path
        else:
            layer = difference.layer if isinstance(difference, Removed) else max(difference.after, 0)
            path = f"{LAYERS}/{layer}"
        while path:
            found = [slot.at for slot in self.map.slots if slot.path == path]
            found += [made.call for made in self.map.made if made.site.path == path]
            for at in found:
                if at is not None:
                    return at.place
            path = path.rpartition("/")[0]
        return None


def read_script(fault: Path) -> Script:
    """The script of a fault file that was captured, with the text of its files. Raises OSError, BadFault."""
    try:
        document = json.loads(fault.read_text(encoding="utf-8"))
        if "script" not in document:
            raise BadFault(f"{fault}: found no section 'script'; allowed: a fault that neutra capture made of a script")
        program, section = document["program"], document["script"]
        sites = [site_of_json(entry["site"], entry["file"]) for entry in section["places"] if "site" in entry]
        names = [(entry["file"], entry["sha256"]) for entry in section["files"]]
        framework, arguments = section["framework"], section["arguments"]
        if isinstance(program, str):
            program = json.loads((fault.parent / program).read_text(encoding="utf-8"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFault(f"{fault}: not a fault that was captured from a script: {error!r}") from None
    except FileNotFoundError as error:
        raise BadFault(f"{error.filename}: no such file; a fault that was captured from a script has it") from None
    files = {}
    for name, digest in names:
        data = (fault.parent / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise BadFault(f"{name} has changed since it was captured; capture it again")
        files[name] = data
    _name_frames(sites, fault.parent, files)
    return Script(program, sites, files, framework, arguments)


def _name_frames(sites: Sequence[Site], folder: Path, files: Mapping[str, bytes]) -> None:
    """Gives the files of frames the names that the fault file has for them, absolute ones outside its folder."""
    names = {os.path.abspath(folder / name): name for name in files}
    for site in sites:
        for number, frame in enumerate(site.frames):
            name = names.get(os.path.abspath(folder / frame.file), frame.file)
            place = frame.place._replace(file=name) if frame.place is not None else None
            site.frames[number] = frame._replace(file=name, place=place)


__all__ = ["BadFault", "Patch", "Refused", "Script", "UnreadableSource", "make_patch", "read_script"]
