"""Records trainings of tf.keras 2 and Keras 3: what model, compile and fit say when a script calls fit."""

from __future__ import annotations

import math
import os
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from . import rows
from .calls import Call, CallLog, bind
from .frames import first, stack, user_frames
from .keras_data import FitData, FitRows
from .keras_import import import_model
from .keras_program import Training, flat_layers, read_training
from .keras_sites import SiteMaker
from .keras_trace import traced
from .recording import Frame, NotCaptured, Recording, Session
from .streams import kind_of

#: Where the watched classes are, by their public names, which all versions have.
_CLASSES = (
    "layers.Layer",
    "optimizers.Optimizer",
    "optimizers.legacy.Optimizer",
    "optimizers.schedules.LearningRateSchedule",
    "losses.Loss",
    "metrics.Metric",
    "callbacks.Callback",
    "initializers.Initializer",
    "regularizers.Regularizer",
    "constraints.Constraint",
    "utils.Sequence",
    "utils.PyDataset",
)


def install(session: Session, log: CallLog, keras: ModuleType) -> None:
    """Puts a recorder on a Keras that was just imported."""
    for name in _CLASSES:
        found: Any = keras
        for part in name.split("."):
            found = getattr(found, part, None)
        if isinstance(found, type):
            log.watch_class(found, skip=(keras.Model,))
    recorder = KerasRecorder(session, log, keras)
    log.replace(keras.Model, "compile", recorder.compiling)
    log.replace(keras.Model, "fit", recorder.fitting)
    log.replace(keras.Model, "train_on_batch", recorder.stepping)
    for holder in (keras.optimizers, getattr(keras.optimizers, "legacy", None)):
        optimizer = getattr(holder, "Optimizer", None)
        if isinstance(optimizer, type):
            log.replace(optimizer, "apply_gradients", recorder.applying)
    log.replace(keras.Model, "evaluate", recorder.evaluating)
    log.replace(keras.Model, "load_weights", recorder.loading)
    log.replace(keras.Model, "set_weights", recorder.loading)


def install_tensorflow(session: Session, log: CallLog, tensorflow: ModuleType) -> None:
    """Watches tf.data, where sizes of batches are written."""
    dataset = getattr(getattr(tensorflow, "data", None), "Dataset", None)
    if dataset is not None:
        log.replace(dataset, "batch", lambda plain: _batching(log, plain))


HOOKS = {"keras": install, "tf_keras": install, "tensorflow": install_tensorflow}


def _batching(log: CallLog, plain: Callable[..., Any]) -> Callable[..., Any]:
    def batch(*args: Any, **kwargs: Any) -> Any:
        made = plain(*args, **kwargs)
        arguments, parameters, given = bind(plain, args[1:], kwargs)
        frames, through = stack()
        log.note(made, Call("batch", frames, arguments, parameters, given, through))
        return made

    return batch


def batch_call(log: CallLog, data: Any) -> Call | None:
    """The call of `batch` that a tf.data.Dataset has among its steps, or the one that made a Sequence with a
    batch_size."""
    if kind_of(data) == "Sequence":
        call = log.of(data)
        return call if call is not None and "batch_size" in call.arguments else None
    while data is not None:
        if (call := log.of(data)) is not None and call.name == "batch":
            return call
        data = getattr(data, "_input_dataset", None)
    return None


def keeps_logits(keras: ModuleType) -> bool:
    """Do cross entropies work on the input of any softmax or sigmoid output? TensorFlow keeps it (`_keras_logits`) from
    2.4 on, also for Keras 3."""
    if hasattr(keras, "config") and hasattr(keras.config, "backend"):
        return str(keras.config.backend()) == "tensorflow"
    return tuple(int(part) for part in keras.__version__.split(".")[:2]) >= (2, 4)


def framework_of(keras: ModuleType) -> str:
    """Name and version, with the back end of Keras 3."""
    version = str(getattr(keras, "__version__", ""))
    if version.startswith("3"):
        return f"keras {version} ({keras.config.backend()})"
    return f"tf.keras {version}"


