"""Scorers of the number that a response gives as its answer. Depends on `nel.reading`."""

from __future__ import annotations

from typing import Literal

from nel.errors import ConfigError, DatasetError
from nel.reading.numbers import last_number, read_number
from nel.reading.numerals import numbers_equal
from nel.reading.own import own_answer
from nel.reading.response import own_response
from nel.reading.types import GENERAL_RULE, OFFICIAL_RULE, Reading
from nel.types import ScorerInput


def read_sample_number(sample: ScorerInput) -> tuple[Reading, dict[str, bool]]:
    """Return the number that a response gives as its answer, and whether more followed its own answer."""
    response, ran_on = own_answer(sample)
    return read_number(response), ran_on


def gsm8k_answer(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the number that a response gives as its answer with the gold number, exactly.

    Rule: docs/reference/reading.md; 42, 42.0 and 42.00 are equal, 10 and 100 are not. Source: the official GSM8K format
    and NeMo Evaluator's BYOB scorer. The target may be a number, or a solution that ends in ``#### N``.

    Returns:
        ``correct``, ``parsed`` and ``extracted``.

    Raises:
        DatasetError: The target holds no number.

    >>> gsm8k_answer(ScorerInput(response="48 + 24 = 72\\n#### 72.", target="... #### 72"))
    {'correct': True, 'parsed': True, 'extracted': '72'}
    """
    is_plain = isinstance(sample.target, (str, int, float))
    gold = read_number(own_response(str(sample.target))).value if is_plain else None
    if gold is None:
        raise DatasetError(f"the target {str(sample.target)[:80]!r} holds no number; give the row one as its answer")
    reading, ran_on = read_sample_number(sample)
    correct = reading.value is not None and numbers_equal(reading.value, gold)
    return {"correct": correct, "parsed": reading.value is not None, "extracted": reading.value, **ran_on}


def numeric_match(
    sample: ScorerInput, *, rule: Literal["general", "official"] = "general"
) -> dict[str, bool | str | None]:
    """Compare the number that a response gives as its answer with the target.

    Rule: docs/reference/reading.md. Compared exactly, as fractions: 10, 100 and 1000 differ, 1,000 and 1000.0 do not,
    and 1/2 is 0.5. A range, a root and a time are no numbers, and no number equals no target, 0 included.

    Args:
        sample: The response and its target; a list of targets accepts any.
        rule: ``official`` is NeMo Evaluator's rule, the last number of the response wherever it stands; its values are
            nel's, since NeMo Evaluator strips trailing zeros.

    Returns:
        ``correct`` and ``extracted``, the number as written or None.

    Raises:
        ConfigError: There is no such rule.

    >>> numeric_match(ScorerInput(response="The total is 20 + 22 = 42", target="42"))
    {'correct': True, 'extracted': '42'}
    >>> numeric_match(ScorerInput(response="10", target="100"))
    {'correct': False, 'extracted': '10'}
    """
    if rule not in (GENERAL_RULE, OFFICIAL_RULE):
        raise ConfigError(f'numeric_match has no rule "{rule}"; use "general" or "official"')
    is_official = rule == OFFICIAL_RULE
    extracted = last_number(sample.response or "") if is_official else read_sample_number(sample)[0].value
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    correct = extracted is not None and any(numbers_equal(extracted, target) for target in targets)
    return {"correct": correct, "extracted": extracted}
