"""Scorers of short final answers in free text: the number of a word problem (`gsm8k_answer`), a yes or a no.

Depends on `nel.scoring.numeric` for numbers and on `nel.scoring.wording` for denials and corrections. Note: "no doubt"
and "there is no evidence" do not answer No, and "not true" does not answer Yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nel.errors import DatasetError
from nel.scoring.numeric.numbers import last_number, numbers_equal, numbers_in
from nel.scoring.text import answer_after_marker
from nel.scoring.wording import (
    after_correction,
    clause_before,
    cleaned,
    is_denied,
    is_denied_after,
    is_supposed,
    last_boxed,
)
from nel.types import ScorerInput

_HASHES = re.compile(r"####[^\S\n]*([^\n]*)")
_SHORT_MARKER = re.compile(r"(?m)^[^\S\n]*+A:[^\S\n]*([^\n]*)$")
_INLINE = re.compile(r"(?i)\banswer(?:\s+is|\s*[:：=])[\s:*_$]*([^\n]*)")
_FIRST_DIGIT = re.compile(r"\d")
_OPENS_WITH_NUMBER = re.compile(
    r"""
    [^\w]* (?: \\[a-z]+\W* )?                                 # marks, or a command such as \text{
    (?: about\s+ | approximately\s+ | [A-Za-z]\s*=\s* )?
    [^\w]* (?P<number> \d | [½¼¾⅓⅔] | \\[dt]?frac )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_EITHER = re.compile(r"\d\W{0,3}\s(?:or|to)\s\W{0,3}\d", re.IGNORECASE)
_SEVERAL = re.compile(r"\d\s+[^\d,=(]+,\s+\d")
_IN_BRACKETS = re.compile(r"[(（][^()（）]*[)）]")
_NOT_BUT = re.compile(r"^\W*not\b.{0,40}?\bbut\b", re.IGNORECASE)
_HEADING = re.compile(r"(?i)\W*(?:step|part|solution|explanation|reasoning|answer|conclusion)\b[^=]*")

