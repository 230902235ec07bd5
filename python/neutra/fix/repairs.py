"""Which repairs of a network are shown, and in which order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Patches that are shown at most.
SHOWN = 5
#: p times the number of programs that were tried, from which on a repair may be chance (Bonferroni).
SIGNIFICANT = 0.05


@dataclass
class Repair:
    """A 1-minimal repair. `node` is its id, `changes` are (key, before, after); `p` and `d` compare it with the buggy
    program. `weak`: among so many programs that were tried, one as good as this may be there by chance. `grown` is the
    number of larger repairs that make its changes, too."""

    node: str
    mean: float
    p: float | None
    d: float | None
    faults: str
    changes: list[tuple[str, str, str]]
    weak: bool = False
    grown: int = 0

    @property
    def types(self) -> str:
        """Its fault types without their layers."""
        return re.sub(r"\([^)]*\)", "", self.faults)


def repairs_of(report: Mapping[str, Any]) -> list[Repair]:
    """The 1-minimal repairs of a report's document, in the order in which they are shown.

    The smallest first. Of equally small ones the best of each fault type comes before the second best of any: five
    values of one setting say less than five different settings. Then those that can't be chance, then the best; of
    equals the one that the search went on from most.
    """
    network = report["network"]
    nodes = [*network["nodes"], *network.get("subpatches", [])]
    within = Counter(str(node["within"]) for node in nodes if node.get("within") is not None)
    tried = max(1, report["evaluated"]["evaluations"])
    found = [
        Repair(
            node=str(node["id"]),
            mean=node["mean"],
            p=node.get("p"),
            d=node.get("d"),
            faults=node.get("difference") or "-",
            changes=changes_of(report["start"], parameters_of(node["parameters"])),
            weak=(node.get("p") or 0) * tried > SIGNIFICANT,
            grown=within[str(node["id"])],
        )
        for node in nodes
        if node.get("minimal") is True and node.get("mean") is not None
    ]
    sign = -1 if network["goal"] == "maximize" else 1
    found.sort(key=lambda each: (sign * each.mean, -each.grown, len(each.node), each.node))
    ranks: Counter[tuple[int, str]] = Counter()
    order = {}
    for place, repair in enumerate(found):
        kind = (len(repair.changes), repair.types)
        order[repair.node] = (len(repair.changes), ranks[kind], repair.weak, place)
        ranks[kind] += 1
    return sorted(found, key=lambda each: order[each.node])


def parameters_of(text: str) -> dict[str, str]:
    """Hyperparameters of a parameter string: "lr=0.1,loss=mse"."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def changes_of(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(key, before, after) of each hyperparameter that differs, by key."""
    keys = sorted({*before, *after})
    return [(key, before.get(key, ""), after.get(key, "")) for key in keys if before.get(key) != after.get(key)]


def unknown_repairs(report: Mapping[str, Any]) -> int:
    """Of how many repairs it isn't known whether they are 1-minimal."""
    return int((report["network"].get("minimal") or {}).get("unknown", 0))


def changed_lines(diff: str) -> list[str]:
    """Where a unified diff changes something, in the old files: "train.py:23"."""
    found: list[str] = []
    name, line = "", 0
    for text in diff.splitlines():
        if text.startswith("--- a/"):
            name = text[len("--- a/") :].rstrip("\t")
        elif text.startswith("@@ "):
            line = int(text.split()[1].split(",")[0].lstrip("-"))
        elif text.startswith("-"):
            found.append(f"{name}:{line}")
            line += 1
        elif text.startswith("+") and not text.startswith("+++ "):
            if not found or found[-1] != f"{name}:{line - 1}":
                found.append(f"{name}:{line}")
        elif text.startswith(" "):
            line += 1
    return list(dict.fromkeys(found))


def words_of(changes: Sequence[tuple[str, str, str]], keys: Mapping[str, Any]) -> list[str]:
    """Changes for people: "activation of layer 6, dense_3: softmax -> sigmoid"."""
    said = []
    for key, before, after in changes:
        about = keys.get(key, {})
        kind = str(about.get("kind", key)).replace("_", " ")
        where = about.get("where", "")
        of = f" of {where}" if where.startswith("layer") else ""
        said.append(f"{kind}{of}: {before} -> {after}")
    return said
