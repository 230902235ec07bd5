"""The command line of `python -m neutra.fix`."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..command import ExitCode, NeutraError
from . import folder as names
from . import text
from .folder import Folder
from .page import page
from .repairs import SHOWN, Repair, changed_lines, repairs_of, unknown_repairs, words_of
from .steps import Failed, Interrupted, call, checked, interruptible, needed, run_process, say

#: Trainings of each program.
_REPLICAS = 10
#: Trainings of each tool.
_RUNS = 3
#: Seconds that the tools may take together, those that train many mutants separately.
_PATIENCE = 45.0
_MANY_TRAININGS = ("deepfault", "deepmufl")
#: Sub-patches that are trained, and seconds for them, to tell which repairs are 1-minimal.
_MINIMISED, _MINIMISE_PATIENCE = 200, 20.0
#: Repairs that are tried until there are enough patches.
_TRIED = 20


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options of fix, and the script with its own words, which stand behind the options or behind --."""
    for index, word in enumerate(words):
        if word == "--":
            return list(words[:index]), list(words[index + 1 :])
        if not word.startswith("-"):
            return list(words[:index]), list(words[index:])
    return list(words), []


def parser() -> argparse.ArgumentParser:
    """Options of fix, those with values as --NAME=VALUE."""
    found = argparse.ArgumentParser(prog="neutra fix", description=__doc__, allow_abbrev=False)
    add = found.add_argument
    add("-o", "--output", metavar="FOLDER", help="where everything is written (default: SCRIPT-fix)")
    add("--budget-time", metavar="TIME")
    add("--budget-evaluations", metavar="N")
    add("--max-data", metavar="SIZE")
    add("--leave-out", action="store_true")
    add("--seed", default="0", metavar="N")
    add("--workers", metavar="N")
    add("--fault-types", type=json.loads, default={}, help="what the abbreviations in answers mean, as JSON")
    add("--json", action="store_true")
    add("--quiet", action="store_true")
    return found


def goes_on(before: Any, now: dict[str, Any]) -> bool:
    """Can a search with the settings `now` go on from a store that was made with `before`? Its budget may grow."""
    if not isinstance(before, dict) or {**before, "budget": None} != {**now, "budget": None}:
        return False
    for kind, amount in now["budget"].items():
        earlier = before["budget"].get(kind)
        if (amount is None) != (earlier is None) or (amount is not None and _amount(amount) < _amount(earlier)):
            return False
    return True


def _amount(text: str) -> float:
    """A budget as a number: evaluations, or seconds of "1h30m"."""
    units = {"d": 86400, "h": 3600, "m": 60, "s": 1, "": 1}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([0-9.]+)([dhms]?)", text))


