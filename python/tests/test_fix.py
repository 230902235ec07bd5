"""`neutra fix`: which repairs are shown, what is said, its folder, and the whole of it on scripts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from captures import SCRIPTS, environment, pythons

from neutra.fix import text
from neutra.fix.cli import goes_on, split_words
from neutra.fix.folder import Folder, digest
from neutra.fix.page import page
from neutra.fix.repairs import changed_lines, parameters_of, repairs_of, unknown_repairs, words_of
from neutra.fix.steps import Failed

KERAS = pythons("NEUTRA_KERAS_PYTHONS", "keras")

DIFF = """--- a/train.py
+++ b/train.py
@@ -3,6 +3,7 @@
 import keras
 # the model
 model = keras.Sequential([
-    keras.layers.Dense(1),
+    keras.layers.Dense(1, activation='tanh'),
 ])
 model.compile('sgd')
+model.summary()
--- a/my settings.py\t
+++ b/my settings.py\t
@@ -1 +1 @@
-EPOCHS = 3
\\ No newline at end of file
+EPOCHS = 6
\\ No newline at end of file
"""


def node(number: int, change: str, faults: str, mean: float | None, **more: Any) -> dict[str, Any]:
    start = {"act1": "relu", "act2": "softmax", "lr": "0.1"}
    start.update(parameters_of(change.replace(" ", ",")))
    parameters = ",".join(f"{key}={value}" for key, value in start.items())
    return {
        "id": number,
        "parameters": parameters,
        "mean": mean,
        "difference": faults,
        "minimal": True,
        "p": 0.0,
        **more,
    }


def report(*nodes: dict[str, Any], goal: str = "maximize") -> dict[str, Any]:
    root = {"id": 0, "parameters": "act1=relu,act2=softmax,lr=0.1", "mean": 0.5}
    network = {"goal": goal, "metric": "accuracy", "nodes": [root, *nodes], "minimal": {"unknown": 2}}
    start = {"act1": "relu", "act2": "softmax", "lr": "0.1"}
    return {"network": network, "start": start, "evaluated": {"evaluations": 100}}


def shown(document: dict[str, Any]) -> list[str]:
    return [each.node for each in repairs_of(document)]


def test_small_repairs_come_first_and_each_fault_type_once() -> None:
    document = report(
        node(1, "act1=tanh act2=linear lr=1", "ACH(0,1), HLR", 1.0),
        node(2, "act2=tanh", "ACH(1)", 0.9),
        node(3, "act1=tanh", "ACH(0)", 0.95),
        node(4, "lr=1", "HLR", 0.6),
        node(5, "lr=2", "HLR", 0.7),
        node(6, "lr=3", "HLR", None),
        node(7, "lr=4", "HLR", 0.99, minimal=None),
        node(8, "lr=5", "HLR", 0.98, minimal=False),
    )
    assert shown(document) == ["3", "5", "2", "4", "1"]
    document["network"]["goal"] = "minimize"
    assert shown(document) == ["4", "2", "5", "3", "1"]
    assert unknown_repairs(document) == 2


def test_among_equals_the_one_that_the_search_went_on_from() -> None:
    larger = [node(i, f"act2=tanh lr={i}", "ACH(1), HLR", 1.0, minimal=False, within=3) for i in (5, 6)]
    document = report(node(2, "act2=elu", "ACH(1)", 1.0), node(3, "act2=tanh", "ACH(1)", 1.0), *larger)
    assert shown(document) == ["3", "2"]


def test_what_may_be_chance_comes_behind_what_is_not() -> None:
    document = report(node(1, "act2=elu", "ACH(1)", 0.9, p=0.0006), node(2, "lr=1", "HLR", 0.8, p=0.0004))
    assert shown(document) == ["2", "1"]
    assert [each.weak for each in repairs_of(document)] == [False, True]


def test_subpatches_are_repairs_too() -> None:
    document = report()
    document["network"]["subpatches"] = [{**node(1, "lr=1", "HLR", 0.9), "id": "m1"}]
    assert shown(document) == ["m1"]


def test_lines_that_a_diff_changes() -> None:
    assert changed_lines(DIFF) == ["train.py:6", "train.py:9", "my settings.py:1"]


def test_changes_in_words() -> None:
    keys = {"act1": {"kind": "activation", "where": "layer 0, dense"}, "lr": {"kind": "learning_rate", "where": ""}}
    assert words_of([("act1", "relu", "tanh"), ("lr", "1", "2"), ("x", "a", "b")], keys) == [
        "activation of layer 0, dense: relu -> tanh",
        "learning rate: 1 -> 2",
        "x: a -> b",
    ]


@pytest.mark.parametrize(
    ("words", "ours", "script"),
    [
        (["--json", "--", "a.py", "--", "-x"], ["--json"], ["a.py", "--", "-x"]),
        (["--seed=1", "a.py", "--json"], ["--seed=1"], ["a.py", "--json"]),
        (["--json"], ["--json"], []),
    ],
)
def test_words_of_the_script(words: list[str], ours: list[str], script: list[str]) -> None:
    assert split_words(words) == (ours, script)


@pytest.mark.parametrize(
    ("before", "now", "on"),
    [
        ({"evaluations": "9", "seconds": None}, {"evaluations": "9", "seconds": None}, True),
        ({"evaluations": "9", "seconds": None}, {"evaluations": "10", "seconds": None}, True),
        ({"evaluations": "10", "seconds": None}, {"evaluations": "9", "seconds": None}, False),
        ({"evaluations": "9", "seconds": None}, {"evaluations": None, "seconds": "1m"}, False),
        ({"evaluations": None, "seconds": "90"}, {"evaluations": None, "seconds": "1m"}, False),
        ({"evaluations": None, "seconds": "90"}, {"evaluations": None, "seconds": "1m30s"}, True),
    ],
)
def test_a_search_goes_on_where_its_budget_grows(before: dict[str, Any], now: dict[str, Any], on: bool) -> None:
    settings = {"seed": "0", "fault": "a"}
    assert goes_on({**settings, "budget": before}, {**settings, "budget": now}) is on
    assert not goes_on({**settings, "seed": "1", "budget": before}, {**settings, "budget": now})
    assert not goes_on(None, {**settings, "budget": now})


def result(**changes: Any) -> dict[str, Any]:
    patch = {
        "node": 3,
        "faults": "ACH(1)",
        "mean": 0.9,
        "p": 1e-6,
        "weak": True,
        "lines": ["train.py:6"],
        "changes": ["activation of layer 1: softmax -> sigmoid"],
        "notes": ["run it with: --epochs 5"],
        "diff": DIFF,
        "patch": "/x/fix/patches/1.diff",
    }
    found = {
        "program": "train.py",
        "metric": "accuracy",
        "goal": "maximize",
        "buggy": 0.5,
        "patches": [patch],
        "tools": [
            {"tool": "a", "answer": "ACH(1)", "lines": ["train.py:6"]},
            {"tool": "b", "answer": "ACH(1)", "lines": ["train.py:6"]},
            {"tool": "c", "answer": "-", "lines": []},
        ],
        "refused": [],
        "programs": 100,
        "folder": "/x",
        "page": "/x/fix/fix.html",
        "fault_types": {"ACH": "wrong <activation>"},
    }
    return {**found, **changes}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("HLR", "bad rate"),
        ("ACH(0,1), HLR", "ACH in layers 0,1; bad rate"),
        ("HLR|ACH(2), X", "bad rate or ACH in layer 2; X"),
        ("ACH(1)|BCI(1)|LAD(1)|LCF(1)", "something in layer 1"),
        ("ACH(1)|BCI(1)|LAD(1)|LCF(2)", "ACH in layer 1 or BCI in layer 1 or LAD in layer 1 or LCF in layer 2"),
        ("what? ever", "what? ever"),
    ],
)
def test_answers_in_words(answer: str, words: str) -> None:
    assert text.faults_in_words(answer, {"HLR": "bad rate"}) == words


def test_what_people_read() -> None:
    said = text.for_people(result(), Path("/x/fix"))
    for part in (
        "train.py as it is: accuracy 0.5 (higher is better",
        "  train.py:6: wrong <activation> in layer 1 (a, b)\n",
        "  nothing: c\n",
        "accuracy 0.5 -> 0.9 (p = 1e-06)",
        "weak: ",
        "run it with: --epochs 5",
        "patch -p1 -d /x < /x/fix/patches/1.diff",
        "+EPOCHS = 6",
        "/x/fix/fix.html",
    ):
        assert part in said, said


def test_what_people_read_without_a_patch() -> None:
    refused = [{"node": "4", "changes": ["epochs: 3 -> 6"], "notes": ["train.py:9: cannot be changed here"]}]
    said = text.for_people(result(patches=[], buggy=None, tools=[], refused=refused), Path("/x/fix"))
    assert "accuracy not a number" in said
    assert "No patch was found: none of 100 programs" in said
    assert "epochs: 3 -> 6\n  train.py:9: cannot be changed here" in said


def test_the_page_shows_diffs_and_tools() -> None:
    shown = page(result(program="/x/<train>.py"))
    for part in (
        "&lt;train&gt;.py",
        "accuracy 0.5 &rarr; 0.9",
        '<span class="add">+EPOCHS = 6</span>',
        '<span class="at">--- a/train.py</span>',
        "<td>b</td><td>wrong &lt;activation&gt; in layer 1</td><td>train.py:6</td>",
        "ACH: wrong &lt;activation&gt;",
    ):
        assert part in shown, shown
    assert "no patch was found" in page(result(patches=[]))


def test_one_process_works_in_a_folder(tmp_path: Path) -> None:
    with Folder(tmp_path / "a" / "b").held(), pytest.raises(Failed, match="another neutra fix"):  # noqa: SIM117
        with Folder(tmp_path / "a" / "b").held():
            pass
    with Folder(tmp_path / "a" / "b").held():
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(Failed, match="-o FOLDER"), Folder(tmp_path / "file" / "c").held():
        pass


def captured(folder: Folder) -> None:
    (folder.path / "train.py").write_text("x")
    folder.write("captured.data.npz", b"rows")
    section = {
        "files": [{"file": "train.py", "sha256": digest(folder.path / "train.py")}],
        "data": {"file": "captured.data.npz", "sha256": digest(folder.path / "captured.data.npz")},
    }
    folder.write("captured.json", json.dumps({"script": section}))
    folder.write("state.json", json.dumps({"capture": {"script": "train.py"}}))


def test_a_capture_is_taken_again_only_where_nothing_changed(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert not folder.is_of({"script": "train.py"})
    captured(folder)
    assert folder.is_of({"script": "train.py"})
    assert not folder.is_of({"script": "other.py"})
    (tmp_path / "train.py").write_text("y")
    assert not folder.is_of({"script": "train.py"})
    captured(folder)
    (tmp_path / "captured.data.npz").unlink()
    assert not folder.is_of({"script": "train.py"})
    captured(folder)
    folder.write("state.json", "no JSON")
    assert not folder.is_of({"script": "train.py"})


def test_older_patches_go(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write_patches({"1_a.diff": "a", "2_b.diff": "b"})
    folder.write_patches({"1_c.diff": "c"})
    assert [each.name for each in (tmp_path / "patches").iterdir()] == ["1_c.diff"]


def fix(real: str, python: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder."""
    call = [real, "fix", f"--python={python}", *words]
    env = {key: value for key, value in environment().items() if key not in ("PYTHONPATH", "NEUTRA")}
    return subprocess.run(call, cwd=folder, env=env, capture_output=True, text=True, timeout=900)


