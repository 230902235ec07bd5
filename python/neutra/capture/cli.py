"""The command line of `python -m neutra.capture`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import fault_file
from .recording import NotCaptured, Options, Recording, Session, shown_file
from .rows import size_of
from .runner import Outcome, Recorder, run_script

USAGE = """python -m neutra.capture [OPTIONS] SCRIPT [ARGUMENTS]
       python -m neutra.capture SCRIPT [ARGUMENTS] -o FAULT.json [OPTIONS]
       python -m neutra.capture SCRIPT -o FAULT.json [OPTIONS] -- [ARGUMENTS]"""


def parser() -> argparse.ArgumentParser:
    """Options of capture; those of the script are none of its business."""
    found = argparse.ArgumentParser(
        prog="neutra capture",
        usage=USAGE,
        description="Runs a training script and makes a program of its first training.",
        allow_abbrev=False,
    )
    add = found.add_argument
    add("-o", "--output", metavar="FAULT.json", help="the fault file (default: the script's name with .json)")
    add("--run", action="store_true", help="let the script train to its end")
    add("--check", type=_count, metavar="N", help="compare N trainings of neutra with N runs of the script")
    add("--max-data", type=_size, metavar="SIZE", help="bytes of data that are kept, such as 512M (1G)")
    add("--weights", action="store_true", help="keep the initial weights")
    add("--leave-out", action="store_true", help="note what no program holds, instead of refusing it")
    add("--json", action="store_true", help="print the result as JSON")
    return found


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a whole number, 2 or more")
    return int(text)


def _size(text: str) -> int:
    try:
        return size_of(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a size such as 512M or 2G") from None


def split_words(words: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Options of capture, the script, and the script's own words.

    Options stand in front of the script; or behind it, from -o on, and then a `--` ends them and more of the script's
    own follow. Everything else behind the script is its own.
    """
    valued = {"-o", "--output", "--check", "--max-data"}
    begin = 0
    while begin < len(words) and words[begin].startswith("-") and words[begin] != "--":
        begin += 2 if words[begin] in valued else 1
    if words[begin : begin + 1] == ["--"]:
        begin += 1
        return list(words[: begin - 1]), _at(words, begin), list(words[begin + 1 :])
    ours, script, rest = list(words[:begin]), _at(words, begin), list(words[begin + 1 :])
    output = next((i for i, word in enumerate(rest) if word == "-o" or word.split("=")[0] == "--output"), None)
    named = any(word == "-o" or word.split("=")[0] == "--output" for word in ours)
    if output is None or named or "--" in rest[:output]:
        return ours, script, rest[1:] if rest[:1] == ["--"] else rest
    end = rest.index("--") if "--" in rest else len(rest)
    return ours + rest[output:end], script, rest[:output] + rest[end + 1 :]


def _at(words: Sequence[str], index: int) -> str | None:
    return words[index] if index < len(words) else None


def say(text: str) -> None:
    """A line of ours, on standard error."""
    for line in text.splitlines():
        print(f"neutra: {line}", file=sys.stderr, flush=True)


class Capture:
    """One call of the command: runs the script, writes the files, says what came of it."""

    def __init__(self, script: str, arguments: list[str], options: argparse.Namespace):
        self.script, self.arguments, self.wanted = script, arguments, options
        self.file = os.path.abspath(script)  # the script may change the folder
        stem = os.path.splitext(os.path.basename(script))[0]
        self.output = os.path.abspath(options.output or f"{stem}.json")
        self.written: fault_file.Written | None = None
        self.problems: list[NotCaptured] = []
        self.session = Session(
            Options(options.run, options.max_data or Options.max_data, options.weights, options.leave_out)
        )

    def finish(self, outcome: Outcome) -> None:
        """Writes the files once the script has ended."""
        session = self.session
        session.read_children()
        session.end()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self.problems = list(session.refusals)
        if session.recordings:
            try:
                self.written = fault_file.write(session.recordings[0], self.output, self.file, self.arguments)
            except NotCaptured as error:
                self.problems.append(error)
        self._report(outcome)

    def _report(self, outcome: Outcome) -> None:
        recording = self.session.recordings[0] if self.session.recordings else None
        if outcome.crash and (self.written or self.problems):
            say(f"{outcome.crash}: {self.script} ended with an error after its first training step")
        if self.written and recording:
            if outcome.ended:
                say(f"{last_line(recording)}: captured at its first training step; what follows did not run")
            for note in recording.notes:
                say(f"note: {note}")
        for problem in self.problems:
            say(str(problem))
        if not self.written and not self.problems:
            say(self._nothing(outcome))
        if self.wanted.json:
            print(json.dumps(self.result(), indent=2))
        elif self.written and recording:
            self._summary(recording)

    def _nothing(self, outcome: Outcome) -> str:
        if self.session.children:
            places = ", ".join(shown_file(place) for place in self.session.children)
            return f"{places}: trained in a process that {self.script} started; allowed: training in its own process"
        known = [name for name in ("tensorflow", "keras", "torch") if name in sys.modules]
        used = f"it imported {' and '.join(known)}" if known else "it imported neither Keras nor PyTorch"
        if outcome.crash:
            return f"{outcome.crash}: {self.script} ended with an error before it trained: no program was written"
        how = f"{self.script} never trained (exit code {outcome.code}): no program was written; {used}"
        return f"{how}; allowed: a script that trains in its own process"

    def _summary(self, recording: Recording) -> None:
        layers = len(recording.program["model"]["config"]["layers"])
        data = ", ".join(f"{name} {'x'.join(map(str, array.shape))}" for name, array in recording.arrays.items())
        print(f"{shown_file(self.output)}: {layers} layers, of {recording.framework}; {data}", flush=True)

    def result(self) -> dict[str, Any]:
        """For --json."""
        recording = self.session.recordings[0] if self.session.recordings else None
        return {
            "format": "neutra-capture",
            "version": 1,
            "script": self.script,
            "files": self.written.files if self.written else {},
            "framework": recording.framework if recording else None,
            "loss_history": recording.loss_history if recording else [],
            "notes": recording.notes if recording else [],
            "refused": [str(problem) for problem in self.problems],
        }


def last_line(recording: Recording) -> str:
    """The line of fit."""
    for site in recording.sites:
        if site.path == "/fit" and site.frames:
            return str(site.frames[0])
    return "the script"


def main(words: Sequence[str], recorders: Mapping[str, Recorder]) -> int:
    """Runs the command. Its exit code: 0 if a program was written, else 1, 2 for a wrong call; with --run that of the
    script where that is not 0."""
    ours, script, arguments = split_words(words)
    options = parser().parse_args(ours)
    if script is None:
        parser().error("found no script; allowed: a Python script")
    capture = Capture(script, arguments, options)
    try:
        outcome = run_script(script, arguments, capture.session, recorders, capture.finish)
    except NotCaptured as error:
        say(str(error))
        return 1
    if options.check and capture.written:
        from . import check

        return int(check.main(capture.session.recordings[0], capture.output, script, arguments, options.check))
    if options.run and outcome.code:
        return outcome.code
    return 0 if capture.written else 1
