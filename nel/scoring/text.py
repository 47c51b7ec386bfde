"""Text comparison after normalising. Knows no benchmark.

Trap: a text that normalises to nothing equals nothing, or an empty answer would match the target "A".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from nel.scoring.numbers import numbers_equal
from nel.types import ScorerInput

_ARTICLES = re.compile(r"\b(?:[Tt]he|THE|[Aa]n|AN|a)\b(?=[^\S\n]+\w)")
_FIRST_A = re.compile(r"\A\W*A(?=[^\S\n]+\w)")
_JOINED = re.compile(r"['’]|,(?<=\d,)(?=\d{3}(?!\d))|\.(?<=\b[^\W\d_]\.)")
"""Marks that vanish without leaving a gap: apostrophes, thousands commas, the dots of U.S."""
_MEANINGFUL = re.compile(
    r"-(?<![\w.]-)(?=\.?\d)|\.(?<=\d\.)(?=\d)|\.(?<!\w\.)(?=\d)|[+#](?<=\w[+#])[+#]*|[+#](?<=[+#][+#])"
)
_PRIVATE = 0xE000
_RESTORED = {_PRIVATE + ord(mark): mark for mark in "-.+#"}
_SAME_MARKS = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-"})
_SOFT = bytes(code for code in range(128) if not chr(code).isalnum() or chr(code) in "anthANTHeE")
"""ASCII characters that normalising may drop: marks, spaces and the letters of articles."""
_FUZZY_CHARACTERS_MIN = 4
_ANSWER = re.compile(
    r"(?im)^[^\S\n]*(?:[#>*\-]+\s*)?(?:the\s+)?(?:final\s+)?\**answer\**\s*(?::|is\b:?)\**[^\S\n]*([^\n]*)$"
)


class _Translation(dict[int, int | str | None]):
    """What becomes of each character, looked up once for each."""

    def __init__(self, becomes: Callable[[str], int | str | None]) -> None:
        super().__init__()
        self._becomes = becomes

    def __missing__(self, code: int) -> int | str | None:
        self[code] = found = self._becomes(chr(code))
        return found


_WITHOUT_ACCENTS = _Translation(lambda character: None if unicodedata.combining(character) else character)
_SPACED = _Translation(lambda character: " " if unicodedata.category(character)[0] in "PS" else character)


def normalise(text: str, *, articles: bool = False) -> str:
    """Return the text lower-cased, without accents, punctuation and articles, with single spaces.

    What carries meaning stays: a minus before a number, a decimal point, the signs of ``C++`` and ``C#``. An article is
    dropped before another word only, and a capital A only at the start, so that "Vitamin A" is not "Vitamin".

    Args:
        articles: Keep them.

    >>> normalise("  The Beatles! ")
    'beatles'
    >>> normalise("Vitamin A"), normalise("-5"), normalise("C++"), normalise("1,000.5")
    ('vitamin a', '-5', 'c++', '1000.5')
    """
    plain = text
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text).translate(_SAME_MARKS)
        plain = plain.translate(_WITHOUT_ACCENTS)
    if not articles:
        plain = _FIRST_A.sub(" ", _ARTICLES.sub(" ", plain))
    plain = _JOINED.sub("", plain.casefold())
    return " ".join(_kept(plain).translate(_SPACED).split()).translate(_RESTORED)


def same_text(left: str, right: str) -> bool:
    """Return whether two texts are equal after normalising, with or without articles; nothing equals nothing."""
    short, long = sorted((left, right), key=len)
    whole = normalise(short, articles=True)
    if not whole or len(long.encode("ascii", "ignore").translate(None, _SOFT)) > len(whole):
        return False
    if whole == normalise(long, articles=True):
        return True
    bare = normalise(short)
    return bool(bare) and bare == normalise(long)


def _kept(text: str) -> str:
    """Return the text with each meaningful mark replaced by a private character that is no mark."""
    return _MEANINGFUL.sub(lambda match: "".join(chr(_PRIVATE + ord(mark)) for mark in match[0]), text)


def answer_after_marker(text: str) -> str | None:
    """Return what follows the last ``Answer:`` at the start of a line, emphasis stripped, or None."""
    last = None
    for match in _ANSWER.finditer(text):
        last = match[1]
    return (last.strip().rstrip(".").strip("*_`$ ").rstrip(".").strip() or None) if last is not None else None


def exact_match(sample: ScorerInput) -> dict[str, Any]:
    """Compare response and target after lower-casing and dropping punctuation, articles and spare spaces.

    Rule: both are equal after `normalise`, with or without articles; a list of targets accepts any. What carries
    meaning stays (``-5``, ``3.14``, ``C++``, ``Vitamin A``), and nothing equals nothing. Source: NeMo Evaluator's
    primitive, in which an empty response equals the target "A".

    >>> exact_match(ScorerInput(response="  Paris.  ", target="paris"))
    {'correct': True}
    >>> exact_match(ScorerInput(response="", target="A"))
    {'correct': False}
    """
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    return {"correct": any(same_text(sample.response, str(target)) for target in targets)}


def fuzzy_match(sample: ScorerInput, *, threshold: float | None = None) -> dict[str, Any]:
    """Look for any accepted answer in the response, as whole words after normalising.

    Source: NeMo Evaluator's primitive, which also accepts a response that the answer contains, an empty one included.
    Accepted are the target (or each of a list of targets) and ``metadata["correct_answers"]``. The response must
    contain the answer; an answer that contains the response is no match, and nothing matches nothing.

    Args:
        threshold: With a number between 0 and 100, spelling may differ: rapidfuzz's partial ratio of the normalised
            texts must reach it. Only answers of four characters and more are compared so.

    Returns:
        ``correct`` and ``extracted``, the response as given (None when it is empty).

    >>> sample = ScorerInput(response="The capital is Canberra.", target="Canberra")
    >>> fuzzy_match(sample)
    {'correct': True, 'extracted': 'The capital is Canberra.'}
    >>> fuzzy_match(ScorerInput(response="It is 12.", target="2"))["correct"]
    False
    >>> fuzzy_match(ScorerInput(response="The capital is Canbera.", target="Canberra"), threshold=85)["correct"]
    True
    """
    response = normalise(sample.response, articles=True)
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    accepted = [*targets, *(sample.metadata.get("correct_answers") or [])]
    correct = any(_contains(response, normalise(str(answer), articles=True), threshold) for answer in accepted)
    if not correct:
        bare = normalise(sample.response)
        correct = any(_contains(bare, normalise(str(answer)), threshold) for answer in accepted)
    return {"correct": correct, "extracted": sample.response if response else None}


def answer_line(sample: ScorerInput) -> dict[str, Any]:
    """Compare what follows the last ``Answer:`` with the target, as numbers or as normalised text.

    Rule: the last line that starts with ``Answer:`` or ``The final answer is``; emphasis, dollar signs and a full stop
    around it do not count. 42 and 42.0 are equal, 1,2 and 12 are not. Source: NeMo Evaluator's primitive, which takes
    the first such line. For mathematics beyond numbers there is `math_equal`.

    Returns:
        ``correct`` and ``extracted``, the text after the marker or None.

    >>> answer_line(ScorerInput(response="Step 1 ...\\nAnswer: **42**", target="42.0"))
    {'correct': True, 'extracted': '42'}
    """
    extracted = answer_after_marker(sample.response)
    correct = extracted is not None and (
        numbers_equal(extracted, sample.target) or same_text(extracted, str(sample.target))
    )
    return {"correct": correct, "extracted": extracted}


def _contains(response: str, answer: str, threshold: float | None) -> bool:
    if not answer or not response:
        return False
    if f" {answer} " in f" {response} ":
        return True
    if threshold is None or len(answer) < _FUZZY_CHARACTERS_MIN:
        return False
    from rapidfuzz.fuzz import partial_ratio  # noqa: PLC0415 - only with a threshold

    return len(response) >= len(answer) / 2 and partial_ratio(answer, response) >= threshold
