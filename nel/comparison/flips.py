"""The samples whose score changed, and the means of length, tokens, time and cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from nel.comparison.compare import BenchmarkComparison
from nel.comparison.lines import Ints
from nel.comparison.questions import Questions
from nel.comparison.scores import exact_mean
from nel.comparison.sides import Texts
from nel.core.scaling import ROUNDING

_MOVED: Final = ("tokens", "characters", "latency")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A sample whose score changed, with both answers (of the first repeat)."""

    baseline_score: float
    """The mean over the repeats, as with the candidate's."""
    candidate_score: float
    category: str | None
    baseline: Texts
    candidate: Texts


def flips(compared: BenchmarkComparison, count_max: int) -> Iterator[Flip]:
    """Yield the samples whose score changed, losses first and the largest changes first among them.

    Args:
        compared: One benchmark.
        count_max: How many at most; half of them are losses where there are enough of both.
    """
    pairing = compared.pairing
    before = _per_question(pairing.baseline, "reward")[pairing.left]
    after = _per_question(pairing.candidate, "reward")[pairing.right]
    change = np.nan_to_num(after - before)  # a pair that is unscored on a side did not change
    if compared.scores.is_lower_better:
        change = -change
    losses = _largest(-change)
    wins = _largest(change)
    # Half of them, rounded up, are losses; places that the wins leave free go to losses too.
    n_losses = min(len(losses), max(count_max - len(wins), (count_max + 1) // 2))
    pairs = np.concatenate([losses[:n_losses], wins[: count_max - n_losses]])
    codes = pairing.baseline.codes_of("category")[pairing.left]
    names = pairing.baseline.columns.categories
    baselines = compared.baseline.texts(_offsets(pairing.baseline, pairing.left[pairs]))
    candidates = compared.candidate.texts(_offsets(pairing.candidate, pairing.right[pairs]))
    for pair, baseline, candidate in zip(pairs.tolist(), baselines, candidates, strict=True):
        yield Flip(
            baseline_score=float(before[pair]),
            candidate_score=float(after[pair]),
            category=names[codes[pair]] if codes[pair] >= 0 else None,
            baseline=baseline,
            candidate=candidate,
        )


def _offsets(questions: Questions, positions: Ints) -> list[int]:
    """Return where the lines of some questions' first repeats begin in their file."""
    offsets: list[int] = questions.digest_of("offset")[positions].tolist()
    return offsets


def moved_means(compared: BenchmarkComparison) -> dict[str, tuple[float | None, float | None]]:
    """Return by name the means of baseline and candidate over the pairs that both have.

    ``tokens`` are those of completions, ``characters`` those of answers, ``latency`` is in seconds.
    """
    means: dict[str, tuple[float | None, float | None]] = {}
    pairing = compared.pairing
    for name in _MOVED:
        before = _per_question(pairing.baseline, name)[pairing.left]
        after = _per_question(pairing.candidate, name)[pairing.right]
        in_both = ~(np.isnan(before) | np.isnan(after))
        if in_both.any():
            means[name] = exact_mean(before[in_both]), exact_mean(after[in_both])
        else:
            means[name] = None, None
    means["cost"] = compared.baseline.cost, compared.candidate.cost
    return means


def _per_question(questions: Questions, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return questions.mean_of(questions.columns.numbers(name))


def _largest(change: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
    """Return the positions of changes above 0, the largest first, equal ones in order of names."""
    above = np.flatnonzero(change > ROUNDING)
    return above[np.argsort(-change[above], kind="stable")]
