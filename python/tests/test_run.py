from __future__ import annotations

import re
import threading
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, StoreMaker, write_store

import neutra
from neutra import store


def documented_columns(table: str) -> list[str]:
    """Those of docs/formats/store.md, which a test of the command compares with what it writes."""
    page = (ROOT / "docs/formats/store.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| `/{table}/` \|.*`(\w+(?:, \w+)+)`", page, re.MULTILINE)
    assert found, table
    return found[1].split(", ")


def test_the_columns_are_those_of_the_format(make_store: StoreMaker) -> None:
    with h5py.File(make_store()) as file:
        for table in ("nodes", "edges"):
            assert sorted(file[table]) == sorted(documented_columns(table))
        assert set(file["evaluations"]) <= set(documented_columns("evaluations"))
    assert set(store._FLAGS) <= set(documented_columns("nodes"))
    assert set(store._NODES) - {"change"} <= set(documented_columns("nodes"))
    assert set(store._EVALUATIONS) <= set(documented_columns("evaluations"))


def test_the_real_store_has_the_columns_of_the_format(found: neutra.Run) -> None:
    with h5py.File(found.store) as file:
        for table in ("nodes", "edges", "evaluations", "deaths"):
            assert sorted(file[table]) == sorted(documented_columns(table))


def test_nodes(make_store: StoreMaker) -> None:
    nodes = neutra.Run(make_store()).nodes
    assert nodes.index.tolist() == [0, 1, 2, 3]
    assert nodes.index.name == "id"
    assert nodes["metrics"].tolist() == [[], [0.1], [0.2, 0.2], [0.3, 0.3, 0.3]]
    assert nodes["alternative"].tolist() == [False, True, False, True]
    assert nodes["alternative"].dtype == bool
    assert nodes.loc[3, "parameters"] == "lr=3"
    assert nodes["mean"].isna().tolist() == [False, False, True, False]


@pytest.mark.parametrize(("goal", "best_first"), [("maximize", [3, 1]), ("minimize", [1, 3])])
def test_repairs_have_the_best_first(goal: str, best_first: list[int], make_store: StoreMaker) -> None:
    run = neutra.Run(make_store(goal=goal))
    assert run.repairs.index.tolist() == run.alternatives.index.tolist() == best_first


def test_changes_go_from_the_buggy_program(make_store: StoreMaker) -> None:
    assert neutra.Run(make_store()).nodes["change"].tolist() == ["", "lr 0->1", "lr 0->2", "lr 0->3"]


def test_changes_of_a_chain_are_added_up() -> None:
    from neutra.store import _changes

    nodes = pd.DataFrame(
        [(-1, "", "", ""), (0, "lr", "1", "2"), (1, "b", "x", "y"), (2, "lr", "2", "4"), (3, "lr", "4", "1")],
        columns=["parent", "key", "before", "after"],
    )
    assert _changes(nodes) == ["", "lr 1->2", "b x->y, lr 1->2", "b x->y, lr 1->4", "b x->y"]


@pytest.mark.parametrize(("goal", "best"), [("maximize", "0.3"), ("minimize", "0.1")])
def test_a_run_says_in_one_line_what_was_found(goal: str, best: str, make_store: StoreMaker) -> None:
    store = make_store(goal=goal)
    assert repr(neutra.Run(store)) == (
        f"<neutra run {store}: Dé, finished (queue empty), 4 generated, 4 evaluated, 2 repairs;"
        f" accuracy 0 -> {best}, 0.75 to reach>"
    )
    with h5py.File(store, "r+") as file:
        file.attrs["finished"] = 0
        file["nodes/alternative"][()] = 0
        file["header"][1] = '{"ground_truth": null}'
    assert (
        repr(neutra.Run(store))
        == f"<neutra run {store}: Dé, not finished, 4 generated, 4 evaluated, 0 repairs; accuracy 0>"
    )


def test_a_run_says_in_one_line_why_there_is_nothing(make_store: StoreMaker, tmp_path: Path) -> None:
    assert repr(neutra.Run("none.h5")) == "<neutra run: none.h5: there is no such file>"
    (tmp_path / "text.h5").write_text("a\nb")
    for file in (tmp_path / "text.h5", make_store(form="else")):
        text = repr(neutra.Run(file))
        assert text.startswith(f"<neutra run: {file}: ")
        assert "\n" not in text


def test_info(make_store: StoreMaker) -> None:
    run = neutra.Run(make_store())
    info = run.info
    assert (info["fault"], info["seed"], info["finished"]) == ("Dé", 7, True)
    assert (info["config"], info["counters"]) == ({"top_k": 5}, {"evaluations": 4})
    assert info["ground_truth"] == 0.75
    assert run.finished
    assert run.fixed_metrics.tolist() == [0.75]


def test_evaluations_and_edges(make_store: StoreMaker) -> None:
    run = neutra.Run(make_store())
    assert run.evaluations["message"].tolist() == ["", "ünknown"]
    assert run.edges.to_dict("list") == {"child": [1, 3], "parent": [0, 0]}


