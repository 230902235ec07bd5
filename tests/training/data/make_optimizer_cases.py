"""Makes optimizer_cases.json: weights after steps of the optimisers of Keras 2.15, Keras 3 and PyTorch.

    PYTHON make_optimizer_cases.py keras215|keras3|torch >PART.json      with each framework's own Python
    PYTHON make_optimizer_cases.py join PART.json ... >optimizer_cases.json

Each case has the optimiser as a program has it, and how the framework was asked for it. Gradients: see gradients().
Variables: a of 3 and b of 2 numbers. The last made with tensorflow 2.15.1, keras 3.15 (jax) and torch 2.15.
"""

import json
import math
import os
import sys

STEPS = 6
START = [[1.0, -0.5, 0.25], [2.0, -1.5]]
SCALES = [[1.0, 1e-3, 1e-7], [3.0, 1e-5]]


def gradients(step):
    """Of all sizes, so that each place of epsilon shows."""
    return [
        [scale * math.sin(1.3 * (3 * v + i) + 1.7 * step + 0.4) for i, scale in enumerate(scales)]
        for v, scales in enumerate(SCALES)
    ]


# Class, settings, the program's settings where they have other names, and what weight decay leaves out.
KERAS = [
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.05}),
    ("SGD", {"learning_rate": 0.1, "global_clipnorm": 0.5}),
    ("SGD", {"learning_rate": 0.1, "clipnorm": 0.5}),
    ("RMSprop", {"learning_rate": 0.01}),
    ("RMSprop", {"learning_rate": 0.01, "momentum": 0.8, "epsilon": 1e-4}),
    ("RMSprop", {"learning_rate": 0.01, "centered": True, "weight_decay": 0.01}),
    ("RMSprop", {"learning_rate": 0.01, "centered": True, "momentum": 0.5, "rho": 0.7}),
    ("Adagrad", {"learning_rate": 0.05, "initial_accumulator_value": 1e-8}),
    ("Adadelta", {"learning_rate": 0.5, "rho": 0.9}),
    ("Adam", {"learning_rate": 0.01}),
    ("Adam", {"learning_rate": 0.01, "amsgrad": True, "weight_decay": 0.004}),
    ("AdamW", {"learning_rate": 0.01, "weight_decay": 0.02}),
    ("AdamW", {"learning_rate": 0.01, "weight_decay": 0.02, "undecayed": ["b"]}),
    ("Adamax", {"learning_rate": 0.01, "weight_decay": 0.03}),
    ("Nadam", {"learning_rate": 0.01}),
    ("Ftrl", {"learning_rate": 0.05, "weight_decay": 0.01}),
]
TORCH = [
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.05}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "global_clipnorm": 0.5, "weight_decay": 0.05}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.8, "eps": 1e-4}),
    ("RMSprop", {"lr": 0.01, "centered": True, "weight_decay": 0.01}),
    ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.5, "alpha": 0.7}),
    ("Adagrad", {"lr": 0.05, "lr_decay": 0.1}),
    ("Adadelta", {"lr": 0.5}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "eps": 1e-4, "betas": (0.8, 0.9), "weight_decay": 0.03}),
    ("Adam", {"lr": 0.01, "amsgrad": True, "betas": (0.9, 0.5)}),
    ("AdamW", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.1, "amsgrad": True, "undecayed": ["b"]}),
    ("Adamax", {"lr": 0.01, "eps": 1e-3}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.02}),
    ("NAdam", {"lr": 0.01, "momentum_decay": 0.01, "decoupled_weight_decay": True, "weight_decay": 0.02}),
]


def case(rules, name, given, config, weights):
    class_name = {"AdamW": "Adam", "NAdam": "Nadam"}.get(name, name)
    config = {**config, "rules": rules}
    return {
        "made": f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})",
        "optimizer": {"class_name": class_name, "config": config},
        "expected": weights,
    }


def keras_cases(rules, Variable, keras):
    cases = []
    for name, given in KERAS:
        if name == "Nadam" and "215" in sys.argv[1]:
            continue  # counts its momentum once for each weight
        settings = {key: value for key, value in given.items() if key != "undecayed"}
        variables = [Variable(start, name=each) for start, each in zip(START, "ab")]
        optimizer = getattr(keras.optimizers, name)(**settings)
        if given.get("undecayed"):
            optimizer.exclude_from_weight_decay(var_list=[variables[1]])
        optimizer.build(variables)
        for step in range(STEPS):
            optimizer.apply_gradients(
                [(_tensor(g), v) for g, v in zip(gradients(step), variables)]
            )
        weights = [v.numpy().tolist() for v in variables]
        cases.append(case(rules, name, given, given, weights))
    return cases


def keras215():
    import numpy
    import tensorflow as tf

    global _tensor
    _tensor = lambda g: tf.constant(numpy.array(g, "float32"))  # noqa: E731
    return keras_cases("keras3", lambda value, name: tf.Variable(value, name=name, dtype="float32"), tf.keras)


def keras3():
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    import numpy

    global _tensor
    _tensor = lambda g: keras.ops.convert_to_tensor(numpy.array(g, "float32"))  # noqa: E731
    return keras_cases("keras3", lambda value, name: keras.Variable(numpy.array(value, "float32"), name=name), keras)


def torch_cases():
    import torch

    names = {"lr": "learning_rate", "alpha": "rho", "eps": "epsilon", "momentum_decay": "schedule_decay"}
    cases = []
    for name, given in TORCH:
        parameters = [torch.nn.Parameter(torch.tensor(start)) for start in START]
        settings = {key: value for key, value in given.items() if key not in ("undecayed", "global_clipnorm")}
        groups = parameters
        if given.get("undecayed"):
            groups = [{"params": parameters[:1]}, {"params": parameters[1:], "weight_decay": 0.0}]
        optimizer = getattr(torch.optim, name)(groups, **settings)
        for step in range(STEPS):
            for parameter, g in zip(parameters, gradients(step)):
                parameter.grad = torch.tensor(g)
            if "global_clipnorm" in given:
                torch.nn.utils.clip_grad_norm_(parameters, given["global_clipnorm"])
            optimizer.step()
        config = {}
        for key, value in given.items():
            if key == "betas":
                config.update(beta_1=value[0], beta_2=value[1])
            elif key == "lr_decay":
                config["decay"] = value
            else:
                config[names.get(key, key)] = value
        if name == "AdamW":
            config.setdefault("weight_decay", 0.01)
            config["decoupled_weight_decay"] = True
        cases.append(case("torch", name, given, config, [p.detach().tolist() for p in parameters]))
    return cases


def main():
    if sys.argv[1] == "join":
        cases = [each for file in sys.argv[2:] for each in json.load(open(file))]
        lines = ",\n".join(json.dumps(each) for each in cases)
        content = {"start": START, "gradients": [gradients(step) for step in range(STEPS)]}
        print(json.dumps(content)[:-1] + ', "cases": [\n' + lines + "\n]}")
        return
    made = {"keras215": keras215, "keras3": keras3, "torch": torch_cases}[sys.argv[1]]()
    print(json.dumps([{**each, "framework": sys.argv[1]} for each in made]))


if __name__ == "__main__":
    main()
