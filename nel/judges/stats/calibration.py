"""How far a run's judge can be trusted, by people's labels of a few answers, and the headline corrected by them. Pure.

Answers are added one at a time and kept as counts by score. Labels were drawn more often from rare grades, so every
estimate is weighted back: an answer of a stratum counts as often as the stratum is large for its labels (Begg and
Greenes 1983). Trap: labels are of answers, not of verdicts; a label whose answer has changed is stale and counts not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nel.errors import UndefinedMetric
from nel.judges.stats.agreement import (
    Table,
    cohen_kappa,
    gwet_ac1,
    pabak,
    table_interval,
)
from nel.judges.stats.alpha import ONE_CATEGORY, RESAMPLES
from nel.judges.stats.corrected_mean import Estimate, Labelled, Moments, Stratum, rogan_gladen, stratified_ppi_mean
from nel.metrics.intervals import LEVEL, Interval, wilson_interval

KAPPA_MIN: Final = 0.7
"""Below it a judge's verdicts are hardly a person's."""
LABELS_FEW: Final = 50
STRATA_MAX: Final = 8
"""Scores of more values than this are cut into so many ranges."""
_LABELS_MIN: Final = 2
"""Labels that a stratum needs to be one; with fewer it joins its neighbour."""
_CATEGORIES_MAX: Final = 10
"""Of a table; the judges of more are measured by how far apart scores are."""
_ROUNDING: Final = 1e-15
_NO_LABELS: Final = "there are no labels"
_NOT_BINARY: Final = "scores or labels are not only 0 and 1"


@dataclass(slots=True)
class Tally:
    """What a run's headline is made of: judged answers by score, labels beside them, and answers nobody judged."""

    judged: dict[float, Moments] = field(default_factory=dict)
    """Answers whose score is a judge's, by score to three digits."""
    labels: dict[float, Counter[tuple[float, float]]] = field(default_factory=dict)
    """``(label, score)`` of the labelled ones, under the same keys."""
    known: Moments = field(default_factory=Moments)
    """Scores that stand without a judge: model failures, and what the scorer decided alone."""
    templates: set[str] = field(default_factory=set)
    """What the judge judged by."""
    n_questions: int = 0
    n_stale: int = 0
    """Labels of answers that this run does not have, has no verdict of, or has another answer for."""
    _question: int = -1

    def add(self, question: int, score: float, *, is_judged: bool, label: float | None = None) -> None:
        """Add an answer that counts in the headline; questions come in order.

        Args:
            question: Its number in the dataset.
            score: What it counts in the headline.
            is_judged: Whether that is a judge's verdict.
            label: What a person says of it.
        """
        if question != self._question:
            self._question = question
            self.n_questions += 1
        if not is_judged:
            self.known.add(score)
            return
        key = key_of(score)
        self.judged.setdefault(key, Moments()).add(score)
        if label is not None:
            self.labels.setdefault(key, Counter())[label, score] += 1

    @property
    def n_judged(self) -> int:
        """Return how many answers a judge scored."""
        return sum(moments.n for moments in self.judged.values())

    @property
    def n_labelled(self) -> int:
        """Return how many of those have a label."""
        return sum(counts.total() for counts in self.labels.values())

    @property
    def per_question(self) -> float:
        """Return how many answers to the same question there are, on average."""
        n = self.n_judged + self.known.n
        return n / self.n_questions if self.n_questions else 1.0


def key_of(score: float) -> float:
    """Return the score to three digits, by which answers are counted."""
    return float(f"{score:.3g}")


@dataclass(frozen=True, slots=True)
class GradeStratum:
    """Answers of one score or a range of scores."""

    low: float
    high: float
    scores: Moments
    pairs: Mapping[tuple[float, float], int]
    """How often each ``(label, score)`` occurs."""

    @property
    def n_labelled(self) -> int:
        """Return how many answers have a label."""
        return sum(self.pairs.values())

    def joined(self, other: GradeStratum) -> GradeStratum:
        """Return both as one."""
        mine, its = self.scores, other.scores
        return GradeStratum(
            min(self.low, other.low),
            max(self.high, other.high),
            Moments(mine.n + its.n, mine.total + its.total, mine.squares + its.squares),
            dict(Counter(dict(self.pairs)) + Counter(dict(other.pairs))),
        )

    def as_stratum(self) -> Stratum:
        """Return the sums that corrected means are made of."""
        labelled = Labelled()
        for (label, score), count in self.pairs.items():
            labelled.add(label, score, count)
        rest = Moments(
            self.scores.n - labelled.n,
            self.scores.total - labelled.judged.total,
            self.scores.squares - labelled.judged.squares,
        )
        return Stratum(labelled=labelled, unlabelled=rest)


