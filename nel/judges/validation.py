"""Checks that a case is what its types say, before anything is made of it. Pure.

A scorer fills a case from rows and from its author's keywords. Trap: what is wrong with one case is a fault of that
case, so it must be found here and not where a list is taken for a text, which would end the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn, get_args

from nel.errors import JudgeError, did_you_mean
from nel.judges.types import Aggregate, Case

SETTING_FAULTS: Final = frozenset({"no_judge", "bad_template", "bad_case", "raised", "no_question"})
"""Kinds of faults that lie in what is asked; to ask again gives the same."""
_TEXTS: Final = ("response", "template", "question", "criteria")
_TEXTS_OR_NONE: Final = ("reference", "grade_pattern")
_AGGREGATES: Final = get_args(Aggregate)


def check_case(case: Case) -> None:
    """Refuse a case whose parts have wrong types.

    Raises:
        JudgeError: ``bad_case``; it names the part, what it is and what it must be.
    """
    for name in (*_TEXTS, *_TEXTS_OR_NONE):
        value = getattr(case, name)
        if not isinstance(value, str) and not (value is None and name in _TEXTS_OR_NONE):
            _refuse(name, value, "a text")
    if not isinstance(case.values, Mapping):
        _refuse("values", case.values, "a mapping of names to values")
    for name in case.values:
        if not isinstance(name, str):
            _refuse("a name among the values", name, "a text")
    _check_mapping(case.score_mapping)
    if not isinstance(case.judges, tuple) or not all(isinstance(name, str) for name in case.judges):
        _refuse("judges", case.judges, "a list of names")
    if case.aggregate is not None and case.aggregate not in _AGGREGATES:
        hint = did_you_mean(str(case.aggregate), _AGGREGATES)
        raise JudgeError(
            f"the aggregate {case.aggregate!r:.80} is none of {', '.join(_AGGREGATES)}{hint}", kind="bad_case"
        )


def _check_mapping(mapping: Any) -> None:
    if mapping is None:
        return
    if not isinstance(mapping, Mapping):
        _refuse("score_mapping", mapping, 'a mapping of grades to numbers, such as {"C": 1.0, "I": 0.0}')
    for grade, score in mapping.items():
        if isinstance(score, bool) or not isinstance(score, int | float):
            _refuse(f"the score of the grade {grade!r:.40} in score_mapping", score, "a number")


def _refuse(name: str, value: Any, wanted: str) -> NoReturn:
    raise JudgeError(f"{name} is {value!r:.80} ({type(value).__name__}); give {wanted}", kind="bad_case")
