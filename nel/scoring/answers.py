"""Scorers of the number that a response gives as its answer. Depends on `nel.reading`."""

from __future__ import annotations

import re
from typing import Final, Literal

from nel.errors import ConfigError, DatasetError
from nel.reading.numbers import last_number, read_number
from nel.reading.numerals import numbers_equal, parse_number
from nel.reading.own import own_answer
from nel.reading.response import own_response
from nel.reading.types import GENERAL_RULE, OFFICIAL_RULE, Reading
from nel.scoring.declarations import in_process
from nel.scoring.golds import reads_gold, texts_in
from nel.types import ScorerInput

_OFFICIAL: Final = tuple(
    re.compile(rf"{before}\s*\$?(-?\d[\d,]*(?:\.\d+)?)") for before in ("####", r"\\boxed\{")
)
_SOLUTION: Final = "####"
"""Stands before the answer of a worked solution of GSM8K."""


def read_sample_number(sample: ScorerInput) -> tuple[Reading, dict[str, bool]]:
    """Return the number that a response gives, and whether more followed its own answer."""
    response, ran_on = own_answer(sample)
    return read_number(response), ran_on


def number_golds(sample: ScorerInput, **_: object) -> list[str]:
    """Return the accepted answers of a sample that are numbers.

    Raises:
        DatasetError: There is none.
    """
    numbers = [text for text in texts_in(sample.target) if parse_number(text) is not None]
    if not numbers:
        raise _no_number(sample.target)
    return numbers


def solution_gold(sample: ScorerInput, **_: object) -> str:
    """Return the gold number of a sample, whose target is one or a worked solution.

    Raises:
        DatasetError: It holds no number, or is neither.
    """
    (text,) = texts_in(sample.target)[:1]
    answer = text.rpartition(_SOLUTION)[2].strip()
    if not isinstance(sample.target, (list, tuple)) and parse_number(answer) is not None:
        return answer
    if _SOLUTION in text or "\n" in text:
        answer = read_number(own_response(text)).value or ""
    if isinstance(sample.target, (list, tuple)) or parse_number(answer) is None:
        raise _no_number(sample.target)
    return answer


def _no_number(target: object) -> DatasetError:
    return DatasetError(
        f"the target {str(target)[:80]!r} is not a number; give the row one as its answer"
    )


@in_process
@reads_gold(solution_gold)
def gsm8k_answer(
    sample: ScorerInput, *, rule: Literal["general", "official"] = "general"
) -> dict[str, bool | str | None]:
    """Compare the number that a response gives as its answer with the gold number, exactly.

    Rule: docs/reference/reading.md; 42, 42.0 and 42.00 are equal, 10 and 100 are not. Source: the
    official GSM8K format and NeMo Evaluator's BYOB scorer. The target may be a number, or a
    solution that ends in ``#### N``.

    Args:
        sample: The response and its target.
        rule: ``official`` is NeMo Evaluator's rule: the number of the last ``#### N``, else of the
            last ``\\boxed{N}``, else the last number of the response.

    Returns:
        ``correct``, ``parsed`` and ``extracted``.

    Raises:
        ConfigError: There is no such rule.
        DatasetError: The target is not a number and no solution with one.

    >>> gsm8k_answer(ScorerInput(response="48 + 24 = 72\\n#### 72.", target="... #### 72"))
    {'correct': True, 'parsed': True, 'extracted': '72'}
    """
    is_official = _is_official("gsm8k_answer", rule)
    ran_on: dict[str, bool] = {}
    gold = solution_gold(sample)
    if is_official:
        extracted = _official_number(sample.response or "")
    else:
        reading, ran_on = read_sample_number(sample)
        extracted = reading.value
    correct = extracted is not None and numbers_equal(extracted, gold)
    return {
        "correct": correct,
        "parsed": extracted is not None,
        "extracted": extracted,
        **ran_on,
    }


def _is_official(name: str, rule: str) -> bool:
    if rule not in (GENERAL_RULE, OFFICIAL_RULE):
        raise ConfigError(f'{name} has no rule "{rule}"; use "general" or "official"')
    return rule == OFFICIAL_RULE


def _official_number(text: str) -> str | None:
    """Return the number after the last marker, else in the last box, else the last of a text."""
    for pattern in _OFFICIAL:
        places = pattern.findall(text)
        if places:
            return str(places[-1]).replace(",", "")
    return last_number(text)


@in_process
@reads_gold(number_golds)
def numeric_match(
    sample: ScorerInput, *, rule: Literal["general", "official"] = "general"
) -> dict[str, bool | str | None]:
    """Compare the number that a response gives as its answer with the target.

    Rule: docs/reference/reading.md. Compared exactly, as fractions: 10, 100 and 1000 differ, 1,000
    and 1000.0 do not, and 1/2 is 0.5. A percent sign does not count: 25% is 25 and not 0.25. A
    range, a root and a time are not numbers, neither as an answer nor as a target.

    Args:
        sample: The response and its target; a list of targets accepts any.
        rule: ``official`` is NeMo Evaluator's rule, the last number of the response wherever it
            stands; its values are nel's, since NeMo Evaluator strips trailing zeros.

    Returns:
        ``correct`` and ``extracted``, the number as written or None.

    Raises:
        ConfigError: There is no such rule.
        DatasetError: No target is a number.

    >>> numeric_match(ScorerInput(response="The total is 20 + 22 = 42", target="42"))
    {'correct': True, 'extracted': '42'}
    >>> numeric_match(ScorerInput(response="10", target="100"))
    {'correct': False, 'extracted': '10'}
    """
    is_official = _is_official("numeric_match", rule)
    golds = number_golds(sample)
    extracted = (
        last_number(sample.response or "") if is_official else read_sample_number(sample)[0].value
    )
    correct = extracted is not None and any(numbers_equal(extracted, gold) for gold in golds)
    return {"correct": correct, "extracted": extracted}
