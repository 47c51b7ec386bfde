"""The category, subject or group of a sample, by which breakdowns and samples divide. Pure.

A field that the benchmark does not name is used only where it has few values: it may be a free
text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from nel.core.texts import one_spelling
from nel.types import Sample

FOUND_MAX: Final = 100
"""Values of a field that the benchmark did not name; with more there is no breakdown by it."""
FIELDS: Final = ("category", "subject")
"""Fields of a row that may be its category where the benchmark names none."""
SUBSET: Final = "subset"
"""Stands for the benchmark's own category field."""
GROUP: Final = "group"
"""Stands for the benchmark's group field."""
_FEWEST: Final = 2
"""One value alone divides nothing."""


class Fields(NamedTuple):
    """What of a sample says in which categories it is."""

    subset: str | None
    texts: tuple[str | None, ...]
    """The values of `FIELDS` in its row that could be categories."""


def fields_of(sample: Sample | None) -> Fields | None:
    """Return what of a sample says in which categories it is; None where it is in none."""
    if sample is None:
        return None
    if sample.subset is not None:
        return Fields(one_spelling(sample.subset), ())
    if sample.metadata.keys().isdisjoint(FIELDS):
        return None
    texts: list[str | None] = []
    for name in FIELDS:
        value = sample.metadata.get(name)
        texts.append(one_spelling(value) if type(value) is str and value.strip() else None)
    return Fields(None, tuple(texts)) if any(texts) else None


def category_of(metadata: Mapping[str, object], subset: str | None = None) -> object:
    """Return the category under which a sample is listed, filtered and compared; None for none.

    A breakdown asks of a field also that it divides the samples; see `divided_by`.

    Args:
        metadata: The fields of its row.
        subset: Its category by the benchmark's own field.

    >>> category_of({"category": None, "subject": "law"}), category_of({"subject": "law"}, "easy")
    ('law', 'easy')
    """
    if subset is not None:
        return one_spelling(subset)
    for name in FIELDS:
        value = metadata.get(name)
        if value is not None and value != "":
            return one_spelling(value) if isinstance(value, str) else value
    return None


def is_breakdown(n_values: int) -> bool:
    """Return whether a field that the benchmark did not name divides its samples."""
    return _FEWEST <= n_values <= FOUND_MAX


def labels_of(fields: Fields | None, group: str | None) -> dict[str, str]:
    """Return by what a sample can be divided: `SUBSET`, one of `FIELDS` or `GROUP` to its value.

    >>> labels_of(Fields(None, ("law", None)), "passage 1")
    {'category': 'law', 'group': 'passage 1'}
    """
    labels = {} if group is None else {GROUP: group}
    if fields is None:
        return labels
    if fields.subset is not None:
        return {SUBSET: fields.subset, **labels}
    texts = {name: text for name, text in zip(FIELDS, fields.texts, strict=True) if text}
    return {**texts, **labels}


def divided_by(values: Mapping[str, Collection[str]]) -> str | None:
    """Return by what samples are divided: the category where there is one, else the group.

    Args:
        values: All values of each label of `labels_of`.

    >>> divided_by({"category": {"law", "physics"}, "group": {"1", "2", "3"}})
    'category'
    """
    if values.get(SUBSET):
        return SUBSET
    for name in FIELDS:
        if is_breakdown(len(values.get(name, ()))):
            return name
    if len(values.get(GROUP, ())) >= _FEWEST:
        return GROUP
    return None
