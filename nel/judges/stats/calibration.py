"""Measures a run's judge against people's labels of a few answers. Does no I/O.

Rare grades are oversampled for labelling, so every estimate is weighted by stratum size over labels
(Begg and Greenes 1983). `nel.judges.stats.corrected_headline` corrects the headline by these
measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from nel.core.texts import count_text
from nel.errors import UndefinedMetric
from nel.judges.stats.agreement import Table, cohen_kappa, gwet_ac1, pabak, table_interval
from nel.judges.stats.alpha import ONE_CATEGORY, RESAMPLES
from nel.judges.stats.label_rates import label_rate
from nel.judges.stats.tally import LABELS_MIN, STRATA_MAX, GradeStratum, Tally, key_of, strata_of
from nel.metrics.intervals import no_interval
from nel.types import JsonObject

KAPPA_MIN: Final = 0.7
"""Kappa below this means that the judge hardly agrees with people; it is a warning."""
LABELS_FEW: Final = 50
WEIGHT_MIN: Final = 0.01
"""Of a judge in a panel; weights are above 0."""
_CATEGORIES_MAX: Final = 10
"""Categories of a table, at most; with more, only measures of distance are computed."""
_ROUNDING: Final = 1e-15
_NO_LABELS: Final = "there are no labels"
_NOT_BINARY: Final = "scores or labels are not only 0 and 1"


def calibration_json(tally: Tally, *, n_resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return all measures of the judge against the labels, as in calibration.json.

    Kappa, AC1 and PABAK have bootstrap intervals over answers, drawn within strata. Shares have
    the interval of `nel.judges.stats.label_rates`.

    Args:
        tally: Of a whole run.
        n_resamples: At least 1.
    """
    strata = strata_of(tally)
    weighted = _Weighted(strata, n_resamples)
    scores = sorted({value for pair in weighted.cells for value in pair})
    is_binary = set(scores) <= {0.0, 1.0} and set(tally.judged) <= {0.0, 1.0}
    categories = [0.0, 1.0] if is_binary else scores
    sensitivity = specificity = undefined_measure(_NOT_BINARY)
    if is_binary:
        sensitivity = label_rate(strata, 1.0, "no labelled answer is right")
        specificity = label_rate(strata, 0.0, "no labelled answer is wrong")
    confusion = _confusion_json(weighted, categories)
    result = {
        "n_judged": tally.n_judged,
        "n_labelled": tally.n_labelled,
        "n_stale": tally.n_stale,
        "templates": sorted(tally.templates),
        "is_binary": is_binary,
        "base_rates": {"judge": tally.mean_judged, **weighted.base_rates()},
        "strata": [_stratum_json(stratum, tally.n_judged) for stratum in strata],
        "confusion": confusion,
        "agreement": {
            "raw": label_rate(strata, None, _NO_LABELS),
            **_agreement_json(weighted, categories, is_binary=is_binary),
        },
        "sensitivity": sensitivity,
        "specificity": specificity,
    }
    if confusion["counts"] is not None and not is_binary:
        result["recall"] = [
            {"label": label, "grade": tally.grades.get(key_of(label)), **_recall(strata, label)}
            for label in sorted({label for label, _ in weighted.cells}, reverse=True)
        ]
    panel = panel_json(tally)
    if panel:
        result["panel"] = panel
    result["warnings"] = _warnings(tally, strata, result)
    return result


def _confusion_json(weighted: _Weighted, categories: Sequence[float]) -> dict[str, Any]:
    """Return the table of labels and scores; without numbers where there are too many, or none."""
    table: dict[str, Any] = {"rows": "label", "columns": "judge"}
    table |= {"categories": None, "counts": None, "shares": None}
    if len(categories) > _CATEGORIES_MAX:
        return table
    table["categories"] = categories
    if weighted.cells:
        table["counts"] = weighted.table(weighted.counts(), categories).astype(int).tolist()
        table["shares"] = weighted.table(weighted.shares(), categories).tolist()
    return table


