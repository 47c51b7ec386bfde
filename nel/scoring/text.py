"""Comparison of texts after normalising: `exact_match`, `fuzzy_match`, `answer_line`, `text_match`.

Depends on `nel.scoring.words` for the normal form and the search for whole words, on
`nel.reading.texts` for the text that a response gives as its answer, on the reader of numbers, and
on rapidfuzz where a threshold is given.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.timed_regex import last_group
from nel.reading.numbers import stated_value
from nel.reading.numerals import numbers_equal, parse_number
from nel.reading.own import own_answer
from nel.reading.texts import compared_text, read_text
from nel.scoring.declarations import in_process
from nel.scoring.golds import reads_gold, text_gold, texts_in
from nel.scoring.words import Words, normalise, same_text
from nel.types import ScorerInput

__all__ = [
    "answer_line",
    "exact_match",
    "fuzzy_match",
    "normalise",
    "same_text",
    "text_match",
]

_REASON: Final = re.compile(r",\s(?:because|since|as|which|not|who|where)\b|\s\(")
"""What follows an answer on its line."""
_AMOUNT: Final = re.compile(r"(\d[\d,.]*) [a-z]+")
"""A gold answer such as "70 days", whose question names the unit."""
_FUZZY_CHARACTERS_MIN: Final = 4


@in_process
@reads_gold(text_gold)
def exact_match(sample: ScorerInput) -> dict[str, bool]:
    """Compare response and target regardless of case, punctuation, articles and spare spaces.

    Rule: both have the same words; a list of targets accepts any. What carries meaning stays
    (``-5``, ``3.14``, ``C++``, ``A-``, ``5%``, ``x != y``, ``Vitamin A``), accents too. Tags, boxes,
    end tokens, currencies and emoji do not count. A target of marks alone ("]", "✓") equals the
    same marks alone, and empty texts are not equal. Source: NeMo Evaluator's primitive, in which an
    empty response equals the target "A".

    >>> exact_match(ScorerInput(response="  Paris.  ", target="paris"))
    {'correct': True}
    >>> exact_match(ScorerInput(response="", target="A"))
    {'correct': False}
    """
    response = compared_text(sample)
    return {"correct": any(same_text(response, gold) for gold in text_gold(sample))}


def accepted_answers(sample: ScorerInput, **_: object) -> list[str]:
    """Return the target or targets and the row's ``correct_answers``, without blank ones.

    Raises:
        DatasetError: There is no other.
    """
    targets = sample.target if isinstance(sample.target, (list, tuple)) else [sample.target]
    return texts_in([*targets, *(sample.metadata.get("correct_answers") or [])])


@in_process
@reads_gold(accepted_answers)
def fuzzy_match(
    sample: ScorerInput, *, threshold: float | None = None
) -> dict[str, bool | str | None]:
    """Look for any accepted answer in the response, as whole words after normalising.

    Source: NeMo Evaluator's primitive, which also accepts a response that the answer contains, an
    empty one included. Accepted are the target (or each of a list of targets) and
    ``metadata["correct_answers"]``. The response must contain the answer; an answer that contains
    the response is not a match, and nothing matches nothing.

    Words are those of `exact_match`, without accents; the ending of a possessive and the number of
    a footnote ("Lisbon2") do not count. An answer that is denied where it stands does not count.

    Args:
        threshold: With a number between 0 and 100, spelling may differ: rapidfuzz's partial ratio
            of the normalised texts must reach it. Only answers of four characters and more are
            compared so, and no numbers.

    Returns:
        ``correct`` and ``extracted``, the response as given (None when it is empty).

    >>> fuzzy_match(ScorerInput(response="The capital is Canberra.", target="Canberra"))
    {'correct': True, 'extracted': 'The capital is Canberra.'}
    >>> fuzzy_match(ScorerInput(response="It is 12.", target="2"))["correct"]
    False
    >>> fuzzy_match(ScorerInput(response="It is not Rome.", target="Rome"))["correct"]
    False
    >>> fuzzy_match(ScorerInput(response="The capital is Canbera.", target="Canberra"), threshold=85)["correct"]
    True
    """
    response = compared_text(sample)
    words = Words(response, accents=False)
    correct = any(
        words.gives(answer) or (threshold is not None and _nearly(words.joined, answer, threshold))
        for answer in accepted_answers(sample)
    )
    return {"correct": correct, "extracted": response if words.joined else None}


def _nearly(response: str, answer: str, threshold: float) -> bool:
    """Return whether an answer in words stands in the response but for spelling, and not as it is."""
    words = normalise(answer, accents=False)
    if len(words) < _FUZZY_CHARACTERS_MIN or len(response) < len(words) / 2:
        return False
    # As it is written it was looked for as whole words, and a number is not almost another one.
    if words in response or parse_number(answer) is not None:
        return False
    from rapidfuzz.fuzz import partial_ratio  # noqa: PLC0415 - only with a threshold

    return partial_ratio(words, response) >= threshold


@in_process
@reads_gold(text_gold)
def text_match(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the short text that a response gives as its answer with the target.

    Rule: docs/reference/reading.md says what is read: the text that a declaration introduces, or
    without one a line of a few words that stands apart. It is compared as in `answer_line`.

    Returns:
        ``correct`` and ``extracted``, the text or None.

    >>> text_match(ScorerInput(response="I know the capitals of Europe.\\n\\nOslo", target="Oslo"))
    {'correct': True, 'extracted': 'Oslo'}
    """
    response, ran_on = own_answer(sample)
    return {**_verdict(sample, read_text(response).value), **ran_on}


