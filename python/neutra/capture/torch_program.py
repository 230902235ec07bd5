"""Makes the program of what a recorder saw of a PyTorch training."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .frames import first
from .recording import NotCaptured, Recording, Site, shown_file
from .torch_data import Rows
from .torch_epochs import batches_site, count_epochs, epochs_site
from .torch_layers import Layers
from .torch_loop import FoundLoop, as_fit_loop, epoch_losses, found_loop
from .torch_loss import ProgramLoss
from .torch_optimizer import FoundOptimizer, ProgramOptimizer, program_optimizer
from .torch_schedule import SCHEDULE_ARGUMENTS, FoundSchedule, ProgramSchedule, program_schedule, rates_schedule
from .torch_state import State

if TYPE_CHECKING:
    from .torch_watch import TorchRecorder


def recording_of(recorder: TorchRecorder, ended: bool) -> Recording:
    """The recording of a training; `ended` says that the last step is whole. Raises NotCaptured."""
    state, session = recorder.state, recorder.session
    assert state is not None
    recorder.evaluations.close()
    layers, loss = state.layers()
    steps = [step for step in recorder.steps if step.epoch <= 2]  # later ones show nothing new
    found = found_loop(steps, recorder.calls, ended or len(steps) < len(recorder.steps))
    _by_hand(recorder, found)
    _gathered(recorder, found, layers, loss)
    optimizer = _optimizer(recorder, state)
    if layers.undecayed():
        optimizer.config["undecayed"] = layers.undecayed()
    _clipping(recorder, optimizer, layers)
    epochs, epochs_loop = _epochs(recorder, ended)
    test = _test(recorder, found, layers)
    schedule = _schedule(recorder, found, epochs, test is not None)
    recorder.differences += [*layers.differences, *optimizer.differences, *found.differences]
    sites = layers.sites + _sites(recorder, state, optimizer, found)
    site = epochs_site(epochs_loop)
    if site:
        sites.append(site)
    data: dict[str, Any] = {}
    metrics = [*loss.metrics, *(name for name in schedule.metrics if name not in loss.metrics)]
    if schedule.validates:
        data["validation"] = "test"
    arrays = _arrays(recorder, layers, loss, test, data)
    if loss.class_weight and "pos_weight" in state.chain.loss.settings:
        _only_whole(recorder, arrays)
    loop = as_fit_loop(found, loss.reduction, layers.left_out if found.step else [], layers.detached)
    fit: dict[str, Any] = {
        "batch_size": _batch_size(recorder) * found.passes,
        "epochs": epochs,
        "shuffle": _shuffle(recorder, ended),
        **({"class_weight": loss.class_weight} if loss.class_weight else {}),
        **({"schedule": schedule.schedule} if schedule.schedule else {}),
        **({"callbacks": schedule.callbacks} if schedule.callbacks else {}),
        **({"loop": loop} if loop else {}),
    }
    program = {
        "format": "neutra-program",
        "version": 1,
        "name": os.path.splitext(os.path.basename(sys.argv[0]))[0],
        "task": loss.task,
        "model": {
            "class_name": "Functional" if state.chain.branches else "Sequential",
            "config": {"layers": layers.layers},
        },
        "compile": {
            "optimizer": {"class_name": optimizer.class_name, "config": optimizer.config},
            "loss": loss.loss,
            "metrics": metrics,
        },
        "fit": fit,
        "data": data,
        "metric": loss.metric,
    }
    notes = [
        *layers.notes,
        *(_placed(recorder, note) for note in optimizer.notes),
        *found.notes,
        *schedule.notes,
        *recorder.notes,
    ]
    recording = Recording(
        f"torch {recorder.torch.__version__.split('+')[0]}", program, arrays, sites=sites, notes=notes
    )
    if session.options.run:
        recording.loss_history = epoch_losses(recorder.steps)
        recording.final_weights = weights_of(layers, state.values())
    if session.options.weights:
        recording.weights = weights_of(layers, {w.variable.name: w.variable.value for w in layers.weights})
    return recording


def weights_of(layers: Layers, values: dict[str, Any]) -> list[tuple[int, str, Any]]:
    """Weights as neutra has them, of torch's by name. Two biases of a recurrent layer are rows of one."""
    found: dict[tuple[int, str], Any] = {}
    for weight in layers.weights:
        value = values.get(weight.variable.name)
        if value is None:
            continue
        name, _, row = weight.name.partition("/")
        array, key = weight.turn(value), (weight.layer, name)
        if row and key in found:
            array = np.stack([found[key], array])
        found[key] = array
    return [(layer, name, array) for (layer, name), array in found.items()]


def _placed(recorder: TorchRecorder, note: str) -> str:
    frame = recorder.log.of(recorder.optimizer).frame if recorder.log.of(recorder.optimizer) else None  # type: ignore[union-attr]
    return f"{frame}: {note}" if frame else note


