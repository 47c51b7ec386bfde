"""Characters that are neither letters nor digits: which of them change what an answer says.

Depends on `nel.scoring.wording` for its lazy translation table. A mark belongs to one of three
groups. Dressing never
counts: emphasis, quotes, invisible characters, skin tones. Marks with a meaning always count: the
sign of ``-5``, ``A-``, ``5%``, ``x != y``; `protect` moves them out of reach of what removes
punctuation. The rest are of a `Kind` that counts only where the texts that are compared call for
it: an emoji after "Paris" is decoration, and the whole difference between two cards.
"""

from __future__ import annotations

import re
import string
import unicodedata
from enum import IntFlag
from functools import cache, lru_cache
from typing import Final

from nel.scoring.wording import TranslationTable


class Kind(IntFlag):
    """Kinds of marks that count in one comparison and not in another."""

    NONE = 0
    EMOJI = 1
    """Pictures and flags."""
    TICK = 2
    """Ticks and crosses, all forms of each alike."""
    SYMBOL = 4
    """Other symbols: cards, chess pieces, stars, arrows."""
    BRACKET = 8
    UNIT = 16
    """Degrees, minutes and seconds, feet and inches."""


OF_TARGET: Final = Kind.EMOJI | Kind.TICK | Kind.SYMBOL
"""Kinds that count where the target has one."""
OF_BOTH: Final = Kind.BRACKET | Kind.UNIT
"""Kinds that count where both texts have one."""

