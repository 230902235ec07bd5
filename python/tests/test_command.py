from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import SLOW, Fake

import neutra
from neutra.command import ON_OFF, forbidden, option_words


def error_of(verb: str, *words: str, **options: Any) -> neutra.NeutraError:
    with pytest.raises(neutra.NeutraError) as caught:
        neutra.run(verb, *words, **options)
    return caught.value


def test_the_argument_comes_before_the_environment(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert neutra.find_command() == str(fake.path)
    assert neutra.find_command(sys.executable) == os.path.abspath(sys.executable)
    monkeypatch.delenv("NEUTRA")
    monkeypatch.setenv("PATH", str(fake.path.parent))
    assert neutra.find_command() == str(fake.path)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(neutra.NeutraError, match=r"no command neutra in PATH; name it in .*NEUTRA"):
        neutra.find_command()


@pytest.mark.parametrize("place", ["command", "NEUTRA"])
def test_a_name_that_leads_nowhere_is_an_error(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEUTRA", "/nowhere/neutra")
    with pytest.raises(neutra.NeutraError, match=f"^{place}: found /nowhere/neutra; allowed: "):
        neutra.find_command("/nowhere/neutra" if place == "command" else None)


def test_options_become_words() -> None:
    assert option_words({"budget_time": "2h", "top_k": 3, "ground_truth_metric": 0.5}) == [
        "--budget-time=2h",
        "--top-k=3",
        "--ground-truth-metric=0.5",
    ]
    assert option_words({"fresh": True, "json": False, "seed": None, "seed_": 0}) == [
        "--fresh",
        "--seed=0",
    ]
    assert option_words({"curtail": False, "speculate": True, "early": None, "skip_dead": "off"}) == [
        "--curtail=off",
        "--speculate=on",
        "--skip-dead=off",
    ]
    assert option_words({"as_": "fault", "reuse": [Path("a b"), "c"], "tool": []}) == [
        "--as=fault",
        "--reuse=a b",
        "--reuse=c",
    ]
    assert option_words({"sizes": [1, 2, 1000], "rows": ("7", "9")}) == ["--sizes=1,2,1000", "--rows=7,9"]
    assert option_words({"rows": 7}) == ["--rows=7"]


def test_words_reach_the_command(fake: Fake) -> None:
    fake.replies({"metric": 1.5})
    assert neutra.run("train", Path("my fault.json"), replicas=3) == {"metric": 1.5}
    assert fake.calls == [["train", "my fault.json", "--replicas=3", "--json", "--quiet"]]


def test_a_file_may_be_named_like_an_option(fake: Fake) -> None:
    neutra.run("train", Path("-v.json"), replicas=3)
    assert fake.calls == [["train", "--replicas=3", "--json", "--quiet", "--", "-v.json"]]


def test_the_real_command_takes_a_file_named_like_an_option(
    real: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = neutra.show("D7")["program"]
    (tmp_path / "--help.json").write_text(json.dumps(program))
    monkeypatch.chdir(tmp_path)
    assert neutra.show(Path("--help.json"))["hash"] == neutra.show("D7")["hash"]
    assert "--none.json" in error_of("show", "--none.json").message


def test_another_format_is_returned_as_text(fake: Fake) -> None:
    fake.reply(out="a\tb\n")
    assert neutra.run("network", "D6.h5", format="tsv") == "a\tb"
    assert fake.calls == [["network", "D6.h5", "--format=tsv", "--quiet"]]


def test_bad_input_is_an_error_with_the_message(fake: Fake) -> None:
    fake.reply(err="neutra: error: x.json: /fit: found 3\nallowed: an object\n", code=3)
    error = error_of("show", "x.json")
    assert error.code == neutra.ExitCode.BAD_INPUT
    assert error.message == "x.json: /fit: found 3\nallowed: an object"
    assert str(error) == f"{error.message} (exit code 3)"
    assert error.command == [str(fake.path), "show", "x.json", "--json", "--quiet"]


def test_a_result_with_exit_code_1_is_a_result(fake: Fake) -> None:
    fake.reply(out='{"passed": 1, "total": 2}', err="neutra: one failed", code=1)
    assert neutra.run("verify", "x.tsv") == {"passed": 1, "total": 2}


def test_exit_code_1_without_a_result_is_an_error(fake: Fake) -> None:
    fake.reply(err="neutra: error: no space left", code=1)
    error = error_of("train", "D6")
    assert (error.code, error.message) == (neutra.ExitCode.FAILED, "no space left")


def test_an_interruption_is_an_error_although_there_is_a_result(fake: Fake) -> None:
    fake.reply(out='{"finished": false}', code=75)
    error = error_of("search", "D6")
    assert error.code == neutra.ExitCode.INTERRUPTED
    assert "goes on" in error.message


def test_silence_is_no_result(fake: Fake) -> None:
    fake.reply()
    assert neutra.run("mutate", "D6") is None
    fake.reply(code=2)
    assert error_of("mutate").message == "it failed and said nothing"


def test_text_is_no_json(fake: Fake) -> None:
    fake.reply(out="usage: something else")
    assert "what it printed is no JSON" in error_of("show", "D6").message


def test_a_command_that_dies_by_signal(fake: Fake) -> None:
    fake.script("#!/bin/sh\nkill -KILL $$\n")
    error = error_of("show", "D6")
    assert (error.code, error.message) == (128 + signal.SIGKILL, "killed by signal 9")


def test_a_command_that_is_no_program(fake: Fake) -> None:
    fake.script("\x7fELF broken")
    assert error_of("show", "D6").code is None


def test_warnings_are_logged(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    fake.reply(out="[]", err="neutra: D2: its data are not here\n")
    assert neutra.run("faults") == []
    assert [record.message for record in caplog.records] == ["neutra: D2: its data are not here"]


def test_much_output_on_both_streams(fake: Fake) -> None:
    fake.reply(out='"' + "x" * 2_000_000 + '"', err="y" * 2_000_000)
    assert len(neutra.run("show", "D6")) == 2_000_000


def test_an_interrupt_has_the_command_save(fake: Fake) -> None:
    path = fake.script(SLOW.replace("while", "(sleep 1; kill -INT $PPID) &\nwhile"))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            neutra.run("search", "D6")
    finally:
        signal.signal(signal.SIGINT, before)
    assert Path(f"{path}.saved").exists()


def test_nothing_runs_where_it_is_forbidden(fake: Fake) -> None:
    with forbidden("not while importing"):
        assert error_of("show", "D6").message == "not while importing"
    assert neutra.run("show", "D6") == {}


def test_the_real_command_says_the_version_of_this_package(real: str) -> None:
    assert neutra.version()["program_version"] == neutra.__version__


def test_the_real_command_has_these_options_with_on_and_off(real: str) -> None:
    help_text = subprocess.run([real, "help", "--markdown"], capture_output=True, text=True).stdout
    found = set(re.findall(r"--([a-z-]+) on\|off", help_text))
    assert {name.replace("-", "_") for name in found} == ON_OFF


def test_the_real_command_refuses_an_unknown_option(real: str) -> None:
    error = error_of("train", "D6", replica=3)
    assert error.code == neutra.ExitCode.USAGE
    assert "replicas" in error.message
