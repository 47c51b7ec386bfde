"""Scorers of short final answers in free text: a GSM8K number, a yes or a no. Knows no benchmark.

Trap: "no doubt" and "there is no evidence" do not answer No, and "not true" does not answer Yes.
"""

from __future__ import annotations

import re
from typing import Any, Final

from nel.errors import DatasetError
from nel.scoring.numbers import last_number, numbers_equal, numbers_in
from nel.scoring.text import answer_after_marker
from nel.types import ScorerInput

_HASHES = re.compile(r"####\s*([^\n]*)")
_SHORT_MARKER = re.compile(r"(?m)^\s*A:[^\S\n]*([^\n]*)$")
_BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}")

_YES: Final = frozenset("yes yep yeah yup true".split())
_NO: Final = frozenset("no nope nah false".split())
_WORD = re.compile(
    r"(?:\b(?:not|never|isn['’]t|cannot\s+be|can['’]t\s+be)\s+)?\b(yes|yep|yeah|yup|true|no|nope|nah|false)\b",
    re.IGNORECASE,
)
_IDIOM = re.compile(
    r"no\s+(?:doubt|question|wonder|matter|problem|need|way|one|idea|longer|more|less|such)\b", re.IGNORECASE
)
_PLAIN_NO_FOLLOWS = re.compile(r"\s*(?:[.,;:!?)\]*_\"”'’}$\-–—]|\Z|\n)")
_BOTH = re.compile(r"(?:yes|true|no|false)\W+(?:and|or)\W+(?:yes|true|no|false)\b", re.IGNORECASE)
_DECLARED = re.compile(r"(?i)(?:answer[\s*_]*(?:[:：=]|\bis\b)|\\boxed)[\s*_:\"“'({$]*")
_LEADS = re.compile(r"[\s*_#>\"“'({$\[]*")
_TAIL = re.compile(r"[\s.!*_\"”'’)}\]$]*")


def gsm8k_number(response: str) -> str | None:
    """Return the number a response gives as its answer to a word problem, as written, or None.

    In this order: the first ``#### N`` (a model that runs on writes further ones for problems of its own), the last
    line ``Answer: N`` or ``A: N``, the last ``\\\\boxed{N}``, the last number.

    >>> gsm8k_number("2 + 3 = 5\\n#### 5\\n\\nQuestion: next one ... #### 7"), gsm8k_number("So $1,200 in all.")
    ('5', '$1,200')
    """
    hashes = _HASHES.search(response)
    short = _SHORT_MARKER.findall(response)
    boxed = _BOXED.findall(response)
    declared = answer_after_marker(response)
    for candidate in (hashes and hashes[1], declared, short and short[-1], boxed and boxed[-1]):
        found = numbers_in(candidate) if candidate else []
        if found:
            return found[0]
    return last_number(response)


def gsm8k_answer(sample: ScorerInput) -> dict[str, Any]:
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
    gold = gsm8k_number(str(sample.target))
    if gold is None:
        raise DatasetError(f"the target {str(sample.target)[:80]!r} holds no number")
    extracted = gsm8k_number(sample.response or "")
    correct = extracted is not None and numbers_equal(extracted, gold)
    return {"correct": correct, "parsed": extracted is not None, "extracted": extracted}


def boolean_yesno(sample: ScorerInput) -> dict[str, Any]:
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
    """Return the yes or no that a text decides for, or None when it does not or cannot be told which."""
    declared = None
    for match in _DECLARED.finditer(text):
        declared = _decision_at(text, match.end()) or declared
    if declared:
        return declared
    first, last = _decision_at(text, _start(text)), _last_line(text)
    if first and last:
        return first if first == last else None
    if first or last:
        return None if _takes_back(text) else first or last
    found = {said for said, _ in _decisions(text)}
    return found.pop() if len(found) == 1 else None


def _decisions(text: str) -> list[tuple[str, int]]:
    found = []
    for match in _WORD.finditer(text):
        word = match[1].lower()
        if word == "no" and (_IDIOM.match(text, match.start(1)) or not _PLAIN_NO_FOLLOWS.match(text, match.end())):
            continue
        is_yes = (word in _YES) == (match.start() == match.start(1))
        found.append(("yes" if is_yes else "no", match.start()))
    return found


def _decision_at(text: str, position: int) -> str | None:
    match = _WORD.match(text, position)
    if match is None:
        return None
    found = _decisions(text[position : match.end() + 40])
    return found[0][0] if found and found[0][1] == 0 else None


def _start(text: str) -> int:
    match = _LEADS.match(text)
    return match.end() if match else 0


def _last_line(text: str) -> str | None:
    line = text.strip().rpartition("\n")[2]
    start = _start(line)
    match = _WORD.match(line, start)
    return _decision_at(line, start) if match and _TAIL.fullmatch(line, match.end()) else None


def _takes_back(text: str) -> bool:
    """Return whether the first words name both: "Yes and no", "True or false?"."""
    return _BOTH.match(text, _start(text)) is not None


def _gold_decision(target: Any) -> str:
    word = str(target).strip().lower().rstrip(".")
    if word in _YES | {"1", "y", "1.0"}:
        return "yes"
    if word in _NO | {"0", "n", "0.0"}:
        return "no"
    raise DatasetError(f"the target {str(target)[:80]!r} is neither yes nor no")