_TICKS: Final = {**dict.fromkeys("✔✅☑🗸", "✓"), **dict.fromkeys("✘✕✖❌❎🗙🗴🗵", "✗")}
_DECORATION: Final = frozenset("✨⭐⚡❗❕❓❔❤☺☹")
"""Emoji among the older symbols."""
_PICTURES: Final = range(0x1F100, 0x20000)
_TAGS: Final = range(0xE0020, 0xE0080)
"""What follows a black flag to make it that of England, Scotland or Wales."""
_VARIATIONS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
_ARROWS: Final = (
    range(0x2190, 0x2200),
    range(0x27F0, 0x2800),
    range(0x2900, 0x2980),
    range(0x2B00, 0x2C00),
)
_CODE_MAX: Final = 0x10FFFF
_TRADE_MARKS: Final = frozenset("®™©℠℗")
_ALWAYS: Final = frozenset("♭♮")
_UNIT_MARKS: Final = frozenset("°′″")
_BRACKETS: Final = frozenset("()[]{}⟨⟩")
_KEYCAP: Final = "\u20e3"
_FOLDED: Final = {
    **dict.fromkeys("−–‐‑‒", "-"),
    **dict.fromkeys("⁄∕", "/"),
    **dict.fromkeys("´ʻʼ＇‘’", "'"),
    **_TICKS,
    "∗": "*",
    "∼": "~",
    "∶": ":",
    "٪": "%",
    "♯": "#",
    "\u0640": "",
}
_SPACES: Final = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_QUOTES_AND_SPACES: Final = str.maketrans(
    dict.fromkeys("“”„‟«»", '"') | dict.fromkeys(_SPACES, " ")
)
_PRIVATE: Final = 0xF0000
"""Where Unicode's supplementary private characters begin; protected marks are kept there while
others are removed.
"""
PROTECTED: Final = "\U000f0000-\U0010ffff"
"""The protected marks, as the inside of a character class."""
_RELATIONS: Final = {"!=": "≠", "<=": "≤", ">=": "≥", "->": "→", "=>": "⇒"}
_RELATION = re.compile("|".join(_RELATIONS))
_PER_CENT = re.compile(r"(?<=\d)[^\S\n]*(?:%|per[ -]?cents?\b)", re.IGNORECASE)
_EXPONENT = re.compile(r"\^\{(-?\w+)\}")
_MEANINGFUL = re.compile(
    r"""
      - (?<! [\w.)\]]- ) (?= [$€£¥]?\.?\d | [^\W\d_](?![^\W\d_]) | [\\(√∞] )   # -5, -x, -$5, not the hyphen of "a-b"
    | - (?<= [=<>≤≥≠][^\S\n]- ) (?= [^\S\n][\d.] )              # x = - 5
    | - (?: (?<=\d-) | (?<=\b\w-) | (?<=\b\w\w-) ) (?! [\w-] )   # A- and Cl-
    | \. (?<=\d\.) (?=\d)                                        # 3.14
    | \. (?<!\w\.) (?=\d)                                        # .5
    | / (?<=\d/) (?<!/\d/) (?<!/\d\d/) (?=\d) (?!\d+/)            # 1/2, not a date
    | / (?<=\b[A-Za-z]/) (?=[^\W_]\b)                            # m/s
    | / (?<=\b\d/) (?=[A-Za-z]\b)
    | [+\#] (?<=\w[+\#]) [+\#]*                                   # C++ and C#
    | [+\#]{2,}
    | \+ (?<= [\w)\]}][^\S\n]\+ ) (?= [^\S\n][\w(\\] )            # x + 5
    | \^ (?<= [\w)\]]\^ ) (?= [\w\\(] | - )                      # x^2
    | \^ (?<! [^\s{(`"'*]\^ ) (?= [\w(\[.] )                      # ^a+$
    | ~ (?= [\d.$] | [A-Za-z](?![A-Za-z]) )                      # ~5 and ~p
    | [%‰‱] (?<=\d[%‰‱])
    | : (?<=\d:) (?=\d)                                          # 10:30
    | \| (?<=\w\|)                                               # |x|
    | \| (?=[-\w])
    | \* (?<=\d\*) (?=[\dA-Za-z(])                               # 2*3
    | [*/] (?<= [\d)][^\S\n][*/] ) (?= [^\S\n][\d(] )             # 2 * 3
    | ['′] (?=['′]{0,2}\()                                       # f'(x)
    | [<>=≤≥≠]
    """,
    re.VERBOSE,
)
"""Marks that change what a text means. Each alternative begins with its mark, and has no group
around it, so that the engine skips to these characters; with groups normalising took 40 %
longer."""
_STARRED = re.compile(r"\*(?<=\b[^\W\d_]\*)(?!\w)")
_OUTER: Final = (
    string.whitespace + string.punctuation + "“”„‟«»‘’‚‛…–—。，、！？：；（）「」『』【】《》"
)
_EDGE: Final = 8
"""Characters on either side of an edge that are looked at for marks with a meaning."""
_LEADING: Final = frozenset("-.~|<>=+#*'±√≈")
_TRAILING: Final = frozenset("-+#%‰‱*|<>=")
"""The outermost marks that can have a meaning."""
_WORD = re.compile(r"[^\W_]")
_MARKED = re.compile(r"[()\[\]{}]|[^\x00-\x7f]")
_UNITS = re.compile(r"[°′″]|(?<=\d)['’\"”]")
_MAY_BE_CURRENCY = re.compile(r"[$]|[^\x00-\x7f]")
_UNIT_FOLD: Final = {"'": "′", "’": "′", '"': "″", "”": "″"}
_TAG = re.compile(
    r"""
    <\|[^<>|\n]{1,40}\|>                                            # the end of a turn
    | < (?: /[A-Za-z][\w.-]{0,40} | (?<!\w<)[A-Za-z] | [A-Za-z][\w.-]{1,40} )
        (?: \s+[\w:-]{1,40}\s?=\s?(?:"[^"<>\n]{0,200}"|'[^'<>\n]{0,200}') ){0,9} \s?/?>
    """,
    re.VERBOSE,
)
"""A tag of HTML or XML, but not the relations of ``a<b>c``."""
_LATEX_TEXT = re.compile(r"\\(?:boxed|fbox|text[a-z]{0,8}|math[a-z]{2,4})\s?\{([^{}]{0,4000})\}")
_NESTED_MAX: Final = 3
_QUOTED = re.compile(r"^[^\S\n]*>[^\S\n]+(?=[^\W\d_]{2})", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,400}~~")
_ESCAPED = re.compile(r"\\([#$%&_{}])")
_FACTORIAL = re.compile(r"(?<!\d)\d{1,3}!(?!=)")


