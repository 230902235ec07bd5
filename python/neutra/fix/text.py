"""What a fix says: for people, and as JSON."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: More faults than these in a choice are not told one by one.
_FEW = 3
#: Answers of tools that name nothing.
NOTHING = ("-", "N/A", "")


def as_json(document: Any) -> str:
    """A document as the command prints JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def number(value: float | None) -> str:
    """Four digits for people."""
    return "not a number" if value is None else f"{value:.4g}"


def for_people(result: Mapping[str, Any], folder: Path) -> str:
    """The result for somebody who has a script that learns badly, and knows nothing else."""
    better = "higher" if result["goal"] == "maximize" else "lower"
    lines = [
        f"{result['program']} as it is: {result['metric']} {number(result['buggy'])} ({better} is better; "
        f"mean of several trainings)",
        "",
        *_tools(result["tools"], result["fault_types"]),
    ]
    patches = result["patches"]
    if not patches:
        lines += _none(result)
    for index, patch in enumerate(patches, 1):
        lines += _patch(index, len(patches), patch, result)
    for refused in result["refused"][: 0 if patches else 5]:
        lines.append(f"would help, but can't be written as a patch: {'; '.join(refused['changes'])}")
        lines += [f"  {note}" for note in refused["notes"]]
    lines += ["", f"All programs that were tried: {_shown(result['page'])} (open it in a browser)"]
    return "\n".join(lines).rstrip() + "\n"


def faults_in_words(answer: str, meanings: Mapping[str, str]) -> str:
    """An answer in the study's notation for people: "ACH(1), HLR" becomes "wrong activation function in layer 1; wrong
    learning rate". A choice of many faults of the same layers becomes "something in layer 1"."""
    said = []
    for choice in re.findall(r"(?:\([^)]*\)|[^,])+", answer):
        faults = [re.fullmatch(r"\s*(\w+)(?:\(([\d,\s]*)\))?\s*", each) for each in choice.split("|")]
        if not all(faults):
            return answer
        named = [(fault[1], fault[2] or "") for fault in faults if fault]
        layers = {where for _, where in named}
        if len(named) > _FEW and len(layers) == 1:
            said.append(f"something{_where(named[0][1])}")
        else:
            said.append(" or ".join(f"{meanings.get(kind, kind)}{_where(where)}" for kind, where in named))
    return "; ".join(said)


def _where(layers: str) -> str:
    return "" if not layers else f" in layer{'s' if ',' in layers else ''} {layers}"


def _tools(tools: Sequence[Mapping[str, Any]], meanings: Mapping[str, str]) -> list[str]:
    """Tools with the same answer on one line."""
    said: dict[tuple[str, str], list[str]] = {}
    silent = []
    for tool in tools:
        if tool["answer"] in NOTHING:
            silent.append(tool["tool"])
        else:
            said.setdefault((", ".join(tool["lines"]), tool["answer"]), []).append(tool["tool"])
    if not said:
        return ["No fault-localisation tool names a fault.", ""]
    lines = ["What fault-localisation tools suspect (they often disagree; layers count from 0):"]
    for (places, answer), names in sorted(said.items(), key=lambda item: -len(item[1])):
        where = f"{places}: " if places else ""
        lines.append(f"  {where}{faults_in_words(answer, meanings)} ({', '.join(names)})")
    if silent:
        lines.append(f"  nothing: {', '.join(silent)}")
    return [*lines, ""]


def _patch(index: int, count: int, patch: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    of = "the only one found" if count == 1 else f"{index} of {count}"
    before, after = number(result["buggy"]), number(patch["mean"])
    chance = patch["p"]
    p = "" if chance is None else f" (p = {chance:.2g})"
    apply = f"patch -p1 -d {shlex.quote(_shown(result['folder']))} < {shlex.quote(_shown(patch['patch']))}"
    return [
        f"Patch {of}: {result['metric']} {before} -> {after}{p}",
        *(f"  {change}" for change in patch["changes"]),
        *(["  weak: among so many programs, one may be as much better by chance"] if patch["weak"] else []),
        f"  at {', '.join(patch['lines'])}; apply it: {apply}",
        *(f"  {note}" for note in patch["notes"]),
        "",
        patch["diff"].rstrip("\n"),
        "",
    ]


def _none(result: Mapping[str, Any]) -> list[str]:
    return [
        f"No patch was found: none of {result['programs']} programs that were tried is clearly better.",
        "The same command with --budget-time 10m looks further.",
    ]


def _shown(path: str) -> str:
    """A path for people: relative where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path
