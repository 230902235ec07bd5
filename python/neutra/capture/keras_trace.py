"""Follows a model whose call is the user's own (a subclassed model, or one with layers of one's own) through its
layers, and makes a functional model of it: the same layers, in the order in which call uses them.

`call` runs once with training on and once with it off, on a symbolic tensor of Keras. What differs between the two may
be layers that only training has (Dropout, noise). Layers of one's own are opened: what their call uses takes their
place.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from .frames import is_users
from .recording import Frame, NotCaptured

#: Layers that do nothing but in training.
_RANDOM = ("Dropout", "Noise")
#: Functions of TensorFlow and of keras.ops that are activations, by the last part of their names in a model's JSON.
_ACTIVATIONS = ("relu", "sigmoid", "tanh", "softmax", "elu", "selu", "softplus", "softsign", "gelu", "silu", "swish")


def call_of(layer: Any) -> Any:
    """The function `call` of a layer's class, without tf.function around it."""
    function = getattr(type(layer), "call", None)
    return getattr(function, "python_function", function)


def is_own(layer: Any) -> bool:
    """Is the call of this layer or model code of the user's?"""
    function = call_of(layer)
    packages = ("keras", "tf_keras", "tensorflow")
    return function is not None and str(getattr(function, "__module__", "")).split(".")[0] not in packages


def parts_of(layer: Any) -> list[Any]:
    """The layers that a layer or model holds itself, in the order in which it got them."""
    flatten = getattr(layer, "_flatten_layers", None)
    return list(flatten(include_self=False, recursive=False)) if flatten else []


def opened(model: Any) -> list[Any]:
    """The model and the layers in it that have to be opened: their own call, or that of a part, is the user's."""
    found: list[Any] = []

    def visit(layer: Any) -> bool:
        inner = [visit(each) for each in parts_of(layer)]
        own = is_own(layer) or (any(inner) and hasattr(layer, "to_json"))
        if own and not any(each is layer for each in found):
            found.append(layer)
        return own

    visit(model)
    return found


def traced(keras: ModuleType, model: Any, x: Any, frame: Frame | None) -> tuple[Any, dict[str, Any]]:
    """A functional model of the layers that the model's call uses for rows like those of `x`, and its JSON. Raises
    NotCaptured where call can't be followed, or does something else in inference."""
    chains = [_run(keras, model, x, training, frame) for training in (True, False)]
    documents = [_stored(each, frame) for each in chains]
    found = documents[0]
    layers, without = (_by_name(document) for document in documents)
    held = {layer.name for layer in model._flatten_layers()}
    if _operations(layers, held) != _operations(without, held):
        raise NotCaptured(
            f"found {type(model).__name__}, whose call is another one in inference; "
            "allowed: Dropout and noise alone differ",
            frame,
        )
    for name in [name for name in [*layers, *without] if name in held]:
        layer = layers.get(name) or without[name]
        kind = str(layer.get("class_name"))
        if name in layers and name in without:
            continue
        if name in without or not any(word in kind for word in _RANDOM):
            raise NotCaptured(
                f"found {type(model).__name__}, whose call uses layer '{name}' ({kind}) in "
                f"{'inference' if name in without else 'training'} alone; allowed: Dropout and noise alone differ",
                frame,
            )
    _same_arguments(found, layers, without)
    _activations(found)
    return chains[0], found


def _stored(model: Any, frame: Frame | None) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(model.to_json())
    except Exception as error:  # what Keras raises for variables and other objects among the arguments of a function
        first_line = str(error).strip().partition("\n")[0]
        raise NotCaptured(
            f"found a call that Keras can't store ({first_line}); allowed: layers of Keras, one after the other", frame
        ) from None
    document.pop("compile_config", None)
    return document


def _run(keras: ModuleType, model: Any, x: Any, training: bool, frame: Frame | None) -> Any:
    inputs = keras.Input(shape=tuple(x.shape[1:]))
    try:
        with _inlined(opened(model), training):
            outputs = model(inputs)
    except NotCaptured:
        raise
    except Exception as error:
        lines = [each for each in traceback.extract_tb(error.__traceback__) if is_users(each.filename)]
        place = Frame(lines[-1].filename, lines[-1].lineno or 1, lines[-1].name) if lines else frame
        first_line = str(error).strip().partition("\n")[0]
        raise NotCaptured(
            f"found a call of {type(model).__name__} that can't be followed ({type(error).__name__}: {first_line}); "
            "allowed: layers of Keras, one after the other",
            place,
        ) from None
    if isinstance(outputs, (list, tuple, dict)):
        raise NotCaptured(f"found {type(model).__name__} with {len(outputs)} outputs; allowed: one", frame)
    return keras.Model(inputs, outputs)