def has_word(text: str) -> bool:
    """Return whether a text has a letter or a digit, and is not of marks alone."""
    return _WORD.search(text) is not None


def mark_kind(character: str) -> Kind:
    """Return the kind of a character, `Kind.NONE` for one that always counts or never does."""
    if character in _BRACKETS:
        return Kind.BRACKET
    if character.isascii() or character in _ALWAYS:
        return Kind.NONE
    code, category = ord(character), unicodedata.category(character)
    if character in _TICKS or character in "✓✗":
        return Kind.TICK
    if character in _UNIT_MARKS:
        return Kind.UNIT
    if character in _DECORATION or character == _KEYCAP or code in _TAGS:
        return Kind.EMOJI
    if category == "So" and character not in _TRADE_MARKS:
        return Kind.EMOJI if code in _PICTURES else Kind.SYMBOL
    return (
        Kind.SYMBOL if category == "Sm" and any(code in arrows for arrows in _ARROWS) else Kind.NONE
    )


@cache
def _kind_number(character: str) -> int:
    """Return a kind as a plain integer, whose union costs a tenth of a flag's."""
    return int(mark_kind(character))


def kinds(text: str) -> Kind:
    """Return the kinds of marks that a text has.

    >>> kinds("K♠ 🎉") == Kind.SYMBOL | Kind.EMOJI, kinds("(a, b]"), kinds("Paris!") == Kind.NONE
    (True, <Kind.BRACKET: 8>, True)
    """
    if not _MARKED.search(text):
        return Kind.NONE
    union = 0
    for character in set(text):
        union |= _kind_number(character)
    return Kind(union)


def kinds_that_count(answer: str, target: str) -> Kind:
    """Return the kinds that count when these two are compared.

    >>> kinds_that_count("Paris 🎉", "Paris") == Kind.NONE, kinds_that_count("A ✗", "A ✓")
    (True, <Kind.TICK: 2>)
    """
    wanted = kinds(target)
    if not wanted:
        return wanted
    shared = wanted & OF_BOTH
    return wanted & OF_TARGET | (shared & kinds(answer) if shared else shared)


def same_signs(answer: str, target: str) -> bool:
    """Return whether currencies, units after digits and factorials agree; one side may lack the
    first two.

    >>> same_signs("$5", "€5"), same_signs("5€", "€5"), same_signs("$5", "5"), same_signs("5!", "5")
    (False, True, True, False)
    """
    if ("!" in answer or "!" in target) and bool(_FACTORIAL.search(answer)) != bool(
        _FACTORIAL.search(target)
    ):
        return False
    currencies = _currencies(target)
    if currencies and currencies != (_currencies(answer) or currencies):
        return False
    units = _units(target)
    return not units or units == (_units(answer) or units)


def fold(text: str) -> str:
    """Return a text in which a mark or a digit is written in one way only, and nothing is invisible
    but joiners.

    >>> fold("−5 ✔️"), fold("Kleenex™"), fold("٤٢"), fold("Pa\u200bris")
    ('-5 ✓', 'Kleenex', '42', 'Paris')
    """
    return text if text.isascii() else text.translate(_FOLD)


