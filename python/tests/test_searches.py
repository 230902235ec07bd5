from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import SLOW, Fake

import neutra


def row(state: str, evaluations: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "fault": "D6",
        "state": state,
        "nodes": 9,
        "alternatives": 2,
        "evaluations": evaluations,
        "evaluations_an_hour": None,
        "hours": 0.5,
        "hours_left": None,
        "budget_used": 0.25,
        "saved_ago": None,
        "note": None,
        "store": "D6.h5",
        **more,
    }


def statuses(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"searches": [one]} for one in rows]


def test_status_is_a_frame_without_what_later_versions_add(fake: Fake) -> None:
    fake.replies({"searches": [row("running"), row("finished", later=1)], "jobs": []})
    frame = neutra.status("results", "D7.h5")
    assert fake.calls == [["status", "results", "D7.h5", "--json", "--quiet"]]
    assert frame["state"].tolist() == ["running", "finished"]
    assert list(frame) == [field.name for field in dataclasses.fields(neutra.Status)]


@pytest.mark.parametrize("end", ["finished", "stopped", "damaged"])
def test_watch_ends_with_the_search(end: str, fake: Fake) -> None:
    fake.replies(*statuses(row("waiting"), row("running", 5), row(end, 6), row("running")))
    seen = list(neutra.watch("D6.h5", interval=0))
    assert [status.state for status in seen] == ["waiting", "running", end]
    assert seen[1] == neutra.Status("D6", "running", 9, 2, 5, None, 0.5, None, 0.25, None, None, "D6.h5")


def test_watch_passes_errors_on(fake: Fake) -> None:
    fake.reply(err="neutra: error: none.h5: there is no such file", code=3)
    with pytest.raises(neutra.NeutraError, match="there is no such file"):
        next(neutra.watch("none.h5"))


def test_options_of_a_search(fake: Fake) -> None:
    run = neutra.search("D6", store="a.h5", budget_evaluations=5, budget_time=60, fresh=True, curtail=False)
    assert run.store == Path("a.h5")
    (words,) = fake.calls
    assert words[:2] == ["search", "D6"]
    assert sorted(words[2:]) == sorted(
        ["--store=a.h5", "--budget-evaluations=5", "--budget-time=60", "--fresh", "--curtail=off", "--json", "--quiet"]
    )


def test_a_search_that_fails(fake: Fake) -> None:
    fake.reply(err="neutra: error: found unknown fault 'D99'", code=3)
    with pytest.raises(neutra.NeutraError, match="unknown fault") as caught:
        neutra.search("D99", store="D99.h5", progress=print)
    assert caught.value.code == neutra.ExitCode.BAD_INPUT


@pytest.fixture
def slow(fake: Fake) -> Path:
    """A command whose search works until it is told to save, and that says how far it is."""
    status = str(statuses(row("running", 5))[0]).replace("'", '"').replace("None", "null")
    return fake.script(SLOW.replace("trap", f"[ $1 = status ] && echo '{status}' && exit\ntrap", 1))


def test_a_search_is_stopped_at_the_end_of_the_block(slow: Path) -> None:
    with neutra.start_search("D6", store="D6.h5") as search:
        assert search.running
        while not Path(f"{slow}.started").exists():
            pass
    assert not search.running
    assert Path(f"{slow}.saved").exists()
    with pytest.raises(neutra.NeutraError) as caught:
        search.wait()
    assert caught.value.code == neutra.ExitCode.INTERRUPTED


def test_an_exception_of_progress_stops_the_search(slow: Path) -> None:
    seen = []

    def progress(status: neutra.Status) -> None:
        seen.append(status.evaluations)
        if Path(f"{slow}.started").exists():
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        neutra.search("D6", store="D6.h5", progress=progress, interval=0.01)
    assert set(seen) == {5}
    assert Path(f"{slow}.saved").exists()


def test_no_status_before_there_is_a_store(fake: Fake) -> None:
    error = "neutra: error: D6.h5: there is no such file"
    fake.script(SLOW.replace("trap", f"[ $1 = status ] && echo '{error}' >&2 && exit 3\ntrap", 1))
    with neutra.start_search("D6", store="D6.h5") as search:
        assert search.status() is None
        while not Path(f"{fake.path}.started").exists():
            pass
    assert list(search.watch()) == []
    with pytest.raises(neutra.NeutraError) as caught:
        search.wait(print)
    assert caught.value.code == neutra.ExitCode.INTERRUPTED


def test_a_real_search_stopped_halfway_ends_in_the_same_network(found: neutra.Run, tmp_path: Path) -> None:
    store = tmp_path / "again.h5"

    def start(workers: int) -> neutra.Search:
        return neutra.start_search("D7", store=store, budget_evaluations=80, workers=workers)

    journal = Path(f"{store}.journal")
    with start(1) as first:
        while first.running and not (journal.exists() and b'"finished"' in journal.read_bytes()):
            time.sleep(0.01)
    assert neutra.status(tmp_path)["state"].tolist() == ["stopped"]
    seen: list[neutra.Status] = []
    run = start(2).wait(seen.append, interval=1)
    assert run.finished
    assert seen[-1].state == "finished"
    assert seen[-1].evaluations == 80
    assert [status.state for status in neutra.watch(store)] == ["finished"]
    tsv = [neutra.run("network", each, format="tsv") for each in (store, found.store)]
    assert tsv[0] == tsv[1]


def test_a_real_search_refuses_a_foreign_file(real: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.h5"
    file.write_text("notes")
    with pytest.raises(neutra.NeutraError, match="another kind of file") as caught:
        neutra.search("D6", store=file, budget_evaluations=2, progress=print)
    assert caught.value.code == neutra.ExitCode.BAD_INPUT
    assert file.read_text() == "notes"
