"""Patches of files as they lie on disks: line ends, encodings, digests, writing; and the command."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from stand_ins import keras
from stand_ins.recorder import Recorded

from neutra.sources import words
from neutra.sources.__main__ import main
from neutra.sources.difference import changes
from neutra.sources.edits import Edits, Overlap, Unwritten, unified_diff, write_all
from neutra.sources.literals import is_literal, value_of, written
from neutra.sources.patch import BadFault, Script, make_patch, read_script
from neutra.sources.source_map import SourceMap
from neutra.sources.text import SourceFile, Span, UnreadableSource

TEXT = (
    "# {note}\nimport keras\nfrom keras.layers import Dense\n\ndef build():\n{tab}model = keras.Sequential()\n"
    "{tab}model.add(Dense(4, activation='relu'))  # {note}\n{tab}model.add(Dense(1)); print('{note}')\n"
    "{tab}return model\n\nmodel = build()\nmodel.compile('sgd', 'mse')\nmodel.fit(0, 0, epochs=3)"
)


def as_bytes(kind: str) -> bytes:
    text = TEXT.format(note="größer", tab="    ")
    if kind == "crlf":
        return text.replace("\n", "\r\n").encode()
    if kind == "mixed":
        return text.replace("\n", "\r\n", 4).encode() + b"\n"
    if kind == "tabs":
        return TEXT.format(note="a", tab="\t").encode()
    if kind == "bom":
        return b"\xef\xbb\xbf" + text.encode()
    if kind == "latin-1":
        return ("# -*- coding: latin-1 -*-\n" + text).encode("latin-1")
    if kind == "form_feed":
        return text.replace("\ndef", "\n\f\ndef").replace("\nmodel =", "\n\fmodel =").encode()
    return text.encode()


KINDS = ["plain", "crlf", "mixed", "tabs", "bom", "latin-1", "form_feed"]


def record(file: Path) -> Recorded:
    run = keras.record(file)
    run.program["compile"]["optimizer"] = words.optimizer(run.program["compile"]["optimizer"])
    return run


def wanted_of(program: dict[str, Any]) -> dict[str, Any]:
    wanted = copy.deepcopy(program)
    layers = wanted["model"]["config"]["layers"]
    layers[0]["config"].update(units=8, activation="tanh", kernel_initializer="ones")
    layers.insert(1, copy.deepcopy(layers[0]))
    layers[2]["config"]["activation"] = "sigmoid"
    wanted["compile"]["optimizer"] = {"class_name": "Adam", "config": {"learning_rate": 0.5}}
    wanted["fit"]["epochs"] = 6
    return wanted


@pytest.mark.parametrize("kind", KINDS)
def test_texts_stay_as_they_are(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "train me.py"
    before = as_bytes(kind)
    file.write_bytes(before)
    run = record(file)
    wanted = wanted_of(run.program)
    patch = make_patch(Script(run.program, run.sites, run.files), wanted)
    assert patch.refused == []
    (tmp_path / "p.diff").write_bytes(patch.diff)
    applied = subprocess.run(["patch", "-p1", "-i", "p.diff"], cwd=tmp_path, capture_output=True, check=False)
    assert applied.returncode == 0, applied.stdout
    after = file.read_bytes()
    assert after == patch.contents["train me.py"][1]
    ast.parse(after)
    assert changes(record(file).program, wanted) == []
    assert [line for line in before.split(b"\n") if line in after.split(b"\n")] != []
    assert after.count(b"\xef\xbb\xbf") == before.count(b"\xef\xbb\xbf")
    assert after.count(b"\f") == before.count(b"\f")
    if kind == "crlf":
        assert after.count(b"\n") == after.count(b"\r\n")
    assert not after.endswith(b"\n") or before.endswith(b"\n")
    subprocess.run(["patch", "-p1", "-R", "-s", "-i", "p.diff"], cwd=tmp_path, check=True)
    assert file.read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_places_of_texts(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(as_bytes(kind))
    run = record(file)
    places = SourceMap(run.sites, run.files, run.program).places()
    assert {"'relu'", "4", "'sgd'", "3"} <= {entry["text"] for entry in places}


def fault(tmp_path: Path) -> Path:
    """A captured script as capture writes it."""
    script = tmp_path / "train.py"
    script.write_bytes(as_bytes("plain"))
    run = record(script)
    places = SourceMap(run.sites, run.files, run.program).places()
    digest = hashlib.sha256(script.read_bytes()).hexdigest()
    files = [{"file": "train.py", "sha256": digest}]
    section = {"file": "train.py", "arguments": [], "framework": "keras", "files": files, "places": places}
    document = {"format": "neutra-fault", "version": 1, "program": run.program, "script": section}
    (tmp_path / "f.json").write_text(json.dumps(document))
    (tmp_path / "w.json").write_text(json.dumps(wanted_of(run.program)))
    return tmp_path / "f.json"


def test_command(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = fault(tmp_path)
    assert main([str(file), str(tmp_path / "w.json")]) == 0
    (tmp_path / "p.diff").write_bytes(capfdbinary.readouterr().out)
    subprocess.run(["patch", "-p1", "-s", "--dry-run", "-i", "p.diff"], cwd=tmp_path, check=True)
    assert main([str(file), str(tmp_path / "w.json"), "--apply"]) == 0
    assert b"tanh" in (tmp_path / "train.py").read_bytes()
    assert main([str(file), str(tmp_path / "w.json")]) == 3
    assert b"train.py has changed since it was captured" in capfdbinary.readouterr().err


def test_patches_of_many_programs_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = fault(tmp_path)
    document = json.loads(file.read_text())
    (tmp_path / "same.json").write_text(json.dumps(document["program"]))
    (tmp_path / "none.json").write_text("[]")
    other = copy.deepcopy(document["program"])
    other["data"] = {"preprocess": [{"op": "scale", "factor": 2}]}
    (tmp_path / "data.json").write_text(json.dumps(other))
    wanted = [str(tmp_path / f"{name}.json") for name in ("w", "same", "none", "data")]
    assert main([str(file), *wanted, "--json", "--diffs", str(tmp_path)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["format"], found["version"]) == ("neutra-sources", 1)
    whole, same, none, data = found["patches"]
    assert main([str(file), wanted[0]]) == 0
    out, err = capsys.readouterr()
    assert whole == {
        "diff": out,
        "refused": [],
        "notes": whole["notes"],
        "arguments": None,
        "said": err.splitlines(),
    }
    assert (tmp_path / "0.diff").read_text() == out
    assert "2.diff" not in os.listdir(tmp_path)
    assert (same["diff"], same["refused"]) == ("", [])
    assert "found no object" in none["refused"][0]
    assert "cannot be changed here: /data" in data["refused"][0]
    assert b"tanh" not in (tmp_path / "train.py").read_bytes()
    several = "allowed: one, or --json without --apply"
    for words_, message in (
        ([*wanted], several),
        ([*wanted, "--json", "--apply"], several),
        ([wanted[0], "--diffs", "."], "found no --json"),
    ):
        with pytest.raises(SystemExit) as usage:
            main([str(file), *words_])
        assert usage.value.code == 2
        assert message in capsys.readouterr().err


def test_files_outside_of_the_fault_files_folder(tmp_path: Path) -> None:
    file = fault(tmp_path)
    (tmp_path / "faults").mkdir()
    document = json.loads(file.read_text())
    for entry in (*document["script"]["files"], *document["script"]["places"]):
        entry["file"] = str(tmp_path / "train.py")
    moved = tmp_path / "faults" / "f.json"
    moved.write_text(json.dumps(document))
    patch = make_patch(read_script(moved), json.loads((tmp_path / "w.json").read_text()))
    assert patch.refused == []
    assert patch.apply(moved.parent) == [tmp_path / "train.py"]
    assert b"tanh" in (tmp_path / "train.py").read_bytes()


def test_command_says_what_it_cannot_change(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = fault(tmp_path)
    wanted = json.loads((tmp_path / "w.json").read_text())
    wanted["fit"]["schedule"] = {"decay_rate": 0.5, "every": "epoch"}
    (tmp_path / "w.json").write_text(json.dumps(wanted))
    before = (tmp_path / "train.py").read_bytes()
    assert main([str(file), str(tmp_path / "w.json"), "--apply"]) == 1
    assert (tmp_path / "train.py").read_bytes() == before
    out, err = capfdbinary.readouterr()
    assert b"+++ b/train.py" in out
    assert err.startswith(b"train.py:13: cannot be changed here: /fit/schedule: null -> ")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"program": {}, "script": {"places": 3}}'])
def test_faults_without_a_script(text: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(BadFault, match=r"f\.json|script\.json"):
        read_script(tmp_path / "f.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = (\n", r"a\.py:1: not Python"),
        (b"# coding: nonsense\n", r"a\.py: cannot be decoded"),
        (b"\xff\xfe", "a.py"),
    ],
)
def test_unreadable(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableSource, match=message):
        SourceFile("a.py", data)


def test_overlapping_edits() -> None:
    file = SourceFile("a.py", b"x = 12\n")
    edits = Edits()
    edits.add(file, Span(4, 6), "3")
    edits.add(file, Span(4, 6), "3")
    assert len(edits) == 1
    with pytest.raises(Overlap, match=r"line 1 of a\.py"):
        edits.add(file, Span(5, 6), "4")
    edits.add(file, Span(6, 6), " + 1")
    assert edits.applied(file) == "x = 3 + 1\n"


def test_diff_of_lines_without_an_end() -> None:
    diff = unified_diff({"a b.py": (b"x\ny", b"x\nz"), "same.py": (b"1", b"1")})
    assert diff == (
        b"--- a/a b.py\t\n+++ b/a b.py\t\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n"
        b"+z\n\\ No newline at end of file\n"
    )


def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("1")
    two.write_text("2")
    one.chmod(0o750)
    link = tmp_path / "link.py"
    link.symlink_to(one)
    with pytest.raises(Unwritten, match="missing"):
        write_all([(one, b"x"), (tmp_path / "missing.py", b"y")])
    plain = os.replace

    def failing(source: str, target: str) -> None:
        if str(target).endswith("two.py"):
            raise PermissionError(13, "denied", str(target))
        plain(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(Unwritten, match="denied"):
        write_all([(one, b"x"), (two, b"y")])
    monkeypatch.undo()
    assert (one.read_text(), two.read_text()) == ("1", "2")
    write_all([(link, b"x")])
    assert link.is_symlink()
    assert one.read_text() == "x"
    assert one.stat().st_mode & 0o777 == 0o750
    assert sorted(os.listdir(tmp_path)) == ["link.py", "one.py", "two.py"]


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [
        (0.01, "1e-3", "1e-2"),
        (0.0010000000474974513, None, "0.001"),
        (1e-07, None, "1e-07"),
        ("relu", '"tanh"', '"relu"'),
        ("a'b", "'x'", r"'a\'b'"),
        ([3, 3], "(2, 2)", "(3, 3)"),
        ([3], None, "(3,)"),
        ([3, 3], "[2, 2]", "[3, 3]"),
        ({"0": 1, "1": 5.5}, None, "{0: 1, 1: 5.5}"),
        (None, None, "None"),
    ],
)
def test_written(value: object, like: str | None, text: str) -> None:
    assert written(value, like) == text


@pytest.mark.parametrize(
    "text", ["1", "-2.5", "1e-3", "2 ** 6", "0.1 / 10", "'a'", "(1, 2)", "[1, 'b']", "None", "True"]
)
def test_literals(text: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert is_literal(node)
    assert value_of(node) == (list(eval(text)) if text[0] in "([" else eval(text))


@pytest.mark.parametrize("text", ["x", "1 / 0", "f(1)", "9 ** 9 ** 9", "{1: 2}", "b'a'", "x + 1", "[x]"])
def test_no_literals(text: str) -> None:
    assert not is_literal(ast.parse(text, mode="eval").body)


def test_words_are_those_of_the_command() -> None:
    names = Path(__file__).parents[2] / "program" / "keras_names.json"
    if not names.exists():
        pytest.skip("the sources of the command aren't here")
    known = json.loads(names.read_text())
    table = words.table()
    assert table["activation"] == {e["name"]: e.get("aliases", []) for e in known["activation"]["entries"]}
    assert set(table["initializer"]) == {e["name"] for e in known["initializer"]["entries"]}
    for entry in known["initializer"]["entries"]:
        fields = {field["name"]: field["default"] for field in entry.get("fields", [])}
        assert table["initializer"][entry["name"]]["defaults"] == fields
    assert {n: e["aliases"] for n, e in table["loss"].items()} == {
        e["name"]: e.get("aliases", []) for e in known["loss"]["entries"]
    }
    for entry in known["optimizer"]["entries"]:
        for field in entry["fields"]:
            if field["type"] not in ("ignored", "fixed"):
                assert table["optimizer"][entry["name"]][field["name"]] == field["default"]
        assert table["optimizer_rules"].get(entry["name"], {}) == entry.get("by_rules", {})
