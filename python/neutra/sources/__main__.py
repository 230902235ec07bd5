"""`python -m neutra.sources FAULT.json WANTED.json [--apply]`: the patch that makes a wanted program of a script.

With `--json` for any number of wanted programs: a document with a patch for each, in their order.
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
    options = parser.parse_args(arguments)
    if options.json and options.apply:
        parser.error("--json: found --apply, too; allowed: one of them")
    if len(options.wanted) > 1 and not options.json:
        parser.error(f"found {len(options.wanted)} wanted programs; allowed: one, or --json")
    try:
        script = read_script(options.fault)
        if options.json:
            return _all(script, options.wanted)
        patch = make_patch(script, _program(options.wanted[0]))
        shown = patch.diff
        if options.apply and not patch.refused:
            patch.apply(options.fault.parent)
    except TROUBLES as error:
        print(f"neutra: {error}", file=sys.stderr)
        return 3
    sys.stdout.buffer.write(shown)
    sys.stdout.flush()
    _report(patch)
    if options.apply and patch.refused:
        print("neutra: nothing is written, since not all can be changed", file=sys.stderr)
    return 1 if patch.refused else 0


def _all(script: Script, wanted: list[Path]) -> int:
    """Prints the patches of all wanted programs. One that can't be made says why, and the others are made."""
    patches = [_entry(script, file) for file in wanted]
    print(json.dumps({"format": "neutra-sources", "version": 1, "patches": patches}))
    return 1 if any(patch["refused"] for patch in patches) else 0


def _entry(script: Script, wanted: Path) -> dict[str, Any]:
    try:
        patch = make_patch(script, _program(wanted))
        diff = patch.diff.decode("utf-8", "replace")
    except TROUBLES as error:
        return {"diff": "", "refused": [str(error)], "notes": [], "arguments": None}
    return {
        "diff": diff,
        "refused": [str(refused) for refused in patch.refused],
        "notes": list(patch.notes),
        "arguments": patch.arguments,
    }


def _program(file: Path) -> dict[str, object]:
    document = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(document, dict):
        raise BadFault(f"{file}: found no object; allowed: a program")
    program = document if "model" in document else document.get("program")
    if not isinstance(program, dict):
        raise BadFault(f"{file}: found no program")
    return program


def _report(patch: Patch) -> None:
    for refused in patch.refused:
        print(refused, file=sys.stderr)
    if patch.arguments is not None:
        print(f"run it with: {' '.join(patch.arguments)}", file=sys.stderr)
    for note in patch.notes:
        print(note, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
