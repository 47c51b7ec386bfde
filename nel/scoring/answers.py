"""Scorers of short final answers in free text: the number of a word problem (`gsm8k_answer`), a yes or a no.

Depends on `nel.reading` for both.
"""

from __future__ import annotations

from typing import Final, Literal

from nel.errors import ConfigError, DatasetError
from nel.reading.decisions import read_decision
from nel.reading.numbers import last_number, read_number
from nel.reading.numerals import numbers_equal, parse_number
from nel.reading.own import own_answer
from nel.reading.response import own_response
from nel.reading.types import Reading
from nel.scoring.golds import reads_gold, texts_in
from nel.types import ScorerInput

_SOLUTION: Final = "####"
"""Stands before the answer of a worked solution of GSM8K."""
_YES: Final = frozenset("yes yep yeah yup true 1 y 1.0".split())
_NO: Final = frozenset("no nope nah false 0 n 0.0".split())


def read_sample_number(sample: ScorerInput) -> tuple[Reading, dict[str, bool]]:
    """Return the number that a response gives as its answer, and whether more followed its own answer."""
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
    if _SOLUTION in text or "\n" in text:
        text = read_number(own_response(text)).value or ""
    if isinstance(sample.target, (list, tuple)) or parse_number(text) is None:
        raise _no_number(sample.target)
    return text


def _no_number(target: object) -> DatasetError:
    return DatasetError(f"the target {str(target)[:80]!r} is not a number; give the row one as its answer")


@reads_gold(solution_gold)
def gsm8k_answer(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the number that a response gives as its answer with the gold number, exactly.

    Rule: docs/reference/reading.md; 42, 42.0 and 42.00 are equal, 10 and 100 are not. Source: the official GSM8K format
    and NeMo Evaluator's BYOB scorer. The target may be a number, or a solution that ends in ``#### N``.

    Returns:
        ``correct``, ``parsed`` and ``extracted``.

    Raises:
        DatasetError: The target is no number and no solution with one.

    >>> gsm8k_answer(ScorerInput(response="48 + 24 = 72\\n#### 72.", target="... #### 72"))
    {'correct': True, 'parsed': True, 'extracted': '72'}
    """
    gold = solution_gold(sample)
    reading, ran_on = read_sample_number(sample)
    correct = reading.value is not None and numbers_equal(reading.value, gold)
    return {"correct": correct, "parsed": reading.value is not None, "extracted": reading.value, **ran_on}


@reads_gold(number_golds)
def numeric_match(
    sample: ScorerInput, *, rule: Literal["declared", "official"] = "declared"
) -> dict[str, bool | str | None]:
    """Compare the number that a response gives as its answer with the target.

    Rule: docs/reference/reading.md. Compared exactly, as fractions: 10, 100 and 1000 differ, 1,000 and 1000.0 do not,
    and 1/2 is 0.5. A range, a root and a time are not numbers, neither as an answer nor as a target.

    Args:
        sample: The response and its target; a list of targets accepts any.
        rule: ``official`` is NeMo Evaluator's rule, the last number of the response wherever it stands; its values are
            nel's, since NeMo Evaluator strips trailing zeros.

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
    if rule not in ("declared", "official"):
        raise ConfigError(f'numeric_match has no rule "{rule}"; use "declared" or "official"')
    golds = number_golds(sample)
    is_official = rule == "official"
    extracted = last_number(sample.response or "") if is_official else read_sample_number(sample)[0].value
    correct = extracted is not None and any(numbers_equal(extracted, gold) for gold in golds)
    return {"correct": correct, "extracted": extracted}


def decision_gold(sample: ScorerInput, **_: object) -> str:
    """Return the yes or no of a sample's gold answer; raises DatasetError where it is neither."""
    return gold_decision(sample.target)


@reads_gold(decision_gold)
def boolean_yesno(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the yes or no that a response gives with the gold one.

    Rule: docs/reference/reading.md; true and false count as yes and no. Source: NeMo Evaluator's BYOB scorer, which
    reads "no doubt: yes" as no. The gold may be a bool, 0, 1 or such a word.

    Returns:
        ``correct``, ``parsed`` and ``extracted``, ``yes``, ``no`` or None.

    Raises:
        DatasetError: The gold is neither yes nor no.

    >>> boolean_yesno(ScorerInput(response="No doubt about it: yes.", target=True))
    {'correct': True, 'parsed': True, 'extracted': 'yes'}
    >>> boolean_yesno(ScorerInput(response="Yes and no.", target="yes"))["parsed"]
    False
    """
    gold = decision_gold(sample)
    response, ran_on = own_answer(sample)
    extracted = read_decision(response).value
    return {"correct": extracted == gold, "parsed": extracted is not None, "extracted": extracted, **ran_on}


def gold_decision(target: object) -> str:
    """Return the yes or no that a gold answer is.

    Raises:
        DatasetError: It is neither.
    """
    word = str(target).strip().lower().rstrip(".")
    if word in _YES:
        return "yes"
    if word in _NO:
        return "no"
    raise DatasetError(f"the target {str(target)[:80]!r} is neither yes nor no; use yes, no, true, false, 1 or 0")
