"""What Keras says of a training, as JSON: the model, and the options that `neutra import --training` takes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .calls import Call, CallLog
from .keras_callbacks import Acting, listed_rates, read_callbacks
from .keras_trace import is_own, opened, parts_of
from .recording import Frame, NotCaptured

_PACKAGES = ("keras", "tf_keras", "tensorflow")


@dataclass
class Training:
    """A training as Keras has it: `model` as to_json() stores it, `options` for the import, what the callbacks come to,
    notes, and problems: what no program holds. `traced` says that the model has to be followed through its own call,
    which gives `model`."""

    model: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    acting: Acting = field(default_factory=Acting)
    notes: list[str] = field(default_factory=list)
    problems: list[NotCaptured] = field(default_factory=list)
    traced: bool = False


def is_keras(value: Any) -> bool:
    """Is this an object, a class or a function of Keras itself?"""
    owner = value if hasattr(value, "__module__") and callable(value) else type(value)
    return str(getattr(owner, "__module__", "")).split(".")[0] in _PACKAGES


def read_training(
    model: Any,
    compiled: Call | None,
    fit: Call,
    log: CallLog,
    steps: int | None,
    leave_out: bool = False,
) -> Training:
    """Reads a model that is about to be trained. `steps` are the batches of an epoch, where they are known. With
    `leave_out`, callbacks and schedules that no program has become notes."""
    found = Training()
    frame = fit.frame
    _check_model(model, found, frame)
    if not found.problems and not found.traced:
        _model(model, found, frame)
    arguments = compiled.arguments if compiled else stored_arguments(model)
    place = (compiled.frame if compiled else None) or frame
    given = fit.arguments
    epochs = int(given.get("epochs") or 1)
    rate = _optimizer(model, found, log, place, steps, epochs, leave_out)
    if leave_out:
        rate = _without_schedule(model, found, place) or rate
    _compile(arguments, found, place)
    found.acting = read_callbacks(given.get("callbacks"), log, frame, rate, epochs)
    if leave_out:
        found.notes += [f"{problem}: left out" for problem in found.acting.problems]
    else:
        found.problems += found.acting.problems
    found.notes += found.acting.notes
    _fit(given, found, frame)
    return found


def _check_model(model: Any, found: Training, frame: Frame | None) -> None:
    """Keras's own code in training, or a problem; a call of one's own is followed."""
    name = type(model).__name__
    found.traced = bool(opened(model))
    for method in ("train_step", "compute_loss"):
        function = getattr(type(model), method, None)
        if function is not None and not is_keras(function):
            found.problems.append(NotCaptured(f"found {name} with a {method} of its own; allowed: Keras's", frame))


def _model(model: Any, found: Training, frame: Frame | None) -> None:
    try:
        found.model = json.loads(model.to_json())
    except Exception as error:  # what a layer's get_config or Keras raises
        found.problems.append(
            NotCaptured(f"found a model that Keras can't store: {error}; allowed: Keras's layers", frame)
        )
        return
    found.model.pop("compile_config", None)
    found.model.pop("registered_name", None)
    # A class of one's own without code of its own in training is what it derives from.
    kinds = [each.__name__ for each in type(model).__mro__]
    found.model["class_name"] = "Sequential" if "Sequential" in kinds else "Functional"
    found.model["module"] = "keras"
    _adapted(found.model, {layer.name: layer for layer in flat_layers(model)})


def _adapted(part: Any, layers: dict[str, Any]) -> None:
    """What adapt() found becomes the arguments of a Normalization: a model's JSON does not hold it."""
    if isinstance(part, list):
        for each in part:
            _adapted(each, layers)
    elif isinstance(part, dict):
        config = part.get("config")
        if part.get("class_name") == "Normalization" and isinstance(config, dict) and config.get("mean") is None:
            layer = layers.get(config.get("name", ""))
            for name in ("mean", "variance"):
                numbers = getattr(layer, f"adapt_{name}", None)
                if numbers is not None:
                    flat = numbers.numpy().ravel().tolist()
                    config[name] = flat if len(flat) > 1 else flat[0]
        for each in part.values():
            _adapted(each, layers)