def test_the_graph_holds_what_the_search_kept(make_store: StoreMaker) -> None:
    graph = neutra.Run(make_store()).graph
    assert sorted(graph) == [0, 1, 3]
    assert graph.nodes[3]["significant"]
    assert graph.edges[0, 3] == {"key": "lr", "before": "0", "after": "3"}
    assert graph.graph == {"fault": "Dé", "metric": "accuracy", "goal": "maximize"}


def test_a_search_without_programs_has_an_empty_graph(make_store: StoreMaker) -> None:
    run = neutra.Run(make_store(count=0))
    assert len(run.graph) == len(run.nodes) == len(run.alternatives) == 0


def test_what_is_no_store_is_an_error(make_store: StoreMaker, tmp_path: Path) -> None:
    with pytest.raises(neutra.NeutraError, match=r"none\.h5: there is no such file"):
        _ = neutra.Run(tmp_path / "none.h5").nodes
    (tmp_path / "begun.h5.journal").write_bytes(b"NJR1")
    with pytest.raises(neutra.NeutraError, match=r"begun\.h5: the search has not saved yet"):
        _ = neutra.Run(tmp_path / "begun.h5").nodes
    (tmp_path / "text.h5").write_text("text")
    with pytest.raises(neutra.NeutraError, match=r"text\.h5: no HDF5 file"):
        _ = neutra.Run(tmp_path / "text.h5").nodes
    with pytest.raises(neutra.NeutraError, match="found another kind of file"):
        _ = neutra.Run(make_store(form="neutra-monitor")).nodes
    with pytest.raises(neutra.NeutraError, match="version 2; allowed: versions up to 1: a newer"):
        _ = neutra.Run(make_store(version=2)).nodes


@pytest.mark.parametrize(
    ("lost", "attribute"),
    [
        ("nodes", "nodes"),
        ("nodes/hash", "nodes"),
        ("nodes/mean", "alternatives"),
        ("nodes/metric_count", "nodes"),
        ("metrics", "nodes"),
        ("edges", "edges"),
        ("edges/child", "graph"),
        ("evaluations", "evaluations"),
        ("fixed", "fixed_metrics"),
        ("header", "info"),
    ],
)
def test_a_damaged_store_is_an_error(lost: str, attribute: str, make_store: StoreMaker) -> None:
    path = make_store()
    with h5py.File(path, "a") as file:
        del file[lost]
    if lost == "nodes/hash":  # other columns stand for themselves
        with h5py.File(path, "a") as file:
            file["nodes/hash"] = [1]
    with pytest.raises(neutra.NeutraError, match=r"D0\.h5: the file is damaged: .*; neutra store repair"):
        getattr(neutra.Run(path), attribute)


def test_attributes_and_edges_may_be_damaged(make_store: StoreMaker) -> None:
    path = make_store()
    with h5py.File(path, "a") as file:
        file.attrs["counters"] = "{"
        file["edges/child"][0] = 77
    for attribute in ("info", "finished", "graph"):
        with pytest.raises(neutra.NeutraError, match="the file is damaged"):
            getattr(neutra.Run(path), attribute)
    with h5py.File(path, "a") as file:
        del file.attrs["version"]
    with pytest.raises(neutra.NeutraError, match="the file is damaged"):
        _ = neutra.Run(path).nodes


def test_reading_while_the_file_is_replaced(make_store: StoreMaker) -> None:
    path = make_store()
    run = neutra.Run(path)
    ended = threading.Event()

    def write() -> None:
        count = 4
        while not ended.is_set():
            count = 14 - count
            write_store(path, count=count)

    writer = threading.Thread(target=write)
    writer.start()
    sizes = set()
    try:
        for _ in range(50):
            graph = run.graph
            assert graph.number_of_edges() == len(graph) - 1
            sizes.add(len(graph))
    finally:
        ended.set()
        writer.join()
    assert sizes == {3, 6}


def test_the_real_store_gives_the_network_of_the_command(found: neutra.Run) -> None:
    graph, network = found.graph, neutra.network(found.store)
    assert list(graph.edges(data=True)) == list(network.edges(data=True))
    assert set(graph) == set(network)
    for node, expected in network.nodes(data=True):
        attributes = graph.nodes[node]
        for name in ("parameters", "depth", "status", "mean", "metrics", "queued", "alternative"):
            assert attributes[name] == expected[name], (node, name)
    assert len(found.alternatives) > 0
    info = found.info
    assert (info["fault"], info["config"]["budget_evaluations"]) == ("D7", 80)
    assert info["ground_truth"] == pytest.approx(float(np.mean(found.fixed_metrics)))
    assert info["ground_truth"] == network.graph["ground_truth"]


def test_the_real_store_has_its_evaluations(found: neutra.Run) -> None:
    evaluations = found.evaluations
    assert found.finished
    assert evaluations.dtypes["replica"] == np.int64
    assert set(evaluations["status"]) <= {"ok", "diverged"}
    assert set(found.nodes.query("status == 'ok'")["hash"]) <= set(evaluations["hash"])