def panel_json(tally: Tally) -> list[dict[str, Any]]:
    """Return how far each judge of a panel agrees with the labels, and the weight of its vote;
    empty for one judge.

    The weight is the log odds of its agreement, with half an answer added to each side: judges that
    err independently are weighed best so (Nitzan and Paroush 1982). One that agrees by chance or
    less has the smallest, 0.01.
    """
    if len(tally.opinions) < 2:  # noqa: PLR2004 - a panel
        return []
    # Each labelled answer stands for so many of its score's stratum.
    weights = {key: tally.judged[key] / labels.total() for key, labels in tally.labels.items()}
    judges = []
    for name, counts_by_score in sorted(tally.opinions.items()):
        counts = [(weights[key], *pair) for key, pair in counts_by_score.items() if key in weights]
        n = sum(n_graded for _, n_graded, _ in counts)
        n_answers = math.fsum(weight * n_graded for weight, n_graded, _ in counts)
        agreement, vote = None, None
        if n_answers:
            n_agreeing = math.fsum(weight * n_equal for weight, _, n_equal in counts)
            agreement = n_agreeing / n_answers
            odds = (agreement * n + 0.5) / ((1 - agreement) * n + 0.5)  # finite if it never errs
            vote = round(max(math.log(odds), WEIGHT_MIN), 2)
        judges.append({"judge": name, "n": n, "agreement": agreement, "weight": vote})
    return judges


def few_labels(n: int) -> str:
    """Return the warning about too few labels."""
    return f"only {count_text(n, 'label')}; with fewer than {LABELS_FEW} these numbers say little"


class _Weighted:
    """Labelled answers as counts of distinct ``(label, score)``, by stratum with its share."""

    def __init__(self, strata: Sequence[GradeStratum], n_resamples: int) -> None:
        self._n_resamples = n_resamples
        self.cells = sorted({pair for stratum in strata for pair in stratum.pairs})
        self._labels = np.array([label for label, _ in self.cells])
        self._scores = np.array([score for _, score in self.cells])
        self._n = sum(stratum.n for stratum in strata)
        self._parts: list[tuple[Table, float]] = []
        """Of each stratum with labels: how many each cell has, and its share of all answers."""
        for stratum in strata:
            if stratum.pairs:
                counts = [stratum.pairs.get(cell, 0) for cell in self.cells]
                share = stratum.n / self._n
                self._parts.append((np.array(counts, dtype=np.float64), share))

    def shares(self) -> Table:
        """Return the share of all answers that each cell represents."""
        total = np.sum([share / counts.sum() * counts for counts, share in self._parts], axis=0)
        return np.asarray(total / total.sum(), dtype=np.float64)

    def counts(self) -> Table:
        """Return how many labels each cell has."""
        return np.asarray(np.sum([counts for counts, _ in self._parts], axis=0))

    def base_rates(self) -> dict[str, float | None]:
        """Return means over the labelled answers: of the judge's scores, of the labels, and of the
        labels each weighted by how many answers it stands for.
        """
        if not self.cells:
            return dict.fromkeys(("judge_labelled", "labels", "labels_weighted"))
        counts = self.counts()
        return {
            "judge_labelled": float(counts @ self._scores / counts.sum()),
            "labels": float(counts @ self._labels / counts.sum()),
            "labels_weighted": float(self.shares() @ self._labels),
        }

    def table(self, cells: Table, categories: Sequence[float]) -> Table:
        """Return cells as a table of labels (rows) and scores."""
        table = np.zeros((len(categories), len(categories)))
        rows = np.searchsorted(categories, self._labels)
        columns = np.searchsorted(categories, self._scores)
        np.add.at(table, (rows, columns), cells)
        return table

    def kappa_quadratic(self, cells: Table) -> float:
        """Return kappa with weights in the square of the distance, for any number of scores."""
        shares = cells / cells.sum()
        # Both less one number: no distance changes, and squares of large scores keep their digits.
        labels = self._labels - self._labels.mean()
        scores = self._scores - self._labels.mean()
        # E (X - Y)² of independent X and Y is E X² + E Y² - 2 E X E Y.
        squares = float(shares @ (labels**2 + scores**2))
        mean_label, mean_score = float(shares @ labels), float(shares @ scores)
        by_chance = squares - 2 * mean_label * mean_score
        if by_chance <= _ROUNDING:
            raise UndefinedMetric(ONE_CATEGORY)
        return 1 - float(shares @ (labels - scores) ** 2) / by_chance

    def measure(self, statistic: Callable[[Table], float]) -> dict[str, Any]:
        """Return a statistic of the cells with its bootstrap interval."""
        if not self.cells:
            return undefined_measure(_NO_LABELS)
        try:
            value = statistic(self.shares())
        except UndefinedMetric as error:
            return undefined_measure(str(error))
        counts, shares = zip(*self._parts, strict=True)
        interval = table_interval(counts, statistic, shares=shares, n_resamples=self._n_resamples)
        return {"value": value, **interval.as_json()}


