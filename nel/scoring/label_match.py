"""The scorer of classifications: `label_match`.

Depends on `nel.reading.labels` for the label that a response gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from nel.errors import DatasetError
from nel.reading.labels import permitted_label, read_label
from nel.reading.own import own_answer
from nel.scoring.declarations import in_process
from nel.scoring.gold_choices import choices_of
from nel.scoring.golds import reads_gold, texts_in
from nel.types import ScorerInput


def label_golds(
    sample: ScorerInput, *, labels: Sequence[str] | str | None = None, **_: object
) -> set[str]:
    """Return the permitted labels that a sample's target names.

    Raises:
        DatasetError: There are no labels, or the gold one is none of them.
    """
    permitted = _permitted_labels(sample, labels)
    golds = {permitted_label(text, permitted) for text in texts_in(sample.target)}
    if not golds - {None}:
        raise DatasetError(
            f"the gold label {sample.target!r} is none of {', '.join(permitted)}; fix the row or"
            " the labels"
        )
    return {gold for gold in golds if gold is not None}


def _permitted_labels(sample: ScorerInput, labels: Sequence[str] | str | None) -> list[str]:
    if isinstance(labels, str):
        labels = [label.strip() for label in labels.split(",") if label.strip()]
    permitted = list(labels) if labels else choices_of(sample)
    if not permitted:
        raise DatasetError(
            "the row has no labels; give it choices or options, or give the scorer labels="
        )
    return permitted


@in_process
@reads_gold(label_golds)
def label_match(
    sample: ScorerInput, *, labels: Sequence[str] | str | None = None
) -> dict[str, bool | str | None]:
    """Compare the label that a response gives with the gold one, among a few permitted labels.

    Rule: docs/reference/reading.md. Capitals do not count, unless labels differ by them alone, and
    ``_`` is a space; several labels are not an answer: ``parsed`` is then false.

    Args:
        labels: The permitted labels, a list or one text with commas; without them, the choices of
            the sample (``choices``, ``options``).

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
    golds = label_golds(sample, labels=labels)
    response, ran_on = own_answer(sample)
    extracted = read_label(response, _permitted_labels(sample, labels)).value
    return {
        "correct": extracted is not None and extracted in golds,
        "parsed": extracted is not None,
        "extracted": extracted,
        **ran_on,
    }
