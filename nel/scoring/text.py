"""Comparison of texts after normalising: `exact_match`, `fuzzy_match`, `answer_line`.

Depends on `nel.scoring.equality` for which texts are equal, on `nel.reading.numerals` to compare
numbers, on `nel.scoring.wording` and `nel.scoring.mentions` for answers that are denied or only
mentioned, and on rapidfuzz where a threshold is given.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice

from nel.core.timed_regex import last_group
from nel.reading.numbers import read_number, stated_value
from nel.reading.numerals import parse_number
from nel.reading.own import own_answer
from nel.reading.response import own_response
from nel.reading.texts import compared_text
from nel.scoring.equality import normalise, same_formula, same_text, skeleton
from nel.scoring.golds import reads_gold, text_gold, texts_in
from nel.scoring.marks import (
    Kind,
    fold,
    has_markup,
    has_word,
    kinds_that_count,
    same_signs,
    without_latex,
    without_markup,
)
from nel.scoring.mentions import MENTIONS_MAX, ends_undecided, is_given, mentions
from nel.scoring.wording import is_denied_after, is_denied_before, is_supposed, last_boxed
from nel.types import ScorerInput

__all__ = [
    "answer_after_marker",
    "answer_line",
    "exact_match",
    "fuzzy_match",
    "normalise",
    "same_text",
]

_NO_SPACES = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that write words without spaces between them, or with endings joined on."""
_MARKS = re.compile(r"(?<!\S)[^\w\s]+(?:[^\S\n]+[^\w\s]+)*(?!\S)")
_AROUND_MARKS = " .,;:!?—–-*_`$\"'“”"
_CURRENCY = re.compile("[$€£¥₹₩₽]")
_WITHOUT_EMPHASIS = str.maketrans(dict.fromkeys('*_`"“”„«»', " "))
_REASON = re.compile(r",\s(?:because|since|as|which|not|who|where)\b|\s\(")
"""What follows an answer on its line."""
_APPROXIMATE = re.compile(
    r"[~≈?]|\b(?:about|around|approximately|approx|roughly|nearly|almost|circa|ca|some)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"[^.!?。？\n]{0,40}[?？](?!\s*(?:yes|yep|indeed|correct|right|exactly)\b)", re.IGNORECASE
)
_WINDOW = 80
"""Characters after a place that are searched for a denial."""
_FUZZY_CHARACTERS_MIN = 4
_NAME_CHARACTERS_MAX = 3
"""Short names in capitals, such as US, that are words in small letters."""
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
    r"[.!?]\s+(?:i\s+hope|hope\s+|let\s+me\s+know|please|feel\s+free|thank|good\s+luck)\b.*",
    re.IGNORECASE,
)


def answer_after_marker(text: str) -> str | None:
    """Return what follows the last ``Answer:`` at the start of a line, emphasis stripped, or
    None."""
    last = _last_marked(text)
    return None if last is None else _bare_answer(last)


def _bare_answer(last: str) -> str | None:
    """Return what stands after a marker without emphasis, closing words and a full stop, or
    None.
    """
    plain = _POLITE.sub("", last).strip().rstrip(".。").strip("*_`$ ").rstrip(".").strip()
    if plain.startswith(("\\boxed", "\\fbox")):
        plain = last_boxed(plain) or plain
    return plain or None


def _last_marked(text: str) -> str | None:
    """Return what follows the last marker in its line, or the line below a heading "Final
    answer".
    """
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


