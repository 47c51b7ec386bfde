"""Whether a row's gold answer can decide anything, asked before the row costs a request.

A scorer that compares with a gold answer is marked with the function that takes it from a sample,
and calls it too: what it refuses with `DatasetError` is a bad row, whatever the response. A scorer
of a user's own is not looked into: it may call a marked one with another sample than the row's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
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
    """Return the texts of a target that are not blank.

    A whole number that was stored as a float, as columns with gaps are, is written both ways.

    Raises:
        DatasetError: There is none, or an object or a list stands where a text is needed.

    >>> texts_in(["Paris", " "]), texts_in(3.0), texts_in(2.5)
    (['Paris'], ['3', '3.0'], ['2.5'])
    """
    several = target if isinstance(target, (list, tuple)) else [target]
    for item in several:
        # SQuAD's `answers` is an object with the list `text`; no answer equals such a target.
        if isinstance(item, Mapping):
            keys = ", ".join(map(str, item))
            raise DatasetError(
                f"the target is an object with the keys {keys[:80]}, not a text; name the key with"
                " the answer, as in target_field: answers.text"
            )
        if isinstance(item, (list, tuple)):
            raise DatasetError("the target is a list of lists; give a text, or one list of texts")
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


def gold_check(
    scorer: object, *, per_turn: bool, judges_by_reference: bool = True
) -> Callable[[Sample], str | None] | None:
    """Return the check of the gold answers of a scorer; None where it takes none, as a user's own.

    The check is given a sample as it would be asked. It returns why the scorer can decide nothing
    by the gold answer, and None where it can.

    Args:
        scorer: Of the benchmark.
        per_turn: Each turn of a conversation is scored with a target of its own.
        judges_by_reference: False where the run's judges have a template of its own without a
            reference.
    """
    target_check = _target_check(scorer, {"judges_by_reference": judges_by_reference})
    if target_check is None:
        return None

    def check(sample: Sample) -> str | None:
        for target in _targets_of(sample, per_turn=per_turn):
            fault = target_check(sample, target)
            if fault is not None:
                return fault
        return None

    return check


def _targets_of(sample: Sample, *, per_turn: bool) -> list[object]:
    targets = sample.target
    if per_turn and sample.turns and isinstance(targets, list):
        has_each = len(targets) == len(sample.turns) + 1
        return targets if has_each else [targets]
    return [targets]


def _target_check(
    scorer: object, options: Mapping[str, Any]
) -> Callable[[Sample, object], str | None] | None:
    """Return the check of one target; None where the scorer is not marked by `reads_gold`.

    A composed scorer refuses a target that all its members refuse, so it has no check where one of
    them has none.
    """
    while isinstance(scorer, functools.partial):
        options = {**options, **scorer.keywords}
        scorer = scorer.func
    take = getattr(getattr(scorer, "inner", scorer), _ATTRIBUTE, None)
    if take is not None:
        return functools.partial(_refusal, functools.partial(take, **options))
    member_checks = []
    for member in getattr(scorer, "members", None) or ():
        member_check = _target_check(member, options)
        if member_check is None:
            return None
        member_checks.append(member_check)
    if not member_checks:
        return None

    def check(sample: Sample, target: object) -> str | None:
        faults = [member_check(sample, target) for member_check in member_checks]
        return faults[0] if None not in faults else None

    return check


def _refusal(take: TakeGold, sample: Sample, target: object) -> str | None:
    metadata = dict(sample.metadata)
    try:
        take(ScorerInput(response="", target=target, metadata=metadata, sample=sample))
    except DatasetError as error:
        return str(error)
    return None
