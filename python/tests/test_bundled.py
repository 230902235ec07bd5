"""The command that a wheel brings inside the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import neutra
from neutra import bundled

SCRIPT = '#!/bin/sh\necho "$NEUTRA_TORCH"; for word; do echo "<$word>"; done; exit 7\n'


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "neutra"
    path.write_text(SCRIPT)
    path.chmod(0o755)
    monkeypatch.setattr(bundled, "COMMAND", str(path))
    monkeypatch.delenv("NEUTRA", raising=False)
    monkeypatch.delenv("NEUTRA_TORCH", raising=False)
    return path


def test_the_bundled_command_comes_before_the_path(command: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert neutra.find_command() == str(command)
    monkeypatch.setenv("NEUTRA", sys.executable)
    assert neutra.find_command() == os.path.abspath(sys.executable)


def test_it_learns_where_torch_is(command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('only its folder is asked for')\n")
    (tmp_path / "torch-2.15.1.dist-info").mkdir()
    (tmp_path / "torch-2.15.1.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.15.1+cpu\n")
    monkeypatch.syspath_prepend(tmp_path)
    release = tmp_path / "release"
    monkeypatch.setattr(bundled, "TORCH", str(release))
    assert "NEUTRA_TORCH" not in bundled.environment()  # the eager back end isn't inside
    release.write_text("2.1\n")
    assert "NEUTRA_TORCH" not in bundled.environment()
    release.write_text("2.15\n")
    assert bundled.environment()["NEUTRA_TORCH"] == str(tmp_path / "torch" / "lib")
    monkeypatch.setenv("NEUTRA_TORCH", "elsewhere")
    assert bundled.environment()["NEUTRA_TORCH"] == "elsewhere"


def test_its_own_start_script_is_not_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script" / "neutra"
    script.parent.mkdir()
    script.write_text("#!/usr/bin/python3\nfrom neutra.__main__ import main\nmain()\n")
    script.chmod(0o755)
    monkeypatch.setattr(bundled, "COMMAND", str(tmp_path / "gone"))
    monkeypatch.delenv("NEUTRA", raising=False)
    monkeypatch.setenv("PATH", str(script.parent))
    with pytest.raises(neutra.NeutraError, match="no command neutra in PATH"):
        neutra.find_command()
    monkeypatch.setenv("NEUTRA", str(script))
    with pytest.raises(neutra.NeutraError, match="NEUTRA: found"):
        neutra.find_command()
    other = tmp_path / "other" / "neutra"
    other.parent.mkdir()
    other.write_text(SCRIPT)
    other.chmod(0o755)
    monkeypatch.delenv("NEUTRA")
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{other.parent}")
    assert neutra.find_command() == str(other)


def test_the_module_becomes_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "neutra"
    path.write_text(SCRIPT)
    path.chmod(0o755)
    monkeypatch.delenv("NEUTRA", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    words = [sys.executable, "-X", "importtime", "-m", "neutra", "train", "a b", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 7
    assert done.stdout.splitlines()[1:] == ["<train>", "<a b>", "<--json>"]
    assert "pandas" not in done.stderr