@reads_gold(text_gold)
def exact_match(sample: ScorerInput) -> dict[str, bool]:
    """Compare response and target after lower-casing and dropping punctuation, articles and spare
    spaces.

    Rule: both are equal after `normalise`, with or without articles; a list of targets accepts any.
    What carries meaning stays (``-5``, ``3.14``, ``C++``, ``A-``, ``5%``, ``x != y``, ``Vitamin
    A``). A symbol or emoji of the response counts only where the target has one of its kind
    (pictures, ticks and crosses, others), one of the target always. Brackets, currencies, degrees,
    feet and inches count where both have them. A target of marks alone ("]", "✓") equals the same
    marks alone, and empty texts are not equal. Source: NeMo Evaluator's primitive, in which an
    empty response equals the target "A".

    >>> exact_match(ScorerInput(response="  Paris.  ", target="paris"))
    {'correct': True}
    >>> exact_match(ScorerInput(response="", target="A"))
    {'correct': False}
    """
    response = compared_text(sample)
    return {"correct": any(same_text(response, gold) for gold in text_gold(sample))}


def accepted_answers(sample: ScorerInput, **_: object) -> list[str]:
    """Return the target, or each of several, and the row's ``correct_answers``, those apart that
    are blank.

    Raises:
        DatasetError: There is no other.
    """
    targets = sample.target if isinstance(sample.target, (list, tuple)) else [sample.target]
    return texts_in([*targets, *(sample.metadata.get("correct_answers") or [])])


@reads_gold(accepted_answers)
def fuzzy_match(
    sample: ScorerInput, *, threshold: float | None = None
) -> dict[str, bool | str | None]:
    """Look for any accepted answer in the response, as whole words after normalising.

    Source: NeMo Evaluator's primitive, which also accepts a response that the answer contains, an
    empty one included. Accepted are the target (or each of a list of targets) and
    ``metadata["correct_answers"]``. The response must contain the answer; an answer that contains
    the response is not a match, and nothing matches nothing.

    Not counted is an answer that is denied or supposed where it stands; that is a part of a longer
    name; that is one of several on offer ("Paris or Rome", "Options: Paris, Rome", a list of
    labelled options); and any answer of a response that ends with not being able to decide. A
    capitalised answer is a part of a longer name where a word with a capital, a hyphen and a
    capital, or a particle such as "de" follows it directly ("George Washington Carver"), and after
    "New", "South" and their like ("New York"). Titles and given names before it do not count
    ("President George Washington"), nor do words such as "Is" and "River" and short abbreviations
    after it ("Washington DC"), and in a mention written in capitals nothing does. Marks and symbols
    count as in `exact_match`.

    Args:
        threshold: With a number between 0 and 100, spelling may differ: rapidfuzz's partial ratio
            of the normalised texts must reach it. Only answers of four characters and more are
            compared so.

    Returns:
        ``correct`` and ``extracted``, the response as given (None when it is empty).

    >>> sample = ScorerInput(response="The capital is Canberra.", target="Canberra")
    >>> fuzzy_match(sample)
    {'correct': True, 'extracted': 'The capital is Canberra.'}
    >>> fuzzy_match(ScorerInput(response="It is 12.", target="2"))["correct"]
    False
    >>> fuzzy_match(ScorerInput(response="It was George Washington Carver.", target="George Washington"))["correct"]
    False
    >>> fuzzy_match(ScorerInput(response="The capital is Canbera.", target="Canberra"), threshold=85)["correct"]
    True
    """
    accepted = accepted_answers(sample)
    response = compared_text(sample)
    searched = _SearchedResponse(response)
    correct = any(searched.contains(answer, threshold) for answer in accepted)
    return {"correct": correct, "extracted": response if searched.whole else None}