def stratum_keys(sizes: Mapping[float, int]) -> dict[float, float]:
    """Return the stratum of each score: itself, or of very many the lowest score of its range.

    Args:
        sizes: Answers by score.

    >>> stratum_keys({0.0: 5, 1.0: 7})
    {0.0: 0.0, 1.0: 1.0}
    """
    if len(sizes) <= STRATA_MAX:
        return {key: key for key in sorted(sizes)}
    total, before, found, start, part = sum(sizes.values()), 0, {}, min(sizes), 0
    for key in sorted(sizes):
        if before * STRATA_MAX >= (part + 1) * total:
            start, part = key, before * STRATA_MAX // total
        found[key] = start
        before += sizes[key]
    return found


def strata_of(tally: Tally) -> list[GradeStratum]:
    """Return the strata by score, from the lowest; one with fewer than two labels is joined to its neighbour."""
    keys = stratum_keys({key: moments.n for key, moments in tally.judged.items()})
    parts: dict[float, GradeStratum] = {}
    for key, start in keys.items():
        one = GradeStratum(key, key, tally.judged[key], dict(tally.labels.get(key, {})))
        parts[start] = parts[start].joined(one) if start in parts else one
    found: list[GradeStratum] = []
    for part in parts.values():
        if found and min(found[-1].n_labelled, part.n_labelled) < _LABELS_MIN:
            found[-1] = found[-1].joined(part)
        else:
            found.append(part)
    return found


