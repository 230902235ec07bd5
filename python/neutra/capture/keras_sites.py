"""The calls behind each part of a program that Keras's model, compile and fit make."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .calls import Call, CallLog
from .keras_program import Training, flat_layers
from .recording import Site
from .streams import kind_of

#: Arguments of Keras that programs have under another name.
ALIASES = {
    "alpha": "alpha",
    "batch_shape": "batch_input_shape",
    "input_dim": "batch_input_shape",
    "input_shape": "batch_input_shape",
    "lr": "learning_rate",
    "negative_slope": "alpha",
    "shape": "batch_input_shape",
}
_INPUTS = ("input_shape", "input_dim", "batch_input_shape")


class SiteMaker:
    """Makes the sites of one program: `layers` are its layers as JSON."""

    def __init__(self, program: dict[str, Any], log: CallLog):
        self._program = program
        self._log = log
        self._layers: list[dict[str, Any]] = program["model"]["config"]["layers"]
        self.sites: list[Site] = []

    def layers(self, model: Any) -> list[Any]:
        """Adds the sites of all layers. Keras's layer of each layer of the program; None for one that the import made
        of an activation, and for one that is an earlier layer called once more: its site is that layer's."""
        by_name: dict[str, list[Any]] = defaultdict(list)
        for layer in flat_layers(model):
            by_name[layer.name].append(layer)
        objects: list[Any] = []
        owners: dict[str, Any] = {}
        for index, layer in enumerate(self._layers):
            name = layer["config"].get("name", "")
            named = by_name.get(name) or by_name.get(name.rpartition("/")[2])  # in a model in the model
            path = f"/model/config/layers/{index}"
            if "weights_of" in layer:
                call = self._log.of(owners.get(layer["weights_of"]))
                if call is not None:
                    self.sites.append(call.site(path, {}))
                objects.append(None)
                continue
            made = named.pop(0) if named else None
            owners[name] = made
            if made is not None:
                self._layer(path, layer["config"], self._log.of(made))
            elif objects and objects[-1] is not None and (before := self._log.of(objects[-1])):
                self._layer(path, layer["config"], self._log.of(before.arguments.get("activation")))
            objects.append(made)
        return objects

    def _layer(self, path: str, config: dict[str, Any], call: Call | None) -> None:
        if call is None:
            return
        if call.name == "InputLayer" and not call.direct:
            self._input(path, call)
            return
        if not call.direct:
            self.sites.append(Site(call.through[0], path, call.frames))
            return
        arguments = self._arguments(path, config, call)
        for name in _INPUTS:
            first = self._layers[0]["class_name"] == "InputLayer"
            if name in call.given and name not in arguments and first:
                arguments[name] = "/model/config/layers/0/config/batch_input_shape"
        self.sites.append(call.site(path, arguments))
        wrapped = call.arguments.get("layer")
        inner = config.get("layer")
        if wrapped is not None and isinstance(inner, dict):
            self._layer(f"{path}/config/layer", inner.get("config", {}), self._log.of(wrapped))

    def _input(self, path: str, call: Call) -> None:
        """The layer that keras.Input() made. One that Keras adds for an input_shape has no line of its own."""
        if next((name for name in call.through if name != "error_handler"), "") == "Input":
            shape = f"{path}/config/batch_input_shape"
            arguments = {"shape": shape, "batch_size": shape, "batch_shape": shape}
            self.sites.append(Site("Input", path, call.frames, arguments, ["shape", "batch_size"]))

    def _arguments(self, path: str, config: dict[str, Any], call: Call) -> dict[str, str]:
        """The pointer of each argument that the program has, and the sites of objects among them."""
        found: dict[str, str] = {}
        for name, value in call.arguments.items():
            key = name if name in config else ALIASES.get(name, name)
            if key not in config or key == "name":
                continue
            found[name] = f"{path}/config/{key}"
            nested = self._log.of(value)
            made = nested is not None and (nested.direct or set(nested.through) <= {"l1_l2", "error_handler"})
            if nested is not None and made and key != "layer" and isinstance(config[key], dict):
                inner = self._arguments(found[name], config[key].get("config") or {}, nested)
                self.sites.append(nested.site(found[name], inner))
        return found

    def compile(self, compiled: Call | None, optimizer: Any, model: Any) -> None:
        """Adds those of compile, of the optimiser and its schedule, of loss and metric objects."""
        section = self._program["compile"]
        if compiled is not None:
            names = [name for name in ("optimizer", "loss", "metrics") if name in section]
            arguments = {name: f"/compile/{name}" for name in names}
            self.sites.append(compiled.site("/compile", arguments))
            loss = self._log.of(compiled.arguments.get("loss"))
            if loss is not None and loss.direct:
                config = section["loss"].get("config") or {} if isinstance(section["loss"], dict) else {}
                self.sites.append(loss.site("/compile/loss", self._arguments("/compile/loss", config, loss)))
        call = self._log.of(optimizer)
        if call is None or not call.direct:
            return
        path = "/compile/optimizer"
        config = section["optimizer"].get("config") or {} if isinstance(section["optimizer"], dict) else {}
        arguments = self._arguments(path, config, call)
        schedule = self._log.of(call.arguments.get("learning_rate"))
        if schedule is not None:
            arguments.pop("learning_rate", None)  # the schedule's own says it
        self.sites.append(call.site(path, arguments))
        if schedule is not None:
            rate = {"initial_learning_rate": f"{path}/config/learning_rate"}
            # How a decay in steps becomes one of the program is not a matter of one argument.
            self.sites.append(schedule.site("/fit/schedule", rate))

    def fit(self, fit: Call, training: Training, batch: Call | None) -> None:
        """Adds those of fit, of a dataset's `batch`, and of callbacks."""
        section = self._program["fit"]
        names = ("batch_size", "epochs", "shuffle", "validation_split", "class_weight", "callbacks")
        arguments = {name: f"/fit/{name}" for name in names if name in section}
        if kind_of(fit.arguments.get("x")):  # batches and their order are the stream's
            arguments.pop("batch_size", None)
            arguments.pop("shuffle", None)
        if batch is not None:
            name = batch.name if batch.direct else batch.through[0]
            parameters = batch.parameters if batch.direct else []
            sets = {"batch_size": "/fit/batch_size"}
            self.sites.append(Site(name, "/fit/batch_size", batch.frames, sets, parameters, batch.given))
        self.sites.append(fit.site("/fit", arguments))
        for index, (entry, call) in enumerate(zip(section.get("callbacks", []), training.acting.calls)):
            if call is not None and call.direct:
                path = f"/fit/callbacks/{index}"
                self.sites.append(call.site(path, self._arguments(path, entry["config"], call)))
        if training.acting.schedule_call is not None:
            self.sites.append(training.acting.schedule_call.site("/fit/schedule", {}))