def flat_layers(model: Any) -> list[Any]:
    """The layers of a model in order, an InputLayer too, those of models and of own layers in it in their place."""
    if is_own(model):
        return [each for part in parts_of(model) for each in (flat_layers(part) if _holds(part) else [part])]
    kept = getattr(model, "_self_tracked_trackables", None) or getattr(model, "_layers", None) or []
    layers = [layer for layer in kept if hasattr(layer, "get_config")] or list(model.layers)
    listed = {id(layer) for layer in layers}
    layers += [layer for layer in model.layers if id(layer) not in listed]
    found: list[Any] = []
    for layer in layers:
        if _holds(layer):
            found += flat_layers(layer)
        else:
            found.append(layer)
    return found


def _holds(layer: Any) -> bool:
    """A model, or a layer of one's own that has layers."""
    return (hasattr(layer, "layers") and hasattr(layer, "to_json")) or (is_own(layer) and bool(parts_of(layer)))


def stored_arguments(model: Any) -> dict[str, Any]:
    """What compile was given, as far as the model still has it: for a model that was compiled before capture began."""
    metrics = getattr(getattr(model, "compiled_metrics", None), "_user_metrics", None)
    config = getattr(model, "_compile_config", None)
    kept = getattr(config, "config", None) or {}
    if metrics is None:
        metrics = kept.get("metrics")
    return {"loss": kept.get("loss", getattr(model, "loss", None)), "metrics": metrics}


def word_of(value: Any) -> Any:
    """A loss or metric as the import takes it: a word, or {class_name, config} of Keras's own; None for one's own."""
    if value is None or isinstance(value, str):
        return value
    if not is_keras(value):
        return None
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": jsonable(value.get_config())}
    return getattr(value, "__name__", None)


def jsonable(value: Any) -> Any:
    """A config as JSON has it: numbers and arrays of NumPy as Python's, what is no value by its name."""
    if isinstance(value, dict):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(each) for each in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "numpy"):
        return value.numpy().tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": jsonable(value.get_config())}
    return getattr(value, "__name__", str(value))