class _SearchedResponse:
    """A response in which accepted answers are searched, normalised once for all of them."""

    def __init__(self, response: str) -> None:
        self.raw = response
        self.text = without_latex(without_markup(response))
        self.whole = normalise(self.text, articles=True)

    def contains(self, answer: str, threshold: float | None) -> bool:
        """Return whether the response gives an accepted answer: it stands there, is not denied and
        is no other one.
        """
        if not has_word(answer):
            return same_text(self.raw, answer) or self._has_marks(answer)
        counting = kinds_that_count(self.text, answer)
        marked_up = has_markup(answer)
        wanted = normalise(answer, articles=True, counting=counting)
        whole = self._normal(counting, articles=True, marked_up=marked_up)
        if skeleton(wanted) not in skeleton(whole):
            exactly = counting or parse_number(answer, words=False) is not None
            return threshold is not None and not exactly and _nearly(whole, wanted, threshold)
        if same_text(self.raw, answer):
            return True
        # "US" and "A" are searched as written: normalised they are a pronoun and an article.
        if answer.isupper() and len(answer) <= _NAME_CHARACTERS_MAX and not self.raw.islower():
            return self._has_capitals(answer)
        places = _places(whole, wanted)
        other = _places(
            self._normal(counting, articles=False, marked_up=marked_up),
            normalise(answer, counting=counting),
        )
        return not self._is_undecided and (
            self._gives(places, answer) or self._gives(other, answer)
        )

    def _normal(self, counting: Kind, *, articles: bool, marked_up: bool) -> str:
        if counting or marked_up:
            return normalise(
                self.raw if marked_up else self.text, articles=articles, counting=counting
            )
        return self.whole if articles else self._bare

    @cached_property
    def _bare(self) -> str:
        return normalise(self.text)

    @cached_property
    def _plain(self) -> str:
        """The response, in the same length, without emphasis and quotes, for what the words around
        an answer say.
        """
        return self.text.translate(_WITHOUT_EMPHASIS)

    @cached_property
    def _is_undecided(self) -> bool:
        return ends_undecided(self.text)

    def _gives(self, places: list[bool], answer: str) -> bool:
        """Return whether a place where an answer stands, each with whether it holds there, gives
        it.

        Where the response as written has as many mentions, they decide, since they have the clauses
        that normalising runs together.
        """
        spans = mentions(self.text, answer)
        verdicts = [self._is_given(start, end, answer) for start, end in spans]
        if len(verdicts) == len(places):
            return any(verdicts)
        return any(places) and (any(verdicts) or not verdicts)

    def _is_given(self, start: int, end: int, answer: str) -> bool:
        if not is_given(self.text, start, end, answer) or _is_against(self._plain, start, end):
            return False
        return not _CURRENCY.search(answer) or same_signs(
            self.text[max(0, start - 1) : end + 1], answer
        )

    def _has_capitals(self, answer: str) -> bool:
        """Return whether a letter or a short name in capitals stands in the response as written."""
        no_article = r"(?![^\S\n]+[a-z])" if len(answer) == 1 else ""
        pattern = re.compile(
            rf"(?<![^\W_]){re.escape(answer)}(?![^\W_]|[+#♭♯]|-(?!\w)){no_article}"
        )
        spans = (match.span() for match in islice(pattern.finditer(self.text), MENTIONS_MAX))
        name = (
            "" if len(answer) == 1 else answer
        )  # a letter is followed by what it labels, not by more of its name
        return not self._is_undecided and any(
            self._is_given(start, end, name) for start, end in spans
        )

    def _has_marks(self, answer: str) -> bool:
        """Return whether an answer of marks alone stands in the response, with words or nothing
        around it.
        """
        first = fold(answer).strip()[:1]
        if not first or first not in fold(self.text):
            return False
        text = without_latex(without_markup(self.raw), "\n")
        around = "".join(set(_AROUND_MARKS) - set(answer))
        return any(
            same_text(match[0].strip(around), answer) and not _is_against(text, *match.span())
            for match in islice(_MARKS.finditer(text), MENTIONS_MAX)
        )


def _is_against(text: str, start: int, end: int) -> bool:
    """Return whether what stands there is denied or supposed."""
    denied = is_denied_before(text, start) or is_denied_after(text[end : end + _WINDOW])
    return denied or is_supposed(text, start) or _ASKED.match(text, end) is not None


