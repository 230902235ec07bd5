"""Functions that test_tool.py runs as tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import neutra

Arrays = dict[str, "np.ndarray[Any, Any]"]


@neutra.tool
def rate(program: dict[str, Any]) -> str:
    """says whether the learning rate is usual

    Rates between 1e-4 and 0.5 are.
    """
    found = program["compile"]["optimizer"]["config"]["learning_rate"]
    return "-" if 1e-4 <= found <= 0.5 else "HLR"


@neutra.tool(name="everything-2", version="1.2", source="a paper", time_limit=60, memory_limit=2**31)
def everything(program: dict[str, Any], data: Arrays, script: Path, seed: int, threshold: float = 1) -> neutra.Answer:
    count = len(program["model"]["config"]["layers"])
    layers: Any = np.array([0])
    spread = np.abs(data["x_train"]).max()  # a NumPy number
    lines = script.read_text(encoding="utf-8").splitlines()
    return {
        "faults": "ACH(0)" if spread > threshold else "-",
        "ranking": [{"layer": i, "suspiciousness": spread / (i + 1)} for i in range(count)],
        "messages": [{"text": f"{len(lines) > 0} {seed >= 0}", "layers": layers}],
    }


@neutra.tool
def broken(program: dict[str, Any]) -> str:
    raise ValueError(f"no idea about {len(program['model']['config']['layers'])} layers")


@neutra.tool
def silent(program: dict[str, Any]) -> str:
    return None  # type: ignore[return-value]


def plain(program: dict[str, Any]) -> str:
    return "-"
