"""A fault-localisation tool in a few lines; repair_network.py asks it."""

from __future__ import annotations

from typing import Any

import numpy as np

import neutra


@neutra.tool(version="1")
def suspicious_rate(program: dict[str, Any], data: dict[str, np.ndarray[Any, Any]]) -> neutra.Answer:
    """compares the learning rate and the number of updates with what is usual"""
    rate = program["compile"]["optimizer"]["config"]["learning_rate"]
    fit = program["fit"]
    updates = fit["epochs"] * int(np.ceil(len(data["x_train"]) / fit["batch_size"]))
    faults, messages = [], []
    if not 1e-3 <= rate <= 0.1:
        faults.append("HLR")
        messages.append(neutra.Message(text=f"the learning rate is {rate}", faults="HLR"))
    if updates < 200:
        faults.append("HNE")
        messages.append(neutra.Message(text=f"only {updates} updates", faults="HNE"))
    return {"faults": ", ".join(faults) or "-", "messages": messages}
