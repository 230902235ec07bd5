"""The source map: where the values of a program are written, in scripts as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stand_ins import keras, torch
from stand_ins.recorder import Recorded

from neutra.capture.recording import Frame, Place, Site
from neutra.sources import source_map
from neutra.sources.source_map import SourceMap

SCRIPTS = Path(__file__).parent / "scripts" / "patches"
LAYERS = "/model/config/layers"


def recorded(name: str, arguments: tuple[str, ...] = ()) -> Recorded:
    record = torch.record if name.startswith("torch") else keras.record
    return record(SCRIPTS / name, arguments)


def placed(run: Recorded, arguments: tuple[str, ...] = ()) -> dict[str, list[tuple[str, int, str, str]]]:
    """File, line, kind and text by pointer, those of sites left out."""
    found: dict[str, list[tuple[str, int, str, str]]] = {}
    for entry in SourceMap(run.sites, run.files, run.program, arguments).places():
        if "site" not in entry:
            place = (entry["file"], entry["line"], entry["kind"], entry["text"])
            found.setdefault(entry["path"], []).append(place)
    return found


# Script, pointer below the layers or whole, line, kind, text: read from the scripts by hand.
EXPECTED = [
    ("sequential_list.py", "0/units", 11, "literal", "12"),
    ("sequential_list.py", "0/activation", 11, "literal", "'relu'"),
    ("sequential_list.py", "1/rate", 12, "literal", "0.5"),
    ("sequential_list.py", "3/kernel_initializer", 14, "default", "Dense(1, activation='softmax')"),
    ("sequential_list.py", "/compile/loss", 17, "literal", "'mse'"),
    ("sequential_list.py", "/compile/optimizer", 18, "literal", "SGD(lr=1e-1, momentum=0.9)"),
    ("sequential_list.py", "/compile/optimizer/config/learning_rate", 18, "literal", "1e-1"),
    ("sequential_list.py", "/fit/batch_size", 21, "literal", "10"),
    ("sequential_list.py", "/fit/epochs", 21, "literal", "150"),
    ("add_statements.py", "2/kernel_initializer", 15, "literal", '"zeros"'),
    ("add_statements.py", "3/activation", 16, "literal", '"sigmoid"'),
    ("add_statements.py", "4/units", 16, "literal", "1"),
    ("add_statements.py", "/compile/optimizer", 20, "literal", '"sgd"'),
    ("add_statements.py", "/fit/epochs", 21, "literal", "20"),
    ("constants.py", "0/units", 8, "variable", "64"),
    ("constants.py", "2/activation", 9, "variable", "'tanh'"),
    ("constants.py", "3/rate", 10, "variable", "0.25"),
    ("constants.py", "4/activation", 19, "literal", "tf.nn.softmax"),
    ("constants.py", "/compile/optimizer", 21, "variable", "tf.keras.optimizers.Adam(learning_rate=LEARNING_RATE)"),
    ("constants.py", "/compile/optimizer/config/learning_rate", 7, "variable", "1e-3"),
    ("constants.py", "/fit/batch_size", 5, "variable", "32"),
    ("loops.py", "0/units", 7, "loop", "64"),
    ("loops.py", "4/units", 7, "loop", "16"),
    ("loops.py", "2/activation", 11, "literal", "'relu'"),
    ("loops.py", "7/units", 15, "literal", "10"),
    ("loops.py", "8/units", 16, "loop", "9"),
    ("loops.py", "9/activation", 16, "loop", "'tanh'"),
    ("loops.py", "/fit/batch_size", 20, "default", "model.fit(x, y, epochs=5)"),
    ("helpers.py", "0/units", 24, "argument", "32"),
    ("helpers.py", "0/activation", 5, "argument", "'relu'"),
    ("helpers.py", "1/activation", 25, "argument", "'tanh'"),
    ("helpers.py", "3/kernel_initializer", 10, "literal", "'he_normal'"),
    ("helpers.py", "6/units", 29, "argument", "7"),
    ("helpers.py", "/compile/optimizer/config/learning_rate", 18, "argument", "0.01"),
    ("options.py", "0/units", 12, "command_line", "20"),
    ("options.py", "1/units", 20, "computed", "args.hidden // 2"),
    ("options.py", "1/activation", 13, "command_line", "'relu'"),
    ("options.py", "/compile/optimizer/config/learning_rate", 10, "command_line", "0.5"),
    ("options.py", "/fit/batch_size", 11, "command_line", "8"),
    ("config_dict.py", "0/units", 7, "variable", "24"),
    ("config_dict.py", "2/units", 7, "variable", "12"),
    ("config_dict.py", "1/rate", 8, "variable", "0.4"),
    ("config_dict.py", "0/activation", 14, "variable", "'selu'"),
    ("config_dict.py", "2/kernel_initializer", 14, "variable", "'lecun_normal'"),
    ("config_dict.py", "/compile/optimizer", 9, "variable", "'rmsprop'"),
    ("config_dict.py", "/fit/batch_size", 22, "computed", "config['batch']"),
    ("classes.py", "0/units", 35, "argument", "48"),
    ("classes.py", "0/activation", 18, "argument", "'relu'"),
    ("classes.py", "/compile/loss", 21, "variable", "'mae'"),
    ("classes.py", "/compile/optimizer/config/learning_rate", 11, "variable", "0.05"),
    ("classes.py", "/fit/epochs", 12, "variable", "7"),
    ("classes.py", "/fit/batch_size", 16, "variable", "64"),
    ("functional.py", "1/units", 8, "literal", "32"),
    ("functional.py", "4/activation", 11, "literal", "'relu'"),
    ("functional.py", "/compile/loss", 14, "literal", "losses.CategoricalCrossentropy(from_logits=True)"),
    ("subclassed.py", "0/units", 6, "argument", "30"),
    ("subclassed.py", "1/units", 9, "literal", "15"),
    ("subclassed.py", "2/rate", 10, "literal", "0.3"),
    ("comprehension.py", "1/units", 6, "loop", "40"),
    ("comprehension.py", "4/units", 8, "literal", "20"),
    ("settings_module.py", "0/units", 1, "variable", "25"),
    ("settings_module.py", "0/activation", 2, "variable", "'relu'"),
    ("settings_module.py", "/compile/loss", 4, "variable", "'mse'"),
    ("notebook.py", "1/units", 31, "literal", "2 ** 3"),
    ("notebook.py", "/compile/optimizer/config/learning_rate", 33, "literal", "0.1 / 10"),
    ("notebook.py", "/fit/batch_size", 21, "variable", "128"),
    ("notebook.py", "/fit/epochs", 19, "variable", "20"),
    ("indexed_dict.py", "0/units", 5, "variable", "30"),
    ("indexed_dict.py", "4/activation", 5, "variable", "'tanh'"),
    ("indexed_dict.py", "0/kernel_initializer", 7, "argument", "'he_uniform'"),
    ("indexed_dict.py", "/compile/optimizer/config/learning_rate", 5, "variable", "0.02"),
    ("indexed_dict.py", "/fit/batch_size", 23, "variable", "2 ** 4"),
    ("indexed_dict.py", "/fit/epochs", 24, "computed", "int('12')"),
    ("chosen_classes.py", "2/units", 7, "loop", "9"),
    ("chosen_classes.py", "/compile/optimizer/config/learning_rate", 7, "variable", "0.3"),
    ("torch_module_list.py", "0/units", 5, "loop", "24"),
    ("torch_module_list.py", "/fit/epochs", 5, "variable", "9"),
    ("torch_make_layers.py", "0/units", 17, "argument", "22"),
    ("torch_make_layers.py", "2/units", 19, "literal", "11"),
    ("torch_make_layers.py", "/compile/optimizer/config/learning_rate", 35, "literal", "0.02"),
    ("torch_make_layers.py", "/fit/batch_size", 7, "variable", "12"),
    ("torch_make_layers.py", "/fit/epochs", 6, "variable", "3"),
    ("torch_sequential.py", "3/units", 14, "literal", "12"),
    ("torch_sequential.py", "1/activation", 12, "literal", "nn.ReLU"),
    ("torch_sequential.py", "2/rate", 13, "literal", "0.2"),
    ("torch_sequential.py", "/fit/epochs", 23, "literal", "10"),
    ("torch_module.py", "0/units", 6, "variable", "20"),
    ("torch_module.py", "1/activation", 21, "literal", "F.relu"),
    ("torch_module.py", "/fit/epochs", 7, "variable", "4"),
    ("torch_module.py", "/fit/batch_size", 9, "variable", "8"),
    ("torch_loop_layers.py", "2/units", 10, "loop", "16"),
    ("torch_loop_layers.py", "/compile/optimizer/config/learning_rate", 7, "command_line", "0.1"),
    ("torch_faults.py", "0/units", 21, "argument", "14"),
    ("torch_faults.py", "/fit/loop/reduction", 37, "literal", "'sum'"),
    ("torch_faults.py", "/fit/epochs", 39, "literal", "8"),
]


@pytest.mark.parametrize("name", sorted({name for name, *_ in EXPECTED}))
@pytest.mark.parametrize("positions", [True, False], ids=["positions", "lines"])
def test_places(name: str, positions: bool) -> None:
    """With the positions of Python 3.11, and with the lines that older ones know."""
    run = recorded(name)
    if not positions:
        for site in run.sites:
            if site.name != "range":
                site.frames = [frame._replace(place=None) for frame in site.frames]
    found = placed(run)
    wrong = []
    for script, pointer, line, kind, text in EXPECTED:
        path = pointer if pointer.startswith("/") else f"{LAYERS}/{pointer.replace('/', '/config/', 1)}"
        if script == name and not any(place[1:] == (line, kind, text) for place in found.get(path, [])):
            wrong.append((path, line, kind, text, found.get(path)))
    assert wrong == []


@pytest.mark.parametrize("name", sorted({name for name, *_ in EXPECTED}))
def test_places_hold_their_text(name: str) -> None:
    run = recorded(name)
    for entry in SourceMap(run.sites, run.files, run.program).places():
        lines = run.files[entry["file"]].decode().splitlines()
        assert entry["kind"] in source_map.KINDS
        if entry["line"] == entry["end_line"]:
            text = lines[entry["line"] - 1][entry["column"] - 1 : entry["end_column"] - 1]
            assert text == entry["text"]


def test_units_of_a_layer_are_the_width_of_the_next() -> None:
    found = placed(recorded("torch_sequential.py"))[f"{LAYERS}/0/config/units"]
    assert [(line, text) for _, line, _, text in found] == [(11, "16"), (14, "16")]


def test_widths_of_a_loop_come_from_the_turn_before() -> None:
    run = recorded("torch_loop_layers.py")
    found = SourceMap(run.sites, run.files, run.program)
    for layer, text, column in ((0, "32", 10), (2, "16", 14), (4, "8", 18)):
        slots = [slot for slot in found.slots if slot.path == f"{LAYERS}/{layer}/config/units"]
        assert len(slots) == 2
        assert {(slot.at.text, slot.at.place.column) for slot in slots if slot.at} == {(text, column)}


def test_command_line_that_says_it() -> None:
    arguments = ("--lr", "0.1", "--batch-size=4")
    found = placed(recorded("options.py", arguments), arguments)
    assert found["/fit/batch_size"] == [("options.py", 11, "command_line", "8")]
    assert found["/compile/optimizer/config/learning_rate"] == [("options.py", 10, "command_line", "0.5")]


def test_repeated_calls_are_loops() -> None:
    run = recorded("loops.py")
    kinds = {e["path"]: e["kind"] for e in SourceMap(run.sites, run.files, run.program).places() if "site" in e}
    assert kinds[f"{LAYERS}/0"] == "loop"
    assert kinds[f"{LAYERS}/10"] == "literal"


def test_a_value_that_is_not_there_is_computed() -> None:
    """What the text says must be the program's value, unless a literal is given at the call."""
    run = recorded("constants.py")
    run.program["fit"]["batch_size"] = 77
    assert placed(run)["/fit/batch_size"] == [("constants.py", 23, "computed", "BATCH_SIZE")]