def _by_hand(recorder: TorchRecorder, found: FoundLoop) -> None:
    if not found.step and recorder.changed_by_hand:
        raise NotCaptured(
            "found weights that change without an optimiser; allowed: step() of one of torch.optim",
            recorder.calls.backward,
        )


def _gathered(recorder: TorchRecorder, found: FoundLoop, layers: Layers, made: ProgramLoss) -> None:
    """Gradients of several backward passes are those of one larger batch, but for what is taken over a batch. Its mean
    is that of their means, its sum their sum: the loss must have that factor."""
    assert recorder.state is not None
    loss, place = recorder.state.chain.loss, recorder.calls.backward
    wanted = 1 / found.passes if made.reduction == "mean" else 1.0
    what = f"{found.passes} backward passes for one step of the optimiser"
    for scale in {step.scale for step in recorder.steps}:
        if abs(scale - wanted) > 1e-9:
            beside = f", and {what}" if found.passes > 1 else ""
            raise NotCaptured(
                f"found a loss that is multiplied by {scale:.6g}{beside}; allowed: a factor of {wanted:.6g}",
                place if found.passes > 1 else first(loss.frames),
            )
    if found.passes == 1:
        return
    if any(layer["class_name"] == "BatchNormalization" for layer in layers.layers):
        text = f"found {what}, beside batch normalisation, which sees each batch alone; allowed: one of them"
        found.differences.append(NotCaptured(text, place))
    if made.class_weight and made.reduction == "mean" and loss.settings.get("weight") is not None:
        text = f"found {what}, beside weights of classes, which each batch is divided by; allowed: one of them"
        found.differences.append(NotCaptured(text, place))
    text = f"{place}: {found.passes} backward passes gather the gradients of one step"
    found.notes.append(f"{text}: the program has batches that are {found.passes} times as large")


def _optimizer(recorder: TorchRecorder, state: State) -> ProgramOptimizer:
    optimizer = recorder.optimizer or state._candidate()
    if optimizer is None:
        raise NotCaptured(
            "found no optimiser with the model's parameters; allowed: one of torch.optim", recorder.calls.backward
        )
    recorder.optimizer = optimizer
    call = recorder.log.of(optimizer)
    groups = [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups]
    for group, rate in zip(groups, recorder.first_rates(optimizer)):
        group["lr"] = rate
    kind = next((each.__name__ for each in type(optimizer).__mro__ if each.__module__.startswith("torch.optim")), "")
    name = type(optimizer).__name__ if kind == "Optimizer" else kind
    return program_optimizer(FoundOptimizer(name, groups, call.frame if call else None))


def _clipping(recorder: TorchRecorder, optimizer: ProgramOptimizer, layers: Layers) -> None:
    if recorder.watched is None:
        return
    name, limit, norm, frame = recorder.watched
    if name == "clip_grad_value_":
        optimizer.config["clipvalue"] = limit
    elif norm != 2 or layers.left_out:
        found = f"the norm {norm:g}" if norm != 2 else "layers that the optimiser doesn't have"
        optimizer.differences.append(
            NotCaptured(f"found {name} with {found}; allowed: the Euclidean norm of all that is trained", frame)
        )
    else:
        optimizer.config["global_clipnorm"] = limit


def _epochs(recorder: TorchRecorder, ended: bool) -> tuple[int, Any]:
    made = recorder.log.of(recorder.optimizer)
    counted = count_epochs(recorder.loops, recorder.epochs.steps, made.frames if made else [], recorder.later_loops)
    if ended:
        seen = recorder.epochs.number + 1
        if counted.count not in (None, seen):
            recorder.notes.append(f"the training has {seen} epochs, its loops {counted.count}: it has the former here")
        return seen, counted.loop
    if counted.count is None:
        loop = counted.loop
        place = f"{shown_file(loop.file)}:{loop.first}" if loop else ""
        raise NotCaptured(
            f"{place}: found {loop.text if loop else 'a loop'}, which can't be counted before its end; allowed: "
            "a loop over range(...), or --run"
        )
    if counted.loop and counted.loop.breaks:
        place = f"{shown_file(counted.loop.file)}:{counted.loop.first}"
        recorder.notes.append(
            f"{place}: the loop may end before its {counted.count} epochs (break); the program has them all"
        )
    return max(1, counted.count), counted.loop


