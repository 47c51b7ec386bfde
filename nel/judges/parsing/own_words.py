"""Removes from a judge's reply what are not its own words: the prompt, quoted texts that it
repeats, its reasoning.

What is removed becomes `QUOTED`. Time is linear in the reply's length. Depends on
`nel.judges.quoting` and `nel.core.thinking`.
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
"""Soft hyphens, joiners, fillers, text directions and variation selectors: they would split a
keyword unseen.
"""
_LINE_ENDS: Final = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE_AND_MARKS: Final = re.compile(r"[\s*#_`~>.]+")
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_BLOCK_QUOTE: Final = re.compile(r"(?m)^[ \t]*>.*$")
_QUOTATION_MARKS: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」")
_BEGINS_QUOTATION: Final = "\"'“‘„«「(:`"


def plain_lines(text: str) -> str:
    """Return a text with ``\\n`` as its only line end, without invisible characters and without
    `QUOTED`.
    """
    return _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text)).replace(QUOTED, "?")


def only_repeats(reply: str, foreign: Iterable[str]) -> bool:
    """Return whether a reply is one of the quoted texts, once or several times, and nothing else.

    Such a reply is no verdict, whatever it says: nothing tells that it is the judge's. A text of a
    single word or number is left out, since a judge may say "5" of the response "5".
    """
    whole = _folded(displayed_text(reply))
    for text in foreign:
        quotation = _folded(displayed_text(text))
        times, rest = divmod(len(whole), len(quotation) or 1)
        if quotation and not rest and not quotation.isalnum() and whole == quotation * times:
            return True
    return False


def _folded(text: str) -> str:
    return _SPACE_AND_MARKS.sub("", plain_lines(text)).casefold()


def own_words(reply: str, quoted: Quoted, *, is_verdict: Callable[[str], bool]) -> str:
    """Return a reply with `QUOTED` in place of the prompt, of repeated texts and of reasoning.

    Args:
        reply: As received.
        quoted: The question.
        is_verdict: Returns whether a text is nothing but a verdict. Repeated, such a text looks the
            same as the judge's own verdict, so it stays, and the reader decides.
    """
    text = plain_lines(reply)
    if quoted.code in text:
        text = text.replace(plain_lines(quoted.prompt).strip(), QUOTED)
        text = outside_marks(text, quoted.code, QUOTED)
    foreign = sorted(
        {plain_lines(text_of_others).strip() for text_of_others in quoted.foreign} - {""},
        key=len,
        reverse=True,
    )
    for quotation in foreign:
        if quotation in text and not is_verdict(quotation) and not _is_closing_tag(quotation):
            text = _without_repeated(text, quotation)
    if any(has_closing_tag(quotation) for quotation in foreign):
        return text  # a closing tag may be a quotation too
    reasoning, answer, is_closed = split_reasoning(text)
    return (f"{QUOTED}\n{answer}" if reasoning is not None else text) if is_closed else QUOTED


def without_quotations(text: str) -> str:
    """Return a text with `QUOTED` in place of code fences, block quotes and text in quotation
    marks.
    """
    return _QUOTATION_MARKS.sub(QUOTED, _BLOCK_QUOTE.sub(QUOTED, _without_fences(text)))


def _is_closing_tag(text: str) -> bool:
    return has_closing_tag(text) and not split_reasoning(text)[1]


def _without_repeated(text: str, quotation: str) -> str:
    """Remove a text where it is repeated: on lines of its own, or, with several lines, where a
    quotation may begin.

    Elsewhere it may be part of the judge's own sentence, which the text's author predicted in order
    to have it removed.
    """
    pieces: list[str] = []
    start = 0
    begin = text.find(quotation)
    while begin >= 0:
        end = begin + len(quotation)
        before, after = (
            text[max(begin - 80, 0) : begin].rstrip(" \t"),
            text[end : end + 80].lstrip(" \t"),
        )
        begins = not before or before.endswith(("\n", QUOTED))
        ends = not after or after.startswith("\n")
        if (begins and ends) or ("\n" in quotation and (begins or before[-1] in _BEGINS_QUOTATION)):
            pieces += [text[start:begin], QUOTED]
            start = end
        begin = text.find(quotation, end)
    return "".join([*pieces, text[start:]])


def _without_fences(text: str) -> str:
    """Remove code fences; one that is never closed hides nothing."""
    lines: list[str] = []
    fence, opened = "", 0
    for line in text.split("\n"):
        mark = _FENCE.fullmatch(line)
        if fence and mark and mark[1].startswith(fence) and not mark[2].strip():
            lines[opened:] = [QUOTED]
            fence = ""
            continue
        if mark and not fence:
            fence, opened = mark[1], len(lines)
        lines.append(line)
    return "\n".join(lines)
