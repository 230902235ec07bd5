"""Scripts that behave in all ways, captured with a stand-in for the framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from captures import environment

from neutra.capture.cli import split_words
from neutra.capture.fault_file import _write_weights
from neutra.capture.recording import NotCaptured, Recording

STANDIN = Path(__file__).parent / "standin"
TRAIN = "import standframe\nx, y = [[1, 2], [3, 4]], [[1], [2]]\n"


class Ran:
    """A script that was captured, in a folder of its own."""

    def __init__(self, folder: Path, text: str, *words: str, stdin: str = "", arguments: tuple[str, ...] = ()):
        self.folder = folder
        (folder / "train.py").write_text(text)
        variables = environment()
        variables["PYTHONPATH"] = os.pathsep.join((str(STANDIN), variables["PYTHONPATH"]))
        self.run = subprocess.run(
            [
                sys.executable,
                str(STANDIN / "capture_standframe.py"),
                "-o",
                "fault.json",
                *words,
                "train.py",
                *arguments,
            ],
            cwd=folder,
            env=variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.code, self.out, self.err = self.run.returncode, self.run.stdout, self.run.stderr
        self.files = sorted(each.name for each in folder.iterdir())

    @property
    def written(self) -> bool:
        return "fault.json" in self.files

    @property
    def notes(self) -> list[str]:
        notes: list[str] = json.loads((self.folder / "fault.json").read_text())["script"]["notes"]
        return notes


def test_ends_at_the_first_step(tmp_path: Path) -> None:
    ran = Ran(tmp_path, TRAIN + "print('before')\nstandframe.Model().fit(x, y)\nprint('after')\n")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "before"
    assert "after" not in ran.out
    assert "train.py:4: captured at its first training step; what follows did not run" in ran.err
    assert ran.written


def test_no_except_of_the_script_stops_it(tmp_path: Path) -> None:
    text = TRAIN + "try:\n    standframe.Model().fit(x, y)\nexcept Exception:\n    print('caught')\nprint('after')\n"
    ran = Ran(tmp_path, text)
    assert ran.code == 0
    assert "caught" not in ran.out
    assert "after" not in ran.out


def test_a_bare_except_goes_on_to_the_next_training(tmp_path: Path) -> None:
    text = (
        TRAIN + "try:\n    standframe.Model().fit(x, y)\nexcept:\n    pass\nstandframe.Model().fit(x, y)\nprint('no')\n"
    )
    ran = Ran(tmp_path, text)
    assert ran.code == 0
    assert "no\n" not in ran.out
    assert any("train.py:7: fit is called again: captured is the first training alone" in note for note in ran.notes)


def test_runs_to_the_end(tmp_path: Path) -> None:
    text = TRAIN + "m = standframe.Model()\nm.fit(x, y)\nm.fit(x, y)\nopen('made', 'w').write('1')\nprint('after')\n"
    ran = Ran(tmp_path, text + "raise SystemExit(4)\n", "--run")
    assert ran.code == 4
    assert ran.out.splitlines()[0] == "after"
    assert ran.written
    assert "made" in ran.files
    assert any("train.py:5: fit is called again" in note for note in ran.notes)


def test_crash_before_training(tmp_path: Path) -> None:
    ran = Ran(tmp_path, TRAIN + "print('here')\ndef f():\n    return 1 / 0\nf()\nstandframe.Model().fit(x, y)\n")
    assert ran.code == 1
    assert "here" in ran.out
    assert 'train.py", line 6, in <module>' in ran.err
    assert "capture/runner.py" not in ran.err
    error = "neutra: train.py:5: ZeroDivisionError: division by zero"
    assert f"{error}: train.py ended with an error before it trained: no program was written" in ran.err
    assert not ran.written


def test_crash_after_training(tmp_path: Path) -> None:
    ran = Ran(tmp_path, TRAIN + "standframe.Model().fit(x, y)\n1 / 0\n", "--run")
    assert ran.code == 1
    assert "ZeroDivisionError" in ran.err
    assert ran.written


def test_never_trains(tmp_path: Path) -> None:
    ran = Ran(tmp_path, "print('nothing')\n")
    assert ran.code == 1
    assert (
        "train.py never trained (exit code 0): no program was written; it imported neither Keras nor PyTorch" in ran.err
    )
    assert ran.files == ["train.py"]


@pytest.mark.parametrize("leave", ["import sys; sys.exit(3)", "import os; os._exit(3)", "raise SystemExit(3)"])
def test_exit_before_training(tmp_path: Path, leave: str) -> None:
    ran = Ran(tmp_path, TRAIN + leave + "\nstandframe.Model().fit(x, y)\n")
    assert ran.code in (1, 3)
    assert "never trained (exit code 3)" in ran.err
    assert not ran.written


def test_os_exit_after_training(tmp_path: Path) -> None:
    ran = Ran(tmp_path, TRAIN + "standframe.Model().fit(x, y)\nprint('end')\nimport os; os._exit(0)\n", "--run")
    assert ran.code == 0
    assert "end" in ran.out
    assert ran.written


def test_reads_standard_input(tmp_path: Path) -> None:
    text = TRAIN + "n = int(input())\nstandframe.Model(n).fit(x, y)\n"
    ran = Ran(tmp_path, text, stdin="3\n")
    assert ran.written
    empty = tmp_path / "empty"
    empty.mkdir()
    nothing = Ran(empty, text)
    assert nothing.code == 1
    assert "EOFError" in nothing.err
    assert not nothing.written


def test_arguments_and_main(tmp_path: Path) -> None:
    text = TRAIN + (
        "import sys, pickle, __main__\nclass Mine: pass\n"
        "assert __name__ == '__main__' and pickle.loads(pickle.dumps(Mine())) and __main__.Mine is Mine\n"
        "print(sys.argv, sys.path[0], __file__)\nstandframe.Model().fit(x, y, int(sys.argv[2]))\n"
    )
    ran = Ran(tmp_path, text, arguments=("--epochs", "5"))
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0] == f"{['train.py', '--epochs', '5']} {tmp_path} {tmp_path / 'train.py'}"
    assert json.loads((tmp_path / "fault.json").read_text())["program"]["fit"]["epochs"] == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_training_in_a_child(tmp_path: Path) -> None:
    text = TRAIN + (
        "import multiprocessing\ndef train():\n    print(standframe.Model().fit(x, y), flush=True)\n"
        "p = multiprocessing.get_context('fork').Process(target=train)\np.start()\np.join()\nprint(p.exitcode)\n"
    )
    ran = Ran(tmp_path, text)
    assert ran.code == 1
    assert ran.out.split() == ["[0.5]", "0"]
    assert "train.py:5: trained in a process that train.py started; allowed: training in its own process" in ran.err
    assert not ran.written


def test_refused_with_the_line(tmp_path: Path) -> None:
    ran = Ran(tmp_path, TRAIN + "standframe.Model(0).fit(x, y)\n")
    assert ran.code == 1
    assert "neutra: train.py:3: found 0 units; allowed: 1 or more" in ran.err
    assert not ran.written


def test_what_the_command_refuses_has_its_line(tmp_path: Path) -> None:
    text = TRAIN.replace("[[1], [2]]", "[[float('nan')], [2]]") + "standframe.Model().fit(x, y, epochs=0)\n"
    ran = Ran(tmp_path, text)
    assert ran.code == 1
    assert "train.py:3: /fit/epochs: found 0" in ran.err
    assert ran.files == ["train.py"]


def test_no_script_and_no_python(tmp_path: Path) -> None:
    ran = Ran(tmp_path, "x = (\n")
    assert ran.code == 1
    assert "train.py:1: found '(' was never closed" in ran.err or "train.py:1: found" in ran.err
    missing = subprocess.run(
        [sys.executable, "-m", "neutra.capture", "none.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert missing.returncode == 1
    assert "none.py: No such file or directory; allowed: a Python script" in missing.stderr


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    ran = Ran(tmp_path, TRAIN + "standframe.Model().fit(x, y)\n", "-o", "no/folder.json")
    assert ran.code == 1
    assert "No such file or directory; allowed: a file that can be written" in ran.err


def test_json(tmp_path: Path) -> None:
    ran = Ran(tmp_path, TRAIN + "standframe.Model().fit(x, y)\n", "--json")
    result = json.loads(ran.out)
    assert result["format"] == "neutra-capture"
    assert result["files"]["data"] == str(tmp_path / "fault.data.npz")
    assert result["refused"] == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("-o f.json train.py --lr 1", ("-o f.json", "train.py", "--lr 1")),
        ("-o f.json train.py --run", ("-o f.json", "train.py", "--run")),
        ("train.py --lr 1 -o f.json --run", ("-o f.json --run", "train.py", "--lr 1")),
        ("train.py -o f.json --run -- --lr 1", ("-o f.json --run", "train.py", "--lr 1")),
        ("train.py --output=f.json", ("--output=f.json", "train.py", "")),
        ("--run -- train.py -o mine", ("--run", "train.py", "-o mine")),
        ("--run train.py -- -o mine", ("--run", "train.py", "-o mine")),
        ("train.py", ("", "train.py", "")),
        ("--max-data 5M train.py", ("--max-data 5M", "train.py", "")),
    ],
)
def test_words(words: str, expected: tuple[str, str, str]) -> None:
    ours, script, rest = split_words(words.split())
    assert (ours, script, rest) == (expected[0].split(), expected[1], expected[2].split())


@pytest.mark.parametrize("words", ["--check 1 train.py", "--max-data 5X train.py", "--nonsense train.py", "", "--run"])
def test_usage(tmp_path: Path, words: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "neutra.capture", *words.split()], env=environment(), capture_output=True, text=True
    )
    assert run.returncode == 2
    assert "usage: python -m neutra.capture" in run.stderr


def test_weights_need_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(NotCaptured, match="h5py"):
        _write_weights(Recording("keras", {}, weights=[]), str(tmp_path / "weights.h5"))
