"""Formulas in a response, and the response with a word in place of each, as the reader of words takes it.

A formula stands between delimiters (``$…$``, ``\\\\[…\\\\]``), in a box or an environment, or is written without any
(``20 - 4√5``, ``(-∞, 2]``, ``\\\\frac12``). Commas, full stops and line ends in it are none of the sentence around it.
Depends on `nel.scoring.reading.wrappers`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.wrappers import is_placeholder, untex

WORD: Final = "Xqzw"
"""What stands in place of a formula: a name that no language has, so that a reader takes it for a short answer."""
_FORMULA_MAX: Final = 2_000
_FUNCTION: Final = (
    "(?:arc(?:sin|cos|tan)|(?:sin|cos|tan)h?|cot|sec|csc|log|ln|exp|sqrt|gcd|lcm|max|min|det|mod|pi|infty|oo)"
)
_GROUP: Final = r"\{(?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]{0,80}\}){0,80}\}){0,120}\}"
_COMMAND: Final = rf"""
    \\(?!boxed|fbox|begin|end|item|section|par\b|n\b|(?:text|math)\w{{0,2}}\s*\{{[^{{}}]{{0,60}}[:：]\s*\}}) [A-Za-z]+
    (?: \s? (?: {_GROUP} | \[[\w+-]{{1,6}}\] | _{_GROUP} | _\w | \^{_GROUP} | \^\w ) )*
    (?: \s (?= \\[A-Za-z({{] | [-−]?\d | [(\[{{√π∞] | [a-z](?![A-Za-z'’]) (?!\s[a-z]) ) )?
"""
_BRACKET: Final = rf"""
    (?: \\left\s? )? \\?[\[({{] (?! [^()\[\]{{}}\n]{{0,60}}? (?<![\\A-Za-z\d])(?!{_FUNCTION}\b)[^\W\d_]{{2,}} )
    (?: [^()\[\]{{}}\n\\] | \\[A-Za-z,;:!%|] | {_GROUP} | [\[({{] [^()\[\]{{}}\n]{{0,40}} [\])}}] ){{1,80}}
    (?: \\right\s? )? \\?[\])}}]
"""
_LETTER: Final = r"(?<![A-Za-z\d'’\\]) (?<![^\W_]_) (?: [b-hj-zB-HJ-Z] | [aAiI](?!\s[a-z]|['’]) ) (?![A-Za-z'’])"
_ATOM: Final = rf"""
    (?:
        (?: \d+ (?:[.,]\d+)* | \.\d+ ) (?: [a-z]{{1,3}} (?![A-Za-z]) )?
      | {_COMMAND}
      | {_BRACKET}
      | {_FUNCTION} (?: _\{{?\w+\}}? )? (?: \( [^()\n]{{1,40}} \) | \s[\dxyt]\w* )
      | {_LETTER}
      | [√∛] (?: \d+ (?:\.\d+)? | \([^()\n]{{1,30}}\) | [a-z] )
      | [π∞ℝℕℤℚℂ∅θφαβγλ]
    )
    (?: \^ \s? (?: {_GROUP} | \([^()\n]{{1,30}}\) | [-−+]?[A-Za-z0-9.]*[A-Za-z0-9] | \\[a-z]+ | \* )
      | _ (?: {_GROUP} | [A-Za-z0-9]{{1,3}} (?!\w) ) | [⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿˣ′₀₁₂₃₄₅₆₇₈₉]+ | !(?![\w=]) | \\?% | °[CF]?
    )*
"""
_OPERATOR: Final = (
    r"(?:[+−–·×÷=<>≤≥≠≈±∪∩∈∖]|-(?!-)|(?<!\*)\*(?!\*)|/(?![/>]|[A-Za-z]{2})|<=|>=|!=|\\(?:cdot|times|div|pm|mp|leq?|geq?|"
    r"lt|gt|neq?|approx|equiv|cup|cap|in|setminus|to|bmod|pmod|over)(?![A-Za-z]))"
)
_BARE: Final = rf"""
    (?<![A-Za-z\d\\^]) (?<![^\W_]_) (?: (?<![A-Za-z\d_)\]}}]) [-−+±] )? {_ATOM}
    (?: \s? {_OPERATOR} \s? [-−+]? {_ATOM} | {_ATOM} | \s (?=\\) {_COMMAND} ){{0,60}}
"""
_TRIVIAL: Final = lazy_pattern(
    r"[-+−]?[\d.,]+(?:[a-z]{1,3}|\s?\\?%|°[CF]?)?|[A-Za-z]|[(\[]\w{0,3}[)\]]|\d+(?:[-/.:]\d+){2}|\\[A-Za-z]+\s?"
)
"""What is no formula: a number, a letter, a label in brackets, a date."""
_FORMULA: Final = lazy_pattern(
    rf"""
      (?P<quoted> (?<=[:=]\s) " (?=[^"\n]{{0,200}}\\\\) (?: [^"\\\n] | \\. ){{1,400}} " )
    | (?P<display> \$\$ (?: [^$\\\n] | \\. | \n(?!\s*\n) ){{1,{_FORMULA_MAX}}} \$\$ )
    | (?P<dollars> (?<![\\$A-Za-z\d]) \$ (?: [^$\\\n] | \\. | \n(?!\s*\n) ){{1,1000}} (?<!\\) \$ (?!\d) )
    | (?P<round> \\\( (?: [^\\\n] | \\[^)] | \n(?!\s*\n) ){{1,1000}}? \\\) )
    | (?P<square> \\\[ (?: [^\\\n] | \\[^\]] | \n(?!\s*\n) ){{1,{_FORMULA_MAX}}}? \\\] )
    | (?P<environment> \\begin\{{ (?P<name> [a-z]+\*? ) \}} [\s\S]{{0,{_FORMULA_MAX}}}? \\end\{{ (?P=name) \}} )
    | (?P<box> \\(?:boxed|fbox) (?=\s*\{{) )
    | (?P<bare> (?=[\d(\[{{\\√∛π∞ℝ∅\-−+±.A-Za-z]) (?: (?={_FUNCTION}[_(\ ]) | (?![A-Za-z]{{2}}) ) {_BARE} )
    """,
    re.VERBOSE,
)
_BOX: Final = lazy_pattern(r"\\(?:boxed|fbox)\s*\{")
_DELIMITERS: Final = {"quoted": 1, "display": 2, "dollars": 1, "round": 2, "square": 2}
"""Characters of the delimiters on each side."""
_PROSE: Final = lazy_pattern(r"[^\W\d_]{3,}\s+(?:[^\W\d_]+\s+)*[^\W\d_]{3,}")
"""Two words in a row: what stands between two dollar signs is a sentence with amounts of money."""
_COMMANDS: Final = lazy_pattern(r"\\[A-Za-z]+\s*(?:\{[^{}\\]*\})?")
_DISPLAYED: Final = lazy_pattern(rf"(?<=[\w,])\n{WORD}[.,]?\n(?=[a-z])")
"""A formula on a line of its own in the middle of a sentence."""
_BRACES: Final = lazy_pattern(r"\\[{}]|[{}]")
_BOX_MAX: Final = 4_000
_NO_ELEMENTS: Final = lazy_pattern(r"\s*\\(?:\{|lbrace)\s*(?:\\[,;:! ]\s*)?\\(?:\}|rbrace)\s*")
"""The empty set."""
_GOES_ON: Final = lazy_pattern(r"\.\d{2,40}\.{3}\s*\Z")
"""The end of a decimal that goes on: 0.333..."""
_ENDS: Final = lazy_pattern(r"(?:[\s.,;:。，]|\\[,;:! ]|\\q?quad)+\Z")


class Formula(NamedTuple):
    """A formula of a response, without its delimiters and a full stop after it; positions are the response's."""

    start: int
    end: int
    place: int
    """Where its word begins in the masked text."""
    items: tuple[tuple[int, int], ...] = ()
    """Where each of several stands that are one answer."""
    joint: str = ""
    """What joins them."""

    def written(self, text: str) -> str:
        """Return the formula as the response writes it, or the several ones joined."""
        if not self.items:
            return text[self.start : self.end]
        return self.joint.join(text[start:end].strip() for start, end in self.items)


class Masked(NamedTuple):
    """A response with `WORD` in place of each formula."""

    text: str
    formulas: tuple[Formula, ...]
    parts: tuple[tuple[int, int], ...]
    """Where each stretch that was kept begins, in the masked text and in the response."""

    def origin(self, place: int) -> int:
        """Return the place in the response that a place of the masked text stands for."""
        kept, start = self.parts[bisect_right(self.parts, (place, len(self.text) << 16)) - 1]
        return start + place - kept

    def within(self, start: int, end: int) -> tuple[Formula, ...]:
        """Return the formulas whose words stand in a stretch of the masked text."""
        return tuple(one for one in self.formulas if start <= one.place < end)


def masked(text: str) -> Masked:
    """Return a response with a word in place of each of its formulas; a box keeps its braces around the word.

    >>> masked("So $x = 5$, or \\\\boxed{\\\\frac12}, or 3 - 4√5.").text
    'So Xqzw, or \\\\boxed{Xqzw}, or Xqzw.'
    """
    writer = _Writer(text)
    place = 0
    while (match := _FORMULA.search(text, place)) is not None:
        writer.keep(place, match.start())
        place = writer.write(match)
    writer.keep(place, len(text))
    written = _DISPLAYED.sub(lambda found: found[0].replace("\n", " "), "".join(writer.written))
    return Masked(written, tuple(writer.formulas), tuple(writer.parts))


class _Writer:
    """Writes the masked text, and notes where everything in it stood."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.written: list[str] = []
        self.size = 0
        self.formulas: list[Formula] = []
        self.parts: list[tuple[int, int]] = []

    def keep(self, start: int, end: int, instead: str | None = None) -> None:
        """Write a stretch of the response, or something else in its place."""
        written = self.text[start:end] if instead is None else instead
        self.parts.append((self.size, start))
        self.written.append(written)
        self.size += len(written)

    def write(self, match: re.Match[str]) -> int:
        """Write what a formula becomes; return where the response goes on."""
        form = match.lastgroup if match.lastgroup != "name" else "environment"
        start, end = match.span()
        if form == "box":
            stop = closing_brace(self.text, self.text.index("{", end) + 1)
            if stop is None:
                self.keep(start, end)
                return end
            self._box(start, stop)
            return stop + 1
        if form == "bare":
            if _TRIVIAL.fullmatch(match[0]):
                self.keep(start, end)
            else:
                self._formula(start, end)
            return end
        width = _DELIMITERS.get(form or "", 0)
        inner = self.text[start + width : end - width]
        if form in ("dollars", "quoted") and _is_prose(inner):
            self.keep(start, start + 1)
            return start + 1
        if form == "quoted":
            self.keep(start, start + 1)
            self._formula(start + 1, end - 1)
            self.keep(end - 1, end)
            return end
        if "boxed" in inner or "fbox" in inner:
            return self._boxes(start, end)
        self._formula(start + width, end - width)
        return end

    def _boxes(self, start: int, end: int) -> int:
        """Write the boxes of a formula, and what stands between them."""
        place = start
        while (match := _BOX.search(self.text, place, end)) is not None:
            stop = closing_brace(self.text, match.end())
            if stop is None:
                break
            if place > start:
                self.keep(place, match.start())
            self._box(match.start(), stop)
            place = stop + 1
        if place == start:
            self.keep(start, end)
        return end

    def _box(self, start: int, stop: int) -> None:
        """Write a box with a word in it, or with its content where that is words or nothing."""
        inner = self.text.index("{", start) + 1
        while (nested := _BOX.match(self.text, inner)) is not None and (end := closing_brace(self.text, nested.end())):
            inner, stop = nested.end(), end
        self.keep(start, inner, "\\boxed{")
        self._formula(inner, stop)
        self.keep(stop, stop + 1)

    def _formula(self, start: int, end: int) -> None:
        found = formula_in(self.text, start, end)
        if found is None:
            self.keep(start, end, untex(self.text[start:end].strip(" $")))
            return
        self.formulas.append(Formula(*found, self.size))
        self.keep(start, end, WORD + ("." if "." in self.text[found[1] : end] else ""))


def formula_in(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the formula between two delimiters stands, or None where words stand there, or nothing."""
    inner = text[start:end]
    plain = untex(inner.strip(" $"))
    if _NO_ELEMENTS.fullmatch(inner):
        return start, end
    if is_placeholder(plain.strip(" .")) or _is_prose(plain):
        return None
    ends = None if _GOES_ON.search(inner) else _ENDS.search(inner)
    stop = end - (len(ends[0]) if ends else 0)
    stop -= text[start:stop].endswith("$")
    return start + len(inner) - len(inner.lstrip(" \n$")), stop


def _is_prose(text: str) -> bool:
    return _PROSE.search(_COMMANDS.sub(" ", text)) is not None


def closing_brace(text: str, start: int) -> int | None:
    """Return where the brace closes that opens before a place, or None."""
    depth = 1
    for brace in _BRACES.finditer(text, start, start + _BOX_MAX):
        if brace[0] == "{":
            depth += 1
        elif brace[0] == "}":
            depth -= 1
        if depth == 0:
            return brace.start()
    return None
