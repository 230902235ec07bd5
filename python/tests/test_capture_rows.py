"""Arrays and streams of batches, callbacks and calls, with stand-ins for the frameworks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neutra.capture import rows
from neutra.capture.calls import CallLog, bind
from neutra.capture.frames import is_users, user_frames
from neutra.capture.hooks import ImportHooks
from neutra.capture.keras_callbacks import power_of, rates_of, read_callbacks
from neutra.capture.keras_data import FitRows
from neutra.capture.keras_import import placed
from neutra.capture.recording import Frame, NotCaptured, Options
from neutra.capture.streams import Stream, kind_of

HERE = Frame("/train.py", 7, "<module>")
X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12.0)


@pytest.mark.parametrize(
    ("text", "size"), [("1G", 1 << 30), ("512m", 512 << 20), ("1.5K", 1536), ("7", 7), ("2GB", 2 << 30)]
)
def test_sizes(text: str, size: int) -> None:
    assert rows.size_of(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "0", "inf", "5X", "nan"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(ValueError):
        rows.size_of(text)


def test_arrays_of_all_kinds() -> None:
    class Tensor:
        shape = (2,)

        def numpy(self) -> Any:
            return np.array([1, 2], "int8")

    for value in ([[1, 2], [3, 4]], pd.DataFrame({"a": [1, 3], "b": [2, 4]}), np.array([[1, 2], [3, 4]])):
        assert rows.to_array(value, "x", HERE).tolist() == [[1, 2], [3, 4]]
    assert rows.to_array(Tensor(), "x", HERE).dtype == "int8"
    mine = np.zeros(3)
    assert rows.to_array(mine, "x", HERE) is not mine


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (["a", "b"], "found texts in x"),
        (np.array(["a", None], object), "found texts in x"),
        (np.array([1j]), "found values of type complex128 in x"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), "found values of type datetime64"),
        ([[1], [2, 3]], "found x that is no array"),
        (3, "found one number as x"),
    ],
)
def test_what_is_no_array(value: Any, found: str) -> None:
    with pytest.raises(NotCaptured, match=r"train\.py:7: ") as error:
        rows.to_array(value, "x", HERE)
    assert found in str(error.value)


def test_one_of_several() -> None:
    assert rows.one_of([X], "x", HERE) is X
    assert rows.one_of({"a": X}, "x", HERE) is X
    assert rows.one_of([[1, 2], [3, 4]], "x", HERE) == [[1, 2], [3, 4]]
    with pytest.raises(NotCaptured, match="found 2 arrays as x; allowed: one input and one output"):
        rows.one_of((X, X), "x", HERE)


class Sequence:
    """Known by its name and module, as Keras's is."""

    __module__ = "keras.utils"

    def __init__(self, size: int, shuffle: bool = False):
        self.order, self.size, self.shuffle = np.arange(12), size, shuffle

    def __len__(self) -> int:
        return -(-12 // self.size)

    def __getitem__(self, i: int) -> tuple[Any, Any]:
        part = self.order[i * self.size : (i + 1) * self.size]
        return X[part], Y[part]

    def on_epoch_end(self) -> None:
        if self.shuffle:
            self.order = self.order[::-1]


def batches(size: int, epochs: int, step: float = 0) -> Iterator[tuple[Any, Any]]:
    for epoch in range(epochs):
        for i in range(0, 12, size):
            yield X[i : i + size] + step * epoch, Y[i : i + size]


def frozen(value: Any, steps: int | None = None, max_data: int = 1 << 20) -> Any:
    return Stream(value, steps, max_data, HERE).freeze(compare=True)


def test_streams() -> None:
    assert kind_of(Sequence(5)) == "Sequence"
    assert kind_of(batches(4, 1)) == "generator"
    assert kind_of(X) is None
    same = frozen(Sequence(5))
    assert (same.batch_size, same.shuffle, same.repeats, same.notes) == (5, False, True, [])
    assert same.x.tolist() == X.tolist()
    assert frozen(Sequence(4, shuffle=True)).shuffle


def test_generators() -> None:
    endless = frozen(batches(4, 1000, step=1), steps=3)
    assert endless.x.tolist() == X.tolist()
    assert endless.shuffle
    assert any("other rows in each epoch" in note for note in endless.notes)
    assert any("3 batches of an endless generator" in note for note in endless.notes)
    repeated = frozen(batches(4, 3), steps=3)
    assert (repeated.shuffle, repeated.repeats) == (False, True)
    assert not frozen(batches(4, 1)).repeats
    assert not frozen(batches(4, 1), steps=3).repeats
    cut = frozen(batches(4, 1000), max_data=4 * 24 * 5)
    assert len(cut.x) == 20
    assert any("frozen at its first 20 rows" in note for note in cut.notes)
    with pytest.raises(NotCaptured, match="found no batch in the generator"):
        frozen(iter([]))
    with pytest.raises(NotCaptured, match="found sample weights of the shape 12x2; allowed: 12, one for each row"):
        frozen(iter([(X, Y, X[:, :2])]))
    with pytest.raises(NotCaptured, match="found batches of ndarray"):
        frozen(iter([X]))


def test_streams_with_sample_weights() -> None:
    weights = np.arange(12) / 4
    found = frozen([(X[i : i + 4], Y[i : i + 4], weights[i : i + 4]) for i in (0, 4, 8)].__iter__())
    assert found.weights.tolist() == weights.tolist()
    assert frozen(iter([(X, Y, None)])).weights is None
    # Batches without weights count once, and a column is a vector.
    some = frozen(iter([(X[:4], Y[:4]), (X[4:], Y[4:], weights[4:, None])]))
    assert some.weights.tolist() == [1, 1, 1, 1, *weights[4:].tolist()]
    # Rows with other weights are other rows.
    epochs = [(X, Y, weights), (X, Y, weights * 2)]
    assert any("other rows in each epoch" in note for note in frozen(iter(epochs), steps=1).notes)
    assert not any("other rows" in note for note in frozen(iter(epochs[:1] * 2), steps=1).notes)


def test_tee_gives_and_keeps_the_same() -> None:
    stream = Stream(batches(4, 4), 3, 1 << 20, HERE)
    given = stream.tee()
    taken = [next(given) for _ in range(7)]
    assert [y.tolist() for _, y in taken[:3]] == [Y[:4].tolist(), Y[4:8].tolist(), Y[8:].tolist()]
    kept = stream.freeze(compare=True)
    assert kept.x.tolist() == X.tolist()
    assert not kept.shuffle


def fit_rows(**arguments: Any) -> Any:
    return FitRows({"x": X, "y": Y, **arguments}, Options(), HERE).finish()


def test_rows_of_fit() -> None:
    plain = fit_rows(epochs=2)
    assert plain.data == {"test": "train"}
    assert plain.fit == {"batch_size": 32, "epochs": 2, "shuffle": True}
    split = fit_rows(validation_split=0.3)
    assert len(split.arrays["x_test"]) == 4  # floor(12 * 0.7) = 8 rows are trained on
    assert len(split.arrays["x_train"]) == 12
    both = fit_rows(validation_split=0.3, validation_data=(X[:5], Y[:5]))
    assert "validation_split" not in both.fit
    assert both.data == {"validation": "test"}
    assert fit_rows(steps_per_epoch=2, batch_size=6).fit["batch_size"] == 6
    assert fit_rows(steps_per_epoch=2, batch_size=4, validation_split=0.3).fit["batch_size"] == 4


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"sample_weight": Y[:3]}, "found sample_weight of the shape 3; allowed: 12, one for each row"),
        ({"sample_weight": X}, "found sample_weight of the shape 12x"),
        ({"x": iter([(X, Y)]), "y": None, "sample_weight": Y}, "found sample_weight beside a generator"),
        ({"steps_per_epoch": 1, "batch_size": 4}, "found steps_per_epoch = 1 for arrays with 3 batches"),
        ({"y": None}, "found no y; allowed"),
        ({"y": Y[:3]}, "found 12 rows of x and 3 of y"),
        ({"validation_data": (X, Y, Y, Y)}, "found validation_data of 4 parts"),
        ({"validation_data": (X, Y, Y[:2])}, "found sample_weight of validation_data of the shape 2"),
        ({"shuffle": "batch"}, "found shuffle = 'batch'"),
    ],
)
def test_rows_that_no_program_has(arguments: dict[str, Any], found: str) -> None:
    with pytest.raises(NotCaptured) as error:
        fit_rows(**arguments)
    assert found in str(error.value)


