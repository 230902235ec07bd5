"""`--check N`: compares N trainings of neutra with N runs of the script.

Each run of the script is a process of its own, in which seeds are replaced once the first layer is made: what comes
before, such as rows that are drawn, stays as it was. The weights that a run ends with are evaluated by
`neutra evaluate`, so that both sides have one metric, on the same rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..command import NeutraError, run
from .recording import NotCaptured, Recording
from .two_samples import compare


@dataclass
class Checked:
    """What a check found: metrics of both sides, what differs or can't be told, and the verdict as a line."""

    native: list[float] = field(default_factory=list)
    script: list[float] = field(default_factory=list)
    p: float | None = None
    d: float | None = None
    reason: str = ""
    same: bool | None = None

    @property
    def line(self) -> str:
        """The verdict."""
        if self.same is None:
            return f"no verdict on whether neutra trains what the script trains: {self.reason}"
        means = f"means {_mean(self.native):.4g} of neutra, {_mean(self.script):.4g} of the script"
        if self.same:
            return f"neutra trains what your script trains (p = {self.p:.2g}; {means}, {len(self.script)} runs each)"
        return (
            f"neutra does not train what your script trains (p = {self.p:.2g}, d = {self.d:.2g}; {means}, "
            f"{len(self.script)} runs each)"
        )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main(recording: Recording, fault: str, script: str, arguments: Sequence[str], count: int) -> int:
    """Checks a captured program, and says what came of it in a line on standard output. Returns 0: a program was
    written."""
    if recording.random_seeds:
        places = ", ".join(dict.fromkeys(map(str, recording.random_seeds)))
        print(f"neutra: seeds of the script ({places}) are replaced for the check alone", file=sys.stderr, flush=True)
    print(check(fault, script, arguments, count).line, flush=True)
    return 0


def check(fault: str, script: str, arguments: Sequence[str], count: int) -> Checked:
    """Trains and runs `count` times each, and compares."""
    with tempfile.TemporaryDirectory() as folder:
        evaluated = inference_fault(fault, os.path.join(folder, "fault.json"))
        found = Checked()
        try:
            trained = run("train", evaluated, replicas=count)
            found.native = [_metric(each) for each in trained["replicas"]]
            runs = []
            for number in range(count):
                print(f"neutra: run {number + 1} of {count} of {script}", file=sys.stderr, flush=True)
                runs.append(run_of(script, arguments, number, folder, fault))
            found.script = [_metric(run("evaluate", evaluated, weights=each["weights"])) for each in runs]
        except (NeutraError, NotCaptured) as error:
            found.reason = str(error)
            return found
        return verdict(found, runs, trained["goal"] == "maximize")


def verdict(found: Checked, runs: list[dict[str, Any]], maximize: bool) -> Checked:
    """Completes what was found by the project's test. Equal runs never count as agreement."""
    if not all(each["rows"] for each in runs):
        found.reason = "the script's rows differ from run to run, those of the program are kept"
    elif len(runs) > 1 and len({each["mark"] for each in runs}) == 1:
        found.reason = (
            "all runs of the script are equal: something fixes its random numbers that the check can't replace"
        )
    else:
        comparison = compare(found.native, found.script, maximize)
        found.p, found.d, found.same = comparison.p, comparison.d, not comparison.significant
    return found


def inference_fault(fault: str, path: str) -> str:
    """A copy of a fault whose evaluations are made in inference mode, as that of given weights is: no weight depends
    on the mode. Files keep their places."""
    with open(fault, encoding="utf-8") as file:
        document = json.load(file)
    program = document["program"]
    program["fit"].get("loop", {}).pop("eval_mode", None)
    arguments = program["data"]["arguments"]
    arguments["file"] = os.path.join(os.path.dirname(os.path.abspath(fault)), arguments["file"])
    document.pop("script", None)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def _metric(replica: dict[str, Any]) -> float:
    """A metric as a number: NaN where the training diverged. Raises NotCaptured for one that failed."""
    status = replica.get("status", "ok")
    if status not in ("ok", "diverged"):
        raise NotCaptured(f"a training of neutra is {status}: {replica.get('message', '')}")
    value = replica["value"] if "value" in replica else replica.get("metric")
    return float("nan") if value is None else float(value)


def run_of(script: str, arguments: Sequence[str], number: int, folder: str, fault: str) -> dict[str, Any]:
    """One run of the script with seeds of its own. Raises NotCaptured where it didn't train."""
    result = os.path.join(folder, f"run-{number}.json")
    weights = os.path.join(folder, f"run-{number}.h5")
    words = [sys.executable, "-m", "neutra.capture.check_run", result, weights, fault, str(number), script, *arguments]
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        words,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    try:
        with open(result, encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
    except OSError:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise NotCaptured(f"a run of {script} for the check ended without a training: {last}") from None
    if found.get("refused"):
        raise NotCaptured(found["refused"])
    return {**found, "weights": weights}