_YES: Final = frozenset("yes yep yeah yup true".split())
_NO: Final = frozenset("no nope nah false".split())
_SAID = re.compile(r"\b(yes|yep|yeah|yup|true|no|nope|nah|false)\b", re.IGNORECASE)
_IDIOM = re.compile(
    r"no\s+(?:doubt|question|wonder|matter|problem|need|one|idea|longer|more|less|such|way(?!\s*[.!]))\b", re.IGNORECASE
)
_NO_STANDS_ALONE = re.compile(r"\s*(?:[.,;:!?)\*_\"”'’`}\]$\-–—]|\Z|\n|way\s*[.!])")
_CLAUSE_FOLLOWS = re.compile(r"\s+(?:it|this|that|he|she|they|there|the|we|i|you|way)\b", re.IGNORECASE)
_HEDGED = re.compile(
    r"""
    \b (?:
        necessarily | hardly | barely | always | entirely | completely | partly | (?<!not[ ])only
        | nothing | nobody | unlikely | (?<!no[ ])doubt
    ) \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BOTH = re.compile(r"(?:yes|true|no|false)(?:\W+(?:and|or)\W+|\s*/\s*)(?:yes|true|no|false)\b", re.IGNORECASE)
_OFFERED = re.compile(r"\([^()]{0,40}\b(?:yes|true)\b[^()]{0,10}\b(?:no|false)\b[^()]{0,40}\)", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?\n])")
_DECLARED = re.compile(r"(?i)(?:answer[\s*_]*(?:[:：=]|\bis\b)|\\boxed)[\s*_:\"“'({$`]*")
_NOT = re.compile(r"not\s+", re.IGNORECASE)
_LEADS = re.compile(r"[\s*_#>\"“'({$\[`]*")
_TAIL = re.compile(r"[\s.!*_\"”'’)}\]$`]*")
_LETTER = re.compile(r"[\s*_\"'(]*([yn])[\s*_\"').!]*", re.IGNORECASE)


def gsm8k_number(response: str) -> str | None:
    """Return the number a response gives as its answer to a word problem, as written, or None.

    In this order: the first ``#### N`` (a model that runs on writes further ones for problems of its own), the last
    line ``Answer: N`` or ``A: N``, the last ``\\\\boxed{N}``, the last number.

    >>> gsm8k_number("2 + 3 = 5\\n#### 5\\n\\nQuestion: next one ... #### 7"), gsm8k_number("So $1,200 in all.")
    ('5', '$1,200')
    """
    for declared in _declared_lines(response):
        found = _number_of_line(declared)
        if found is not None:
            return found or None
    return last_number(response)


def _declared_lines(text: str) -> Iterator[str]:
    """Yield what a response declares as its answer, the most binding form first; headings are no declaration."""
    yield from (line for line in _HASHES.findall(text) if not _HEADING.fullmatch(line))
    marked = answer_after_marker(text)
    tail = after_correction(text)
    if tail and _FIRST_DIGIT.search(tail) and not (marked and marked in tail):
        yield last_number(tail) or ""
    short = _SHORT_MARKER.findall(text)
    boxed = last_boxed(text)
    inline = _INLINE.findall(text)
    yield from (line for line in (marked, short and short[-1], boxed, inline and inline[-1]) if line)


def _number_of_line(line: str) -> str | None:
    """Return the number a declared line gives: the result of a sum, else the number it opens with.

    Returns:
        An empty text when the line declares something that is no number, None when it is not about numbers.
    """
    line = _NOT_BUT.sub("", line)
    found = numbers_in(line)
    if not found:
        return "" if line.strip() else None
    if _EITHER.search(line) or _SEVERAL.search(_IN_BRACKETS.sub("", line)):
        return ""
    if "=" in line:
        return found[-1]
    return found[0] if _OPENS_WITH_NUMBER.match(line) else ""


def gsm8k_answer(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the number a response ends in with the gold number, exactly.

    Rule: ``#### N``, else ``Answer: N``, else ``\\\\boxed{N}``, else the last number; 42, 42.0 and 42.00 are equal, 10
    and 100 are not. Source: the official GSM8K format and NeMo Evaluator's BYOB scorer. The target may be a number, or
    a solution that ends in ``#### N``.

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
    extracted = gsm8k_number(sample.response or "")
    correct = extracted is not None and numbers_equal(extracted, gold)
    return {"correct": correct, "parsed": extracted is not None, "extracted": extracted}


def boolean_yesno(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the yes or no a response gives with the gold one.

    Rule: what follows the last "answer is" or ``Answer:``, else a last line that is nothing else, else the first word,
    else the one decision all such words agree on; yes, yep, yeah, true and no, nope, nah, false, with a "not" before
    them turned round. Source: NeMo Evaluator's BYOB scorer, which reads "no doubt: yes" as no. "No" before another word
    ("no evidence") is none. The gold may be a bool, 0, 1 or such a word.

    Returns:
        ``correct``, ``parsed`` and ``extracted``, ``yes``, ``no`` or None.

    Raises:
        DatasetError: The gold is neither yes nor no.

    >>> boolean_yesno(ScorerInput(response="No doubt about it: yes.", target=True))
    {'correct': True, 'parsed': True, 'extracted': 'yes'}
    >>> boolean_yesno(ScorerInput(response="Yes and no.", target="yes"))["parsed"]
    False
    """
    gold = _gold_decision(sample.target)
    extracted = decision(sample.response or "")
    return {"correct": extracted == gold, "parsed": extracted is not None, "extracted": extracted}


def decision(text: str) -> str | None:
    """Return the yes or no that a text decides for, or None when it decides for neither or for both.

    >>> decision("Is it true? No."), decision("Yes. Wait, actually, no."), decision("not necessarily true")
    ('no', 'no', None)
    """
    plain = _OFFERED.sub(" ", cleaned(text))
    tail = after_correction(plain)
    if tail and (corrected := _decided(tail)):
        return corrected
    without_questions = "".join(part for part in _SENTENCES.split(plain) if not part.endswith("?"))
    return _decided(without_questions) if _SAID.search(without_questions) else _decided(plain)


def _decided(text: str) -> str | None:
    """Return the decision of a text by the rule of `boolean_yesno`, most binding form first."""
    letter = _LETTER.fullmatch(text)
    if letter:
        return "yes" if letter[1] in "yY" else "no"
    declared = None
    for match in _DECLARED.finditer(text):
        if _BOTH.match(text, match.end()):
            return None
        if not is_supposed(text, match.end()):
            declared = _decision_at(text, match.end(), opens=True) or declared
    if declared:
        return declared
    start = _start(text)
    if _BOTH.match(text, start):
        return None
    first, last = _decision_at(text, start, opens=True), _last_line(text)
    if first and last:
        return first if first == last else None  # a response that contradicts itself decides nothing
    if first or last:
        return first or last
    found = set(_decisions(text))
    return found.pop() if len(found) == 1 else None


def _decisions(text: str) -> Iterator[str | None]:
    """Yield what each yes or no of a text says; None for one that is hedged."""
    for match in _SAID.finditer(text):
        said = _meaning(text, match, opens=False)
        if said != "":
            yield said


def _meaning(text: str, match: re.Match[str], *, opens: bool) -> str | None:
    """Return ``yes``, ``no``, None for a hedged word, or an empty text for one that decides nothing."""
    word, start, end = match[1].lower(), match.start(), match.end()
    if word == "no" and (
        _IDIOM.match(text, start)
        or not (_NO_STANDS_ALONE.match(text, end) or (opens and _CLAUSE_FOLLOWS.match(text, end)))
    ):
        return ""
    if is_supposed(text, start):
        return ""
    if _HEDGED.search(clause_before(text, start)):
        return None
    if is_denied_after(text, end):
        return ""
    # Exclusive or: "not true" is a no, and "not false" a yes.
    return "yes" if (word in _YES) != is_denied(text, start, end) else "no"


def _decision_at(text: str, position: int, *, opens: bool) -> str | None:
    """Return what the yes or no at a position says; `opens`, that it begins an answer, where "No it is …" counts."""
    match = _NOT.match(text, position)
    said = _SAID.match(text, match.end() if match else position)
    return (_meaning(text, said, opens=opens) or None) if said else None


def _start(text: str) -> int:
    match = _LEADS.match(text)
    return match.end() if match else 0


def _last_line(text: str) -> str | None:
    """Return what the last line says where it is nothing but a yes or a no."""
    line = text.strip().strip("`").strip().rpartition("\n")[2]
    start = _start(line)
    match = _SAID.match(line, start)
    return _decision_at(line, start, opens=False) if match and _TAIL.fullmatch(line, match.end()) else None


def _gold_decision(target: object) -> str:
    word = str(target).strip().lower().rstrip(".")
    if word in _YES | {"1", "y", "1.0"}:
        return "yes"
    if word in _NO | {"0", "n", "0.0"}:
        return "no"
    raise DatasetError(f"the target {str(target)[:80]!r} is neither yes nor no; use yes, no, true, false, 1 or 0")