class Fix:
    """One call of the command."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.script = Path(os.path.abspath(options.script))
        stem = self.script.stem or "script"
        self.folder = Folder(Path(os.path.abspath(options.output or f"{stem}-fix")))
        self.quiet = options.quiet
        #: Patches name files as seen from here.
        self.base = Path.cwd() if self.script.is_relative_to(Path.cwd()) else self.script.parent

    def run(self) -> int:
        """All steps; the exit code."""
        if not self.script.is_file():
            raise Failed(ExitCode.BAD_INPUT, f"{self.options.script}: no such file; allowed: a Python script")
        with self.folder.held():
            self._capture()
            self._tell("asking what tools say of it")
            tools = self._tools()
            report = self._search()
            result = self._result(report, tools)
        print(
            text.as_json(result) if self.options.json else text.for_people(result, self.folder.path), end="", flush=True
        )
        return ExitCode.DONE if result["patches"] else ExitCode.FAILED

    def _tell(self, line: str) -> None:
        if not self.quiet:
            say(line)

    def _capture(self) -> None:
        options = self.options
        wanted = {
            "script": str(self.script),
            "arguments": options.arguments,
            "max_data": options.max_data,
            "leave_out": options.leave_out,
            "python": sys.executable,
        }
        if self.folder.is_of(wanted):
            self._tell(f"{options.script} is as it was: {self.folder.fault} is what was captured of it")
            return
        self._tell(f"running {options.script} up to its first training step")
        words = [sys.executable, "-m", "neutra.capture", f"--output={self.folder.fault}"]
        words += [f"--max-data={options.max_data}"] if options.max_data else []
        words += ["--leave-out"] if options.leave_out else []
        # What the script prints is none of the result.
        done = run_process([*words, "--", options.script, *options.arguments], stdout=sys.stderr.fileno())
        if done.returncode:
            raise Failed(ExitCode.FAILED, f"{options.script}: no training of it was captured; nothing can be fixed")
        self.folder.write(names.STATE, text.as_json({"capture": wanted}))

    def _tools(self) -> list[dict[str, Any]]:
        listed = needed("localise", "--list", quiet=True)
        all_names = [each["tool"] for each in listed]
        slow = [name for name in all_names if name.startswith(_MANY_TRAININGS)]
        found: dict[str, dict[str, Any]] = {}
        for group in ([name for name in all_names if name not in slow], slow):
            words = [str(self.folder.fault), f"--runs={_RUNS}", f"--seed={self.options.seed}", *self._workers()]
            words += [f"--tool={name}" for name in group]
            code, said = call("localise", *words, quiet=self.quiet, limit=_PATIENCE)
            if said is None:
                self._tell(
                    f"no answer of {', '.join(group)}: " + ("out of time" if code == 75 else f"exit code {code}")
                )
            for tool in (said or {}).get("tools", []):
                places = [place for fault in tool.get("faults", []) for place in fault["places"]]
                lines = list(dict.fromkeys(f"{self._seen(place['file'])}:{place['line']}" for place in places))
                found[tool["tool"]] = {"tool": tool["tool"], "answer": tool["answer"], "lines": lines}
        return [found[name] for name in all_names if name in found]

    def _seen(self, file: str) -> str:
        """A file of the captured fault, as patches name it."""
        path = os.path.join(self.folder.path, file)
        return path.removeprefix(os.path.join(self.base, ""))

    def _workers(self) -> list[str]:
        return [f"--workers={self.options.workers}"] if self.options.workers else []

    def _search(self) -> Any:
        options = self.options
        budgets = [f"--budget-evaluations={options.budget_evaluations}"] if options.budget_evaluations else []
        budgets += [f"--budget-time={options.budget_time}"] if options.budget_time else []
        words = [str(self.folder.fault), f"--store={self.folder.store}", "--improve", f"--replicas={_REPLICAS}"]
        words += [f"--seed={options.seed}", *self._workers(), *budgets]
        # A store of another program, or of options that it can't go on with, is begun anew.
        state = self.folder.state()
        budget = {"evaluations": options.budget_evaluations, "seconds": options.budget_time}
        settings = {"seed": options.seed, "fault": names.digest(self.folder.fault), "budget": budget}
        fresh = [] if goes_on(state.get("search"), settings) else ["--fresh"]
        self.folder.write(names.STATE, text.as_json({**state, "search": settings}))
        self._tell("trying small changes of it")
        code, found = call("search", *words, *fresh, quiet=self.quiet)
        if code == ExitCode.BAD_INPUT and not fresh:
            say("that search was begun by another version of neutra: it begins anew")
            code, found = call("search", *words, "--fresh", quiet=self.quiet)
        checked("search", code, found)
        report = self._report()
        if len(repairs_of(report)) < SHOWN and unknown_repairs(report):
            self._tell("looking for the smallest changes")
            limit = None if options.budget_evaluations else _MINIMISE_PATIENCE
            more = ["--minimise", f"--budget-minimise={_MINIMISED}"]
            call("search", *words, *more, quiet=self.quiet, limit=limit)
            report = self._report()
        return report

    def _report(self) -> Any:
        store = str(self.folder.store)
        needed("report", store, f"--output={self.folder.path / names.REPORT}", quiet=True)
        document = self.folder.path / "report.json"
        os.environ["NEUTRA_PATCHES"] = "off"
        needed("report", store, "--format=json", f"--output={document}", quiet=True)
        del os.environ["NEUTRA_PATCHES"]
        found = text.read_json(document)
        document.unlink()
        return found

    def _result(self, report: Any, tools: list[dict[str, Any]]) -> dict[str, Any]:
        network = report["network"]
        patches: list[dict[str, Any]] = []
        refused: list[dict[str, Any]] = []
        files: dict[str, str] = {}
        for repair in repairs_of(report)[:_TRIED]:
            if len(patches) == SHOWN:
                break
            made = self._patch(repair)
            words = words_of(repair.changes, report["keys"])
            if not made["whole"]:
                refused.append({"node": repair.node, "changes": words, "notes": made["notes"]})
                continue
            name = f"{len(patches) + 1}_{made['name']}"
            files[name] = made["diff"]
            patches.append(
                {
                    "node": int(repair.node) if repair.node.isdigit() else repair.node,
                    "faults": repair.faults,
                    "mean": repair.mean,
                    "p": repair.p,
                    "d": repair.d,
                    "weak": repair.weak,
                    "files": made["files"],
                    "diff": made["diff"],
                    "lines": changed_lines(made["diff"]),
                    "changes": words,
                    "notes": made["notes"],
                    "patch": str(self.folder.path / names.PATCHES / name),
                }
            )
        self.folder.write_patches(files)
        named = re.findall(r"\w+", " ".join([each["faults"] for each in patches] + [each["answer"] for each in tools]))
        result = {
            "format": "neutra-fix",
            "version": 1,
            "program": self.options.script,
            "metric": network["metric"],
            "goal": network["goal"],
            "buggy": network["nodes"][0]["mean"],
            "patches": patches,
            "tools": tools,
            "fault_types": {kind: meaning for kind, meaning in self.options.fault_types.items() if kind in named},
            "refused": refused,
            "programs": report["evaluated"]["evaluations"],
            "folder": str(self.base),
            "page": str(self.folder.path / names.PAGE),
            "store": str(self.folder.store),
        }
        self.folder.write(names.PAGE, page(result))
        self.folder.write(names.RESULT, text.as_json(result))
        return result

    def _patch(self, repair: Repair) -> dict[str, Any]:
        words = [str(self.folder.store), f"--node={repair.node}", f"--python={sys.executable}"]
        before = os.getcwd()
        os.chdir(self.base)
        try:
            code, said = call("patch", *words, quiet=True)
        finally:
            os.chdir(before)
        if code not in (ExitCode.DONE, ExitCode.FAILED) or said is None:
            raise Failed(code if code > 0 else ExitCode.FAILED, f"neutra patch of node {repair.node} failed")
        made: dict[str, Any] = said["patches"][0]
        return made

    def again(self) -> str:
        """The command that goes on, for a shell."""
        words = [word for word in self.options.words if not word.startswith("--fault-types=")]
        return shlex.join(["neutra", "fix", f"--python={sys.executable}", *words])


def _close_output() -> None:
    """What can't be written to standard output is not tried again at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(words: Sequence[str]) -> int:
    """Runs the command. 0: there is a patch; 1: none was found, or a step failed; 2: wrong words; 3: bad input; 75:
    interrupted, and the same command goes on."""
    ours, script = split_words(words)
    options = parser().parse_args(ours)
    if not script:
        parser().error("found no script; allowed: a Python script")
    options.words, options.script, options.arguments = list(words), script[0], script[1:]
    if not options.budget_time and not options.budget_evaluations:
        options.budget_time = "1m"
    os.environ["NEUTRA_PYTHON"] = sys.executable
    fix = Fix(options)
    try:
        with interruptible():
            return fix.run()
    except Interrupted:
        say(f"interrupted; what was found so far is kept. The same command goes on: {fix.again()}")
        return ExitCode.INTERRUPTED
    except Failed as error:
        if error.message:
            print(f"neutra: error: {error.message}", file=sys.stderr)
        return error.code
    except BrokenPipeError:
        _close_output()
        return 128 + signal.SIGPIPE
    except (NeutraError, OSError, subprocess.SubprocessError) as error:
        _close_output()
        print(f"neutra: error: {error}", file=sys.stderr)
        return ExitCode.FAILED