def searchable(text: str, *, ignore_case: bool = True) -> str:
    """Return a text as it is searched for another, or in one: `fold`, with quotes and spaces in
    one way only too.

    Trade marks stay, and so does a text of invisible signs alone.

    >>> searchable("I can’t co‑operate in New\u00a0York"), searchable("Mo\u00adther’s", ignore_case=False)
    ("i can't co-operate in new york", "Mother's")
    """
    plain = text
    if not text.isascii():
        plain = unicodedata.normalize("NFC", text)
        plain = plain.translate(_SEARCHED).translate(_QUOTES_AND_SPACES) or plain
    return plain.casefold() if ignore_case else plain


def comparable(text: str, counting: Kind = Kind.NONE) -> str:
    """Return a text folded, with compatible letters as usual ones, and with symbols of other kinds
    as spaces.

    >>> comparable("Ｂ 😊"), comparable("K♠ 😊", Kind.SYMBOL), comparable("20 ℃", Kind.UNIT)
    ('B  ', 'K♠  ', '20 °C')
    """
    return text if text.isascii() else fold(text).translate(_comparable(counting))


def with_signs(text: str) -> str:
    """Return the text with signs of several characters as one: ``!=`` as ``≠``, ``5 per cent`` as
    ``5%``.

    >>> with_signs("x != y"), with_signs("5 per cent"), with_signs("x^{10}")
    ('x ≠ y', '5%', 'x^10')
    """
    if "=" in text or "->" in text:
        text = _RELATION.sub(lambda match: _RELATIONS[match[0]], text)
    if "%" in text or "cent" in text:
        text = _PER_CENT.sub("%", text)
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    if ">" in text:
        text = _QUOTED.sub("", text)
    if "^{" in text:
        text = _EXPONENT.sub(r"^\1", text)
    return text


def without_latex(text: str, around: str = " ") -> str:
    """Return the text with what LaTeX boxes and sets as text bare, and the characters that it
    escapes as they are.

    >>> without_latex("$\\\\boxed{\\\\text{C\\\\#}}$")
    '$  C#  $'
    """
    if "\\" not in text:
        return text
    for _ in range(_NESTED_MAX):
        text = _LATEX_TEXT.sub(lambda match: f"{around}{match[1]}{around}", text)
    return _ESCAPED.sub(r"\1", text)


def has_tag(text: str) -> bool:
    """Return whether a text has a tag of HTML or XML, or a token that ends a turn.

    >>> has_tag("<b>Paris</b>"), has_tag("Paris<|im_end|>"), has_tag("a<b>c"), has_tag("x < y")
    (True, True, False, False)
    """
    return "<" in text and _TAG.search(text) is not None


def without_markup(text: str) -> str:
    """Return the text, in the same length, with tags as emphasis and what is struck out as spaces.

    >>> without_markup("~~Rome~~ <b>Paris</b>")
    '         ***Paris****'
    """
    if "~~" in text:
        text = _STRUCK.sub(lambda match: " " * len(match[0]), text)
    return _TAG.sub(lambda match: "*" * len(match[0]), text) if "<" in text else text


def has_markup(text: str) -> bool:
    """Return whether a text is itself written with tags, struck out text or LaTeX."""
    return "\\" in text or "~~" in text or has_tag(text)


def undress(answer: str, target: str) -> str:
    """Return an answer without tags, struck out text and LaTeX's boxes, unless the target has such
    itself.
    """
    if not has_tag(target) and "~~" not in target:
        answer = without_markup(answer)
    return answer if "\\" in target else without_latex(answer)


def protect(text: str) -> str:
    """Return the text, in the same length, with each mark that has a meaning as a private
    character, no punctuation.

    >>> [len(part) for part in protect("x = A- !").split(" ")], restore(protect("A-"))
    ([1, 1, 2, 1], 'A-')
    """
    if text.count("*") == 1:
        text = _STARRED.sub(_hidden, text)
    return _MEANINGFUL.sub(lambda match: "".join(map(_hidden_character, match[0])), text)