def test_sample_weights_of_fit() -> None:
    weights = np.arange(12)
    plain = fit_rows(sample_weight=weights)
    assert plain.arrays["sample_weight"].tolist() == weights.tolist()
    assert plain.arrays["sample_weight"].dtype == "float32"
    split = fit_rows(sample_weight=weights / 3, validation_split=0.3)
    assert split.arrays["sample_weight_train"].tolist() == (weights / 3).tolist()
    assert "sample_weight_test" not in split.arrays
    both = fit_rows(sample_weight=weights, validation_data=(X[:5], Y[:5], weights[:5]))
    assert both.arrays["sample_weight_test"].tolist() == weights[:5].tolist()
    validation = fit_rows(validation_data=(X[:5], Y[:5], weights[:5]))
    assert validation.arrays["sample_weight_train"].tolist() == [1] * 12
    assert not any(name.startswith("sample") for name in fit_rows(validation_split=0.3).arrays)
    left_out = FitRows({"x": X, "y": Y, "sample_weight": X}, Options(leave_out=True), HERE).finish()
    assert "sample_weight" not in left_out.arrays
    assert left_out.notes[0].endswith("left out")


def test_schedules() -> None:
    assert power_of(rates_of(lambda epoch: 0.1 * 0.5**epoch, 0.1, 20)) == 0.5
    assert power_of(rates_of(lambda epoch, rate: rate * 0.9 if epoch else rate, 0.1, 20)) == pytest.approx(0.9)
    assert power_of([0.1, 0.1, 0.1]) == 1
    assert power_of([0.1, 0.1, 0.01]) is None
    assert power_of([0.1, 0.2]) is None
    assert power_of([0.1, 0.0]) is None