def _schedule(recorder: TorchRecorder, found: FoundLoop, epochs: int, tested: bool) -> ProgramSchedule:
    mine = [s for s in recorder.schedulers if s.optimizer is recorder.optimizer]
    if len(mine) > 1:  # those inside a SequentialLR or ChainedScheduler step through it
        outer = [s for s in mine if not any(s in getattr(other, "_schedulers", ()) for other in mine)]
        mine = outer if len(outer) == 1 else mine
    if len(mine) > 1:
        recorder.differences.append(NotCaptured(f"found {len(mine)} schedulers; allowed: one", recorder.calls.schedule))
        return ProgramSchedule()
    if not mine:
        return _rates(recorder)
    call = recorder.log.of(mine[0])
    frame = call.frame if call else recorder.calls.schedule
    steps = sum(1 for step in recorder.steps if step.epoch == 0) // found.passes
    scheduled = FoundSchedule(
        mine[0],
        found.schedule,
        epochs if found.schedule == "epoch" else epochs * steps,
        recorder.first_rates(recorder.optimizer)[0],
        seen=_seen_rates(recorder, found.schedule),
        watched=recorder.watched_metrics,
        losses=epoch_losses(recorder.steps),
        tested=tested,
        frame=frame,
    )
    with recorder.tracer.mute():
        try:
            return program_schedule(scheduled)
        except NotCaptured as error:
            recorder.differences.append(error)
            return ProgramSchedule()


def _seen_rates(recorder: TorchRecorder, every: str) -> list[float]:
    """The rates of the updates so far, one for each epoch or batch."""
    updates = [step for step in recorder.steps if step.updates]
    if every == "batch":
        return [step.rate for step in updates]
    return list({step.epoch: step.rate for step in reversed(updates)}.values())[::-1]


def _rates(recorder: TorchRecorder) -> ProgramSchedule:
    """A rate that the script changes by hand."""
    by_epoch: dict[int, list[float]] = {}
    for step in recorder.steps:
        if step.updates:
            by_epoch.setdefault(step.epoch, []).append(step.rate)
    rates = [by_epoch[epoch] for epoch in sorted(by_epoch)]
    if len({rate for steps in rates for rate in steps}) < 2:
        return ProgramSchedule()
    schedule = rates_schedule(rates) if recorder.session.options.run else None
    if schedule is None:
        recorder.differences.append(
            NotCaptured(
                "found a learning rate that the loop changes; allowed: a scheduler of torch.optim, or --run, which "
                "sees all rates",
                recorder.calls.step,
            )
        )
        return ProgramSchedule()
    return ProgramSchedule(schedule)


def _test(recorder: TorchRecorder, found: FoundLoop, layers: Layers) -> tuple[Any, Rows] | None:
    """The rows that the script evaluates on, and in which mode."""
    test = recorder.evaluations.test(recorder.epochs.rows) or recorder.unseen_test()
    modes = recorder.evaluations.training_mode
    moody = {"Dropout", "SpatialDropout1D", "SpatialDropout2D", "BatchNormalization"}
    acts = any(layer["class_name"] in moody for layer in layers.layers)
    if acts and modes and any(modes.values()):
        found.eval_mode = False
    place = recorder.calls.backward
    if acts and not modes:
        recorder.notes.append(f"{place}: no evaluation was seen: eval() is taken to be called before it")
    if test is None and not recorder.evaluations.sets and not recorder.session.options.run:
        recorder.notes.append(
            f"{place}: no evaluation was seen before the end of capture: the metric is taken on the "
            "training rows; --run sees what comes behind the training"
        )
    for name in recorder.evaluations.sets:
        if (test is None or name != test[0]) and recorder.evaluations.sets[name].seen != recorder.epochs.rows.seen:
            recorder.notes.append(
                f"{recorder.evaluations.places[name]}: a further evaluation, which isn't the metric's"
            )
    return test


def _arrays(
    recorder: TorchRecorder, layers: Layers, loss: ProgramLoss, test: tuple[Any, Rows] | None, data: dict[str, Any]
) -> dict[str, Any]:
    """The rows as neutra has them."""

    def turned(x: Any, y: Any) -> tuple[Any, Any]:
        if layers.turned and x.ndim > 2:
            x = np.moveaxis(x, 1, -1)
        if layers.first and y.ndim > 2:
            y = np.moveaxis(y, 1, -1)
        if layers.order is not None and y.ndim == 2 and y.shape[1] == len(layers.order):
            y = y[:, layers.order]
        return _kept(x), _kept(y)

    x, y = turned(*recorder.epochs.rows.arrays())
    if loss.targets == "one_hot":
        data["preprocess"] = [{"op": "one_hot", "on": "y", "classes": loss.classes}]
    if test is None:
        data["test"] = "train"
        return {"x": x, "y": y}
    test_x, test_y = turned(*test[1].arrays())
    return {"x_train": x, "y_train": y, "x_test": test_x, "y_test": test_y}


def _only_whole(recorder: TorchRecorder, arrays: dict[str, Any]) -> None:
    """pos_weight counts the share of a target that is 1; programs weigh rows."""
    targets = arrays["y" if "y" in arrays else "y_train"]
    if not np.isin(targets, (0, 1)).all():
        assert recorder.state is not None
        place = first(recorder.state.chain.loss.frames)
        recorder.differences.append(
            NotCaptured("found pos_weight and targets between 0 and 1; allowed: 0 and 1", place)
        )