def _places(response: str, answer: str) -> list[bool]:
    """Return for each place of an answer whether it holds there: it is neither denied nor
    supposed.
    """
    if not answer:
        return []
    spaced, wanted = (
        (response, answer) if _NO_SPACES.search(answer) else (f" {response} ", f" {answer} ")
    )
    places: list[bool] = []
    position = spaced.find(wanted)
    while position >= 0 and len(places) < MENTIONS_MAX:
        start = position + len(wanted) - len(wanted.lstrip())
        end = position + len(wanted.rstrip())
        places.append(not _is_against(spaced, start, end))
        position = spaced.find(wanted, position + 1)
    return places


def _nearly(response: str, answer: str, threshold: float) -> bool:
    """Return whether an answer stands in the response but for spelling."""
    if len(answer) < _FUZZY_CHARACTERS_MIN or len(response) < len(answer) / 2:
        return False
    from rapidfuzz.fuzz import partial_ratio  # noqa: PLC0415 - only with a threshold

    return partial_ratio(answer, response) >= threshold


@reads_gold(text_gold)
def answer_line(sample: ScorerInput, pattern: str | None = None) -> dict[str, bool | str | None]:
    """Compare what follows the last ``Answer:`` with the target, as numbers or as normalised text.

    Rule: the last line that starts with ``Answer:`` or ``The final answer is``; emphasis, dollar
    signs and a full stop around it do not count. A target that is a number is compared by its
    value, and the answer may have a unit: 42, 42.0 and "42 dollars" are equal, "5 million" is
    5000000 and "twelve" 12; 1,2 and 12 are not equal, and "about 5", ``5!``, ``√5`` and "40 or 42"
    equal no number. Two different currencies are never equal. Spaces in a formula do not count:
    ``2 x`` is ``2x``. Source: NeMo Evaluator's primitive, which takes the first such line. For
    mathematics beyond numbers there is `math_equal`.

    Args:
        pattern: A regular expression whose first group is the answer, instead of the marker; its
            last match counts.

    Returns:
        ``correct`` and ``extracted``, the text after the marker or None.

    >>> answer_line(ScorerInput(response="Step 1 ...\\nAnswer: **42**", target="42.0"))
    {'correct': True, 'extracted': '42'}
    >>> answer_line(ScorerInput(response="So the result is 42.", target="42"), pattern="result is (.+)")
    {'correct': True, 'extracted': '42'}
    """
    own, ran_on = own_answer(sample)
    response = own.text
    golds = text_gold(sample)
    extracted = _answer_in(response, pattern)
    correct = extracted is not None and any(
        _same_answer(extracted, gold) and _same_currency(response, extracted, gold)
        for gold in golds
    )
    return {"correct": correct, "extracted": extracted, **ran_on}


def _answer_in(response: str, pattern: str | None) -> str | None:
    if pattern is None:
        return answer_after_marker(response)
    group = last_group(pattern, response)
    return None if group is None else _bare_answer(group)


def _same_currency(response: str, extracted: str, target: str) -> bool:
    """Return whether an answer has the target's currency as it stands in the response, or one of
    them has none.
    """
    if not _CURRENCY.search(target):
        return True
    start = max(0, response.rfind(extracted))
    return same_signs(response[max(0, start - 1) : start + len(extracted) + 1].strip(), target)


def _same_answer(answer: str, target: str) -> bool:
    """Return whether an answer is the target: a number by its value, with or without a unit; other
    texts normalised.
    """
    wanted = parse_number(target)
    if wanted is not None:
        if wanted in (stated_value(answer), parse_number(answer)):
            return True
        number = (
            None
            if _APPROXIMATE.search(answer)
            else read_number(own_response(f"Answer: {answer}")).value
        )
        return number is not None and parse_number(number) == wanted
    plain = _REASON.split(answer, maxsplit=1)[0]
    return (
        same_text(answer, target)
        or same_formula(answer, target)
        or (plain != answer and same_text(plain, target))
    )
