"""Benchmarks of faulty models (neutra bench; docs/howto/make_a_benchmark.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Union

from .command import Option, PathLike, run
from .frame import Frame, frame_of

Entry = Union[int, str]


def create(plan: PathLike, output: PathLike, *, command: PathLike | None = None, **options: Option) -> dict[str, Any]:
    """Makes the benchmark of a plan, a file or a bundled name. The same call goes on after an interruption.
    Returns how many entries there are, and what has none."""
    result: dict[str, Any] = run("bench", "create", plan, output=output, command=command, **options)
    return result


def info(benchmark: PathLike, *, command: PathLike | None = None) -> dict[str, Any]:
    """The benchmark as a whole: its subjects, and how many entries there are of what."""
    result: dict[str, Any] = run("bench", "info", benchmark, command=command)
    return result


def entries(benchmark: PathLike, *ids: Entry, command: PathLike | None = None, **filters: Option) -> Frame:
    """The entries by id, or those that are named or left by filters: subject="iris", operator="HLR"."""
    rows = run("bench", "list", benchmark, *map(str, ids), command=command, **filters)
    return frame_of(rows).set_index("id") if rows else frame_of([])


def test(benchmark: PathLike, *ids: Entry, command: PathLike | None = None, **options: Option) -> Frame:
    """Trains both versions of entries anew: `passed` where the buggy one fails and the fixed one passes."""
    result = run("bench", "test", benchmark, *map(str, ids), command=command, **options)
    frame = frame_of(result.pop("entries")).set_index("id")
    frame.attrs.update(result)
    return frame


def diff(benchmark: PathLike, entry: Entry, *, command: PathLike | None = None) -> dict[str, Any]:
    """What the fault changed: fault types, and JSON Patches in both directions."""
    result: dict[str, Any] = run("bench", "diff", benchmark, str(entry), command=command)
    return result


def checkout(benchmark: PathLike, entry: str, folder: PathLike, *, command: PathLike | None = None) -> Path:
    """One version of an entry, "3b" (buggy) or "3f" (fixed), as a folder with data, seeds and a Keras script."""
    return Path(run("bench", "checkout", benchmark, entry, work=folder, command=command)["folder"])


def export_faults(
    benchmark: PathLike,
    folder: PathLike,
    *ids: Entry,
    command: PathLike | None = None,
    **filters: Option,
) -> list[Path]:
    """Writes entries as fault files for search, localise and studies; returns the files of the folder."""
    run(
        "bench",
        "export",
        benchmark,
        *map(str, ids),
        format="fault",
        output=folder,
        command=command,
        **filters,
    )
    return sorted(Path(folder).glob("*.json"))
