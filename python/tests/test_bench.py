from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Fake

import neutra
from neutra import bench


def test_entries_and_filters(fake: Fake) -> None:
    fake.replies([{"id": 3, "name": "HLR"}], [])
    assert bench.entries("b.h5", subject=["iris", "wine"], deprecated=True).loc[3, "name"] == "HLR"
    assert bench.entries("b.h5", 4).empty
    common = ["--json", "--quiet"]
    filters = ["--subject=iris", "--subject=wine", "--deprecated"]
    assert fake.calls == [
        ["bench", "list", "b.h5", *filters, *common],
        ["bench", "list", "b.h5", "4", *common],
    ]


@pytest.fixture(scope="module")
def benchmark(real: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One fault of a subject that trains in no time."""
    folder = tmp_path_factory.mktemp("bench")
    plan = {
        "format": "neutra-benchmark-plan",
        "version": 1,
        "name": "python",
        "runs": 10,
        "per_operator": 1,
        "subjects": [{"subject": "iris", "operators": ["change_activation_function"]}],
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    made = bench.create(folder / "plan.json", folder / "small.h5", workers=1)
    assert made["entries"] == 1
    return folder / "small.h5"


def test_a_real_benchmark(benchmark: Path, tmp_path: Path) -> None:
    assert bench.info(benchmark)["subjects"][0]["id"] == "iris"
    entries = bench.entries(benchmark)
    assert entries.index.tolist() == [1]
    assert bench.entries(benchmark, subject="iris").index.tolist() == [1]
    assert bench.diff(benchmark, 1)["faults"] == entries.loc[1, "faults"]
    tested = bench.test(benchmark, 1, workers=1)
    assert tested["passed"].tolist() == [True]
    assert tested.attrs["total"] == 1
    folder = bench.checkout(benchmark, "1b", tmp_path / "1b")
    assert neutra.show(folder / "program.json")["hash"] == entries.loc[1, "buggy"]
    (fault,) = bench.export_faults(benchmark, tmp_path / "faults", 1)
    assert neutra.show(fault)["faults"] == entries.loc[1, "faults"]
