"""Scorers of short final answers in free text: the number of a word problem (`gsm8k_answer`), a yes or a no.

Depends on `nel.scoring.reading` for both.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from nel.errors import DatasetError
from nel.scoring.numeric.finding import numbers_equal
from nel.scoring.reading.numbers import first_hashed_number, read_number
from nel.scoring.reading.restated import in_asked_unit
from nel.scoring.reading.result import Reading
from nel.scoring.reading.run_on import own_answer, prompt_of, read_own
from nel.scoring.reading.yes_no import read_decision
from nel.types import ScorerInput

_REMEMBERED_CHARACTERS_MAX: Final = 100
"""Most short answers to a yes-or-no question are one of a few texts."""
_YES: Final = frozenset("yes yep yeah yup true".split())
_NO: Final = frozenset("no nope nah false".split())


def gsm8k_number(response: str) -> str | None:
    """Return the number a response gives as its answer to a word problem, or None.

    The first ``#### N`` (a model that runs on writes further ones for problems of its own), else what
    `nel.scoring.reading.numbers.read_number` reads: the last declaration that counts, or the sentence it ends in.

    >>> gsm8k_number("2 + 3 = 5\\n#### 5\\n\\nQuestion: next one ... #### 7"), gsm8k_number("So $1,200 in all.")
    ('5', '$1,200')
    """
    return _gsm8k_reading(response).value


def _gsm8k_reading(response: str) -> Reading:
    hashed = first_hashed_number(response) if "####" in response else None
    return hashed or read_number(response)


def gsm8k_number_asked(sample: ScorerInput) -> tuple[str | None, dict[str, bool]]:
    """Return what `gsm8k_number` reads, in the unit that the prompt asks for, and `read_own`'s ``ran_on``."""
    question = prompt_of(sample)
    return read_own(sample, lambda response: in_asked_unit(question, response, _gsm8k_reading(response)))


def gsm8k_answer(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the number a response ends in with the gold number, exactly.

    Rule: the first ``#### N``, else the last number that is declared in whatever form (``Answer: N``, a box, a tag, a
    heading, "the answer is …"), else the number of the sentence that the response ends in; 42, 42.0 and 42.00 are
    equal, 10 and 100 are not. A heading ``#### Calculation`` declares nothing, and a response that is cut off or
    decides for none has no answer. Source: the official GSM8K format and NeMo Evaluator's BYOB scorer. The target may
    be a number, or a solution that ends in ``#### N``.

    Returns:
        ``correct``, ``parsed`` and ``extracted``.

    Raises:
        DatasetError: The target holds no number.

    >>> gsm8k_answer(ScorerInput(response="48 + 24 = 72\\n#### 72.", target="... #### 72"))
    {'correct': True, 'parsed': True, 'extracted': '72'}
    """
    plain = isinstance(sample.target, (str, int, float))
    gold = gsm8k_number(str(sample.target)) if plain else None
    if gold is None:
        raise DatasetError(f"the target {str(sample.target)[:80]!r} holds no number; give the row one as its answer")
    extracted, ran_on = gsm8k_number_asked(sample)
    correct = extracted is not None and numbers_equal(extracted, gold)
    return {"correct": correct, "parsed": extracted is not None, "extracted": extracted, **ran_on}


def boolean_yesno(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the yes or no a response gives with the gold one.

    Rule: the last declaration that counts ("the answer is", ``Answer:``, a tag, a box, JSON), or what a sentence
    after it concludes ("so yes"); else the word that opens or ends the response, unless these differ; else what all
    such words agree on. Yes, yep, yeah and no, nope, nah, their like in nine further languages, true and false where a
    statement is called so, with a "not" before them turned round. A word under a condition, in a question, in the mouth
    of others, weighed, offered ("yes or no") or taken back is no answer; "no" before another word ("no evidence") is
    none. Source: NeMo Evaluator's BYOB scorer, which reads "no doubt: yes" as no. The gold may be a bool, 0, 1 or such
    a word.

    Returns:
        ``correct``, ``parsed`` and ``extracted``, ``yes``, ``no`` or None.

    Raises:
        DatasetError: The gold is neither yes nor no.

    >>> boolean_yesno(ScorerInput(response="No doubt about it: yes.", target=True))
    {'correct': True, 'parsed': True, 'extracted': 'yes'}
    >>> boolean_yesno(ScorerInput(response="Yes and no.", target="yes"))["parsed"]
    False
    """
    gold = gold_decision(sample.target)
    response, ran_on = own_answer(sample)
    extracted = decision(response)
    return {"correct": extracted == gold, "parsed": extracted is not None, "extracted": extracted, **ran_on}


def decision(text: str) -> str | None:
    """Return the yes or no that a text decides for, or None when it decides for neither or for both.

    >>> decision("Is it true? No."), decision("Yes. Wait, actually, no."), decision("not necessarily true")
    ('no', 'no', None)
    """
    return _remembered_decision(text) if len(text) <= _REMEMBERED_CHARACTERS_MAX else read_decision(text).value


@lru_cache(maxsize=1_024)
def _remembered_decision(text: str) -> str | None:
    return read_decision(text).value


def gold_decision(target: object) -> str:
    """Return the yes or no that a gold answer is.

    Raises:
        DatasetError: It is neither.
    """
    word = str(target).strip().lower().rstrip(".")
    if word in _YES | {"1", "y", "1.0"}:
        return "yes"
    if word in _NO | {"0", "n", "0.0"}:
        return "no"
    raise DatasetError(f"the target {str(target)[:80]!r} is neither yes nor no; use yes, no, true, false, 1 or 0")
