"""The parts of the recorder of PyTorch that need no PyTorch: layers, losses, optimisers, loops, rows and epochs."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neutra.capture.recording import Frame, NotCaptured
from neutra.capture.torch_data import Epochs, Evaluations, Origin, matching, row_numbers
from neutra.capture.torch_epochs import count_epochs, loops_around
from neutra.capture.torch_images import flat_order, padding_word, same_before
from neutra.capture.torch_initial import Unknown, bounds, drawn_by, initializer
from neutra.capture.torch_layers import Layers
from neutra.capture.torch_loop import Calls, Step, as_fit_loop, epoch_losses, found_loop
from neutra.capture.torch_loss import FoundLoss, program_loss
from neutra.capture.torch_ops import Drawn, Op, Variable, function_settings
from neutra.capture.torch_optimizer import FoundOptimizer, program_optimizer
from neutra.capture.torch_schedule import FoundSchedule, program_schedule, rates_schedule

# -- loops


def steps_of(pattern: str, **fields: Any) -> list[Step]:
    """Steps of epochs that are parted by "|": "c" for gradients that are clear before, "f" for filled ones."""
    return [
        Step(epoch, letter == "c", updates=fields.get("updates", 1), rows=fields.get("rows", 4), loss=1.0 + epoch)
        for epoch, letters in enumerate(pattern.split("|"))
        for letter in letters
    ]


@pytest.mark.parametrize(
    ("pattern", "style"),
    [
        ("ccc|c", "each_step"),
        ("cff|c", "each_epoch"),
        ("cff|f", "never"),
        ("c|c", "each_step"),
        ("c|f", "never"),
        ("ccc", "each_step"),
        ("cff", "never"),
        ("c", "each_step"),
    ],
)
def test_zero_grad_is_told_by_the_gradients(pattern: str, style: str) -> None:
    assert found_loop(steps_of(pattern), Calls(), ended=False).zero_grad == style


def test_gradients_that_are_wiped_before_the_update() -> None:
    steps = steps_of("ccc|c")
    for step in steps[:-1]:
        step.wiped = True
    assert found_loop(steps, Calls(), ended=False).zero_grad == "before_step"


def test_updates_are_counted() -> None:
    assert not found_loop(steps_of("cff|f", updates=0), Calls(), ended=False).step
    accumulated = steps_of("cfcfcf|c")
    for step in accumulated[:6:2]:
        step.updates = 0
    found = found_loop(accumulated, Calls(), ended=False)
    assert (found.passes, found.zero_grad) == (2, "each_step")
    accumulated[4].updates = 1
    with pytest.raises(NotCaptured, match="2 backward passes for one step of the optimiser, and others"):
        found_loop(accumulated, Calls(), ended=False)
    with pytest.raises(NotCaptured, match="2 steps of the optimiser for one backward pass"):
        found_loop(steps_of("ccc|c", updates=2), Calls(), ended=False)


def test_gradients_that_are_zeroed_at_some_steps_are_refused() -> None:
    with pytest.raises(NotCaptured, match="at some steps"):
        found_loop(steps_of("cfcf|c"), Calls(), ended=False)


@pytest.mark.parametrize(("marks", "every"), [("000|0", ""), ("000|1", "epoch"), ("011|1", "batch"), ("0|1", "epoch")])
def test_schedulers_step_with_batches_or_epochs(marks: str, every: str) -> None:
    steps = steps_of(marks.replace("0", "c").replace("1", "c"))
    for step, mark in zip(steps, marks.replace("|", "")):
        step.scheduled = int(mark)
    assert found_loop(steps, Calls(), ended=False).schedule == every


def test_training_that_stays_in_evaluation_mode_is_named() -> None:
    steps = steps_of("cc|cc|c")
    for step in steps[2:]:
        step.training = False
    assert "model.train()" in found_loop(steps, Calls(), ended=False).differences[0].message


def test_only_what_is_not_keras_own_loop_is_written() -> None:
    found = found_loop(steps_of("cc|c"), Calls(), ended=False)
    assert as_fit_loop(found, "mean", [], None) == {}
    found.zero_grad, found.step = "never", False
    expected = {"zero_grad": "never", "step": False, "reduction": "sum", "left_out": [1], "detached": 0}
    assert as_fit_loop(found, "sum", [1], 0) == expected
    assert epoch_losses(steps_of("cc|cc")) == [1.0, 2.0]


# -- layers


def weight(*shape: int, **fields: Any) -> Variable:
    return Variable("weight", shape, drawn=Drawn("kaiming_uniform_", {"a": math.sqrt(5)}), **fields)


def linear(rows: tuple[int, ...], outputs: int, **fields: Any) -> Op:
    bias = Variable("bias", (outputs,), drawn=Drawn("zeros_"), weight_decay=fields.get("weight_decay", 0.0))
    return Op(
        "linear",
        {},
        rows,
        (*rows[:-1], outputs),
        {"weight": weight(outputs, rows[-1], **fields), "bias": bias},
        called="Linear",
        frames=[Frame("train.py", 7, "<module>")],
    )


def conv(rows: tuple[int, ...], after: tuple[int, ...], kernel: int, **settings: Any) -> Op:
    variables = {"weight": weight(after[1], rows[1], kernel, kernel)}
    return Op("conv2d", {"kernel_size": kernel, "stride": 1, **settings}, rows, after, variables, called="Conv2d")


def kinds(layers: Layers) -> list[str]:
    return [layer["class_name"] for layer in layers.layers]


def test_a_linear_layer() -> None:
    layers = Layers((8, 5))
    layers.add(linear((8, 5), 3, weight_decay=0.02))
    config = layers.layers[0]["config"]
    assert kinds(layers) == ["Dense"]
    assert (config["units"], config["use_bias"]) == (3, True)
    assert config["kernel_initializer"]["config"] == {"scale": 1 / 3, "mode": "fan_in", "distribution": "uniform"}
    assert layers.undecayed() == []
    assert layers.sites[0].arguments["out_features"] == "/model/config/layers/0/config/units"
    assert layers.weights[0].turn(np.arange(15).reshape(3, 5)).shape == (5, 3)


def test_variables_without_weight_decay() -> None:
    layers = Layers((8, 5))
    for _ in range(2):
        op = linear((8, 5), 5, weight_decay=0.02)
        op.variables["bias"].weight_decay = 0.0
        layers.add(op)
    assert layers.undecayed() == ["bias"]
    layers.add(linear((8, 5), 5, weight_decay=0.02))
    assert layers.undecayed() == ["0/bias", "1/bias"]
    plain = Layers((8, 5))
    plain.add(linear((8, 5), 5))
    assert plain.undecayed() == []


def test_images_are_turned_and_flattened_features_reordered() -> None:
    layers = Layers((8, 3, 6, 6))
    layers.add(conv((8, 3, 6, 6), (8, 4, 4, 4), 3))
    layers.add(Op("relu", {}, (8, 4, 4, 4), (8, 4, 4, 4)))
    layers.add(Op("max_pool2d", {"kernel_size": 2, "padding": 0}, (8, 4, 4, 4), (8, 4, 2, 2)))
    layers.add(Op("reshape", {}, (8, 4, 2, 2), (8, 16)))
    layers.add(linear((8, 16), 2))
    assert kinds(layers) == ["Conv2D", "Activation", "MaxPooling2D", "Flatten", "Dense"]
    assert layers.turned
    kernel = np.random.default_rng(0).normal(size=(4, 3, 3, 3))
    turned = layers.weights[0].turn(kernel)
    assert turned.shape == (3, 3, 3, 4) and turned[1, 2, 0, 3] == kernel[3, 0, 1, 2]
    assert np.array_equal(layers.weights[0].back(turned), kernel)
    image, dense = np.random.default_rng(1).normal(size=(4, 2, 2)), np.random.default_rng(2).normal(size=(2, 16))
    there = dense @ image.ravel()
    here = np.moveaxis(image, 0, -1).ravel() @ layers.weights[1].turn(dense)
    assert np.allclose(there, here)
    assert np.array_equal(layers.weights[1].back(layers.weights[1].turn(dense)), dense)


def test_images_that_are_only_flattened_stay() -> None:
    layers = Layers((8, 3, 6, 6))
    layers.add(Op("reshape", {}, (8, 3, 6, 6), (8, 108)))
    layers.add(linear((8, 108), 2))
    assert not layers.turned and kinds(layers) == ["Flatten", "Dense"] and layers.order is None


def test_flat_order() -> None:
    assert list(flat_order((2, 1, 3))) == [0, 3, 1, 4, 2, 5]


def test_rows_that_a_view_mixes_are_refused() -> None:
    layers = Layers((8, 3, 4, 4))
    with pytest.raises(NotCaptured, match="8 rows that become 6"):
        layers.add(Op("reshape", {}, (8, 3, 4, 4), (6, 64), called="view"))


def test_layers_that_no_program_has_are_refused_with_their_line() -> None:
    layers = Layers((8, 4))
    with pytest.raises(NotCaptured, match=r"model.py:3: found Bilinear, which no layer"):
        layers.add(Op("Bilinear", {}, (8, 4), (8, 4), called="Bilinear", frames=[Frame("model.py", 3, "forward")]))


def test_softmax_over_the_rows_is_refused() -> None:
    layers = Layers((8, 4))
    with pytest.raises(NotCaptured, match="over the rows of a batch"):
        layers.add(Op("softmax", {"dim": 0}, (8, 4), (8, 4), called="Softmax"))


def test_layers_that_are_not_trained() -> None:
    layers = Layers((8, 4))
    frozen = linear((8, 4), 4)
    for variable in frozen.variables.values():
        variable.requires_grad = False
    left_out = linear((8, 4), 4)
    for variable in left_out.variables.values():
        variable.weight_decay = None
    layers.add(frozen)
    layers.add(left_out)
    assert layers.layers[0]["config"]["trainable"] is False
    assert layers.left_out == [1]
    half = linear((8, 4), 4)
    half.variables["bias"].weight_decay = None
    with pytest.raises(NotCaptured, match="bias not trained"):
        layers.add(half)


def test_a_cut_graph_ends_behind_its_last_layer() -> None:
    layers = Layers((8, 4))
    for cut in (True, True, False):
        op = linear((8, 4), 4)
        op.cut = cut
        layers.add(op)
    assert layers.detached == 1


def test_dropout_that_does_not_act_has_rate_0() -> None:
    layers = Layers((8, 4))
    layers.add(Op("dropout", {"p": 0.3}, (8, 4), (8, 4), called="Dropout", training=False))
    layers.add(Op("dropout", {"p": 0.3}, (8, 4), (8, 4), called="Dropout", training=True))
    assert [layer["config"]["rate"] for layer in layers.layers] == [0.0, 0.3]
    assert "its rate here is 0" in layers.notes[0]


@pytest.mark.parametrize(
    ("extent", "output", "kernel", "stride", "padding", "word"),
    [
        (8, 6, 3, 1, 0, "valid"),
        (8, 8, 3, 1, 1, "same"),
        (9, 5, 3, 2, 1, "same"),
        (8, 4, 3, 2, 1, None),  # PyTorch pads both sides, Keras the end alone
        (8, 4, 2, 2, 0, "valid"),
        (9, 5, 2, 2, 0, "same"),  # ceil_mode
        (8, 6, 5, 1, 1, None),
    ],
)
def test_padding(extent: int, output: int, kernel: int, stride: int, padding: int, word: str | None) -> None:
    assert padding_word((extent,), (output,), (kernel,), (stride,), (1,), (padding,)) == word


def test_cells_in_front_of_an_axis() -> None:
    assert [same_before(extent, 3, 2, 1) for extent in (8, 9)] == [0, 1]


def test_settings_of_functions() -> None:
    assert function_settings("relu_", (), {}) == ("relu", {})
    assert function_settings("leaky_relu", (0.2,), {})[1]["negative_slope"] == 0.2
    assert function_settings("max_pool2d", (2,), {"stride": 1})[1]["stride"] == 1
    assert function_settings("permute", ((0, 2, 1),), {}) == function_settings("permute", (0, 2, 1), {})
    assert function_settings("__truediv__", (255.0,), {}) == ("div", {"other": 255.0})
    assert function_settings("erfinv", (1,), {}) == ("erfinv", {})


# -- initial values


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        (Drawn("xavier_uniform_"), ("GlorotUniform", {})),
        (
            Drawn("xavier_normal_", {"gain": 2.0}),
            ("VarianceScaling", {"scale": 4.0, "mode": "fan_avg", "distribution": "untruncated_normal"}),
        ),
        (Drawn("kaiming_uniform_", {"nonlinearity": "relu"}), ("HeUniform", {})),
        (
            Drawn("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}),
            ("VarianceScaling", {"scale": 2.0, "mode": "fan_out", "distribution": "untruncated_normal"}),
        ),
        (Drawn("normal_", {"mean": 0.0, "std": 0.02}), ("RandomNormal", {"mean": 0.0, "stddev": 0.02})),
        (Drawn("trunc_normal_", {"std": 0.02}), ("RandomNormal", {"mean": 0.0, "stddev": 0.02})),
        (Drawn("trunc_normal_", {"std": 1.0}), ("TruncatedNormal", {"mean": 0.0, "stddev": 1.0})),
        (Drawn("uniform_", {"a": -0.5, "b": 0.25}), ("RandomUniform", {"minval": -0.5, "maxval": 0.25})),
        (Drawn("constant_", {"val": 0.5}), ("Constant", {"value": 0.5})),
        (Drawn("fill_", {"val": 1}), ("Ones", {})),
        (Drawn("orthogonal_"), ("Orthogonal", {"gain": 1.0})),
    ],
)
def test_initialisers(drawn: Drawn, expected: tuple[str, dict[str, Any]]) -> None:
    found = initializer(Variable("weight", (4, 6), drawn=drawn), 2)
    assert (found["class_name"], found["config"]) == expected


def test_a_bias_counts_the_inputs_of_its_kernel() -> None:
    of = bounds({"kernel": (4, 6, 3), "bias": (4,)})
    for limit, expected in ((18**-0.5, "FanInUniform"), (0.25, "RandomUniform")):
        drawn = Drawn("uniform_", {"a": -limit, "b": limit})
        assert initializer(Variable("bias", (4,), drawn=drawn), 1, of)["class_name"] == expected
    hidden = Variable("weight_ih_l0", (12, 9), drawn=Drawn("uniform_", {"a": -0.5, "b": 0.5}))
    found = initializer(hidden, 2, bounds({"recurrent_kernel": (12, 4)}))
    assert found == {"class_name": "FanInUniform", "config": {"of": "recurrent_kernel"}}


def test_a_part_of_a_parameter_is_no_whole() -> None:
    drawn = Drawn("zeros_", part=Drawn("fill_", {"val": 1}))
    with pytest.raises(Unknown, match="fill_ of a part of it"):
        initializer(Variable("bias", (4,), drawn=drawn), 1)


def test_numbers_that_no_initialiser_draws() -> None:
    for drawn in (None, Drawn("copy_"), Drawn("sparse_", {"sparsity": 0.5}), Drawn("trunc_normal_", {"std": 2.0})):
        with pytest.raises(Unknown):
            initializer(Variable("weight", (4, 6), drawn=drawn), 2)


def test_arguments_of_drawing() -> None:
    assert drawn_by("normal_", (0, 0.1), {}, []).arguments == {"mean": 0, "std": 0.1}
    assert drawn_by("uniform_", (), {"from": -1, "to": 1}, []).arguments == {"a": -1, "b": 1}


# -- losses


def loss(name: str, output: tuple[int, ...], target: tuple[int, ...], **fields: Any) -> FoundLoss:
    return FoundLoss(name, fields.pop("settings", {}), output, target, **fields)


def test_cross_entropy() -> None:
    made = program_loss(loss("cross_entropy", (8, 3), (8,), whole=True))
    assert made.loss == {"class_name": "sparse_categorical_crossentropy", "config": {"from_logits": True}}
    made = program_loss(loss("cross_entropy", (8, 3), (8, 3)))
    assert made.loss["class_name"] == "categorical_crossentropy"
    made = program_loss(loss("cross_entropy", (8, 3), (8,), whole=True, settings={"label_smoothing": 0.1}))
    assert (made.loss["config"], made.targets) == ({"from_logits": True, "label_smoothing": 0.1}, "one_hot")


def test_a_softmax_behind_the_models_own() -> None:
    made = program_loss(loss("cross_entropy", (8, 3), (8,), whole=True, behind="softmax"))
    assert (made.loss, made.adds) == ("sparse_categorical_crossentropy", "softmax")
    made = program_loss(loss("binary_cross_entropy_with_logits", (8, 1), (8, 1), behind="sigmoid"))
    assert (made.loss, made.adds) == ("binary_crossentropy", "sigmoid")


def test_log_softmax_belongs_to_the_loss() -> None:
    assert program_loss(loss("nll_loss", (8, 3), (8,), whole=True, behind="log_softmax")).drops
    with pytest.raises(NotCaptured, match="outputs of linear that are no logarithms"):
        program_loss(loss("nll_loss", (8, 3), (8,), whole=True, behind="linear"))


def test_errors() -> None:
    assert program_loss(loss("mse_loss", (8, 2), (8, 2))).loss == "mean_squared_error"
    assert program_loss(loss("huber_loss", (8, 2), (8, 2), settings={"delta": 1.0})).loss == "huber"
    assert program_loss(loss("mse_loss", (8, 1), (8, 1), settings={"reduction": "sum"})).reduction == "sum"
    with pytest.raises(NotCaptured, match="which PyTorch makes \\(8, 8\\)"):
        program_loss(loss("mse_loss", (8, 1), (8,)))
    with pytest.raises(NotCaptured, match="over 2 outputs"):
        program_loss(loss("mse_loss", (8, 2), (8, 2), settings={"reduction": "sum"}))
    with pytest.raises(NotCaptured, match="weights of classes beside targets that are probabilities"):
        program_loss(loss("cross_entropy", (8, 3), (8, 3), settings={"weight": [1, 2, 3]}))
    with pytest.raises(NotCaptured, match="pos_weight of 2 outputs"):
        program_loss(loss("binary_cross_entropy_with_logits", (8, 2), (8, 2), settings={"pos_weight": [1, 2]}))
    with pytest.raises(NotCaptured, match="the loss CTCLoss"):
        program_loss(loss("CTCLoss", (8, 3), (8,)))


# -- optimisers


def test_optimisers() -> None:
    made = program_optimizer(FoundOptimizer("SGD", [{"lr": 0.1, "momentum": 0.9, "nesterov": True, "dampening": 0}]))
    config = {"learning_rate": 0.1, "rules": "torch", "momentum": 0.9, "nesterov": True}
    assert (made.class_name, made.config) == ("SGD", config)
    made = program_optimizer(FoundOptimizer("SGD", [{"lr": 0.1, "momentum": 0.9, "dampening": 0.5}]))
    assert made.config["dampening"] == 0.5
    adagrad = {"lr": 0.01, "lr_decay": 0.1, "eps": 1e-10, "initial_accumulator_value": 0}
    assert program_optimizer(FoundOptimizer("Adagrad", [adagrad])).config["decay"] == 0.1
    adam = {"lr": 0.001, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.01}
    made = program_optimizer(FoundOptimizer("AdamW", [adam, {**adam, "weight_decay": 0.0}]))
    assert made.class_name == "Adam" and made.config["decoupled_weight_decay"] and not made.differences
    assert made.config["weight_decay"] == 0.01
    made = program_optimizer(FoundOptimizer("Adam", [adam]))
    assert made.config["weight_decay"] == 0.01 and "decoupled_weight_decay" not in made.config
    with pytest.raises(NotCaptured, match=r"the optimiser LBFGS"):
        program_optimizer(FoundOptimizer("LBFGS", [{"lr": 1}]))
    with pytest.raises(NotCaptured, match=r"with lr 0\.1 and 0\.01; allowed: one"):
        program_optimizer(FoundOptimizer("SGD", [{"lr": 0.1}, {"lr": 0.01}]))
    with pytest.raises(NotCaptured, match=r"weight_decay 0\.1 and 0\.2; allowed: 0 and one"):
        program_optimizer(FoundOptimizer("SGD", [{"lr": 0.1, "weight_decay": 0.1}, {"lr": 0.1, "weight_decay": 0.2}]))


def _made(kind: str, settings: dict[str, Any]) -> Any:
    made = type(kind, (), {"__module__": "torch.optim.lr_scheduler"})()
    for key, value in settings.items():
        setattr(made, key, value)
    return made


def test_schedules() -> None:
    def schedule(kind: str, every: str = "epoch", **settings: Any) -> Any:
        return program_schedule(FoundSchedule(_made(kind, settings), every, 10, 0.1)).schedule

    assert schedule("ExponentialLR", "batch", gamma=0.9) == {"decay_rate": 0.9, "every": "batch"}
    assert schedule("StepLR", gamma=0.1, step_size=3) == {
        "decay_rate": 0.1,
        "steps": 3,
        "staircase": True,
        "every": "epoch",
    }
    assert schedule("StepLR", "", gamma=0.1, step_size=3) is None
    assert schedule("MultiStepLR", gamma=0.1, milestones={2: 1, 4: 2}) == {
        "kind": "piecewise",
        "boundaries": [2, 4],
        "factors": [0.1, 0.001],
        "every": "epoch",
    }
    assert schedule("CosineAnnealingLR", T_max=5, eta_min=0.01) == {
        "kind": "cosine",
        "steps": 5,
        "end": 0.1,
        "cycle": True,
        "every": "epoch",
    }
    linear = schedule("LinearLR", start_factor=0.5, end_factor=1.0, total_iters=4)
    assert linear == {"kind": "polynomial", "steps": 4, "start": 0.5, "end": 1, "every": "epoch"}
    with pytest.raises(NotCaptured, match="OwnLR, whose rates a copy of it doesn't say"):
        schedule("OwnLR")
    assert rates_schedule([[0.1, 0.1], [0.05, 0.05], [0.025, 0.025]]) == {"decay_rate": 0.5, "every": "epoch"}
    assert rates_schedule([[0.1], [0.05]]) == {
        "kind": "piecewise",
        "boundaries": [1],
        "factors": [0.5],
        "every": "epoch",
    }
    assert rates_schedule([[0.1, 0.2]]) == {"kind": "piecewise", "boundaries": [1], "factors": [2], "every": "batch"}


def test_plateaus() -> None:
    settings = {
        "factor": 0.5,
        "patience": 3,
        "mode": "min",
        "threshold": 1e-4,
        "threshold_mode": "rel",
        "cooldown": 2,
        "min_lrs": [0.01],
    }
    it = _made("ReduceLROnPlateau", settings)
    made = program_schedule(FoundSchedule(it, "epoch", 10, 0.1, watched=[0.5], losses=[0.50001]))
    assert made.callbacks[0]["config"] == {
        "monitor": "loss",
        "factor": 0.5,
        "patience": 4,
        "mode": "min",
        "min_delta": 1e-4,
        "relative": True,
        "cooldown": 3,
        "min_lr": 0.01,
    }
    made = program_schedule(FoundSchedule(it, "epoch", 10, 0.1, watched=[0.7], losses=[0.5], tested=True))
    assert made.callbacks[0]["config"]["monitor"] == "val_loss" and made.validates
    with pytest.raises(NotCaptured, match="isn't the loss of the epoch's training rows"):
        program_schedule(FoundSchedule(it, "epoch", 10, 0.1, watched=[0.7], losses=[0.5]))


# -- rows


def test_epochs_begin_where_rows_come_again() -> None:
    epochs = Epochs(1 << 20)
    x, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    found = []
    for _ in range(2):
        for start in (0, 2, 4):
            rows = frozenset(range(start, start + 2))
            found.append(epochs.step(x[start : start + 2], y[start : start + 2], Origin(rows=rows)))
    assert found == [0, 0, 0, 1, 1, 1]
    assert epochs.shuffled is False and not epochs.differing and epochs.rows.batch_size() == 2


def test_a_shuffled_second_epoch() -> None:
    epochs = Epochs(1 << 20)
    x, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    for number, order in enumerate(([0, 1, 2, 3, 4, 5], [4, 2, 0, 1, 3, 5])):
        for start in (0, 3):
            rows = order[start : start + 3]
            epochs.step(x[rows], y[rows], Origin(loop=(0, number)))
    assert epochs.number == 1 and epochs.shuffled is True and not epochs.differing
    epochs = Epochs(1 << 20)
    for number in range(2):
        epochs.step(x + number, y, Origin(loop=(0, number)))
    assert epochs.differing


def test_rows_beyond_max_data_are_cut() -> None:
    epochs = Epochs(100)
    for number in range(4):
        epochs.step(np.full((2, 4), float(number)), np.zeros(2), Origin(key=number))
    assert epochs.cut and epochs.rows.count == 2


def test_batches_of_other_sizes() -> None:
    epochs = Epochs(1 << 20)
    for number, size in enumerate((2, 3, 2)):
        epochs.step(np.full((size, 1), float(number)), np.zeros(size), Origin(key=number))
    assert epochs.rows.batch_size() is None


def test_the_last_set_that_is_not_trained_on_is_the_test() -> None:
    epochs, evaluations = Epochs(1 << 20), Evaluations(1 << 20)
    x, y = np.arange(8.0).reshape(4, 2), np.arange(4.0)
    epochs.step(x, y, Origin(loop=(0, 0)))
    for key, rows in (("valid", x + 10), ("test", x + 20), ("valid", x + 10), ("train", x)):
        evaluations.add(key, rows, y, False, None)
    found = evaluations.test(epochs.rows)
    assert found is not None and found[0] == "test" and found[1].count == 4
    assert evaluations.sets["valid"].count == 4


def test_targets_of_an_evaluation_get_the_form_of_the_trainings() -> None:
    column, one_hot = np.zeros((3, 1), np.float32), np.eye(3, dtype=np.float32)
    found = matching(np.array([1.0, 0.0]), column)
    assert found is not None and found.shape == (2, 1)
    found = matching(np.array([2, 0]), one_hot)
    assert found is not None and found.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert matching(np.zeros((2, 5)), column) is None


def test_rows_of_an_index() -> None:
    assert row_numbers(slice(2, 4), 9) == frozenset((2, 3))
    assert row_numbers(np.array([5, 1]), 9) == frozenset((1, 5))
    assert row_numbers((slice(0, 2), 0), 9) == frozenset((0, 1))
    assert row_numbers("all", 9) is None


# -- loops around a step


def run(folder: Path, text: str) -> Any:
    """The loops that a script's call of `seen` has around it."""
    file = folder / "train.py"
    file.write_text(text)
    found: list[Any] = []
    scope = {"seen": lambda: found.append(loops_around(sys._getframe(1))) if not found else None}
    exec(compile(text, str(file), "exec"), scope)
    return found[0]


