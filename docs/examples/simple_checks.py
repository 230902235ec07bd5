#!/usr/bin/env python3
"""An external tool for neutra in plain Python: reads program.json and x_train.npy, writes answer.json.

It needs nothing but Python's own library. What it checks is an example, not a tool to compare with.
"""
import array
import ast
import json
import math
import struct

# What the last layer has to compute, by loss.
OUTPUTS = {
    "binary_crossentropy": {"sigmoid"},
    "categorical_crossentropy": {"softmax"},
    "sparse_categorical_crossentropy": {"softmax"},
}
HIGH_RATE, LOW_RATE = 0.5, 1e-5
LARGE_INPUT = 20.0


def read_npy(name):
    """The shape and the numbers of a float32 .npy file, as neutra writes them."""
    with open(name, "rb") as file:
        assert file.read(8) == b"\x93NUMPY\x01\x00"
        (length,) = struct.unpack("<H", file.read(2))
        header = ast.literal_eval(file.read(length).decode("latin1"))
        assert header["descr"] == "<f4" and not header["fortran_order"]
        numbers = array.array("f")
        numbers.frombytes(file.read())
    return header["shape"], numbers


def message(code, text, faults, layers=(), **more):
    return {"code": code, "text": text, "faults": faults, "layers": list(layers), "actionability": "fix", **more}


def check_layers(layers, loss):
    computing = [i for i, layer in enumerate(layers) if layer["class_name"] in ("Dense", "Conv2D")]
    activations = {}
    for place, i in enumerate(computing):
        end = computing[place + 1] if place + 1 < len(computing) else len(layers)
        words = [layer["config"].get("activation", "linear") for layer in layers[i:end]]
        words += [layer["class_name"].lower() for layer in layers[i + 1 : end]]
        activations[i] = [word for word in words if word not in ("linear", "dropout", "flatten")]
    for i in computing[:-1]:
        if not activations[i]:
            yield message("no_activation", "a hidden layer computes nothing but sums", f"ACH({i})", [i])
    last = computing[-1]
    if loss in OUTPUTS and not OUTPUTS[loss] & set(activations[last]):
        found = ", ".join(activations[last]) or "linear"
        yield message("output", f"the output doesn't fit the loss {loss}", f"ACH({last})|LCH", [last], detail=found)


def check_rate(rate):
    if rate > HIGH_RATE or rate < LOW_RATE:
        yield message("rate", "an unusual learning rate", "HLR", detail=str(rate))


def check_inputs(numbers):
    largest = max(map(abs, numbers))
    if not math.isfinite(largest) or largest > LARGE_INPUT:
        yield message("inputs", "the inputs are not scaled", "CPP", detail=str(largest))


def main():
    with open("program.json", encoding="utf-8") as file:
        program = json.load(file)
    layers = program["model"]["config"]["layers"]
    compiled = program["compile"]
    messages = [
        *check_layers(layers, compiled["loss"]),
        *check_rate(compiled["optimizer"]["config"]["learning_rate"]),
        *check_inputs(read_npy("x_train.npy")[1]),
    ]
    ranking = [{"layer": i, "suspiciousness": 1.0} for m in messages for i in m["layers"]]
    answer = {"format": "neutra-answer", "version": 1, "messages": messages, "ranking": ranking}
    with open("answer.json", "w", encoding="utf-8") as file:
        json.dump(answer, file, allow_nan=False)


if __name__ == "__main__":
    main()
