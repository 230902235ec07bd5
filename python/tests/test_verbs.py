from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from conftest import Fake

import neutra
from neutra.frame import frame_of


def test_a_training_that_diverged_has_no_metric(fake: Fake) -> None:
    replicas = [{"replica": 0, "metric": 0.5, "status": "ok"}, {"replica": 1, "metric": None}]
    fake.replies({"metric": "mae", "mean": None, "replicas": replicas})
    frame = neutra.train("D7", version="fixed", replicas=2)
    assert fake.calls == [["train", "D7", "--version=fixed", "--replicas=2", "--json", "--quiet"]]
    assert frame["metric"].fillna(-1).tolist() == [0.5, -1]
    assert frame.attrs == {"metric": "mae", "mean": None}


def test_answers_of_a_frame_reach_the_command(fake: Fake) -> None:
    fake.script('#!/bin/sh\ncat "${2#--answers=}" >&2\necho "neutra: error: no" >&2\nexit 3\n')
    answers = pd.DataFrame({"fault": ["D6"], "tool": ["mine"], "answer": ["ACH(0), LCH"]})
    with pytest.raises(neutra.NeutraError) as caught:
        neutra.score(answers)
    assert caught.value.message == 'fault,tool,answer\nD6,mine,"ACH(0), LCH"\nno'


def test_only_tables_of_a_score_become_frames(fake: Fake) -> None:
    fake.replies({"format": "x", "version": 1, "scores": [{"tool": "a"}], "skipped": ["D1"]})
    tables = neutra.score("answers.csv", network=["D6.h5", "D7.h5"], match="type")
    assert set(tables) == {"scores"}
    assert fake.calls[0][1:5] == [
        "--answers=answers.csv",
        "--network=D6.h5",
        "--network=D7.h5",
        "--match=type",
    ]


def test_real_lists(real: str) -> None:
    assert neutra.subjects().loc["d7", "goal"] == "minimize"
    assert neutra.faults("D6", "D7")["origin"].to_dict() == {"D6": "real", "D7": "real"}
    assert neutra.operators().loc["change_learning_rate", "abbreviation"] == "HLR"
    assert "umlaut" in neutra.tools().index


def test_real_program(real: str) -> None:
    buggy, fixed = neutra.show("D7"), neutra.show("D7", version="fixed")
    assert buggy["layers"][0]["class_name"] == "Dense"
    assert buggy["hash"] != fixed["hash"]


def test_real_training(real: str) -> None:
    frame = neutra.train("D6", replicas=3, seed=1, workers=1)
    assert frame.index.tolist() == [0, 1, 2]
    assert frame.attrs["mean"] == pytest.approx(frame["metric"].mean())
    checked = neutra.faults("D6", check=True, replicas=5)
    assert checked["buggy"].map(len).tolist() == [5]


def test_real_mutants(real: str, tmp_path: Path) -> None:
    mutants = neutra.mutate("D8", operator=["HLR", "change_epochs"], output=tmp_path / "mutants")
    assert set(mutants["faults"]) == {"HLR", "HNE"}
    for name in mutants["file"]:
        assert neutra.show(tmp_path / "mutants" / name)["metric"] == "accuracy"
    (name,) = neutra.mutate("D8", apply="HLR=0.5", output=tmp_path / "one.json", as_="fault")["name"]
    assert neutra.show(tmp_path / "one.json")["faults"] == "HLR", name


def test_real_network_of_a_record(found: neutra.Run, tmp_path: Path) -> None:
    record = tmp_path / "record.tsv"
    neutra.run("network", found.store, format="tsv", output=record)
    graph = neutra.network(record)
    assert graph.nodes[0]["role"] == "buggy"
    assert list(graph.edges) == list(found.graph.edges)


def test_real_tools_and_their_scores(found: neutra.Run) -> None:
    said = neutra.localise("D7", tool=["umlaut", "neuralint"], runs=3, workers=1)
    assert said.fault == "D7"
    assert said.tools.index.tolist() == ["umlaut", "neuralint"]
    assert said.runs.query("tool == 'umlaut'")["status"].tolist() == ["ok"] * 3
    assert repr(said).startswith("<neutra localisation of D7, declared HLR: umlaut ")
    assert " (3 runs); neuralint " in repr(said)
    scores = neutra.score(said.answers, network=found.store)["scores"]
    assert set(scores["fault"]) == {"D7"}
    assert set(scores["tool"]) == {"umlaut", "neuralint"}


def test_a_localisation_says_in_one_line_what_tools_answered() -> None:
    tools = frame_of({"tool": [f"t{i}" for i in range(7)], "answer": ["HLR", "-", *"abcde"]}).set_index("tool")
    runs = frame_of({"tool": ["t0", "t0", "t1"], "status": ["ok", "timeout", "ok"]})
    text = repr(neutra.Localisation("D7", "HLR", tools, runs))
    assert text.startswith(
        "<neutra localisation of D7, declared HLR: t0 HLR (2 runs: 1 ok, 1 timeout); t1 - (1 run); t2 a"
    )
    assert text.endswith("; and 2 tools more>")
    assert "t5" not in text
