"""Labels of the same answers by several people: the label that counts, and their agreement.

A judge cannot be expected to agree with people more than they do with each other. Depends on
`nel.judges.stats.panel_agreement`, which measures their agreement as that of a panel.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from nel.judges.stats.grade_patterns import Grade, GradePatterns
from nel.judges.stats.panel_agreement import agreement_json
from nel.judges.types import Level


def counted_label(labels: Mapping[str, float], sample_id: str, repeat: int) -> float:
    """Return the label that most annotators gave; a hash of sample id and repeat breaks a tie.

    Without disputed answers only easy ones would remain, and a mean is not a label. The hash picks
    a tied label pseudo-randomly, and always the same.

    Args:
        labels: Annotator to label, at least one.
        sample_id: Of the answer.
        repeat: Of the answer.

    >>> counted_label({"anna": 1.0, "ben": 0.0, "carl": 1.0}, "q1", 0)
    1.0
    """
    counts = Counter(labels.values())
    n_max = max(counts.values())
    tied = sorted(label for label, count in counts.items() if count == n_max)
    # The length keeps sample "1" repeat 11 apart from sample "11" repeat 1.
    text = f"{len(sample_id)}:{sample_id}{repeat}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return tied[digest[0] % len(tied)]


def annotators_json(labels: Iterable[Mapping[str, float]]) -> dict[str, Any] | None:
    """Return the annotators, counts of their labels and their agreement; None for less than two.

    Args:
        labels: Of each answer, annotator to label.
    """
    answers = list(labels)
    n_labels: Counter[str] = Counter()
    scores: set[float] = set()
    n_several = n_disputed = 0
    for by_annotator in answers:
        n_labels.update(by_annotator.keys())
        distinct = set(by_annotator.values())
        scores |= distinct
        n_several += len(by_annotator) > 1
        n_disputed += len(distinct) > 1
    names = sorted(n_labels)
    if len(names) < 2:  # noqa: PLR2004 - agreement needs two
        return None
    # Right and wrong are nominal labels; between other scores distances matter.
    is_binary = scores <= {0.0, 1.0}
    patterns = GradePatterns()
    for position, by_annotator in enumerate(answers):
        grades: list[Grade | None] = [by_annotator.get(name) for name in names]
        if is_binary:
            grades = [None if grade is None else f"{grade:g}" for grade in grades]
        patterns.add(position, grades)
    level: Level = "nominal" if is_binary else "interval"
    return {
        "names": names,
        "n_labels": {name: n_labels[name] for name in names},
        "n_several": n_several,
        "n_disputed": n_disputed,
        "agreement": agreement_json(dict(enumerate(names)), level, patterns),
    }