def symbolic(value: Any) -> bool:
    """Is this a tensor of a model that is being put together?"""
    return type(value).__name__ == "KerasTensor"


def _flat(value: Any) -> list[Any]:
    return [each for part in value for each in _flat(part)] if isinstance(value, (list, tuple)) else [value]


@contextlib.contextmanager
def _inlined(layers: list[Any], training: bool) -> Iterator[None]:
    """While it is open, a symbolic call of one of these layers runs its `call` line by line."""
    identities = {id(layer) for layer in layers}
    kinds = list(dict.fromkeys(type(layer) for layer in layers))
    kept = [(kind, "__call__" in vars(kind), vars(kind).get("__call__")) for kind in kinds]

    def inlining(plain: Callable[..., Any]) -> Callable[..., Any]:
        def run(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if id(layer) not in identities or not any(map(symbolic, _flat([*args, *kwargs.values()]))):
                return plain(layer, *args, **kwargs)
            return _call(layer, args, kwargs, training)

        return run

    for kind in kinds:
        kind.__call__ = inlining(kind.__call__)
    try:
        yield
    finally:
        for kind, own, old in reversed(kept):
            if own:
                kind.__call__ = old
            else:
                del kind.__call__


def _call(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], training: bool) -> Any:
    x = args[0] if args else next(iter(kwargs.values()))
    if not is_own(layer):
        return _through(layer, x)
    build = getattr(type(layer), "build", None)
    if not layer.built and build is not None and _is_users_function(build):
        layer.build(tuple(x.shape))
        layer.built = True
    function = call_of(layer)
    if kwargs.get("training") is None and "training" in inspect.signature(function).parameters:
        kwargs = {**kwargs, "training": training}
    return function(layer, *args, **kwargs)


def _through(model: Any, x: Any) -> Any:
    """The way through the layers of a Sequential or functional model that has layers of one's own."""
    if any(each.__name__ == "Sequential" for each in type(model).__mro__):
        for layer in model.layers:
            x = layer(x)
        return x
    run = getattr(model, "_run_through_graph", None)  # Keras 3; _run_internal_graph is that of 2
    outputs = run([x], operation_fn=lambda operation: operation) if run else model._run_internal_graph(x)
    return outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs


def _is_users_function(function: Any) -> bool:
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    return code is not None and is_users(code.co_filename)


def _by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {layer.get("name") or layer["config"]["name"]: layer for layer in document["config"]["layers"]}


def _operations(layers: dict[str, Any], held: set[str]) -> list[str]:
    """What is no layer of the model: functions that its call uses."""
    others = [layer for name, layer in layers.items() if name not in held and layer["class_name"] != "InputLayer"]
    return sorted(f"{each['class_name']} {each['config'].get('function', '')}" for each in others)


def _arguments(node: Any) -> list[dict[str, Any]]:
    """The arguments of the calls in a node: of Keras 3, or of 2."""
    if isinstance(node, dict):
        return [node.get("kwargs", {})]
    if isinstance(node, list) and node and isinstance(node[0], list):
        return [found for each in node for found in _arguments(each)]
    return [each for each in node if isinstance(each, dict)] if isinstance(node, list) else []


def _same_arguments(document: dict[str, Any], layers: dict[str, Any], without: dict[str, Any]) -> None:
    """Takes `training` out of the calls that were only handed on what the model was told."""
    for name, layer in layers.items():
        nodes = layer.get("inbound_nodes", [])
        others = without.get(name, {}).get("inbound_nodes", [])
        for number, node in enumerate(nodes):
            after = _arguments(others[number]) if number < len(others) else []
            for position, arguments in enumerate(_arguments(node)):
                there = after[position].get("training") if position < len(after) else None
                if arguments.get("training") is True and there is not True:
                    arguments["training"] = None


def _activations(part: Any) -> None:
    """tf.nn.relu(x) and keras.ops.relu(x) are layers of no class: they become Activation layers."""
    if isinstance(part, dict):
        kind, config = part.get("class_name"), part.get("config")
        if isinstance(config, dict):
            function = str(config.get("function", "")) if kind == "TFOpLambda" else str(kind).lower()
            module = str(part.get("module", ""))
            operation = kind == "TFOpLambda" or ".ops." in module or ".activations" in module
            word = function.rpartition(".")[2]
            if operation and word in _ACTIVATIONS:
                part["class_name"] = "Activation"
                part["module"] = "keras.layers"
                part["config"] = {"name": config["name"], "trainable": True, "dtype": "float32", "activation": word}
        for each in part.values():
            _activations(each)
    elif isinstance(part, list):
        for each in part:
            _activations(each)