def failed(error: Exception, frame: Frame | None) -> NotCaptured:
    """An error of the capture itself."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    return NotCaptured(
        f"the capture failed ({where}: {type(error).__name__}: {error}); this is a mistake of neutra", frame
    )


class KerasRecorder:
    """Wraps the methods of Keras's Model."""

    def __init__(self, session: Session, log: CallLog, keras: ModuleType):
        self._session = session
        self._log = log
        self._keras = keras
        self._compiled: WeakKeyDictionary[Any, Call] = WeakKeyDictionary()
        self._loaded: WeakKeyDictionary[Any, Frame | None] = WeakKeyDictionary()
        self._fitting: Any = None  # the model in a captured fit that goes on
        self._recorded: tuple[Any, Finisher] | None = None

    def compiling(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """For Model.compile."""

        def compile(model: Any, *args: Any, **kwargs: Any) -> Any:
            frames, through = stack()
            if frames:
                self._compiled[model] = Call("compile", frames, *bind(plain, args, kwargs), through)
            return plain(model, *args, **kwargs)

        return compile

    def loading(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """For Model.load_weights and set_weights."""

        def load(model: Any, *args: Any, **kwargs: Any) -> Any:
            self._loaded.setdefault(model, first(user_frames()))
            return plain(model, *args, **kwargs)

        return load

    def stepping(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """For Model.train_on_batch: a loop of one's own."""
        return self._loop(plain, "a loop with train_on_batch")

    def applying(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """For Optimizer.apply_gradients: a loop of one's own, with GradientTape."""
        return self._loop(plain, "a loop with apply_gradients")

    def _loop(self, plain: Callable[..., Any], what: str) -> Callable[..., Any]:
        def step(owner: Any, *args: Any, **kwargs: Any) -> Any:
            frames, through = stack()
            frame = first(frames)
            if self._fitting is None and not self._session.is_child(frame):
                if self._session.done:
                    self._session.again(f"{what} trains", frame)
                    self._session.stop()
                elif "fit" in through:
                    self._session.refused(NotCaptured("found fit without eager execution; allowed: with it", frame))
                else:
                    self._session.refused(NotCaptured(f"found {what}; allowed: fit", frame))
            return plain(owner, *args, **kwargs)

        return step

    def evaluating(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """For Model.evaluate: rows that the script tests on after its training, where it had none in fit."""

        def evaluate(model: Any, *args: Any, **kwargs: Any) -> Any:
            recorded = self._recorded
            if recorded and recorded[0] is model and self._fitting is None:
                self._recorded = None
                arguments = bind(plain, args, kwargs)[0]
                recorded[1].test_on(arguments.get("x"), arguments.get("y"), self._session.options.max_data)
            return plain(model, *args, **kwargs)

        return evaluate

    def fitting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """For Model.fit: the training that is captured."""

        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            frames, through = stack()
            frame = first(frames)
            if self._fitting is not None or self._session.is_child(frame):
                return plain(model, *args, **kwargs)
            if self._session.done:
                self._session.again("fit is called", frame)
                self._session.stop()
                return plain(model, *args, **kwargs)
            call = Call("fit", frames, *bind(plain, args, kwargs), through)
            recording, given = self._capture(model, call)
            self._fitting = model
            try:
                history = plain(model, **given) if given is not None else plain(model, *args, **kwargs)
            finally:
                self._fitting = None
            if recording is not None:
                losses = getattr(history, "history", {}).get("loss", [])
                recording.loss_history = [float(loss) for loss in losses]
                if self._recorded:
                    self._recorded[1].trained = weights_of(model, None)
            return history

        return fit

    def _capture(self, model: Any, call: Call) -> tuple[Recording | None, dict[str, Any] | None]:
        """Records a training. With `run`: the recording, and fit's arguments where one of them is to be replaced."""
        options = self._session.options
        try:
            data = FitRows(call.arguments, options, call.frame)
            filled = None if options.run else data.finish()
            training = read_training(
                model,
                self._compiled.get(model),
                call,
                self._log,
                self._steps(call, filled),
                options.leave_out,
            )
            problems = training.problems
        except NotCaptured as error:
            problems = [error]
        except Exception as error:  # a mistake of ours: the script goes on as it is
            problems = [failed(error, call.frame)]
        if problems:
            self._session.refused(*problems)
            return None, None
        for place in self._given_weights(model):
            training.notes.append(f"{place}: the weights are given before the training: the program draws its own")
        recording = Recording(framework_of(self._keras), {})
        later = training.traced and filled is not None
        weights = weights_of(model, filled) if options.weights and not later else None
        if options.weights and weights is None and not later:
            training.notes.append(f"{call.frame}: no initial weights are kept: there are none before the first step")
        finish = Finisher(self._keras, recording, training, model, call, self._compiled.get(model), self._log, weights)
        finish.keep = later and options.weights
        if filled is not None:
            try:
                finish(filled)
            except NotCaptured as error:
                self._session.refused(error)
                return None, None
            except Exception as error:
                self._session.refused(failed(error, call.frame))
                return None, None
        else:
            self._session.at_end(lambda: finish.late(data))
        self._recorded = model, finish
        self._session.captured(recording)
        replaced = {"x": data.x, "validation_data": data.validation_data}
        if all(call.arguments.get(name) is value for name, value in replaced.items()):
            return recording, None
        given = {name: call.arguments[name] for name in call.given}
        return recording, {**given, **{name: value for name, value in replaced.items() if name in given}}

    def _given_weights(self, model: Any) -> list[Frame | None]:
        """Where the script gave weights to a model: with set_weights, in a file, or as an argument of a layer."""
        places = [self._loaded[model]] if model in self._loaded else []
        for layer in flat_layers(model):
            call = self._log.of(layer)
            if call and ("load_model" in call.through or call.arguments.get("weights") is not None):
                places.append(call.frame)
        return list(dict.fromkeys(places))

    def _steps(self, call: Call, filled: FitData | None) -> int | None:
        """The batches of an epoch, where they are known."""
        if call.arguments.get("steps_per_epoch"):
            return int(call.arguments["steps_per_epoch"])
        if filled is None:  # rows of a stream are counted at its end
            shape = getattr(call.arguments.get("x"), "shape", None)
            if not shape or call.arguments.get("validation_split"):
                return None
            return math.ceil(int(shape[0]) / int(call.arguments.get("batch_size") or 32))
        if filled.fit.get("validation_split"):
            return None
        rows_of_x = len(filled.arrays["x_train" if "x_train" in filled.arrays else "x"])
        return math.ceil(rows_of_x / int(filled.fit["batch_size"]))


def weights_of(model: Any, data: FitData | None) -> list[tuple[str, list[Any]]] | None:
    """The arrays of each layer that has some, by its name. A model that has no weights yet is built where the data are
    at hand: the script does not go on then. None where they are not."""
    if not getattr(model, "built", False):
        if data is None:
            return None
        x = data.arrays["x_train" if "x_train" in data.arrays else "x"]
        model.build((None, *(x.shape[1:] or (1,))))
    return [(layer.name, [each.copy() for each in layer.get_weights()]) for layer in flat_layers(model)]


class Finisher:
    """Completes a recording with the data: program, arrays, sites, weights, notes. Raises NotCaptured."""

    def __init__(
        self,
        keras: ModuleType,
        recording: Recording,
        training: Training,
        model: Any,
        fit: Call,
        compiled: Call | None,
        log: CallLog,
        weights: list[tuple[str, list[Any]]] | None,
    ):
        self._keras, self._recording, self._training, self._model = keras, recording, training, model
        self._fit, self._compiled, self._log, self._weights = fit, compiled, log, weights
        self._optimizer = model.optimizer
        self.trained: list[tuple[str, list[Any]]] | None = None  # the weights behind fit
        self.keep = False  # the weights of a model that has none before it is followed
        self._test: tuple[Any, Any, Frame | None] | None = None

    def __call__(self, data: FitData) -> None:
        recording, training = self._recording, self._training
        options = dict(training.options)
        options["fit"] = {**options.get("fit", {}), **data.fit}
        name = "program"
        if self._fit.frame:
            name = self._fit.frames[-1].file.rpartition("/")[2].rpartition(".")[0] or name
        if training.traced:
            x = data.arrays["x_train" if "x_train" in data.arrays else "x"]
            self._model, training.model = traced(self._keras, self._model, x, self._fit.frame)
            for layer in self._model.layers:
                if type(layer).__name__ == "InputLayer":
                    self._log.drop(layer)
            if self.keep:
                self._weights = weights_of(self._model, None)
        program, notes = import_model(training.model, options, name, self._lines(), self._fit.frame)
        self._add_test(data)
        program["data"] = data.data
        if keeps_logits(self._keras):
            program["compile"]["logits"] = "any"
        sites = SiteMaker(program, self._log)
        objects = sites.layers(self._model)
        undecayed = _undecayed(self._optimizer, objects)
        if undecayed:
            program["compile"]["optimizer"]["config"]["undecayed"] = undecayed
        sites.compile(self._compiled, self._optimizer, self._model)
        sites.fit(self._fit, training, batch_call(self._log, self._fit.arguments.get("x")))
        recording.program, recording.arrays, recording.sites = program, data.arrays, sites.sites
        recording.notes = [*training.notes, *data.notes, *notes, *recording.notes]
        recording.weights = _by_layer(self._weights, objects)
        recording.final_weights = _by_layer(self.trained, objects)

    def late(self, data: FitRows) -> None:
        """The same at the end of the script, with rows that are read only now."""
        try:
            self(data.finish())
        except NotCaptured:
            raise
        except Exception as error:
            raise failed(error, self._fit.frame) from error

    def test_on(self, x: Any, y: Any, max_data: int) -> None:
        """Rows that the script evaluates the trained model on: they give the metric, where fit had none beside those
        that it trains on."""
        frame = first(user_frames())
        if kind_of(x) or x is None or y is None:
            return
        try:
            x, y = (rows.to_array(rows.one_of(each, name, frame), name, frame) for each, name in ((x, "x"), (y, "y")))
            rows.fits((x, y), max_data, frame)
        except NotCaptured:  # the metric is taken on the training rows, as without evaluate, which is noted
            return
        self._test = x, y, frame

    def _add_test(self, data: FitData) -> None:
        if "x" not in data.arrays:
            return
        if self._test is None:
            place = self._fit.frame
            data.notes.append(f"{place}: there are no test rows: the metric is taken on the rows that are trained on")
            return
        x, y, frame = self._test
        data.data.pop("test", None)
        trained = {f"{name}_train": array for name, array in data.arrays.items()}
        data.arrays = {**trained, "x_test": x, "y_test": y}
        data.notes.append(f"{frame}: the metric is taken on the rows of evaluate")

    def _lines(self) -> dict[str, Frame]:
        """The user's lines by what the import's messages begin with."""
        found: dict[str, Frame] = {}
        for layer in flat_layers(self._model):
            call = self._log.of(layer)
            if call and call.frame:
                found[f"layer {layer.name!r}"] = call.frame
        compiled = self._compiled.frame if self._compiled else None
        optimizer = self._log.of(self._optimizer)
        line = (optimizer.frame if optimizer else None) or compiled
        places = {
            "loss": compiled,
            "compile": compiled,
            "/compile": compiled,
            "optimizer": line,
            "fit": self._fit.frame,
        }
        return {**found, **{name: place for name, place in places.items() if place}}


def _undecayed(optimizer: Any, objects: list[Any]) -> list[str]:
    """The variables that exclude_from_weight_decay names."""
    uses = getattr(optimizer, "_use_weight_decay", None)
    if not getattr(optimizer, "weight_decay", None) or uses is None:
        return []
    found: list[str] = []
    for index, made in enumerate(objects):
        for variable in getattr(made, "trainable_weights", []):
            if not uses(variable):
                found.append(f"{index}/{str(variable.name).rpartition('/')[2].partition(':')[0]}")
    return found


def _by_layer(weights: list[tuple[str, list[Any]]] | None, objects: list[Any]) -> list[tuple[int, str, Any]] | None:
    """The arrays of each of the program's layers, `objects`, with their names."""
    if weights is None:
        return None
    by_name = dict(weights)
    found: list[tuple[int, str, Any]] = []
    for index, made in enumerate(objects):
        if made is None:
            continue
        names = [str(each.name).rpartition("/")[2].partition(":")[0] for each in made.weights]
        found += [(index, name, array) for name, array in zip(names, by_name.get(made.name, []))]
    return found