@in_process
@reads_gold(text_gold)
def answer_line(sample: ScorerInput, pattern: str | None = None) -> dict[str, bool | str | None]:
    """Compare the answer that a response declares with the target, as numbers or normalised text.

    Rule: docs/reference/reading.md says what declares one (``Answer:``, ``the answer is``, a tag, a
    box); emphasis, dollar signs and a full stop around it do not count. A target that is a number
    is compared by its value, and the answer may have a unit: 42, 42.0 and "42 dollars" are equal,
    "5 million" is 5000000 and "twelve" 12; a target with one unit ("70 days") accepts the bare
    number. A currency does not count. 1,2 and 12 are not equal, and ``5!``, ``√5`` and "40 or 42"
    equal no number. Source: NeMo Evaluator's primitive, which takes the first line that starts with
    ``Answer:``. For mathematics beyond numbers there is `math_equal`.

    Args:
        pattern: A regular expression whose first group is the answer, instead of a declaration;
            its last match counts.

    Returns:
        ``correct`` and ``extracted``, the declared text or None.

    >>> answer_line(ScorerInput(response="Step 1 ...\\nAnswer: **42**", target="42.0"))
    {'correct': True, 'extracted': '42'}
    >>> answer_line(ScorerInput(response="So the result is 42.", target="42"), pattern="result is (.+)")
    {'correct': True, 'extracted': '42'}
    """
    response, ran_on = own_answer(sample)
    if pattern is None:
        declared_text = read_text(response, declared_only=True).value
    else:
        declared_text = last_group(pattern, response.text)
    return {**_verdict(sample, declared_text), **ran_on}


def _verdict(sample: ScorerInput, text: str | None) -> dict[str, bool | str | None]:
    """Return whether the text that was read in a response is one of a sample's gold answers."""
    golds = text_gold(sample)
    answer = (text or "").strip().rstrip(".。").strip("*_` ").rstrip(".")
    extracted = answer.strip("$ ") or None
    correct = extracted is not None and any(_same_answer(answer, gold) for gold in golds)
    return {"correct": correct, "extracted": extracted}


def _same_answer(answer: str, gold: str) -> bool:
    """Return whether an answer is a gold answer: a number by its value, with or without a unit, any
    other text by its words.
    """
    number = parse_number(gold)
    if number is not None:
        answer_without_sign = answer.strip("$ ")
        values = parse_number(answer_without_sign), stated_value(answer_without_sign)
        return number in values
    amount = _AMOUNT.fullmatch(gold)
    if amount is not None and numbers_equal(answer, amount[1]):
        return True
    without_reason = _REASON.split(answer, maxsplit=1)[0]
    return any(same_text(text, gold, accents=False) for text in {answer, without_reason})