def test_two_calls_on_a_line_are_told_by_their_order() -> None:
    text = "m = Sequential([Dense(4), Dense(5)])\n"
    frame = Frame("a.py", 1, "<module>")
    sites = [
        Site("Dense", f"{LAYERS}/{n}", [frame], {"units": f"{LAYERS}/{n}/config/units"}, ["units"], ["units"])
        for n in range(2)
    ]
    program = {"model": {"config": {"layers": [{"config": {"units": n}} for n in (4, 5)]}}}
    found = SourceMap(sites, {"a.py": text.encode()}, program).places()
    assert [(e["column"], e["text"]) for e in found if "site" not in e] == [(23, "4"), (33, "5")]


def test_a_comprehension_in_a_helper(tmp_path: Path) -> None:
    """Before Python 3.12 a comprehension is a frame of its own."""
    text = """from keras import Sequential, layers
class Block:
    def __init__(self, units):
        self.dense = layers.Dense(units)
class Net:
    def __init__(self, widths):
        self.blocks = [Block(width) for width in widths]
model = Sequential([block.dense for block in Net([5, 6]).blocks])
model.compile("adam", "mse")
model.fit([[1]], [1])
"""
    (tmp_path / "net.py").write_text(text)
    found = placed(keras.record(tmp_path / "net.py", []))
    for layer, units in enumerate(("5", "6")):
        assert found[f"{LAYERS}/{layer}/config/units"] == [("net.py", 8, "loop", units)]


