"""The words of a text: the one normal form in which texts are compared and searched.

A text is folded (one way of writing a mark), freed of tags, boxes and end tokens, and divided into
words. A word is a run of letters and digits, a number with its sign and decimals, or a mark with a
meaning; other punctuation and emphasis vanish. Depends on `nel.reading` for end tokens, for scripts
without spaces, and for what the words around an answer do to it.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, TypeAlias

from nel.reading.clauses import UNSPACED, is_denied
from nel.reading.numerals import plain_numerals
from nel.reading.response import USUAL_MARKS, lower_case
from nel.reading.table import end_tokens

_Rewriting: TypeAlias = tuple[str, re.Pattern[str], str]


_USUAL: Final[dict[str, str]] = {
    **USUAL_MARKS,
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
    **dict.fromkeys("\u00ad\u061c\u200b\u200e\u200f\u2060\ufe0e\ufe0f\ufeff", ""),
}
"""The plain character for a typographic one, and nothing for an invisible one."""
_TYPOGRAPHIC: Final = re.compile(f"[{''.join(_USUAL)}]")
_STROKES: Final = str.maketrans("ŁłØøĐđĦħı", "LlOoDdHhi")
"""Letters that Unicode does not take apart: Tromsø is written Tromso too, and Łódź Lodz."""
_ACCENTS: Final = re.compile(r"(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+")
"""Accents of Latin and Greek letters; elsewhere such marks make other letters."""
_TAG: Final = re.compile(
    "|".join(map(re.escape, end_tokens()))
    + r"|<\|[^<>|\n]{1,40}\|>|<(?:/?[A-Za-z][\w.-]{1,40}\s?/?|/?(?<!\w<)[A-Za-z])>",
    re.IGNORECASE,
)
"""An end token, or a tag of HTML or XML without attributes, but not the relations of ``a<b>c``."""
# ``\\boxed{…}``, ``\\text{…}``, ``\\mathrm{…}``: what stands in them is kept.
_SET_AS_TEXT: Final = re.compile(
    r"\\(?:boxed|fbox|text[a-z]{0,8}|math[a-z]{2,4})\s?\{([^{}]{0,4000})\}"
)
_REWRITTEN: Final[tuple[_Rewriting, ...]] = (
    (  # U.S.A. is USA, and J. K. Rowling JK Rowling
        ".",
        re.compile(r"(?<=\b[^\W\d_])\.(?:(?=[^\W\d_]\b)|[ ](?=[^\W\d_]\.))|(?<=\.[^\W\d_])\."),
        "",
    ),
    (",", re.compile(r",(?<=\d,)(?=\d{3}(?!\d))"), ""),  # 1,000
    ("\\", re.compile(r"\\([#$%&_{}])"), r"\1"),  # 5\%, as LaTeX has it
    ("$(", re.compile(r"\$\((\d[\d.]*)\)"), r"-\1"),  # $(35.6), as accounts have it
    ("-", re.compile(r"(?<=-)[$€£¥]\s?"), ""),  # -$3.52
    ("cent", re.compile(r"(?i)(?<=\d)[^\S\n]*per[ -]?cents?\b"), "%"),  # 29 per cent
    ("%", re.compile(r"(?<=\d)[^\S\n]+%"), "%"),  # 29 %
)
"""What is written in several ways: a text that it needs, a pattern and the usual form."""
_LETTER: Final = r"[^\W_]"
_MARKED_LETTER: Final = (
    rf"(?:{_LETTER}|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u1cff])"
)
_TOKEN: Final = re.compile(
    rf"""
    (?: [^\W\d_]{_MARKED_LETTER}*+ (?:['+\#^]++{_MARKED_LETTER}++)*+            # C++, x^2, don't
          (?: [+\#]++ | (?:(?<=\b\w)|(?<=\b\w\w))-(?![^\s.,;:!?)\]*_"'`]) )?+  # A-
      | (?: \d++(?:[./^]\d++|:\d\d(?!\d))*+ | \.\d++ ) (?!{_LETTER}) (?:[+\#]++|%)?+
      | (?:\d++\.(?=\d))?+ {_MARKED_LETTER}++ (?:['+\#^]++{_MARKED_LETTER}++)*+ [+\#]*+      # 18kg
      | -(?=[\d.(\\√∞]|[^\W\d_]\b)(?<![\w)\]}}.-]-)
      | [+*/](?=\s?(?:[\d(\\]|[^\W\d_]\b)) (?: (?<=[\w)\]].) | (?<=[\w)\]]\s.) )  # x + 5
      | [=<>^±×÷√♯♭\u2190-\u22ff] | !(?==) | ~(?=\w)
    )++
    """,
    re.VERBOSE,
)
_ARTICLE: Final = re.compile(r"\b(?:[Tt]he|THE|[Aa]n|AN|(?:a|\AA)(?!\s+\w\b))(?=\s+[*_\"'`(]*\w)")
"""An article stands before another word: not in "Vitamin A", "take vitamin A daily", "A, B" or the
letters "A C".
"""
_DISREGARDED: Final = bytes(
    code for code in range(128) if not chr(code).isalnum() or chr(code) in "anthANTHeE"
)
"""Marks, and the letters of articles: what `normalise` may take away."""
_LOOSE: Final = re.compile(
    r"(?<=[^\W\d_]{3})'[^\W\d_]{1,6}\Z|(?<=[^\W\d_]{4})\d{1,2}\Z|(?<=[^\W\d_]{2})\^\d{1,3}\Z"
)
"""The end of a possessive, a Turkish ending ("Ankara'dır"), the number of a footnote ("Lisbon2")."""
_GAPS: Final = re.compile(r" ?([^\w\s.]) ?")
"""Spaces around marks, which do not count: ``x = 5``."""
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
# Marks that follow each other, and an answer that stands in brackets: "[]", "(2, 3)".
_MARKS: Final = re.compile(r"[^\w\s]++(?:[^\S\n]++[^\w\s]++)*+")
_BRACKETED: Final = re.compile(r"[\s$]*[(\[{].*[)\]}][\s.$]*\Z", re.DOTALL)
_FREE: Final = frozenset(" =<>≠≤≥")
"""What stands beside a word that is whole."""
_SPACES_AND_QUOTES: Final = str.maketrans("", "", " \n'\"\\`*$")
_REWRITTEN_MAX: Final = len("per cent")
"""Letters that may stand for one mark."""
_WORD: Final = re.compile(r"[^\W_]")
_EMPHASIS: Final = "*_`$\"'."
_OUTER: Final = (
    string.whitespace + string.punctuation + "“”„«»‘’…–—。，、！？：；（）「」『』【】《》"
)
_PLACES_MAX: Final = 1_000
"""Places of an answer that are looked at; a response with more repeats itself."""


def has_word(text: str) -> bool:
    """Return whether a text has a letter or a digit, and is not of marks alone."""
    return _WORD.search(text) is not None


def fold(text: str) -> str:
    """Return a text with one way of writing a mark, a letter or a digit, and nothing invisible.

    >>> fold("−5"), fold("ＡＢＣ"), fold("Pa\u200bris"), fold("10²")
    ('-5', 'ABC', 'Paris', '10^2')
    """
    return text if text.isascii() else plain_numerals(_without_typography(text))


def _without_typography(text: str) -> str:
    return _TYPOGRAPHIC.sub(lambda mark: _USUAL[mark[0]], text) or text


def searchable(text: str, *, ignore_case: bool = True) -> str:
    """Return a text as it is searched as it is written: quotes, hyphens and spaces in one way.

    >>> searchable("I can’t co‑operate in New\u00a0York"), searchable("Mo\u00adther’s", ignore_case=False)
    ("i can't co-operate in new york", "Mother's")
    """
    if not text.isascii():
        text = _without_typography(unicodedata.normalize("NFC", text))
    return text.casefold() if ignore_case else text


def undress(text: str) -> str:
    """Return a text without tags, end tokens and what LaTeX boxes or sets as text.

    >>> undress("<answer>2</answer><|im_end|>").strip(), undress(r"\\boxed{\\text{Oslo}}").strip()
    ('2', 'Oslo')
    """
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "\\" in text:
        text = _SET_AS_TEXT.sub(r" \1 ", _SET_AS_TEXT.sub(r" \1 ", text))
    return text


def normalise(text: str, *, accents: bool = True) -> str:
    """Return the words of a text, in small letters and with single spaces, without articles.

    What carries meaning stays: the sign of a number, a decimal point, the marks of ``C++``, ``A-``,
    ``5%`` and ``x ≠ y``. An article is dropped before another word only.

    Args:
        accents: Keep them.

    >>> normalise("  The Beatles! "), normalise("Vitamin A"), normalise("-$1,000.5"), normalise("A-")
    ('beatles', 'vitamin a', '-1000.5', 'a-')
    >>> normalise("Paris 🎉"), normalise("Málaga", accents=False)
    ('paris', 'malaga')
    """
    build = _normal if len(text) > _REMEMBERED_MAX else _remembered
    return build(text, accents)


def _normal(text: str, accents: bool) -> str:
    return Words(text, accents=accents).joined


_REMEMBERED_MAX: Final = 200
_remembered = lru_cache(maxsize=512)(_normal)


class Words:
    """The words of a text, and where they stand in it as it was folded."""

    def __init__(self, text: str, *, accents: bool = True) -> None:
        self._text = undress(text).strip() or text
        folded = fold(self._text)
        if not accents and not folded.isascii():
            folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", folded.translate(_STROKES)))
            folded = unicodedata.normalize("NFC", folded)
        folded = _ARTICLE.sub("", folded)
        for fragment, pattern, usual in _REWRITTEN:
            if fragment in folded:
                folded = pattern.sub(usual, folded)
        self.plain = folded
        """The text as its words stand in it, punctuation included."""
        self.joined = " ".join(_TOKEN.findall(folded)).replace("'", "").casefold()

    def gives(self, answer: str) -> bool:
        """Return whether an answer stands in the text as whole words, and is not denied there."""
        # An answer of marks alone is compared mark by mark; one that is all of the text is found at
        # once; one in brackets needs the same brackets; any other has to stand there as whole
        # words.
        sought = normalise(answer, accents=False)
        if not has_word(sought):
            return any(_same_marks(run, answer) for run in _mark_runs(self._text))
        if _GAPS.sub(r"\1", sought) == _GAPS.sub(r"\1", self.joined):
            return True
        if _BRACKETED.match(answer):
            gold = Words(answer.rstrip(" .$"), accents=False)
            if _dense(gold.plain) not in _dense(self.plain):
                return False
        first_word, _, _ = sought.partition(" ")
        return first_word in self.joined and any(
            self._is_given(answer, sought, *place)
            for place in chain(_places(self.joined, sought), self._loose_places(sought))
        )

    @cached_property
    def _tokens(self) -> list[re.Match[str]]:
        return list(_TOKEN.finditer(self.plain))

    def _loose_places(self, sought: str) -> Iterator[tuple[int, int]]:
        """Yield the places without the endings of possessives and the numbers of footnotes."""
        loose = " ".join(_LOOSE.sub("", token[0]) for token in self._tokens)
        yield from _places(loose.replace("'", "").casefold(), sought)

    @cached_property
    def _low(self) -> str:
        return lower_case(self.plain)

    def _is_given(self, answer: str, sought: str, head_index: int, tail_index: int) -> bool:
        """Return whether an answer is not denied where its words stand."""
        # The words are those of the normal form: where they stand in the text is found again within
        # the first and the last of its tokens, which may hold more ("18kg", "Ankara'dır").
        head, tail = self._tokens[head_index], self._tokens[tail_index]
        start = max(head.start(), self._low.find(sought.split(maxsplit=1)[0], *head.span()))
        ending = sought.rsplit(maxsplit=1)[-1]
        end = self._low.find(ending, *tail.span()) + len(ending)
        end = end if end >= tail.start() + len(ending) else tail.end()
        return not (is_denied(self._low, start, end) or self._low.endswith("non-", 0, start))


def _mark_runs(text: str) -> Iterator[str]:
    """Yield the marks that follow each other in a text, without those that a word has on it."""
    for run in _MARKS.finditer(text):
        marks = run[0]
        if run.start() and not text[run.start() - 1].isspace():
            marks = marks.partition(" ")[2]
        if text[run.end() : run.end() + 1].strip():
            marks = marks.rpartition(" ")[0]
        yield marks


def _dense(text: str) -> str:
    return text.translate(_SPACES_AND_QUOTES).casefold()


def _places(words: str, sought: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of the places where words stand in others as whole ones.

    In a script without spaces a word may stand within a longer run.
    """
    # At an edge in such a script anything may stand beside the words; at any other a space or a
    # mark.
    edges = [_UNSPACED.match(sought[edge]) is not None for edge in (0, -1)]
    position, word_index, start = words.find(sought), 0, 0
    for _ in range(_PLACES_MAX):
        if position < 0:
            return
        end = position + len(sought)
        around = words[position - 1 : position], words[end : end + 1]
        word_index += words.count(" ", start, position)
        start = position
        if all(
            is_free or not character or character in _FREE or _UNSPACED.match(character)
            for is_free, character in zip(edges, around, strict=True)
        ):
            yield word_index, word_index + sought.count(" ")
        position = words.find(sought, position + 1)


def same_text(answer: str, gold: str, *, accents: bool = True) -> bool:
    """Return whether an answer has the words of a gold answer.

    Currencies and emoji do not count. A gold answer of marks alone equals the same marks, and a
    text without anything equals nothing.

    >>> same_text("Paris 🎉", "Paris"), same_text("A → D", "D"), same_text("año", "ano")
    (True, False, False)
    """
    if answer.strip() == gold.strip():
        return gold.strip() != ""
    if not has_word(gold):
        return _same_marks(answer, gold)
    gold_words = normalise(gold, accents=accents)
    # Cheap test before a long response is normalised: more letters stay than the gold answer has.
    if _is_longer(undress(answer), gold_words):
        return False
    answer_words = normalise(answer, accents=accents)
    return _GAPS.sub(r"\1", answer_words) == _GAPS.sub(r"\1", gold_words)


def _is_longer(text: str, gold_words: str) -> bool:
    letters = text.encode("ascii", "ignore").translate(None, _DISREGARDED)
    return len(letters) > len(gold_words) + _REWRITTEN_MAX


def _same_marks(text: str, gold: str) -> bool:
    """Return whether a text is a gold answer of marks alone.

    Spaces do not count, nor does dressing that the gold answer has none of.
    """
    # Around "->" a quote is dressing; around "'" it is the answer.
    around = "".join(set(_EMPHASIS) - set(gold))
    marks, written = ("".join(fold(side).split()) for side in (gold, text))
    return marks != "" and marks in (written, written.strip(around), undress(written).strip(around))


def trim(text: str) -> str:
    """Return a text without the spaces and punctuation around it, but for marks with a meaning.

    >>> trim("**A-**."), trim("(A)"), trim("-5."), trim("?"), trim("C# ")
    ('A-', 'A', '-5', '?', 'C#')
    """
    end = len(text.rstrip(_OUTER))
    start = len(text) - len(text.lstrip(_OUTER))
    if start >= end:
        return text.strip()
    if text[start].isdigit():  # a sign or a relation before a number belongs to it, as in "≥ -5"
        start = len(re.sub(r"(?:[-~<>=±√]+[$€£]?)?\.?\Z", "", text[:start]))
    suffix = re.match(r"[+#]+|%|-(?!\w)", text[end:])
    return text[start : end + (suffix.end() if suffix else 0)]
