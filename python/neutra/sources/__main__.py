"""`python -m neutra.sources FAULT.json WANTED.json [--apply]`: the patch that makes a wanted program of a script.

With `--json` for any number of wanted programs: a document with a patch for each, in their order. `--diffs FOLDER`
writes their diffs to 0.diff, 1.diff and so on, in the encoding of the script.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .edits import Unwritten
from .patch import BadFault, Patch, Script, make_patch, read_script
from .text import UnreadableSource

#: What makes a file unreadable, or a patch impossible.
TROUBLES = (OSError, BadFault, UnreadableSource, ValueError, Unwritten)


def main(arguments: list[str] | None = None) -> int:
    """0: every difference is in the patch; 1: some aren't; 2: usage; 3: a file that can't be read."""
    parser = argparse.ArgumentParser(prog="python -m neutra.sources", description=__doc__)
    parser.add_argument("fault", type=Path, help="fault file that `neutra capture` wrote")
    parser.add_argument(
        "wanted", type=Path, nargs="+", help="the program that the script shall have, or a fault file with it"
    )
    parser.add_argument("--apply", action="store_true", help="write the files, too")
    parser.add_argument("--json", action="store_true", help="print the patches of all wanted programs as JSON")
    parser.add_argument("--diffs", type=Path, metavar="FOLDER", help="with --json: write the diffs to files, too")
    options = parser.parse_args(arguments)
    if len(options.wanted) > 1 and (options.apply or not options.json):
        parser.error(f"found {len(options.wanted)} wanted programs; allowed: one, or --json without --apply")
    if options.diffs and not options.json:
        parser.error("--diffs: found no --json; allowed: both")
    try:
        script = read_script(options.fault)
        if options.json:
            return _all(script, options)
        patch = make_patch(script, _program(options.wanted[0]))
        shown = patch.diff
        if options.apply and not patch.refused:
            patch.apply(options.fault.parent)
    except TROUBLES as error:
        print(f"neutra: {error}", file=sys.stderr)
        return 3
    sys.stdout.buffer.write(shown)
    sys.stdout.flush()
    for line in _said(patch, options.apply):
        print(line, file=sys.stderr)
    return 1 if patch.refused else 0


def _all(script: Script, options: argparse.Namespace) -> int:
    """Prints the patches of all wanted programs. One that can't be made says why, and the others are made."""
    patches = []
    for number, wanted in enumerate(options.wanted):
        try:
            patch = make_patch(script, _program(wanted))
        except TROUBLES as error:
            patches.append({"diff": "", "refused": [str(error)], "notes": [], "arguments": None, "said": [str(error)]})
            continue
        if options.apply and not patch.refused:
            patch.apply(options.fault.parent)
        if options.diffs:
            (options.diffs / f"{number}.diff").write_bytes(patch.diff)
        patches.append(_entry(patch, options.apply))
    print(json.dumps({"format": "neutra-sources", "version": 1, "patches": patches}))
    return 1 if any(patch["refused"] for patch in patches) else 0


def _entry(patch: Patch, apply: bool) -> dict[str, Any]:
    return {
        "diff": patch.diff.decode("utf-8", "replace"),
        "refused": [str(refused) for refused in patch.refused],
        "notes": list(patch.notes),
        "arguments": patch.arguments,
        "said": _said(patch, apply),
    }


def _program(file: Path) -> dict[str, object]:
    document = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(document, dict):
        raise BadFault(f"{file}: found no object; allowed: a program")
    program = document if "model" in document else document.get("program")
    if not isinstance(program, dict):
        raise BadFault(f"{file}: found no program")
    return program


def _said(patch: Patch, apply: bool) -> list[str]:
    """What a person is told of a patch, by line."""
    said = [str(refused) for refused in patch.refused]
    if patch.arguments is not None:
        said.append(f"run it with: {' '.join(patch.arguments)}")
    said += patch.notes
    if apply and patch.refused:
        said.append("neutra: nothing is written, since not all can be changed")
    return said


if __name__ == "__main__":
    sys.exit(main())