def trim(text: str) -> str:
    """Return the text without the spaces and punctuation around it, but for marks that have a
    meaning.

    >>> trim("**A-**."), trim("(A)"), trim("-5."), trim("?")
    ('A-', 'A', '-5', '?')
    """
    text = text.strip()
    end = len(text.rstrip(_OUTER))
    start = len(text) - len(text.lstrip(_OUTER))
    if start >= end:
        return text
    if start and text[start - 1] in _LEADING:
        shift = max(0, start - _EDGE)
        before = protect(text[shift : start + _EDGE])
        while start > shift and before[start - shift - 1] >= PROTECTED[0]:
            start -= 1
    if text[end : end + 1] in _TRAILING:
        shift = max(0, end - _EDGE)
        after = protect(text[shift : end + _EDGE])
        while end - shift < len(after) and after[end - shift] >= PROTECTED[0]:
            end += 1
    return text[start:end]


def space_marks(text: str, counting: Kind = Kind.NONE) -> str:
    """Return a protected text with other punctuation and symbols as spaces, but for those of the
    kinds that count.
    """
    return text.translate(_space_table(counting))


def restore(text: str) -> str:
    """Return a protected text with its marks as they were."""
    return text if text.isascii() else text.translate(_RESTORED)


def _hidden(match: re.Match[str]) -> str:
    return _hidden_character(match[0])


def _hidden_character(mark: str) -> str:
    """Return the private character of a mark; beyond the emoji there is no room, and no need."""
    code = _PRIVATE + ord("'" if mark == "′" else mark)
    return chr(code) if code <= _CODE_MAX else mark


def _fold(character: str) -> str | int | None:
    code, category = ord(character), unicodedata.category(character)
    if character in _FOLDED:
        return _FOLDED[character]
    if category == "Nd":
        return str(unicodedata.digit(character))
    if code in _TAGS:
        return character
    if category == "Co":
        return " "
    is_variation = any(code in selectors for selectors in _VARIATIONS)
    is_unseen = category == "Cf" or is_variation or code in _SKIN_TONES or character in _TRADE_MARKS
    return "" if is_unseen else character


@lru_cache(maxsize=256)
def _comparable(counting: Kind) -> TranslationTable:
    def replacement(character: str) -> str:
        if "\uff01" <= character <= "\uff5e" and (character.isalnum() or character in "（）"):
            return chr(ord(character) - 0xFEE0)
        plain = (
            unicodedata.normalize("NFKC", character)
            if unicodedata.category(character) == "So"
            else character
        )
        if plain != character and any(map(str.isalnum, plain)):
            return "".join(map(replacement, plain))  # ℃ and Ⓐ are letters
        kind = mark_kind(character)
        if not kind or kind & (counting | Kind.BRACKET):
            return character
        return " "

    return TranslationTable(replacement)


@lru_cache(maxsize=256)
def _space_table(counting: Kind) -> TranslationTable:
    def replacement(character: str) -> str:
        kind, category = mark_kind(character), unicodedata.category(character)
        if kind:
            return _hidden_character(character) if kind & counting else " "
        if character in _ALWAYS or (category == "Sm" and not character.isascii()):
            return _hidden_character(character)
        return " " if category[0] in "PS" else character

    return TranslationTable(replacement)


def _currencies(text: str) -> set[str]:
    if not _MAY_BE_CURRENCY.search(text):
        return set()
    plain = text.strip()
    if plain[:1] == plain[-1:] == "$":
        plain = plain.strip("$")
    return {
        unicodedata.normalize("NFKC", mark)
        for mark in set(plain)
        if unicodedata.category(mark) == "Sc"
    }


def _units(text: str) -> list[str]:
    return [_UNIT_FOLD.get(mark, mark) for mark in _UNITS.findall(text)]


_FOLD = TranslationTable(_fold)
_SEARCHED = TranslationTable(
    lambda character: character if character in _TRADE_MARKS else _fold(character)
)
_RESTORED = TranslationTable(
    lambda mark: chr(ord(mark) - _PRIVATE) if ord(mark) >= _PRIVATE else mark
)
