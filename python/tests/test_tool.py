from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tools

import neutra


def run_tool(folder: Path, file: Path, name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "neutra.run_tool", str(file), name],
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the command makes for a run."""
    layers = [{"class_name": "Dense"}, {"class_name": "Dense"}]
    program = {
        "model": {"config": {"layers": layers}},
        "compile": {"optimizer": {"config": {"learning_rate": 0.9}}},
    }
    (tmp_path / "program.json").write_text(json.dumps(program))
    (tmp_path / "request.json").write_text(json.dumps({"run": 0, "seed": 5}))
    (tmp_path / "train.py").write_text("import tensorflow\n")
    np.save(tmp_path / "x_train.npy", np.array([[1, -3]], dtype=np.float32))
    return tmp_path


def answer_of(folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text())
    return answer


HERE = Path(tools.__file__)


def test_a_tool_is_still_a_function() -> None:
    program = {"compile": {"optimizer": {"config": {"learning_rate": 0.9}}}}
    assert tools.rate(program) == "HLR"
    assert tools.rate.__doc__ and "usual" in tools.rate.__doc__


def test_the_description(tmp_path: Path) -> None:
    assert json.loads(tools.rate.write(tmp_path, python="python3").read_text()) == {
        "format": "neutra-tool",
        "version": 1,
        "name": "rate",
        "tool_version": "0",
        "description": "says whether the learning rate is usual",
        "source": "tools.py",
        "command": ["python3", "-m", "neutra.run_tool", str(HERE), "rate"],
        "needs": ["program"],
    }
    path = tools.everything.write(tmp_path / "made" / "here")
    assert path.name == "everything-2.json"
    description = json.loads(path.read_text())
    assert description["needs"] == ["data", "program", "script"]
    assert description["command"][0] == sys.executable
    assert (description["time_limit"], description["memory_limit"]) == (60, 2**31)
    assert (description["tool_version"], description["source"]) == ("1.2", "a paper")


def test_a_parameter_that_nothing_is_known_of() -> None:
    with pytest.raises(TypeError, match="f: found the parameter model; allowed: program, seed, "):

        @neutra.tool
        def f(model: object) -> str:
            return "-"


def test_a_function_that_no_process_finds(tmp_path: Path) -> None:
    def inner(program: object) -> str:
        return "-"

    with pytest.raises(ValueError, match=r"<locals>.inner in .*; allowed: one at the top level"):
        neutra.tool(inner).write(tmp_path)
    names: dict[str, Any] = {}
    exec(compile("def cell(program): return '-'", "<ipython-input-1>", "exec"), names)
    with pytest.raises(ValueError, match=r"a function that is in no file; allowed: .*%%writefile"):
        neutra.tool(names["cell"]).write(tmp_path)


def test_a_name_that_leads_out_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without folders"):
        neutra.tool(name="../evil")(tools.rate.function).write(tmp_path)
    assert not list(tmp_path.parent.glob("evil*"))


def test_run_with_the_program_alone(folder: Path) -> None:
    result = run_tool(folder, HERE, "rate")
    assert (result.returncode, result.stderr) == (0, "")
    assert answer_of(folder) == {"format": "neutra-answer", "version": 1, "faults": "HLR"}


def test_run_with_all_that_there_is(folder: Path) -> None:
    assert run_tool(folder, HERE, "everything").returncode == 0
    answer = answer_of(folder)
    assert answer["faults"] == "ACH(0)"
    assert answer["ranking"] == [
        {"layer": 0, "suspiciousness": 3},
        {"layer": 1, "suspiciousness": 1.5},
    ]
    assert answer["messages"] == [{"text": "True True", "layers": [0]}]


def test_run_a_function_without_a_decorator(folder: Path) -> None:
    assert run_tool(folder, HERE, "plain").returncode == 0
    assert answer_of(folder)["faults"] == "-"


@pytest.mark.parametrize(
    ("name", "last_line"),
    [
        ("broken", "ValueError: no idea about 2 layers"),
        ("silent", "TypeError: found the answer None; allowed: a string of faults, or a dict"),
        ("nothing", "AttributeError: module 'tools' has no attribute 'nothing'"),
    ],
)
def test_what_goes_wrong_is_in_the_last_line(name: str, last_line: str, folder: Path) -> None:
    result = run_tool(folder, HERE, name)
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1] == last_line
    assert not (folder / "answer.json").exists()


def test_an_answer_that_is_not_a_number(folder: Path) -> None:
    file = folder / "nan.py"
    file.write_text("def f(): return {'ranking': [{'layer': 0, 'suspiciousness': float('nan')}]}")
    result = run_tool(folder, file, "f")
    assert "ValueError: Out of range float values are not JSON compliant" in result.stderr


def test_run_a_function_of_a_package(folder: Path) -> None:
    package = folder / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "words.py").write_text("answer = 'LCH'")
    (package / "my_tool.py").write_text("from .words import answer\ndef f(): return answer")
    result = run_tool(folder, package / "my_tool.py", "f")
    assert result.returncode == 0, result.stderr
    assert answer_of(folder)["faults"] == "LCH"


def test_a_file_named_like_another_module(folder: Path) -> None:
    file = folder / "elsewhere" / "json.py"
    file.parent.mkdir()
    file.write_text("def f(): return '-'")
    result = run_tool(folder, file, "f")
    assert "json.py: found the module json elsewhere; allowed: another" in result.stderr


def test_a_script_that_asks_its_own_tool_does_not_start_itself_again(folder: Path) -> None:
    file = folder / "script.py"
    file.write_text("import neutra\ndef f(program): return '-'\nneutra.localise('D6', tool='umlaut')")
    result = run_tool(folder, file, "f")
    assert result.returncode == 1
    assert f"{file} runs neutra when it is imported; allowed: under if __name__" in result.stderr


@pytest.fixture
def importable() -> Iterator[None]:
    """The command starts this interpreter elsewhere: the package has to be installed for it."""
    assert importlib.util.find_spec("neutra") is not None
    result = subprocess.run([sys.executable, "-c", "import neutra"], cwd="/", capture_output=True)
    if result.returncode != 0:
        pytest.skip("neutra is not installed for this interpreter")
    yield


def test_the_real_command_finds_the_tools_conforming(real: str, importable: None) -> None:
    for tool in (tools.rate, tools.everything):
        steps = tool.check()
        assert steps.attrs["conforms"], steps.to_string()
    last: Any = tools.broken.check("D7")
    assert not last.attrs["conforms"]
    assert "no idea about 1 layers" in last.iloc[-1]["detail"]


def test_the_real_command_asks_them(real: str, importable: None) -> None:
    said = neutra.localise("D7", tool=[tools.everything, "umlaut", tools.broken], runs=2, seed=3, workers=1)
    assert said.tools.index.tolist() == ["everything-2", "umlaut", "broken"]
    assert said.tools.loc["everything-2", "kind"] == "external"
    runs: Any = said.runs.set_index(["tool", "run"])
    assert runs.loc[("everything-2", 1), "ranking"]["layers"][0]["layer"] == 0
    assert runs.loc[("broken", 0), "status"] == "failed"
    assert "ValueError: no idea about 1 layers" in runs.loc[("broken", 0), "reason"]
