"""Replaces, by `QUOTED`, what are not a judge's own words: prompt, repeated texts and reasoning.

Time is linear in the reply's length. Depends on `nel.judges.quoting` and `nel.core.thinking`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from nel.core.thinking import has_closing_tag, split_reasoning
from nel.judges.quoting import Quoted, displayed_text, outside_marks

QUOTED: Final = "\ufffc"
"""Replaces each quotation."""
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0]"
)
"""Soft hyphens, joiners, fillers, directions, variation selectors: they split a keyword unseen."""
_LINE_ENDS: Final = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE_AND_MARKS: Final = re.compile(r"[\s*#_`~>.]+")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
"""A line that opens or closes a block of code, and the language after the mark."""
_BLOCK_QUOTE: Final = re.compile(r"(?m)^[ \t]*>.*$")
_QUOTATION_MARKS: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」")
_BEGINS_QUOTATION: Final = "\"'“‘„«「(:`"


def plain_lines(text: str) -> str:
    """Return a text with one kind of line end, without invisible characters and `QUOTED`."""
    return _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text)).replace(QUOTED, "?")


def only_repeats(reply: str, foreign: Iterable[str]) -> bool:
    """Return whether a reply is one of the quoted texts, once or several times, and nothing else.

    Nothing tells that it is the judge's; of a single word it may be: "5" of the response "5".
    """
    folded_reply = _fold(displayed_text(reply))
    for text in foreign:
        quotation = _fold(displayed_text(text))
        if not quotation or quotation.isalnum():
            continue
        if folded_reply == quotation * (len(folded_reply) // len(quotation)):
            return True
    return False


def _fold(text: str) -> str:
    return _SPACE_AND_MARKS.sub("", plain_lines(text)).casefold()


def own_words(reply: str, quoted: Quoted, *, is_verdict: Callable[[str], bool]) -> str:
    """Return a reply with `QUOTED` in place of the prompt, of repeated texts and of reasoning.

    Args:
        is_verdict: Returns whether a text is nothing but a verdict: it may be the judge's own.
    """
    text = plain_lines(reply)
    if quoted.code in text:
        text = text.replace(plain_lines(quoted.prompt).strip(), QUOTED)
        text = outside_marks(text, quoted.code, QUOTED)
    texts = {plain_lines(quotation).strip() for quotation in quoted.foreign} - {""}
    # The longest first: a short one may be part of it.
    foreign = sorted(texts, key=len, reverse=True)
    for quotation in foreign:
        if quotation in text and not is_verdict(quotation) and not _is_closing_tag(quotation):
            text = _without_repeated(text, quotation)
    if any(has_closing_tag(quotation) for quotation in foreign):
        return text  # a closing tag may be a quotation too
    reasoning, answer, is_closed = split_reasoning(text)
    if not is_closed:
        return QUOTED
    return text if reasoning is None else f"{QUOTED}\n{answer}"


def without_quotations(text: str) -> str:
    """Return a text with `QUOTED` in place of fences, block quotes and quotations."""
    return _QUOTATION_MARKS.sub(QUOTED, _BLOCK_QUOTE.sub(QUOTED, _without_fences(text)))


def _is_closing_tag(text: str) -> bool:
    return has_closing_tag(text) and not split_reasoning(text)[1]


def _without_repeated(text: str, quotation: str) -> str:
    """Remove a text from lines of its own, or, with several lines, where a quotation may begin.

    Elsewhere it may be the judge's own sentence, which the text's author foresaw.
    """
    pieces: list[str] = []
    start = 0
    begin = text.find(quotation)
    while begin >= 0:
        end = begin + len(quotation)
        before = text[max(begin - 80, 0) : begin].rstrip(" \t")
        after = text[end : end + 80].lstrip(" \t")
        begins = not before or before.endswith(("\n", QUOTED))
        ends = not after or after.startswith("\n")
        stands_alone = begins and ends
        has_lines = "\n" in quotation
        if stands_alone or (has_lines and (begins or before[-1] in _BEGINS_QUOTATION)):
            pieces += [text[start:begin], QUOTED]
            start = end
        begin = text.find(quotation, end)
    return "".join([*pieces, text[start:]])


def _without_fences(text: str) -> str:
    """Remove code fences; one that is never closed hides nothing."""
    lines: list[str] = []
    fence, fence_line = "", 0
    for line in text.split("\n"):
        # A block ends with at least as many marks as it began with, and with nothing after them.
        mark = _FENCE.fullmatch(line)
        if fence and mark and mark[1].startswith(fence) and not mark[2].strip():
            lines[fence_line:] = [QUOTED]
            fence = ""
            continue
        if mark and not fence:
            fence, fence_line = mark[1], len(lines)
        lines.append(line)
    return "\n".join(lines)