def _optimizer(
    model: Any, found: Training, log: CallLog, place: Frame | None, steps: int | None, epochs: int, leave_out: bool
) -> float | None:
    """Adds the optimiser with the settings that it has now. Its learning rate, where that is a number."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        found.problems.append(NotCaptured("found a model that is not compiled; allowed: compile before fit", place))
        return None
    call = log.of(optimizer)
    place = (call.frame if call else None) or place
    if not is_keras(type(optimizer)):
        name = type(optimizer).__name__
        found.problems.append(NotCaptured(f"found {name}, an optimiser of your own; allowed: Keras's", place))
        return None
    config = jsonable(optimizer.get_config())
    if isinstance(config.get("learning_rate"), dict):
        schedule = config["learning_rate"]
        first = _staircase(schedule, found, steps)
        if first is None and not _is_known(schedule):
            first, problem = _listed(optimizer, found, steps, epochs, place)
            if problem and not leave_out:
                allowed = ", ".join(_KNOWN)
                found.problems.append(NotCaptured(f"{problem}; allowed: at most {MOST_RATES} rates, {allowed}", place))
        config["learning_rate"] = schedule if first is None else first
    found.notes += [f"{place}: {note}" for note in differences(optimizer)]
    found.options["optimizer"] = {"class_name": type(optimizer).__name__, "config": config}
    rate = config.get("learning_rate")
    return float(rate) if isinstance(rate, (int, float)) else None


def _without_schedule(model: Any, found: Training, place: Frame | None) -> float | None:
    """The first rate of a schedule that no program has, in its place."""
    config = found.options.get("optimizer", {}).get("config", {})
    schedule = config.get("learning_rate")
    if not isinstance(schedule, dict):
        return None
    name, inner = schedule.get("class_name"), schedule.get("config", {})
    if _is_known(schedule):
        return None
    rate = getattr(model.optimizer, "_learning_rate", None)
    config["learning_rate"] = float(rate(0) if callable(rate) else inner["initial_learning_rate"])
    found.notes.append(f"{place}: the schedule {name} is left out: the rate stays {config['learning_rate']:.6g}")
    return float(config["learning_rate"])


def differences(optimizer: Any) -> list[str]:
    """What stays different from a program with the rules keras3, which the import gives to newer optimisers."""
    if type(optimizer).__name__ == "Nadam" and hasattr(optimizer, "_u_product_counter"):
        return ["Nadam of Keras 2.11 to 2.15 counts its momentum once for each weight: the program once a step"]
    return []


#: Schedules that the import makes a schedule of a program of.
_KNOWN = ("CosineDecay", "ExponentialDecay", "InverseTimeDecay", "PiecewiseConstantDecay", "PolynomialDecay")
#: More rates than these are no list that anybody reads.
MOST_RATES = 20000


def _is_known(schedule: dict[str, Any]) -> bool:
    config = schedule.get("config", {})
    if schedule.get("class_name") not in _KNOWN or schedule.get("registered_name"):
        return False
    return not config.get("cycle") and not (config.get("warmup_target") is not None and config.get("warmup_steps"))


def _listed(
    optimizer: Any, found: Training, steps: int | None, epochs: int, place: Frame | None
) -> tuple[float | None, str]:
    """The first rate of a schedule that has no kind of its own; all of them become a list in fit.schedule. Else None,
    and why."""
    schedule = getattr(optimizer, "_learning_rate", None)
    name = type(schedule).__name__
    if steps is None or not callable(schedule):
        return None, f"found the schedule {name}, whose number of steps isn't known"
    if steps * epochs > MOST_RATES:
        return None, f"found the schedule {name} with {steps * epochs} rates"
    try:
        rates = [float(schedule(step)) for step in range(steps * epochs)]
    except Exception as error:  # a schedule of the script's own
        return None, f"found the schedule {name}, which fails at a plain number ({error})"
    if not rates[0] > 0:
        return None, f"found the schedule {name}, whose first rate is {rates[0]:g}"
    listed = listed_rates(rates, "batch")
    if listed:
        found.options.setdefault("fit", {})["schedule"] = listed
    found.notes.append(f"{place}: {name} is the list of the rates that it has in this training")
    return rates[0], ""


def _staircase(schedule: dict[str, Any], found: Training, steps: int | None) -> float | None:
    """The first rate of an ExponentialDecay whose stairs are epochs: fit.schedule has it."""
    config = schedule.get("config", {})
    if schedule.get("class_name") != "ExponentialDecay" or not config.get("staircase") or steps is None:
        return None
    if config.get("decay_steps") != steps or not 0 < config.get("decay_rate", 0) <= 1:
        return None
    found.options.setdefault("fit", {})["schedule"] = {"decay_rate": config["decay_rate"], "every": "epoch"}
    return float(config["initial_learning_rate"])


def _compile(arguments: dict[str, Any], found: Training, place: Frame | None) -> None:
    loss = arguments.get("loss")
    while isinstance(loss, (list, tuple, dict)) and len(loss) == 1:
        loss = next(iter(loss.values())) if isinstance(loss, dict) else loss[0]
    word = word_of(loss)
    if word is None or isinstance(loss, (list, tuple, dict)):
        name = getattr(loss, "__name__", type(loss).__name__)
        kind = "no loss" if loss is None else f"the loss {name}, of your own"
        kind = f"{len(loss)} losses" if isinstance(loss, (list, tuple, dict)) else kind
        found.problems.append(NotCaptured(f"found {kind}; allowed: one loss of Keras's", place))
    else:
        found.options["loss"] = word
    found.options["metrics"] = []
    for metric in _flat(arguments.get("metrics")):
        word = word_of(metric)
        if word is None:
            name = getattr(metric, "__name__", type(metric).__name__)
            found.notes.append(f"{place}: the metric {name}, of your own, is left out; metrics change no training")
        else:
            found.options["metrics"].append(word)
    for name in ("loss_weights", "weighted_metrics"):
        value = jsonable(arguments.get(name))
        if value:
            found.options.setdefault("compile", {})[name] = value


def _flat(metrics: Any) -> list[Any]:
    """The metrics of the one output."""
    if isinstance(metrics, dict):
        return [each for value in metrics.values() for each in _flat(value)]
    if isinstance(metrics, (list, tuple)):
        return [each for value in metrics for each in _flat(value)]
    return [] if metrics is None else [metrics]


def _fit(given: dict[str, Any], found: Training, frame: Frame | None) -> None:
    """What fit says beside its data."""
    if given.get("initial_epoch"):
        found.problems.append(NotCaptured(f"found initial_epoch = {given['initial_epoch']}; allowed: 0", frame))
    fit = found.options.setdefault("fit", {})
    if given.get("class_weight"):
        weights = given["class_weight"]
        fit["class_weight"] = {str(int(name)): float(value) for name, value in dict(weights).items()}
    if found.acting.callbacks:
        fit["callbacks"] = found.acting.callbacks
    if found.acting.schedule:
        fit["schedule"] = found.acting.schedule
    optimizer = found.options.get("optimizer")
    if found.acting.first_rate is not None and optimizer:
        optimizer["config"]["learning_rate"] = found.acting.first_rate