def heeding_signals() -> None:
    """They are ignored behind nohup and a script's &."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.skipif(not KERAS, reason="no Keras: NEUTRA_KERAS_PYTHONS names a Python that has it")
class TestWhole:
    """The command on scripts of Keras."""

    def test_a_line_is_learnt(self, real: str, tmp_path: Path) -> None:
        script = tmp_path / "my scrïpt.py"
        shutil.copy(SCRIPTS / "fix" / "straight_line.py", script)
        before = script.read_bytes()
        words = ("--budget-evaluations=250", "--json", script.name)
        done = fix(real, KERAS[0], tmp_path, *words)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert script.read_bytes() == before
        assert found["metric"] == "mae" and found["goal"] == "minimize"
        assert found["patches"][0]["faults"] == "HLR"
        assert found["patches"][0]["mean"] < found["buggy"]
        assert found["patches"][0]["files"] == [script.name]
        assert 1 <= len(found["patches"]) <= 5
        assert {"umlaut", "deepfd"} <= {tool["tool"] for tool in found["tools"]}
        for patch in found["patches"]:
            for words_of_patch in (["--dry-run"], [])[: 1 if patch is not found["patches"][0] else 2]:
                call = ["patch", "-p1", *words_of_patch, "-i", patch["patch"]]
                applied = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
                assert applied.returncode == 0, applied.stdout
        assert b"LEARNING_RATE = 0.1\n" in script.read_bytes()
        script.write_bytes(before)
        again = fix(real, KERAS[0], tmp_path, *words)
        assert "is as it was" in again.stderr
        assert json.loads(again.stdout) == found
        other = fix(real, KERAS[0], tmp_path, "-o", "other", *words)
        assert [each["diff"] for each in json.loads(other.stdout)["patches"]] == [
            each["diff"] for each in found["patches"]
        ]

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_an_interrupted_fix_goes_on(self, real: str, tmp_path: Path, number: int) -> None:
        shutil.copy(SCRIPTS / "fix" / "rest_of_seven.py", tmp_path / "train.py")
        call = [real, "fix", f"--python={KERAS[0]}", "--budget-time=10m", "train.py"]
        journal = tmp_path / "train-fix" / "repairs.h5.journal"
        with open(tmp_path / "err", "w") as errors:
            process = subprocess.Popen(call, cwd=tmp_path, env=environment(), stderr=errors, preexec_fn=heeding_signals)
        # Past the first evaluations: a search without one leaves no store.
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > 100_000):
            time.sleep(0.05)
        process.send_signal(number)
        process.wait(timeout=120)
        err = (tmp_path / "err").read_text()
        assert process.returncode == 75, err
        assert "The same command goes on: neutra fix" in err
        assert (tmp_path / "train-fix" / "repairs.h5").exists()

    def test_a_script_that_never_trains(self, real: str, tmp_path: Path) -> None:
        (tmp_path / "train.py").write_text("import sys\nprint('hello', sys.stdin.readline())\n")
        done = fix(real, KERAS[0], tmp_path, "train.py")
        assert done.returncode == 1
        assert done.stdout == ""
        assert "hello" in done.stderr and "never trained" in done.stderr
        assert fix(real, KERAS[0], tmp_path, "nothing.py").returncode == 3

    def test_a_folder_that_cannot_be_written_to(self, real: str, tmp_path: Path) -> None:
        shutil.copy(SCRIPTS / "fix" / "straight_line.py", tmp_path / "train.py")
        done = fix(real, KERAS[0], tmp_path, "-o", "/proc/nothing", "train.py")
        assert done.returncode == 3
        assert "-o FOLDER" in done.stderr and os.listdir(tmp_path) == ["train.py"]
