"""The check of a captured program: the test of two samples, the verdict, and the seeds of a run."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neutra.capture import check, check_run
from neutra.capture.recording import Frame, NotCaptured, Recording
from neutra.capture.two_samples import compare, rank_sum

SLEEP = ([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
NAN = math.nan


def test_students_sleep_data() -> None:
    found = compare(*SLEEP, maximize=True)
    assert found.p == pytest.approx(0.0628, abs=5e-5)
    assert found.d == pytest.approx(-0.832, abs=5e-4)
    assert not found.significant


def test_samples_without_spread() -> None:
    assert compare([0.1] * 3, [0.1] * 3, True) == (1, 0)
    found = compare([0.2] * 3, [0.1] * 3, True)
    assert found == (0, math.inf) and found.significant


@pytest.mark.parametrize(
    ("one", "other", "p", "d", "significant"),
    [
        (10, 0, 0.000011, math.inf, True),
        (10, 3, 0.0031, 1.47, True),
        (6, 0, 0.011, 1.19, True),
        (5, 0, 0.033, 0.95, True),
        (3, 0, 0.21, 0.54, False),
        (10, 10, 1.0, 0.0, False),
    ],
)
def test_trainings_that_diverged(one: int, other: int, p: float, d: float, significant: bool) -> None:
    """The table of docs/methods/statistics.md."""
    samples = [[NAN] * count + [0.5] * (10 - count) for count in (one, other)]
    found = compare(samples[0], samples[1], maximize=False)
    assert found.p == pytest.approx(p, rel=0.05)
    assert abs(found.d) == pytest.approx(d, rel=0.01)
    assert found.significant is significant
    assert found.d >= 0  # the first sample is worse, and smaller is better


def test_rank_sum_of_all_splits() -> None:
    assert rank_sum([1, 2], [3, 4]) == pytest.approx(1 / 3)
    assert rank_sum([1, 1], [1, 1]) == 1


def runs(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"rows": True, "mark": str(number), **fields} for number in range(count)]


def test_verdicts() -> None:
    found = check.verdict(check.Checked([0.5, 0.6, 0.7], [0.55, 0.6, 0.65]), runs(3), True)
    assert found.same and found.line.startswith("neutra trains what your script trains (p = 1;")
    found = check.verdict(check.Checked([0.5, 0.6, 0.55], [0.9, 0.95, 0.92]), runs(3), True)
    assert found.same is False and "does not train" in found.line


def test_equal_runs_are_no_agreement() -> None:
    found = check.verdict(check.Checked([0.5, 0.5], [0.5, 0.5]), runs(2, mark="one"), True)
    assert found.same is None and "all runs of the script are equal" in found.line


def test_other_rows_are_no_agreement() -> None:
    found = check.verdict(check.Checked([0.5, 0.5], [0.5, 0.5]), runs(2, rows=False), True)
    assert found.same is None and "rows differ" in found.line


def fault(folder: Path, arrays: dict[str, Any]) -> str:
    np.savez(folder / "train.data.npz", **arrays)
    program = {"fit": {"loop": {"eval_mode": False}}, "data": {"arguments": {"file": "train.data.npz"}}}
    path = folder / "train.json"
    path.write_text(json.dumps({"program": program, "script": {}}))
    return str(path)


def test_both_sides_are_evaluated_in_inference_mode(tmp_path: Path) -> None:
    copy = json.loads(Path(check.inference_fault(fault(tmp_path, {}), str(tmp_path / "copy.json"))).read_text())
    assert copy["program"]["fit"]["loop"] == {} and "script" not in copy
    assert Path(copy["program"]["data"]["arguments"]["file"]) == tmp_path / "train.data.npz"


def test_a_training_that_fails_gives_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = {"goal": "maximize", "replicas": [{"status": "timeout"}]}
    monkeypatch.setattr(check, "run", lambda *_, **__: trained)
    found = check.check(fault(tmp_path, {}), "train.py", [], 1)
    assert found.same is None and "is timeout" in found.line


def test_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def command(verb: str, *_: Any, **options: Any) -> dict[str, Any]:
        if verb == "train":
            metrics = (0.5, 0.6, None)[: options["replicas"]]
            return {
                "goal": "minimize",
                "replicas": [{"status": "diverged" if m is None else "ok", "metric": m} for m in metrics],
            }
        return {"metric": "mse", "value": 0.5 + int(options["weights"]) / 10}

    def one(script: str, words: Any, number: int, *_: Any) -> dict[str, Any]:
        return {"rows": True, "mark": str(number), "weights": str(number)}

    monkeypatch.setattr(check, "run", command)
    monkeypatch.setattr(check, "run_of", one)
    recording = Recording("torch 2.15.0", {}, random_seeds=[Frame("train.py", 3, "<module>")])
    assert check.main(recording, fault(tmp_path, {}), "train.py", [], 2) == 0
    out, err = capsys.readouterr()
    assert out.startswith("neutra trains what your script trains (p = 1; means 0.55 of neutra, 0.55 of the script")
    assert "train.py:3" in err and "run 2 of 2" in err
    assert math.isnan(check.check(fault(tmp_path, {}), "train.py", [], 3).native[2])


def test_a_run_without_a_training(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('nothing')\n")
    with pytest.raises(NotCaptured, match="never trained"):
        check.run_of(str(script), [], 0, str(tmp_path), fault(tmp_path, {}))


class Module:
    """A stand-in of a layer."""


class Loss(Module):
    __module__ = "torch.nn.modules.loss"


def test_seeds_are_replaced_from_the_first_layer_on() -> None:
    seen: list[Any] = []
    reseeder = check_run.Reseeder(0)
    set_seed = reseeder.replacing(seen.append)
    set_seed(1)
    reseeder.made(Loss())
    reseeder.made("no layer")
    set_seed(1)
    state = random.getstate()
    try:
        reseeder.made(Module())
        first = random.random()
        set_seed(1)
        set_seed(1)
        assert seen[:2] == [1, 1] and len(set(seen[1:])) == 3
        other = check_run.Reseeder(1)
        other.made(Module())
        assert random.random() != first
    finally:
        random.setstate(state)


def test_rows_are_compared_in_no_order(tmp_path: Path) -> None:
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3)
    path = fault(tmp_path, {"x_train": x, "y_train": y, "x_test": x, "y_test": y})
    shuffled = Recording("torch", {}, {"x_train": x[[2, 0, 1]], "y_train": y[[2, 0, 1]], "x_test": x, "y_test": y})
    assert check_run.same_rows(shuffled, path)
    shuffled.arrays["y_train"] = y
    assert not check_run.same_rows(shuffled, path)


def test_rows_that_are_tested_behind_the_training(tmp_path: Path) -> None:
    """Only a run to the end sees them: a fault that was captured before has training rows alone."""
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    np.savez(tmp_path / "rows.npz", x=x, y=y)
    fault = tmp_path / "fault.json"
    fault.write_text(json.dumps({"program": {"data": {"arguments": {"file": "rows.npz"}}}}))
    recording = Recording("torch", {}, {"x_train": x[::-1], "y_train": y[::-1], "x_test": x[:1], "y_test": y[:1]})
    assert check_run.same_rows(recording, str(fault))
    recording.arrays["x_train"] = x + 1
    assert not check_run.same_rows(recording, str(fault))
    np.savez(tmp_path / "rows.npz", x_train=x, y_train=y, x_test=x[1:], y_test=y[1:])
    recording.arrays["x_train"] = x[::-1]
    assert not check_run.same_rows(recording, str(fault))