class Printer:
    def on_epoch_end(self, epoch: int, logs: Any) -> None:
        print(epoch)


class Stopper:
    def on_epoch_end(self, epoch: int, logs: Any) -> None:
        self.model.stop_training = True  # type: ignore[attr-defined]


def test_callbacks_of_the_user() -> None:
    found = read_callbacks([Printer()], CallLog(), HERE, 0.1, 3)
    assert found.notes == ["/train.py:7: the callback Printer is left out: its code seems to change no training"]
    refused = read_callbacks([Stopper()], CallLog(), HERE, 0.1, 3).problems
    assert "found the callback Stopper, whose code has 'stop_training'" in str(refused[0])


class Base:
    def __init__(self, units: int, *more: int, rate: float = 0.1, **rest: Any):
        self.units = units


class Derived(Base):
    pass


def test_calls_of_classes() -> None:
    log = CallLog()
    log.watch_class(Base)
    made = Derived(3, rate=0.2, name="a")
    call = log.of(made)
    assert call is not None
    assert (call.name, call.parameters, call.given, call.direct) == (
        "Derived",
        ["units"],
        ["units", "rate", "name"],
        True,
    )
    assert call.arguments == {"units": 3, "rate": 0.2, "name": "a"}
    assert call.frame is not None
    assert call.frame.file == str(Path(__file__).resolve())
    if sys.version_info >= (3, 11):
        place = call.frame.place
        assert place is not None
        line = Path(__file__).read_text().splitlines()[place.line - 1]
        assert line[place.column - 1 : place.end_column - 1] == 'Derived(3, rate=0.2, name="a")'
    log.give_back()
    assert log.of(Derived(4)) is None
    assert Derived(5, rate=1).units == 5


def test_replaced_methods_come_back() -> None:
    log = CallLog()
    plain = Sequence.__len__
    log.replace(Sequence, "__len__", lambda old: lambda self: old(self) + 1)
    assert len(Sequence(6)) == 3
    log.give_back()
    assert Sequence.__len__ is plain


def test_arguments_of_a_call() -> None:
    def function(x: int, y: int = 2, *, z: int = 3) -> None: ...

    assert bind(function, (1,), {"z": 4}, bound=False) == ({"x": 1, "y": 2, "z": 4}, ["x", "y"], ["x", "z"])
    assert bind(function, (), {"q": 4}, bound=False) == ({"q": 4}, ["x", "y"], ["q"])


def test_hooks_run_after_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hooked_one.py").write_text("value = 1\n")
    (tmp_path / "hooked_two.py").write_text("import hooked_one\nvalue = hooked_one.value + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen: list[Any] = []
    hooks = dict.fromkeys(("hooked_one", "hooked_two", "json"), seen.append)
    with ImportHooks(hooks):
        assert [module.__name__ for module in seen] == ["json"]  # which was there already
        assert importlib.util.find_spec("hooked_two") is not None
        two = importlib.import_module("hooked_two")
    assert [module.__name__ for module in seen] == ["json", "hooked_one", "hooked_two"]
    assert seen[2].value == 2
    assert "exec_module" not in vars(two.__loader__)


def test_whose_files() -> None:
    assert is_users(__file__)
    assert is_users("<ipython-input-3-abc>")
    for other in (importlib.__file__, np.__file__, rows.__file__, "<frozen runpy>", "<string>"):
        assert not is_users(other)
    assert user_frames()[0].function == "test_whose_files"


def test_messages_of_the_import() -> None:
    lines = {"layer 'dense'": Frame("/a.py", 3, "f"), "optimizer": Frame("/a.py", 9, "f")}
    text = "layer 'dense' (Dense): found x; allowed: y\noptimizer: lr: found z (exit code 3)"
    message, first = placed(text, lines, HERE)
    assert first == lines["layer 'dense'"]
    assert message == "layer 'dense' (Dense): found x; allowed: y\n/a.py:9: optimizer: lr: found z"
