"""The scorer of classifications: `label_match`.

Depends on `nel.reading.labels` for the label that a response gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from nel.errors import DatasetError
from nel.reading.labels import permitted_label, read_label
from nel.reading.own import own_answer
from nel.scoring.choice import choices_of
from nel.types import ScorerInput


def label_match(sample: ScorerInput, *, labels: Sequence[str] | str | None = None) -> dict[str, bool | str | None]:
    """Compare the label that a response gives with the gold one, among a few permitted labels.

    Rule: docs/reference/reading.md. Capitals do not count, and ``_`` is a space; several labels are no answer:
    ``parsed`` is then false.

    Args:
        labels: The permitted labels, a list or one text with commas; without them, the choices of the sample
            (``choices``, ``options``).

    Returns:
        ``correct``, ``parsed`` and ``extracted``, the label as it is permitted.

    Raises:
        DatasetError: There are no labels, or the gold one is none of them.

    >>> sample = ScorerInput(response="It is neutral rather than positive.", target="Neutral")
    >>> label_match(sample, labels="positive, negative, neutral")
    {'correct': True, 'parsed': True, 'extracted': 'neutral'}
    >>> label_match(ScorerInput(response="spam or ham", target="spam"), labels=["spam", "ham"])["extracted"] is None
    True
    """
    if isinstance(labels, str):
        labels = [label.strip() for label in labels.split(",") if label.strip()]
    permitted = list(labels) if labels else choices_of(sample)
    if not permitted:
        raise DatasetError("the row has no labels; give it choices or options, or give the scorer labels=")
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    golds = {permitted_label(str(target), permitted) for target in targets}
    if not golds - {None}:
        raise DatasetError(
            f"the gold label {sample.target!r} is none of {', '.join(permitted)}; fix the row or the labels"
        )
    response, ran_on = own_answer(sample)
    extracted = read_label(response, permitted).value
    return {
        "correct": extracted is not None and extracted in golds,
        "parsed": extracted is not None,
        "extracted": extracted,
        **ran_on,
    }