def calibration_json(tally: Tally, *, n_resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return everything that the labels say of the judge, as calibration.json holds it beside names.

    Kappa, AC1 and PABAK have bootstrap intervals over answers, drawn within strata. Shares have Wilson's interval, with
    the number of answers that would give their weighted standard error.

    Args:
        tally: Of a whole run.
        n_resamples: At least 1.
    """
    strata = strata_of(tally)
    found = _Weighted(strata, n_resamples)
    scores = sorted({value for pair in found.cells for value in pair})
    is_binary = set(scores) <= {0.0, 1.0} and set(tally.judged) <= {0.0, 1.0}
    categories = [0.0, 1.0] if is_binary else scores
    few = len(categories) <= _CATEGORIES_MAX
    rates = [found.rate_of_label(label) if is_binary else _none(_NOT_BINARY) for label in (1.0, 0.0)]
    result = {
        "n_judged": tally.n_judged,
        "n_labelled": tally.n_labelled,
        "n_stale": tally.n_stale,
        "templates": sorted(tally.templates),
        "is_binary": is_binary,
        "base_rates": _base_rates(tally, strata),
        "strata": [_stratum_json(part, tally.n_judged) for part in strata],
        "confusion": {
            "rows": "label",
            "columns": "judge",
            "categories": categories if few else None,
            "counts": found.counts(categories).astype(int).tolist() if few and found.cells else None,
            "shares": found.table(found.shares(), categories).tolist() if few and found.cells else None,
        },
        "agreement": _agreement_json(found, categories, is_binary=is_binary),
        "sensitivity": rates[0],
        "specificity": rates[1],
    }
    return {**result, "warnings": _warnings(tally, strata, result)}


def corrected_headline(tally: Tally, headline: Mapping[str, Any], calibration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the headline as the judge gave it and as people would have, each with its interval.

    What no judge scored counts as it is. Values are moved by what the correction adds to the judged part, so that they
    are on the headline's own footing, whatever it is where repeats are missing.

    Args:
        tally: Of the same run.
        headline: With ``value``, ``ci_lower`` and ``ci_upper``.
        calibration: What `calibration_json` says of the tally.
    """
    kept = ("value", "ci_lower", "ci_upper", "ci_level", "ci_method")
    counts = {"n_judged": tally.n_judged, "n_labelled": tally.n_labelled}
    return {
        **counts,
        "raw": {**{name: headline.get(name) for name in kept}, "reason": None},
        "rogan_gladen": _corrected(tally, headline, lambda: _rogan_gladen(tally, calibration)),
        "ppi": _corrected(tally, headline, lambda: _ppi(tally)),
    }


def few_labels(n: int) -> str:
    """Return the warning of so few labels."""
    return f"only {n} {'label' if n == 1 else 'labels'}; with fewer than {LABELS_FEW} these numbers say little"


def borrowed_headline(
    tally: Tally, headline: Mapping[str, Any], rates: Mapping[str, Any], *, refused: str | None = None
) -> dict[str, Any]:
    """Return the headline corrected by another run's sensitivity and specificity, which only Rogan-Gladen can use.

    Args:
        tally: Of this run, which has no labels.
        headline: With ``value``, ``ci_lower`` and ``ci_upper``.
        rates: ``sensitivity`` and ``specificity`` of the same judge on the other run, ``n_labelled`` and ``run_id``.
        refused: Why that run's calibration is none of this one's, if it is not.
    """
    found = corrected_headline(tally, headline, rates)
    if refused is None and not set(tally.judged) <= {0.0, 1.0}:
        refused = "the judge's scores are not only 0 and 1"
    none = {"ci_level": LEVEL, "ci_method": "none"}
    return {
        **found,
        "n_labelled": rates["n_labelled"],
        "labels_of": rates["run_id"],
        "rogan_gladen": found["rogan_gladen"] if refused is None else {**_none(refused), **none},
        "ppi": {**_none("the labels are of another run's answers"), **none},
    }


def _corrected(tally: Tally, headline: Mapping[str, Any], estimate: Callable[[], Estimate]) -> dict[str, Any]:
    value = headline.get("value")
    try:
        if value is None or not tally.n_judged:
            raise UndefinedMetric("nothing was scored" if value is None else "no answer was judged")
        found = estimate()
    except UndefinedMetric as error:
        return {**_none(str(error)), "ci_level": LEVEL, "ci_method": "none"}
    moved = value - _raw(tally)
    bounded = headline.get("bounds") is not None
    value, lower, upper = (
        min(max(one + moved, 0.0), 1.0) if bounded else one + moved for one in (found.value, found.lower, found.upper)
    )
    return {
        "value": value,
        "ci_lower": lower,
        "ci_upper": upper,
        "ci_level": found.level,
        "ci_method": found.method,
        "reason": None,
    }


def _raw(tally: Tally) -> float:
    """Return the mean score of all answers."""
    total = math.fsum(moments.total for moments in tally.judged.values()) + tally.known.total
    return total / (tally.n_judged + tally.known.n)


def _ppi(tally: Tally) -> Estimate:
    if tally.n_labelled < _LABELS_MIN:
        raise UndefinedMetric("fewer than two labels")
    strata = strata_of(tally)
    ends = [value for part in strata for pair in part.pairs for value in pair]
    ends += [end for part in strata for end in (part.low, part.high)]
    bounds = (0.0, 1.0) if min(ends) >= 0 and max(ends) <= 1 else (min(ends), max(ends))
    return stratified_ppi_mean(
        [part.as_stratum() for part in strata], bounds=bounds, known=tally.known, per_question=tally.per_question
    )


def _rogan_gladen(tally: Tally, calibration: Mapping[str, Any]) -> Estimate:
    """Correct the judged part and put it beside the rest, whose doubt is added to each side (Zou and Donner 2008)."""
    rates = calibration["sensitivity"], calibration["specificity"]
    for rate in rates:
        if rate["value"] is None:
            raise UndefinedMetric(rate["reason"])
    n, total = tally.n_judged, tally.n_judged + tally.known.n
    judged = rogan_gladen(
        min(math.fsum(moments.total for moments in tally.judged.values()) / n, 1.0),
        n / tally.per_question,
        sensitivity=rates[0]["value"],
        n_positive=rates[0]["n_effective"],
        specificity=rates[1]["value"],
        n_negative=rates[1]["n_effective"],
        adjusted=True,
    )
    part = n / total
    value = part * judged.value + (1 - part) * tally.known.mean
    between = part * (judged.value - value) ** 2 + (1 - part) * (tally.known.mean - value) ** 2
    if not tally.known.n:
        between = 0.0
    rest = (between + (1 - part) * tally.known.variance) * tally.per_question / total
    z = 1.959963984540054
    lower, upper = (
        math.hypot(part * (judged.value - end), z * math.sqrt(rest)) for end in (judged.lower, judged.upper)
    )
    stderr = math.hypot(part * judged.stderr, math.sqrt(rest))
    return Estimate(
        value=value,
        stderr=stderr,
        lower=value - lower,
        upper=value + upper,
        level=judged.level,
        method=judged.method,
    )


class _Weighted:
    """Labelled answers as counts of cells, each a distinct ``(label, score)``, by stratum with its share of all."""

    def __init__(self, strata: Sequence[GradeStratum], n_resamples: int) -> None:
        self._n_resamples = n_resamples
        self.cells = sorted({pair for part in strata for pair in part.pairs})
        self._labels, self._scores = (np.array([pair[side] for pair in self.cells]) for side in (0, 1))
        self._n = sum(part.scores.n for part in strata)
        self._parts = [
            (np.array([part.pairs.get(cell, 0) for cell in self.cells], dtype=np.float64), part.scores.n / self._n)
            for part in strata
            if part.pairs
        ]

    def shares(self) -> Table:
        """Return what share of all answers each cell stands for."""
        found = np.sum([share / counts.sum() * counts for counts, share in self._parts], axis=0)
        return np.asarray(found / found.sum(), dtype=np.float64)

    def counts(self, categories: Sequence[float]) -> Table:
        """Return the table of labels (rows) and scores as counted."""
        return self.table(np.asarray(np.sum([counts for counts, _ in self._parts], axis=0)), categories)

    def table(self, cells: Table, categories: Sequence[float]) -> Table:
        """Return cells as a table of labels (rows) and scores."""
        table = np.zeros((len(categories), len(categories)))
        np.add.at(table, (np.searchsorted(categories, self._labels), np.searchsorted(categories, self._scores)), cells)
        return table

    def kappa_quadratic(self, cells: Table) -> float:
        """Return kappa with weights in the square of the distance, for any number of scores."""
        cells = cells / cells.sum()
        labels, scores = self._labels - self._labels.mean(), self._scores - self._labels.mean()
        means = float(cells @ labels), float(cells @ scores)
        by_chance = float(cells @ (labels**2 + scores**2)) - 2 * means[0] * means[1]
        if by_chance <= _ROUNDING:
            raise UndefinedMetric(ONE_CATEGORY)
        return 1 - float(cells @ (labels - scores) ** 2) / by_chance

    def measure(self, statistic: Callable[[Table], float]) -> dict[str, Any]:
        """Return a statistic of the cells with its bootstrap interval."""
        if not self.cells:
            return _none(_NO_LABELS)
        try:
            value = statistic(self.shares())
        except UndefinedMetric as error:
            return _none(str(error))
        counts, shares = zip(*self._parts, strict=True)
        interval = table_interval(counts, statistic, shares=shares, n_resamples=self._n_resamples)
        return {"value": value, **_interval_json(interval)}

    def rate_of_label(self, label: float) -> dict[str, Any]:
        """Return how often the judge says what the label says, among answers with this label."""
        reason = f"no labelled answer is {'right' if label else 'wrong'}"
        return self._rate(self._labels == label, reason)

    def agreement(self) -> dict[str, Any]:
        """Return the share of answers on which judge and label agree."""
        return self._rate(np.ones(len(self.cells), dtype=bool), _NO_LABELS)

    def _rate(self, among: NDArray[np.bool_], reason: str) -> dict[str, Any]:
        """Return the share of agreement among some cells, with Wilson's interval of the effective number of answers."""
        whole = float(self.shares()[among].sum()) if self.cells else 0.0
        if whole <= 0:
            return {**_none(reason if self.cells else _NO_LABELS), "n_effective": None}
        hits = among & (self._labels == self._scores)
        value = min(float(self.shares()[hits].sum()) / whole, 1.0)
        influence = (hits - value * among) / whole
        variance = 0.0
        for counts, share in self._parts:
            n = float(counts.sum())
            mean = float(counts @ influence) / n
            spread = max(float(counts @ influence**2) / n - mean**2, 0.0)
            variance += share**2 * spread / max(n - 1, 1) + share * mean**2 / self._n
        counted = sum(float(counts[among].sum()) for counts, _ in self._parts)
        n_effective = value * (1 - value) / variance if variance > _ROUNDING and 0 < value < 1 else counted
        n_effective = max(n_effective, 1.0)
        interval = wilson_interval(value * n_effective, n_effective)
        return {"value": value, **_interval_json(interval), "n": int(counted), "n_effective": n_effective}


def _agreement_json(found: _Weighted, categories: Sequence[float], *, is_binary: bool) -> dict[str, Any]:
    def of_table(statistic: Callable[[Table], float]) -> dict[str, Any]:
        if len(categories) > _CATEGORIES_MAX:
            return _none(f"there are more than {_CATEGORIES_MAX} different scores")
        return found.measure(lambda cells: statistic(found.table(cells, categories)))

    measures = {"raw": found.agreement(), "kappa": of_table(cohen_kappa)}
    if is_binary:
        return {**measures, "ac1": of_table(gwet_ac1), "pabak": of_table(pabak)}
    linear = of_table(lambda table: cohen_kappa(table, weights="linear", scale=categories))
    return {**measures, "kappa_linear": linear, "kappa_quadratic": found.measure(found.kappa_quadratic)}


def _base_rates(tally: Tally, strata: Sequence[GradeStratum]) -> dict[str, float | None]:
    """Return mean scores: the judge's of all; of the labelled the judge's, the labels', and those weighted back."""
    n = tally.n_judged
    pairs = [(label, score, count) for part in strata for (label, score), count in part.pairs.items()]
    labelled = sum(count for _, _, count in pairs)
    weighted = [
        part.scores.n * label * count / part.n_labelled for part in strata for (label, _), count in part.pairs.items()
    ]
    return {
        "judge": math.fsum(moments.total for moments in tally.judged.values()) / n if n else None,
        "judge_labelled": math.fsum(score * count for _, score, count in pairs) / labelled if labelled else None,
        "labels": math.fsum(label * count for label, _, count in pairs) / labelled if labelled else None,
        "labels_weighted": math.fsum(weighted) / sum(part.scores.n for part in strata if part.pairs) if pairs else None,
    }


def _stratum_json(part: GradeStratum, n_judged: int) -> dict[str, Any]:
    share = part.scores.n / n_judged
    n = part.n_labelled
    return {
        "score_low": part.low,
        "score_high": part.high,
        "n": part.scores.n,
        "n_labelled": n,
        "share": share,
        "weight": part.scores.n / n if n else None,
    }


def _warnings(tally: Tally, strata: Sequence[GradeStratum], result: Mapping[str, Any]) -> list[str]:
    agreement = result["agreement"]
    kappa = agreement["kappa"] if result["is_binary"] else agreement["kappa_quadratic"]
    found = []
    if tally.n_labelled < LABELS_FEW:
        found.append(few_labels(tally.n_labelled))
    if kappa["value"] is not None and kappa["value"] < KAPPA_MIN:
        found.append(f"kappa is {kappa['value']:.2f}, below {KAPPA_MIN}: the judge's verdicts are hardly a person's")
    alone = {part.low for part in strata if part.low == part.high}
    rare = [f"{key:g}" for key in sorted(tally.judged) if key not in alone]
    if len(tally.judged) <= STRATA_MAX and rare:
        found.append(
            f"score{'s' * (len(rare) > 1)} {', '.join(rare)} of the judge cannot be told apart for want of labels; "
            f"label {_LABELS_MIN} or more answers of each"
        )
    if tally.n_stale:
        found.append(f"{tally.n_stale} labels are of answers that this run no longer has or does not score by a judge")
    return found


def _interval_json(interval: Interval) -> dict[str, Any]:
    return {
        "ci_lower": interval.lower,
        "ci_upper": interval.upper,
        "ci_method": interval.method,
        "reason": interval.reason,
    }


def _none(reason: str) -> dict[str, Any]:
    return {"value": None, "ci_lower": None, "ci_upper": None, "ci_method": "none", "reason": reason}
