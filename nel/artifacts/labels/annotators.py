"""Several people's labels of the same answers: which label counts, and how far the people agree.

No judge can be expected to agree with people more than they do with each other, so their agreement
is the ceiling of the judge's. Depends on `nel.judges.stats.panel_agreement`, which measures it as
that of a panel.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from nel.judges.stats.grade_patterns import GradePatterns
from nel.judges.stats.panel_agreement import agreement_json


def counted_label(labels: Mapping[str, float], sample_id: str, repeat: int) -> float:
    """Return the label most annotators gave; a hash of sample id and repeat breaks a tie.

    Leaving disputed answers out would keep the easy ones, and a mean is not a label. The hash makes
    it the label of an annotator drawn by chance, the same each time.

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
    digest = hashlib.sha256(
        f"{len(sample_id)}:{sample_id}{repeat}".encode("utf-8", "surrogatepass")
    ).digest()
    return tied[digest[0] % len(tied)]


def annotators_json(labels: Iterable[Mapping[str, float]]) -> dict[str, Any] | None:
    """Return who labelled, how many answers have several labels, and their agreement; None for
    fewer than two people.

    Args:
        labels: Of each answer, annotator to label.
    """
    labels_of_answers = [dict(answer_labels) for answer_labels in labels]
    names = sorted({name for answer_labels in labels_of_answers for name in answer_labels})
    if len(names) < 2:  # noqa: PLR2004 - agreement needs two
        return None
    scores = {score for answer_labels in labels_of_answers for score in answer_labels.values()}
    is_binary = scores <= {0.0, 1.0}
    patterns = GradePatterns()
    for position, answer_labels in enumerate(labels_of_answers):
        grades = [answer_labels.get(name) for name in names]
        patterns.add(
            position,
            [f"{grade:g}" if is_binary and grade is not None else grade for grade in grades],
        )
    several = [answer_labels for answer_labels in labels_of_answers if len(answer_labels) > 1]
    return {
        "names": names,
        "n_labels": {
            name: sum(name in answer_labels for answer_labels in labels_of_answers)
            for name in names
        },
        "n_several": len(several),
        "n_disputed": sum(len(set(answer_labels.values())) > 1 for answer_labels in several),
        "agreement": agreement_json(
            dict(enumerate(names)), "nominal" if is_binary else "interval", patterns
        ),
    }
