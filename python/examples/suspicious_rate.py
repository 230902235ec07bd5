"""A fault-localisation tool in a few lines; repair_network.py asks it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import neutra


@neutra.tool(version="1")
def suspicious_rate(program: dict[str, Any], data: dict[str, np.ndarray[Any, Any]]) -> neutra.Answer:
    """compares the learning rate with the way that weights have to go"""
    rate = program["compile"]["optimizer"]["config"]["learning_rate"]
    fit = program["fit"]
    updates = fit["epochs"] * math.ceil(len(data["x_train"]) / fit["batch_size"])
    # An optimiser with adaptive rates moves a weight by about its rate with each update.
    reach = rate * updates
    if reach >= 1:
        return {"faults": "-"}
    text = f"{updates} updates by {rate} move a weight by {reach:.2g} at most"
    return {
        "messages": [{"text": text, "faults": "HLR|HNE", "actionability": "fix"}],
        "ranking": [
            {"type": "HLR", "suspiciousness": 1 - reach},
            {"type": "HNE", "suspiciousness": (1 - reach) / 2},
        ],
    }