def test_the_first_turn_of_a_loop_is_another_line(tmp_path: Path) -> None:
    """Which turn made a layer isn't known then, but the value tells, where the turns have different ones."""
    text = """from keras import Sequential, layers
WIDTHS = [{0}]
model = Sequential()
for i, width in enumerate(WIDTHS):
    if i == 0:
        model.add(layers.Dense(width, input_shape=(6,)))
    else:
        model.add(layers.Dense(width))
model.compile("adam", "mse")
model.fit([[1]], [1])
"""
    (tmp_path / "net.py").write_text(text.format("24, 12, 10"))
    found = placed(keras.record(tmp_path / "net.py", []))
    assert [found[f"{LAYERS}/{n}/config/units"][0][1:] for n in range(3)] == [
        (2, "loop", "24"), (2, "loop", "12"), (2, "loop", "10"),
    ]  # fmt: skip
    (tmp_path / "net.py").write_text(text.format("12, 12"))
    found = placed(keras.record(tmp_path / "net.py", []))
    assert found[f"{LAYERS}/0/config/units"] == [("net.py", 6, "computed", "width")]


def test_an_entry_of_keyword_arguments(tmp_path: Path) -> None:
    text = """from keras import Sequential, layers
def build(**options):
    return Sequential([layers.Dense(options["units"], activation=options.get("act"))])
model = build(units=9, act="relu")
model.compile("adam", "mse")
model.fit([[1]], [1])
"""
    (tmp_path / "net.py").write_text(text)
    found = placed(keras.record(tmp_path / "net.py", []))
    assert found[f"{LAYERS}/0/config/units"] == [("net.py", 4, "argument", "9")]


def test_files_that_cannot_be_read() -> None:
    frame = Frame("<ipython-input-1>", 3, "<module>", Place("<ipython-input-1>", 3, 5, 3, 9))
    site = Site("fit", "/fit", [frame], {"epochs": "/fit/epochs"}, ["x", "y"], [])
    program: dict[str, Any] = {"fit": {"epochs": 3}}
    found = source_map.places([site], {}, program)
    assert [(e["path"], e["line"], e["kind"]) for e in found] == [
        ("/fit", 3, "computed"),
        ("/fit/epochs", 3, "computed"),
    ]
