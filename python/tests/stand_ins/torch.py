"""A stand-in of PyTorch: a Module's forward is run on a tensor that notes what happened to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from neutra.capture.recording import EndOfCapture, Frame, Place, Site
from neutra.sources import words

from . import recorder
from .recorder import Made, Recorded, frames

_THIRD = {"class_name": "VarianceScaling", "config": {"scale": 1 / 3, "mode": "fan_in", "distribution": "uniform"}}
_PARAMETERS: dict[str, dict[str, Any]] = {
    "Linear": {"in_features": None, "out_features": None, "bias": True},
    "Dropout": {"p": 0.5, "inplace": False},
}
_DRAWN = {form.split("(")[0]: name for name, form in words.table("torch_words.json")["initializer"].items()}


class Tensor:
    """Answers every method; `trace` has the layers that it went through, `loss` what made it."""

    def __init__(self, trace: Sequence[Entry] = (), loss: Made | None = None):
        self.trace = list(trace)
        self.loss = loss

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: _activated(name, self) if name in _FUNCTIONS else self

    def __getitem__(self, key: object) -> Tensor:
        return Tensor()

    def __gt__(self, other: object) -> Tensor:
        return self

    def __len__(self) -> int:
        return 48

    def backward(self) -> None:
        assert self.loss is not None
        _loop["backward"] = frames()
        _loop["loss"], _loop["trace"] = self.loss, self.loss.config["input"].trace


class Entry:
    """A layer that ran: of a module, or a function."""

    def __init__(self, name: str, module: Module | None, ran: list[Frame], rate: float = 0):
        self.name, self.module, self.ran, self.rate = name, module, ran, rate


_loop: dict[str, Any] = {}
_recorded = Recorded("torch 2")


class Parameter:
    def __init__(self, drawn: Mapping[str, Any]):
        self.drawn = drawn


class Module:
    made: Made | None = None

    def __call__(self, tensor: Tensor) -> Tensor:
        if self.made is None:
            return self.forward(tensor)
        return Tensor([*tensor.trace, Entry(self.made.name, self, frames())])

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def to(self, device: object) -> Module:
        return self

    def parameters(self) -> list[Parameter]:
        return []

    def train(self, mode: bool = True) -> Module:
        return self

    def eval(self) -> Module:
        return self

    training = True


def _leaf(name: str) -> Callable[..., Module]:
    def make(*args: Any, **kwargs: Any) -> Module:
        module = Module()
        module.made = Made(name, _PARAMETERS.get(name, {}), args, kwargs)
        module.weight, module.bias = Parameter(_THIRD), Parameter(_THIRD)  # type: ignore[attr-defined]
        return module

    return make


class Sequential(Module):
    def __init__(self, *layers: Any):
        named = [each for each in layers if isinstance(each, dict)]
        self.layers: list[Module] = [each for one in named for each in one.values()] if named else list(layers)

    def add_module(self, name: str, layer: Module) -> None:
        self.layers.append(layer)
        setattr(self, name, layer)

    def __getitem__(self, place: int) -> Module:
        return self.layers[place]

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class ModuleList(Module):
    def __init__(self, layers: Sequence[Module]):
        self.layers = list(layers)

    def __getitem__(self, place: int) -> Module:
        return self.layers[place]


def _activated(name: str, tensor: Tensor) -> Tensor:
    return Tensor([*tensor.trace, Entry(name, None, frames())])


_ACTIVATIONS = {e["module"]: n for n, e in words.table("torch_words.json")["activation"].items() if "module" in e}
_FUNCTIONS = {
    e["function"].rsplit(".", 1)[-1]: n
    for n, e in words.table("torch_words.json")["activation"].items()
    if "function" in e
}
_LOSSES = {e["module"]: n for n, e in words.table("torch_words.json")["loss"].items()}
_LOSSES["SmoothL1Loss"] = "huber"
_LOSS_FUNCTIONS = {e["function"]: n for n, e in words.table("torch_words.json")["loss"].items()}


def _loss_module(name: str) -> Callable[..., Callable[..., Tensor]]:
    def make(*args: Any, **kwargs: Any) -> Callable[..., Tensor]:
        made = Made(name, {"reduction": "mean"}, args, kwargs)

        def loss(output: Tensor, target: Tensor) -> Tensor:
            made.config["input"] = output
            return Tensor(loss=made)

        return loss

    return make


def _loss_function(name: str) -> Callable[..., Tensor]:
    def loss(output: Tensor, target: Tensor, **kwargs: Any) -> Tensor:
        parameters = {"input": None, "target": None, "reduction": "mean"}
        return Tensor(loss=Made(name, parameters, (output, target), kwargs))

    return loss


class Optimizer(Made):
    def __init__(self, name: str, parameters: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]):
        super().__init__(name, parameters, args, kwargs)
        _loop["optimizer"] = self

    def zero_grad(self) -> None:
        _loop["zero_grad"] = frames()

    def step(self) -> None:
        _loop["step"] = frames()
        _record()
        raise EndOfCapture


class DataLoader(Made):
    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("DataLoader", {"dataset": None, "batch_size": 1, "shuffle": False}, args, kwargs)
        _loop["loader"] = self

    def __iter__(self) -> Any:
        return iter([(Tensor(), Tensor())])


def _layer(number: int, entry: Entry) -> tuple[dict[str, Any], dict[str, str]]:
    """A layer of the program, and the pointers of its arguments."""
    path = f"/model/config/layers/{number}/config"
    made = entry.module.made if entry.module is not None else None
    if made is not None and made.name == "Linear":
        config = {
            "units": made.config["out_features"],
            "activation": "linear",
            "kernel_initializer": entry.module.weight.drawn,  # type: ignore[union-attr]
            "bias_initializer": entry.module.bias.drawn,  # type: ignore[union-attr]
        }
        return {"class_name": "Dense", "config": config}, {"out_features": f"{path}/units"}
    if made is not None and made.name == "Dropout":
        return {"class_name": "Dropout", "config": {"rate": made.config["p"]}}, {"p": f"{path}/rate"}
    if entry.name == "dropout":
        return {"class_name": "Dropout", "config": {"rate": entry.rate}}, {"p": f"{path}/rate"}
    word = _ACTIVATIONS[made.name] if made is not None else _FUNCTIONS[entry.name]
    return {"class_name": "Activation", "config": {"activation": word}}, {"": f"{path}/activation"}


def _record() -> None:
    layers, sites = [], _recorded.sites
    for number, entry in enumerate(_loop["trace"]):
        layer, arguments = _layer(number, entry)
        layers.append(layer)
        path = f"/model/config/layers/{number}"
        if entry.module is None:
            sites.append(Site(entry.name, path, entry.ran, arguments))
        else:
            assert entry.module.made is not None
            sites.append(entry.module.made.site(path, arguments))
            sites.append(Site("forward", path, entry.ran))
    optimizer, loss = _loop["optimizer"], _loop["loss"]
    entry = next(e for e in words.table("torch_words.json")["optimizer"].values() if e["class"] == optimizer.name)
    names = {key: value for key, value in entry["arguments"].items() if value != "betas"}
    config = {key: optimizer.config[value] for key, value in names.items()}
    where = {value: f"/compile/optimizer/config/{key}" for key, value in names.items()}
    sites.append(optimizer.site("/compile/optimizer", where))
    sites.append(loss.site("/compile/loss", {"reduction": "/fit/loop/reduction"}))
    word = {**_LOSSES, **_LOSS_FUNCTIONS}[loss.name].split()
    sites.append(Site("backward", "/fit", _loop["backward"]))
    if "loader" in _loop:
        sites.append(_loop["loader"].site("/fit", {"batch_size": "/fit/batch_size", "shuffle": "/fit/shuffle"}))
    for name in ("zero_grad", "step"):
        if name in _loop:
            sites.append(Site(name, f"/fit/loop/{name}", _loop[name]))
    zeroed = {} if "zero_grad" in _loop else {"zero_grad": "never"}
    kind = next(k for k, e in words.table("torch_words.json")["optimizer"].items() if e["class"] == optimizer.name)
    _recorded.program.update(
        model={"class_name": "Sequential", "config": {"layers": layers}},
        compile={
            "optimizer": {"class_name": kind, "config": config},
            "loss": {"class_name": word[0], "config": {"from_logits": True} if word[1:] else {}},
        },
        fit={
            "batch_size": _loop["loader"].config["batch_size"] if "loader" in _loop else 32,
            "epochs": _epochs(),
            "loop": {**zeroed, "reduction": loss.config["reduction"]},
        },
    )


_script = Path()
_given: Sequence[str] = ()


def _epochs() -> int:
    """The turns of `for epoch in range(...)`, with its site."""
    text = _script.read_text()
    tree = ast.parse(text)
    names: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.Dict)):
            names.update({t.id: ast.literal_eval(node.value) for t in node.targets if isinstance(t, ast.Name)})
    options = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "add_argument":
            default = next(ast.literal_eval(k.value) for k in call.keywords if k.arg == "default")
            options[ast.literal_eval(call.args[0]).strip("-")] = default
    for word, value in zip(_given, _given[1:]):
        if word.startswith("--"):
            options[word.strip("-")] = int(value) if value.isdigit() else value
    args = type("args", (), options)
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For) and getattr(loop.target, "id", "") == "epoch":
            call = loop.iter
            assert isinstance(call, ast.Call) and call.end_lineno and call.end_col_offset
            place = Place(_script.name, call.lineno, call.col_offset + 1, call.end_lineno, call.end_col_offset + 1)
            several = len(call.args) > 1
            site = Site("range", "/fit/epochs", [Frame(_script.name, call.lineno, "", place)])
            site.parameters = site.given = ["start", "stop"] if several else ["stop"]
            site.arguments = {} if several else {"stop": "/fit/epochs"}
            _recorded.sites.append(site)
            return len(eval(ast.unparse(call), {**names, "args": args}))
    return 1


def _module(name: str, **content: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(content)
    return module


def _dropout(tensor: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    return Tensor([*tensor.trace, Entry("dropout", None, frames(), p)])


def _draw(name: str) -> Callable[..., None]:
    def function(parameter: Parameter, *args: Any, **kwargs: Any) -> None:
        parameter.drawn = {"class_name": _DRAWN[name], "config": {}}

    return function


def _modules() -> dict[str, ModuleType]:
    def activation(name: str) -> Callable[..., Tensor]:
        return lambda tensor, *args, **kwargs: _activated(name, tensor)

    functions = {name: activation(name) for name in _FUNCTIONS}
    init = _module("torch.nn.init", **{name: _draw(name) for name in _DRAWN})
    losses = {name: _loss_function(name) for name in _LOSS_FUNCTIONS}
    functional = _module("torch.nn.functional", **functions, **losses, dropout=_dropout)
    leaves = {name: _leaf(name) for name in (*_PARAMETERS, *_ACTIVATIONS)}
    leaves.update({name: _loss_module(name) for name in _LOSSES})
    nn = _module(
        "torch.nn",
        Module=Module,
        Sequential=Sequential,
        ModuleList=ModuleList,
        init=init,
        functional=functional,
        **leaves,
    )

    def optimizer(name: str, entry: Mapping[str, Any]) -> Callable[..., Optimizer]:
        defaults = {entry["arguments"][key]: value for key, value in entry["defaults"].items()}
        return lambda *a, **k: Optimizer(name, {"params": None, **defaults, "weight_decay": 0}, a, k)

    table = words.table("torch_words.json")["optimizer"]
    optim = _module("torch.optim", **{e["class"]: optimizer(e["class"], e) for e in table.values()})
    data = _module("torch.utils.data", DataLoader=DataLoader, TensorDataset=lambda *tensors: tensors)
    utils = _module("torch.utils", data=data)
    tensors: dict[str, Any] = dict.fromkeys(("rand", "randint", "randn"), lambda *args, **kwargs: Tensor())
    cuda = _module("torch.cuda", is_available=lambda: False)
    tensors["device"] = lambda name: name
    torch = _module(
        "torch", nn=nn, optim=optim, utils=utils, manual_seed=lambda seed: None, cuda=cuda, **tensors, **functions
    )
    return {module.__name__: module for module in (torch, nn, init, functional, optim, utils, data)}


def record(script: Path, arguments: Sequence[str] = ()) -> Recorded:
    """Runs a script to its first step."""
    global _recorded, _script, _given
    _recorded, _script, _given = Recorded("torch 2"), script, arguments
    _loop.clear()
    return recorder.run(script, arguments, _modules(), _recorded)
