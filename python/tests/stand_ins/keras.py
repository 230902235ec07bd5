"""A stand-in of Keras."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from neutra.capture.recording import EndOfCapture
from neutra.sources import words

from . import recorder
from .recorder import Made, Recorded

_INPUTS = ("input_shape", "input_dim", "batch_input_shape", "shape", "name")
_FIELDS = {
    "activation": "linear",
    "use_bias": True,
    "kernel_initializer": "glorot_uniform",
    "bias_initializer": "zeros",
    "kernel_regularizer": None,
}
_LAYERS: dict[str, dict[str, Any]] = {
    "Dense": {"units": None, **_FIELDS},
    "Dropout": {"rate": None},
    "Activation": {"activation": None},
    "Flatten": {},
    "BatchNormalization": {},
}


class Tensor:
    def __init__(self, layers: Sequence[Layer] = ()):
        self.layers = list(layers)


class Layer(Made):
    def __call__(self, tensor: Tensor) -> Tensor:
        return Tensor([*tensor.layers, self])


def value_of(value: Any) -> Any:
    """An argument as a program has it."""
    if isinstance(value, Made):
        return {"class_name": value.name, "config": {key: value_of(each) for key, each in value.config.items()}}
    return getattr(value, "__name__", value)


class Model:
    def __init__(self, *args: Any, **kwargs: Any):
        outputs = kwargs.get("outputs", args[1] if len(args) > 1 else None)
        self.stack = list(outputs.layers) if isinstance(outputs, Tensor) else []
        self.compiled: Made | None = None

    def compile(self, *args: Any, **kwargs: Any) -> None:
        parameters = {"optimizer": "rmsprop", "loss": None, "metrics": None}
        self.compiled = Made("compile", parameters, args, kwargs)

    def fit(self, *args: Any, **kwargs: Any) -> None:
        parameters = {"x": None, "y": None, "batch_size": None, "epochs": 1, "verbose": 1, "callbacks": None}
        fitted = Made("fit", parameters, args, kwargs)
        if not self.stack:
            self.stack = self.call(Tensor()).layers
        _record(self, fitted)
        raise EndOfCapture

    def call(self, tensor: Tensor) -> Tensor:
        raise NotImplementedError


class Sequential(Model):
    def __init__(self, layers: Sequence[Any] = ()):
        super().__init__()
        self.stack = [layer for layer in layers if isinstance(layer, Layer)]

    def add(self, layer: Any) -> None:
        if isinstance(layer, Layer):
            self.stack.append(layer)


_recorded = Recorded("keras")


def _record(model: Model, fitted: Made) -> None:
    layers = []
    for number, layer in enumerate(model.stack):
        path = f"/model/config/layers/{number}"
        config = {key: value_of(each) for key, each in layer.config.items() if key not in _INPUTS}
        layers.append({"class_name": layer.name, "config": config})
        _recorded.sites.append(layer.site(path, {key: f"{path}/config/{key}" for key in config}))
    assert model.compiled is not None
    compiled = model.compiled
    _recorded.sites.append(compiled.site("/compile", {key: f"/compile/{key}" for key in ("optimizer", "loss")}))
    optimizer = compiled.config["optimizer"]
    if isinstance(optimizer, Made):
        if "lr" in optimizer.config:
            optimizer.config["learning_rate"] = optimizer.config.pop("lr")
        config = {key: f"/compile/optimizer/config/{key}" for key in optimizer.config}
        config["lr"] = config["learning_rate"]
        _recorded.sites.append(optimizer.site("/compile/optimizer", config))
    callbacks = fitted.config["callbacks"] or []
    for number, callback in enumerate(callbacks):
        path = f"/fit/callbacks/{number}"
        config = {key: f"{path}/config/{key}" for key in callback.config}
        _recorded.sites.append(callback.site(path, config))
    _recorded.sites.append(fitted.site("/fit", {key: f"/fit/{key}" for key in ("batch_size", "epochs")}))
    _recorded.program.update(
        model={"class_name": "Sequential", "config": {"layers": layers}},
        compile={"optimizer": value_of(optimizer), "loss": value_of(compiled.config["loss"])},
        fit={
            "batch_size": fitted.config["batch_size"] or 32,
            "epochs": fitted.config["epochs"],
            "callbacks": [value_of(each) for each in callbacks],
        },
    )


def _class(name: str, parameters: Mapping[str, Any], kind: Callable[..., Any] = Made) -> Callable[..., Any]:
    return lambda *args, **kwargs: kind(name, parameters, args, kwargs)


def _module(name: str, **content: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(content)
    return module


def _named(name: str) -> Callable[[], None]:
    def function() -> None:
        """A function that is an argument."""

    function.__name__ = name
    return function


def _modules() -> dict[str, ModuleType]:
    table = words.table()
    layers = {name: _class(name, parameters, Layer) for name, parameters in _LAYERS.items()}
    content = {
        "layers": _module("layers", Input=lambda *a, **k: Tensor(), InputLayer=lambda *a, **k: None, **layers),
        "models": _module("models", Model=Model, Sequential=Sequential),
        "optimizers": _module("optimizers", **{name: _class(name, d) for name, d in table["optimizer"].items()}),
        "initializers": _module(
            "initializers", **{name: _class(name, e["defaults"]) for name, e in table["initializer"].items()}
        ),
        "callbacks": _module(
            "callbacks", EarlyStopping=_class("EarlyStopping", {"monitor": "val_loss", "min_delta": 0, "patience": 0})
        ),
        "losses": _module(
            "losses", **{e["aliases"][-1]: _class(e["aliases"][-1], e["defaults"]) for e in table["loss"].values()}
        ),
    }
    keras = _module("keras", Model=Model, Sequential=Sequential, Input=lambda *a, **k: Tensor(), **content)
    nn = _module("tensorflow.nn", **{name: _named(name) for name in table["activation"]})
    found = {"keras": keras, "tensorflow": _module("tensorflow", keras=keras, nn=nn), "tensorflow.keras": keras}
    for name, module in content.items():
        found[f"keras.{name}"] = found[f"tensorflow.keras.{name}"] = module
    return found


def record(script: Path, arguments: Sequence[str] = ()) -> Recorded:
    """Runs a script to its first `fit`."""
    global _recorded
    _recorded = Recorded("keras")
    return recorder.run(script, arguments, _modules(), _recorded)
