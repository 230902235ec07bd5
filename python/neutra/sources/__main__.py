"""`python -m neutra.sources FAULT.json WANTED.json [--apply]`: the patch that makes a wanted program of a script."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .edits import Unwritten
from .patch import BadFault, Patch, make_patch, read_script
from .text import UnreadableSource


def main(arguments: list[str] | None = None) -> int:
    """0: every difference is in the patch; 1: some aren't; 2: usage; 3: a file that can't be read."""
    parser = argparse.ArgumentParser(prog="python -m neutra.sources", description=__doc__)
    parser.add_argument("fault", type=Path, help="fault file that `neutra capture` wrote")
    parser.add_argument("wanted", type=Path, help="the program that the script shall have, or a fault file with it")
    parser.add_argument("--apply", action="store_true", help="write the files, too")
    options = parser.parse_args(arguments)
    try:
        script = read_script(options.fault)
        patch = make_patch(script, _program(options.wanted))
        shown = patch.diff
        if options.apply and not patch.refused:
            patch.apply(options.fault.parent)
    except (OSError, BadFault, UnreadableSource, ValueError, Unwritten) as error:
        print(f"neutra: {error}", file=sys.stderr)
        return 3
    sys.stdout.buffer.write(shown)
    sys.stdout.flush()
    _report(patch)
    if options.apply and patch.refused:
        print("neutra: nothing is written, since not all can be changed", file=sys.stderr)
    return 1 if patch.refused else 0


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
