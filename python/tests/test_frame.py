from __future__ import annotations

import pandas as pd
import pytest
from conftest import StoreMaker

import neutra
from neutra.frame import Frame, frame_of

LONG = "x" * 200


@pytest.fixture
def frame() -> Frame:
    return frame_of({"a": [1, 2], "b": [LONG, "y"], "c": ["z", "z"]}, ["a", "b", "not there"])


def test_columns_that_tell_most_are_printed_whole(frame: Frame) -> None:
    for text in (repr(frame), frame._repr_html_()):
        assert LONG in text
        assert "z" not in text.replace("nan", "")
        assert "columns that are not printed: c" in text


def test_what_is_made_of_a_frame_prints_like_it(frame: Frame) -> None:
    for other in (
        frame[frame["a"] > 1],
        frame.head(1),
        frame.sort_values("a"),
        frame.assign(d=1),
        frame.set_index("c"),
    ):
        assert isinstance(other, Frame)
        assert repr(other).splitlines()[0].split() == ["a", "b"]


def test_columns_that_were_picked_are_printed(frame: Frame) -> None:
    assert repr(frame[["a", "c"]]).splitlines()[0].split() == ["a", "c"]
    assert "not printed" not in repr(frame[["a", "c"]])


def test_a_frame_without_names_prints_all_its_columns() -> None:
    many = frame_of({f"column_{i}": [LONG] for i in range(30)})
    assert all(name in repr(many) for name in many.columns)
    assert LONG in repr(many)


def test_pandas_prints_as_always(frame: Frame) -> None:
    assert LONG not in repr(pd.DataFrame(frame))


def test_the_view_of_a_notebook(make_store: StoreMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEUTRA", "/none/neutra")
    run = neutra.Run(make_store())
    view = run._repr_html_()
    assert "<th>level to reach</th><td>0.75</td>" in view
    assert "<th>programs</th><td>4 generated, 4 evaluated</td>" in view
    assert "<th>repairs</th><td>2</td>" in view
    assert "<th>best repair</th><td>0.3</td>" in view
    assert view.index("lr 0-&gt;3") < view.index("lr 0-&gt;1")  # the best first
    assert "no picture: NEUTRA: found /none/neutra" in view
    assert neutra.Run("none.h5")._repr_html_() == "<p>none.h5: there is no such file</p>"


def test_the_picture_of_a_real_search(found: neutra.Run) -> None:
    assert found.picture().startswith("<svg")
    assert "<svg" in found._repr_html_()


def test_changes_are_those_of_the_command(found: neutra.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")  # the command wraps at them
    text = neutra.run("network", found.store, format="text", all_repairs=True)
    for change in found.repairs["change"]:
        assert change in text
