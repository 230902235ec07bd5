"""The project's test of two samples of metrics (docs/methods/statistics.md), for metrics that neutra didn't make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

#: A difference is significant below this p, with an effect of at least this (the study, section 3).
LEVEL, LEAST_EFFECT = 0.05, 0.5


class Comparison(NamedTuple):
    """p and Cohen's d of two samples; d is positive where the first has the larger metric."""

    p: float
    d: float

    @property
    def significant(self) -> bool:
        """Do the samples differ?"""
        return self.p < LEVEL and abs(self.d) >= LEAST_EFFECT


def compare(first: Sequence[float], second: Sequence[float], maximize: bool) -> Comparison:
    """p of a Gaussian linear model and Cohen's d. Where a value isn't finite it is worse than every finite one: p is
    then of the exact rank test, d of the probability that a run of one sample is better."""
    if all(map(math.isfinite, [*first, *second])):
        return _linear(first, second)
    merits = [[_merit(value, maximize) for value in sample] for sample in (first, second)]
    superior = sum((a > b) + (a == b) / 2 for a in merits[0] for b in merits[1]) / (len(first) * len(second))
    return Comparison(rank_sum(*merits), _effect(superior) * (1 if maximize else -1))


def _effect(superior: float) -> float:
    """The d of two normal samples of which the first is better with this probability."""
    if superior in (0, 1):
        return math.inf if superior else -math.inf
    return math.sqrt(2) * NormalDist().inv_cdf(superior)


def _merit(value: float, maximize: bool) -> float:
    if not math.isfinite(value):
        return -math.inf
    return value if maximize else -value


def _mean(values: Sequence[float]) -> float:
    """The mean; of equal values exactly that value."""
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)


def _linear(first: Sequence[float], second: Sequence[float]) -> Comparison:
    means = _mean(first), _mean(second)
    difference = means[0] - means[1]
    if difference == 0:
        return Comparison(1.0, 0.0)
    squares = [sum((value - mean) ** 2 for value in sample) for sample, mean in zip((first, second), means)]
    variance = sum(squares) / (len(first) + len(second) - 2)
    if variance == 0:
        return Comparison(0.0, math.copysign(math.inf, difference))
    deviation = math.sqrt(variance)
    z = difference / (deviation * math.sqrt(1 / len(first) + 1 / len(second)))
    return Comparison(math.erfc(abs(z) / math.sqrt(2)), difference / deviation)


def rank_sum(first: Sequence[float], second: Sequence[float]) -> float:
    """p of the rank test of Wilcoxon, Mann and Whitney, two-sided and exact over all splits of the mid-ranks."""
    ranks = _double_ranks([*first, *second])
    sums: dict[tuple[int, int], int] = {(0, 0): 1}
    for rank in ranks:
        for (count, total), ways in list(sums.items()):
            if count < len(first):
                key = (count + 1, total + rank)
                sums[key] = sums.get(key, 0) + ways
    splits = {total: ways for (count, total), ways in sums.items() if count == len(first)}
    centre = len(first) * (len(ranks) + 1)  # of doubled ranks
    observed = abs(sum(ranks[: len(first)]) - centre)
    as_far = sum(ways for total, ways in splits.items() if abs(total - centre) >= observed)
    return as_far / sum(splits.values())


def _double_ranks(values: Sequence[float]) -> list[int]:
    """Twice the mid-rank of each value, so that ties are whole numbers."""
    return [
        2 * sum(other < value for other in values) + sum(other == value for other in values) + 1 for value in values
    ]