def _agreement_json(
    weighted: _Weighted, categories: Sequence[float], *, is_binary: bool
) -> dict[str, Any]:
    def of_table(statistic: Callable[[Table], float]) -> dict[str, Any]:
        if len(categories) > _CATEGORIES_MAX:
            return undefined_measure(f"there are more than {_CATEGORIES_MAX} different scores")
        return weighted.measure(lambda cells: statistic(weighted.table(cells, categories)))

    measures = {"kappa": of_table(cohen_kappa)}
    if is_binary:
        return {**measures, "ac1": of_table(gwet_ac1), "pabak": of_table(pabak)}
    linear = of_table(lambda table: cohen_kappa(table, weights="linear", scale=categories))
    return {
        **measures,
        "kappa_linear": linear,
        "kappa_quadratic": weighted.measure(weighted.kappa_quadratic),
    }


def _recall(strata: Sequence[GradeStratum], label: float) -> dict[str, Any]:
    """Return how often the judge gives a label's own score, and of how many labels."""
    n_found = sum(stratum.pairs.get((label, label), 0) for stratum in strata)
    return {**label_rate(strata, label, f"no label is {label:g}"), "n_found": n_found}


def _stratum_json(stratum: GradeStratum, n_judged: int) -> dict[str, Any]:
    share = stratum.n / n_judged
    n = stratum.n_labelled
    return {
        "score_low": stratum.low,
        "score_high": stratum.high,
        "n": stratum.n,
        "n_labelled": n,
        "share": share,
        "weight": stratum.n / n if n else None,
    }


def _warnings(tally: Tally, strata: Sequence[GradeStratum], result: JsonObject) -> list[str]:
    agreement = result["agreement"]
    # The kappa that is printed as such; with too many grades for one, the weighted one, which then
    # stands alone.
    kappa, statistic = agreement["kappa"]["value"], "kappa"
    if kappa is None and not result["is_binary"]:
        kappa = agreement["kappa_quadratic"]["value"]
        statistic = "kappa with quadratic weights"
    texts = []
    if tally.n_labelled < LABELS_FEW:
        texts.append(few_labels(tally.n_labelled))
    if kappa is not None and kappa < KAPPA_MIN:
        texts.append(
            f"{statistic} is {kappa:.2f}, below {KAPPA_MIN}: the judge's verdicts are hardly a"
            " person's"
        )
    single_scores = {stratum.low for stratum in strata if stratum.low == stratum.high}
    rare = [f"{key:g}" for key in sorted(tally.judged) if key not in single_scores]
    if len(tally.judged) <= STRATA_MAX and rare:
        noun = "score" if len(rare) == 1 else "scores"
        texts.append(
            f"{noun} {', '.join(rare)} of the judge cannot be told apart for want of labels; label"
            f" {LABELS_MIN} or more answers of each"
        )
    if tally.n_stale:
        texts.append(
            f"{tally.n_stale:,} labels are of answers that this run no longer has or does not score"
            " by a judge"
        )
    return texts


def undefined_measure(reason: str) -> dict[str, Any]:
    """Return a measure without a value, with the reason."""
    return {"value": None, **no_interval(reason).as_json()}
