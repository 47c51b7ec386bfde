"""Whether a row's gold answer can decide anything, asked before the row costs a request.

A scorer that compares with a gold answer is marked with the function that takes it from a sample,
and calls it too: what it refuses with `DatasetError` is a bad row, whatever the response. A scorer
of a user's own is not looked into: it may call a marked one with another sample than the row's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from nel.core.texts import list_in_text
from nel.errors import DatasetError
from nel.types import Sample, ScorerInput

S = TypeVar("S")
TakeGold: TypeAlias = Callable[..., object]
"""``(sample, **options)`` with the options of the scorer; raises `DatasetError`."""
_ATTRIBUTE: Final = "takes_gold"
_OBJECT: Final = re.compile(r"\{'\w+': ")
"""How Python writes an object; JSON, which may be an answer, has double quotes."""


def reads_gold(take: TakeGold) -> Callable[[S], S]:
    """Mark a scorer with the function that takes its gold answer from a sample."""

    def mark(scorer: S) -> S:
        setattr(scorer, _ATTRIBUTE, take)
        return scorer

    return mark


def text_gold(sample: ScorerInput, **_: object) -> list[str]:
    """Return the sample's accepted answers that are not blank, as blank ones decide nothing.

    Raises:
        DatasetError: There is no other.
    """
    return texts_in(sample.target)


def texts_in(target: object) -> list[str]:
    """Return the texts of a target that are not blank; raises DatasetError where there is none.

    A whole number that was stored as a float, as columns with gaps are, is written both ways.

    >>> texts_in(["Paris", " "]), texts_in(3.0), texts_in(2.5)
    (['Paris'], ['3', '3.0'], ['2.5'])
    """
    texts = [text for text in spellings(target) if text.strip()]
    if not texts:
        raise DatasetError("the target is empty; give the row an answer to compare with")
    return texts


def spellings(target: object) -> list[str]:
    """Return the texts of a target, of a whole float both ways in which it is written."""
    several = target if isinstance(target, (list, tuple)) else [target]
    return [text for item in several if item is not None for text in _spellings(item)]


def _spellings(item: object) -> list[str]:
    if isinstance(item, float) and item.is_integer():
        return [str(int(item)), str(item)]
    return [str(item)]


class ListedGolds:
    """Notices a column of lists that a table has as texts: ``"['Paris', 'paris']"``.

    Such a text is compared as one, and no answer equals it. It may be meant where an answer is a
    list, so it is noted and not refused.
    """

    def __init__(self) -> None:
        """Start with no gold answer."""
        self._n = 0
        self._are_lists = True
        self._first = ""

    def add(self, target: object) -> None:
        """Take the gold answer of one sample."""
        self._n += 1
        if self._are_lists:
            self._are_lists = isinstance(target, str) and (
                list_in_text(target) is not None or _OBJECT.match(target.strip()) is not None
            )
            self._first = self._first or str(target)

    def caution(self) -> str | None:
        """Return what to write instead; None where a gold answer is something else."""
        if not self._n or not self._are_lists:
            return None
        return (
            f"the gold answers are texts that look like lists or objects, such as {self._first[:60]}, and each"
            " is compared as one text; where its items are alternatives, name the column in"
            " list_fields of the benchmark, or give the rows as JSONL"
        )


def unusable_gold(
    scorer: object, sample: Sample, *, per_turn: bool, judges_by_reference: bool = True
) -> str | None:
    """Return why a scorer can decide nothing by a gold answer; None where it can, or takes none.

    Args:
        scorer: Of the benchmark; one of a user's own says nothing before it is called.
        sample: As it would be asked.
        per_turn: Each turn of a conversation is scored with a target of its own.
        judges_by_reference: False where the run's judges have a template of its own without a
            reference.
    """
    targets = sample.target
    has_each = (
        per_turn
        and sample.turns
        and isinstance(targets, list)
        and len(targets) == len(sample.turns) + 1
    )
    for target in targets if has_each and isinstance(targets, list) else [targets]:
        fault = _fault(scorer, sample, target, {"judges_by_reference": judges_by_reference})
        if fault is not None:
            return fault
    return None


def _fault(scorer: object, sample: Sample, target: object, options: dict[str, Any]) -> str | None:
    """Return what a scorer's gold function refuses, or what all members of a composed one do."""
    while isinstance(scorer, functools.partial):
        options = {**options, **scorer.keywords}
        scorer = scorer.func
    take = getattr(getattr(scorer, "inner", scorer), _ATTRIBUTE, None)
    members = getattr(scorer, "members", None)
    if take is None and members:
        faults = [_fault(member, sample, target, options) for member in members]
        return faults[0] if None not in faults else None
    if take is None:
        return None
    metadata = dict(sample.metadata)
    asked = ScorerInput(response="", target=target, metadata=metadata, sample=sample)
    try:
        take(asked, **options)
    except DatasetError as error:
        return str(error)
    return None
