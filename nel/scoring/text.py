"""Comparison of texts after normalising: `exact_match`, `fuzzy_match`, `answer_line`.

Depends on `nel.scoring.numeric` to compare numbers, on `nel.scoring.wording` for denials, and on rapidfuzz where a
threshold is given. A text that normalises to nothing equals nothing; otherwise an empty answer would match the target
"A", whose only word is an article.
"""

from __future__ import annotations

import re
import unicodedata

from nel.scoring.numeric.numbers import numbers_equal
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.wording import TranslationTable, cleaned, is_denied, is_denied_after, is_supposed, last_boxed
from nel.types import ScorerInput

_ARTICLES = re.compile(r"(?<![\ue000-\uf8ff])\b(?:[Tt]he|THE|[Aa]n|AN|a)\b(?=[^\S\n]+\w)")
_FIRST_A = re.compile(r"\A\s*A(?=[^\S\n]+\w)")
_JOINED = re.compile(r"['’]|,(?<=\d,)(?=\d{3}(?!\d))|\.(?<=\b[^\W\d_]\.)")
"""Marks that vanish without leaving a gap: apostrophes, thousands commas, the dots of U.S."""
_MEANINGFUL = re.compile(
    r"""
      - (?<![\w.)\]]-) (?= \.?\d | [A-Za-z](?![A-Za-z]) )         # -5 and -x, not the hyphen of "a-b"
    | \. (?<=\d\.) (?=\d)                                        # 3.14
    | \. (?<!\w\.) (?=\d)                                        # .5
    | / (?<=\d/) (?<!/\d/) (?<!/\d\d/) (?=\d) (?!\d+/)            # 1/2, not a date
    | [+\#] (?<=\w[+\#]) [+\#]*                                   # C++ and C#
    | [+\#]{2,}
    | \^ (?<=\w\^) (?= \d | -\.?\d | -[A-Za-z](?![A-Za-z]) )      # x^2
    | ~ (?=[A-Za-z](?![A-Za-z]))                                  # ~p
    | [<>=≤≥≠♭♯]
    """,
    re.VERBOSE,
)
"""Marks that change what a text means. Each alternative begins with its mark, and has no group around it, so that the
engine skips to these characters; with groups normalising took 40 % longer."""
_PRIVATE = 0xE000
"""Where Unicode's private characters begin; meaningful marks are kept there while the others are removed."""
_RESTORED = {_PRIVATE + ord(mark): mark for mark in "-.+#/^~<>=≤≥≠♭♯"}
_SOFT = bytes(code for code in range(128) if not chr(code).isalnum() or chr(code) in "anthANTHeE")
"""ASCII characters that normalising may drop: marks, spaces and the letters of articles."""
_SUPERSCRIPTS = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile(r"(\d?)([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒])")
_CURRENCY = re.compile("[$€£¥₹₩₽]")
_STROKES = str.maketrans(
    {
        "−": "-",
        "–": "-",
        "‐": "-",
        "‑": "-",
        "⁄": "/",
        "Ł": "L",
        "ł": "l",
        "Ø": "O",
        "ø": "o",
        "Đ": "D",
        "đ": "d",
        "Ħ": "H",
        "ħ": "h",
        "ı": "i",
        "Æ": "AE",
        "æ": "ae",
        "Œ": "OE",
        "œ": "oe",
    }
)
_NO_SPACES = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that write words without spaces between them, or with endings joined on."""
_FUZZY_CHARACTERS_MIN = 4
_NAME_CHARACTERS_MAX = 3
"""Short names in capitals, such as US, that are words in small letters."""
_WITH_UNIT = re.compile(r"([^\w\s]?\d[\d,.]*)\s*(?:[^\W\d]+)(?:\s+[^\W\d]+)?")
_ANSWER = re.compile(
    r"""
    [^\S\n]*+ (?: [\#>*\-|]++ [^\S\n]*+ )?                             # a heading, a quotation, a list item
    (?:
        (?: the\s+ )? (?: final\s+ )? \**answer\** [^\S\n]*+ (?: [:：] | is\b:? ) \**
      | 答案 [是为]? [:：]?
    )
    (?P<answer> .* )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ANSWER_HEADING = re.compile(r"[#*\t ]*+(?:the\s+)?final\s+answer[*\t ]*+", re.IGNORECASE)
_POLITE = re.compile(
    r"[.!?]\s+(?:i\s+hope|hope\s+|let\s+me\s+know|please|feel\s+free|thank|good\s+luck)\b.*", re.IGNORECASE
)


_ACCENTS = re.compile("(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+")
"""Accents of Latin and Greek letters; elsewhere such marks make other letters."""
_SPACED = TranslationTable(lambda mark: " " if unicodedata.category(mark)[0] in "PS" else mark)


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
        plain = _SUPERSCRIPTS.sub(lambda match: "^" + match[0], cleaned(text))
        plain = unicodedata.normalize("NFKD", _VULGAR.sub(r"\1 \2", plain))
        plain = unicodedata.normalize("NFC", _ACCENTS.sub("", plain.translate(_STROKES)))
    plain = " ".join(_kept(_JOINED.sub("", plain)).translate(_SPACED).split())
    if not articles:
        plain = _FIRST_A.sub(" ", _ARTICLES.sub(" ", plain))
    return " ".join(plain.casefold().split()).translate(_RESTORED)


def same_text(left: str, right: str) -> bool:
    """Return whether two texts are equal after normalising, with or without articles; two empty ones are not."""
    currencies = set(_CURRENCY.findall(left)), set(_CURRENCY.findall(right))
    if all(currencies) and currencies[0] != currencies[1]:
        return False
    short, long = sorted((left, right), key=len)
    whole = normalise(short, articles=True)
    # Cheap test before a long response is normalised: the characters that stay are more than the short text has.
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
    last = _last_marked(text)
    if last is None:
        return None
    plain = _POLITE.sub("", last).strip().rstrip(".。").strip("*_`$ ").rstrip(".").strip()
    if plain.startswith(("\\boxed", "\\fbox")):
        plain = last_boxed(plain) or plain
    return plain or None


def _last_marked(text: str) -> str | None:
    """Return what follows the last marker in its line, or the line below a heading "Final answer"."""
    lines = text.split("\n")
    below = ""
    for line in reversed(lines):
        match = _ANSWER.match(line)
        if match:
            return match["answer"]
        if below and _ANSWER_HEADING.fullmatch(line):
            return below
        below = line if line.strip() else below
    return None


def exact_match(sample: ScorerInput) -> dict[str, bool]:
    """Compare response and target after lower-casing and dropping punctuation, articles and spare spaces.

    Rule: both are equal after `normalise`, with or without articles; a list of targets accepts any. What carries
    meaning stays (``-5``, ``3.14``, ``C++``, ``Vitamin A``), and empty texts are not equal. Source: NeMo Evaluator's
    primitive, in which an empty response equals the target "A".

    >>> exact_match(ScorerInput(response="  Paris.  ", target="paris"))
    {'correct': True}
    >>> exact_match(ScorerInput(response="", target="A"))
    {'correct': False}
    """
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    return {"correct": any(same_text(sample.response or "", str(target)) for target in targets)}


def fuzzy_match(sample: ScorerInput, *, threshold: float | None = None) -> dict[str, bool | str | None]:
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
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    accepted = [str(answer) for answer in (*targets, *(sample.metadata.get("correct_answers") or []))]
    searched = _SearchedResponse(sample.response or "")
    correct = any(searched.contains(answer, threshold) for answer in accepted)
    return {"correct": correct, "extracted": sample.response if searched.whole else None}


class _SearchedResponse:
    """A response in which accepted answers are searched, normalised once for all of them."""

    def __init__(self, response: str) -> None:
        self.raw = response
        self.whole = normalise(response, articles=True)

    def contains(self, answer: str, threshold: float | None) -> bool:
        """Return whether an accepted answer stands in the response and is not denied there."""
        wanted = normalise(answer, articles=True)
        if not wanted or not self.whole:
            return False
        if wanted == self.whole:
            return True
        # "US" and "A" are searched as written: normalised they are a pronoun and an article.
        if answer.isupper() and len(answer) <= _NAME_CHARACTERS_MAX and not self.raw.islower():
            no_article = r"(?![^\S\n]+[a-z])" if len(answer) == 1 else ""
            return re.search(rf"(?<!\w){re.escape(answer)}(?![\w+#]){no_article}", self.raw) is not None
        if self._has(self.whole, wanted) or self._has(normalise(self.raw), normalise(answer)):
            return True
        return threshold is not None and parse_number(answer) is None and _nearly(self.whole, wanted, threshold)

    def _has(self, response: str, answer: str) -> bool:
        if not answer:
            return False
        spaced, wanted = (response, answer) if _NO_SPACES.search(answer) else (f" {response} ", f" {answer} ")
        place = spaced.find(wanted)
        while place >= 0:
            start = place + len(wanted) - len(wanted.lstrip())
            end = place + len(wanted.rstrip())
            denied = is_denied(spaced, start, end, closely=True) or is_denied_after(spaced, end)
            if not denied and not is_supposed(spaced, start):
                return True
            place = spaced.find(wanted, place + 1)
        return False


def _nearly(response: str, answer: str, threshold: float) -> bool:
    """Return whether an answer stands in the response but for spelling."""
    if len(answer) < _FUZZY_CHARACTERS_MIN or len(response) < len(answer) / 2:
        return False
    from rapidfuzz.fuzz import partial_ratio  # noqa: PLC0415 - only with a threshold

    return partial_ratio(answer, response) >= threshold


def answer_line(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare what follows the last ``Answer:`` with the target, as numbers or as normalised text.

    Rule: the last line that starts with ``Answer:`` or ``The final answer is``; emphasis, dollar signs and a full stop
    around it do not count. 42 and 42.0 are equal, 1,2 and 12 are not. Source: NeMo Evaluator's primitive, which takes
    the first such line. For mathematics beyond numbers there is `math_equal`.

    Returns:
        ``correct`` and ``extracted``, the text after the marker or None.

    >>> answer_line(ScorerInput(response="Step 1 ...\\nAnswer: **42**", target="42.0"))
    {'correct': True, 'extracted': '42'}
    """
    extracted = answer_after_marker(sample.response or "")
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    correct = extracted is not None and any(_same_answer(extracted, str(target)) for target in targets)
    return {"correct": correct, "extracted": extracted}


def _same_answer(answer: str, target: str) -> bool:
    return numbers_equal(answer, target) or same_text(answer, target) or _same_with_unit(answer, target)


def _same_with_unit(answer: str, target: str) -> bool:
    """Return whether an answer is the target's number with a word behind it, such as ``42 dollars``."""
    number = _WITH_UNIT.fullmatch(answer)
    return number is not None and numbers_equal(number[1], target)