def _kept(array: Any) -> Any:
    """Floats in single precision, as PyTorch's own are; whole numbers as they are."""
    kind = "float32" if array.dtype.kind == "f" else array.dtype
    return np.ascontiguousarray(array, dtype=kind)


def _batch_size(recorder: TorchRecorder) -> int:
    size = recorder.epochs.rows.batch_size()
    if size is None:
        sizes = sorted({len(x) for x in recorder.epochs.rows.x})
        raise NotCaptured(
            f"found batches of {sizes} rows; allowed: one size, and a smaller last batch", recorder.calls.backward
        )
    if len(recorder.epochs.rows.x) == 1:
        loader = recorder.loader()
        wanted = getattr(loader, "batch_size", None)
        return int(wanted) if wanted else size
    return size


def _shuffle(recorder: TorchRecorder, ended: bool) -> bool:
    """Do the rows come in another order in each epoch?"""
    epochs, loader = recorder.epochs, recorder.loader()
    place = recorder.calls.backward
    if epochs.guessed:
        recorder.notes.append(f"{place}: epochs were told by rows that come again")
    if epochs.cut:
        recorder.notes.append(f"{place}: the rows of the first {epochs.rows.count} are kept, by --max-data")
    if epochs.differing:
        recorder.notes.append(
            f"{place}: rows differ from epoch to epoch (random changes, or a part of them): those of the "
            "first epoch are kept"
        )
    if loader is not None:
        return _loader_shuffle(recorder, loader)
    if epochs.shuffled is not None:
        return epochs.shuffled
    if epochs.steps == 1 or epochs.in_order:
        return False
    recorder.notes.append(f"{place}: one epoch was seen, which can't tell whether rows are shuffled: they aren't here")
    return False


def _loader_shuffle(recorder: TorchRecorder, loader: Any) -> bool:
    sampler = type(getattr(loader, "sampler", None)).__name__
    call = recorder.log.of(loader)
    place = call.frame if call else recorder.calls.backward
    if getattr(loader, "drop_last", False):
        total = _length(getattr(loader, "dataset", None))
        lost = total - recorder.epochs.rows.count
        if lost > 0:
            recorder.notes.append(
                f"{place}: drop_last leaves out {lost} rows of an epoch: those of the first are left out of all"
            )
    if sampler == "WeightedRandomSampler":
        recorder.notes.append(f"{place}: {sampler} draws rows anew for each epoch: those of the first are kept")
    if sampler in ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"):
        return True
    if sampler in ("SequentialSampler", "_InfiniteConstantSampler"):
        return bool(recorder.epochs.shuffled) if sampler.startswith("_") else False
    return bool(recorder.epochs.shuffled)


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except TypeError:
        return 0


def _sites(recorder: TorchRecorder, state: State, optimizer: ProgramOptimizer, loop: FoundLoop) -> list[Site]:
    """Where the optimiser, the loss, the scheduler, the DataLoader and the calls of the loop are written."""
    sites: list[Site] = []
    log, calls = recorder.log, recorder.calls

    def add(made: Any, path: str, arguments: dict[str, str]) -> bool:
        call = log.of(made) if made is not None else None
        if call is not None:
            sites.append(call.site(path, arguments))
        return call is not None

    fields = {key: f"/compile/optimizer/config/{value}" for key, value in optimizer.arguments.items()}
    add(recorder.optimizer, "/compile/optimizer", fields)
    found = state.chain.loss
    options = {"reduction": "/fit/loop/reduction", "label_smoothing": "/compile/loss/config/label_smoothing"}
    options |= {name: "/fit/class_weight" for name in ("weight", "pos_weight") if found.settings.get(name) is not None}
    if not add(found.module, "/compile/loss", options):
        sites.append(Site(found.called, "/compile/loss", found.frames, options))
    for scheduler in recorder.schedulers:
        add(scheduler, "/fit/schedule", SCHEDULE_ARGUMENTS.get(type(scheduler).__name__, {}))
    if calls.backward is not None:
        sites.append(Site("backward", "/fit", [calls.backward]))
    size = {"batch_size": "/fit/batch_size"} if loop.passes == 1 else {}  # else no line says it
    add(recorder.loader(), "/fit", {**size, "shuffle": "/fit/shuffle"})
    if recorder.loader() is None and loop.passes == 1 and (site := batches_site(recorder.loops)):
        sites.append(site)
    for name, frame in (("zero_grad", calls.zero_grad), ("step", calls.step), ("eval_mode", calls.evaluation)):
        if frame is not None:
            sites.append(Site(name, f"/fit/loop/{name}", [frame]))
    return sites