@pytest.mark.parametrize(
    ("text", "steps", "epochs"),
    [
        ("for epoch in range(5):\n    for batch in [1, 2, 3]:\n        seen()\n", 3, 5),
        ("n = 7\nfor epoch in range(1, n + 1):\n    seen()\n", 1, 7),
        ("def train():\n    for batch in zip('abc', 'abc'):\n        seen()\nfor _ in range(4):\n    train()\n", 3, 4),
        ("for batch in iter([1, 2]):\n    seen()\n", 2, 1),
        ("class A:\n    epochs = 6\na = A()\nfor e in range(a.epochs):\n    seen()\n", 1, 6),
        ("for step in range(40):\n    seen()\n", 10, 4),
        ("import types\ntqdm = list\nfor epoch in tqdm(range(3)):\n    for b in (1, 2):\n        seen()\n", 2, 3),
        ("epoch = 0\nwhile epoch < 3:\n    epoch += 1\n    seen()\n", 1, None),
    ],
)
def test_epochs_of_loops(tmp_path: Path, text: str, steps: int, epochs: int | None) -> None:
    assert count_epochs(run(tmp_path, text), steps, []).count == epochs


def test_a_loop_over_parts_of_an_epoch(tmp_path: Path) -> None:
    text = "for epoch in range(5):\n    for phase in ['a', 'b']:\n        for batch in (1, 2):\n            seen()\n"
    loops = run(tmp_path, text)
    later = run(tmp_path, text.replace("range(5)", "range(1, 6)"))
    assert count_epochs(loops, 2, [], later).count == 5
    assert count_epochs(loops, 2, []).count == 10


def test_a_loop_that_makes_a_model_each_time_is_outside(tmp_path: Path) -> None:
    text = "for rate in (1, 2, 3):\n    optimizer = rate\n    for epoch in range(9):\n        seen()\n"
    loops = run(tmp_path, text)
    made = [Frame(str(tmp_path / "train.py"), 2, "<module>")]
    assert count_epochs(loops, 1, made).count == 9
    assert count_epochs(loops, 1, []).count == 27
    text = "for rate in (1, 2): optimizer = rate; [seen() for _ in (1,)]\n"
    assert count_epochs(run(tmp_path, text), 1, [made[0]._replace(line=1)]).count == 1
