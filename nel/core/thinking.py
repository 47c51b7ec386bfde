"""Splits the text of a model into its reasoning and its answer, live and recorded ones alike.

It is done once, where a response arrives. A tag in a quotation is part of an answer about tags, or
of a program, and means nothing. Takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, NamedTuple

# A code fence at the start of a line, or the triple quotes of a Python text anywhere.
_BLOCK_MARK: Final = re.compile(r"(?m)^[ \t]*(?P<fence>```|~~~)|(?P<quotes>\"\"\"|''')")
# "…", “…”, `…` or '…'; the apostrophe of "don't" follows a letter, and opens nothing.
_QUOTATION: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|“[^”]*”|`[^`]*`|(?<!\w)'(?:\\.|[^'\\])*'")
_LINE_MAX: Final = 500
"""Characters of its line before and after a tag in which quotation marks are searched."""


class Quotations:
    """Where a text quotes: in code fences, triple quotes, quotation marks and backticks."""

    def __init__(self, text: str) -> None:
        """Take a text; nothing is searched before it is asked for."""
        self._text = text

    def first_outside(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """Return the first match of a pattern from a position on that is not quoted, or None."""
        return next(
            (match for match in pattern.finditer(self._text, start) if not self._covers(match)),
            None,
        )

    def _covers(self, match: re.Match[str]) -> bool:
        if not self._has_marks:
            return False
        start, end = match.span()
        if any(opening < start and end <= closing for opening, closing in self._blocks):
            return True
        line_start = max(self._text.rfind("\n", 0, start) + 1, start - _LINE_MAX)
        line_end = self._text.find("\n", end, end + _LINE_MAX)
        if line_end < 0:
            line_end = min(len(self._text), end + _LINE_MAX)
        return any(
            quotation.start() < start and end < quotation.end()
            for quotation in _QUOTATION.finditer(self._text, line_start, line_end)
        )

    @cached_property
    def _has_marks(self) -> bool:
        return any(mark in self._text for mark in ('"', "`", "'", "“", "~~~"))

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """The spans between a mark that opens a block and the next of its kind."""
        blocks = []
        opening: re.Match[str] | None = None
        for mark in _BLOCK_MARK.finditer(self._text):
            if opening is None:
                opening = mark
            elif mark[0].strip() == opening[0].strip():
                blocks.append((opening.start(), mark.end()))
                opening = None
        return blocks


class _Tags(NamedTuple):
    """What opens and closes a block of reasoning, as patterns that ignore upper and lower case."""

    opening: str
    closing: str
    may_close_alone: bool = False
    """Whether a chat template may put the opening tag into the prompt, and so out of the text."""


# As servers leave them that are not told to part reasoning from answers.
_SPELLINGS: Final = (
    # DeepSeek, Qwen and most others; Gemini; prompts that ask for reasons.
    _Tags(r"<think(?:ing)?>", r"</think(?:ing)?>", may_close_alone=True),
    _Tags(r"<thought>", r"</thought>", may_close_alone=True),
    _Tags(r"<reasoning>", r"</reasoning>", may_close_alone=True),
    # Seed and MiniMax; LongCat; Magistral; Kimi; openPangu; Solar Open 2; PLaMo 3.
    _Tags(r"<(?:seed|mm):think>", r"</(?:seed|mm):think>", may_close_alone=True),
    _Tags(r"<longcat_think>", r"</longcat_think>", may_close_alone=True),
    _Tags(r"\[THINK\]", r"\[/THINK\]", may_close_alone=True),
    _Tags(r"◁think▷", r"◁/think▷", may_close_alone=True),
    _Tags(r"\[unused16\]", r"\[unused17\]", may_close_alone=True),
    _Tags(r"<\|think:start\|>", r"<\|think:end\|>", may_close_alone=True),
    _Tags(r"<\|plamo:begin_think:plamo\|>", r"<\|plamo:end_think:plamo\|>", may_close_alone=True),
    # Command and Kimi K3, which mark the answer too.
    _Tags(
        r"<\|START_THINKING\|>",
        r"<\|END_THINKING\|>(?:\s*<\|START_(?:TEXT|RESPONSE)\|>)?",
        may_close_alone=True,
    ),
    _Tags(
        r"<\|open\|>think<\|sep\|>",
        r"<\|close\|>think<\|sep\|>(?:<\|open\|>response<\|sep\|>)?",
        may_close_alone=True,
    ),
    # Sky-T1; MedGemma; Gemma 4; Apertus.
    _Tags(r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    _Tags(r"<unused94>", r"<unused95>"),
    _Tags(r"<\|channel>thought", r"<channel\|>"),
    _Tags(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    # The messages of Inkling and the channels of gpt-oss.
    _Tags(
        r"(?:<\|message_model\|>)?<\|content_thinking\|>",
        r"<\|end_message\|>(?:(?:<\|message_model\|>)?<\|content_text\|>)?",
    ),
    _Tags(
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>",
        r"<\|end\|>(?:<\|start\|>assistant<\|channel\|>final<\|message\|>)?",
    ),
    # Words that an ordinary answer may begin with: they need the mark of the end after them.
    # gpt-oss without its special tokens, "analysisWe need 18.assistantfinal18"; Granite; Apriel.
    _Tags(r"(?-i:analysis(?=[A-Z]|(?s:.*)assistantfinal))", r"assistantfinal"),
    _Tags(
        r"Here(?: is|'s) my thought process:(?=(?s:.*)Here(?: is|'s) my response:)",
        r"Here(?: is|'s) my response:",
    ),
    _Tags(
        r"Here are my reasoning steps:(?=(?s:.*)\[BEGIN FINAL RESPONSE\])",
        r"\[BEGIN FINAL RESPONSE\]",
        may_close_alone=True,
    ),
)
# One group for each spelling: the number of the group that matches says which one closes it.
_OPENINGS: Final = re.compile(
    rf"\s*(?:{'|'.join(f'({tags.opening})' for tags in _SPELLINGS)})", re.IGNORECASE
)
_CLOSINGS: Final = [re.compile(tags.closing, re.IGNORECASE) for tags in _SPELLINGS]
_LONE_OPENING: Final = re.compile(
    "|".join(tags.opening for tags in _SPELLINGS if tags.may_close_alone), re.IGNORECASE
)
_LONE_CLOSING: Final = re.compile(
    "|".join(tags.closing for tags in _SPELLINGS if tags.may_close_alone), re.IGNORECASE
)


def split_reasoning(text: str) -> tuple[str | None, str, bool]:
    """Return ``(reasoning, answer, closed)`` of a text that may begin with ``<think>`` or the like.

    Some chat templates put the opening tag into the prompt, so that the text has the closing one
    alone. A block that never closes means that the answer was cut off before it began. A closing
    tag in a code fence, in quotation marks or in backticks is text; of a block that has no other
    closing tag it is the end.

    >>> split_reasoning("<think>20? Hmm, no.</think> 18")
    ('20? Hmm, no.', '18', True)
    >>> split_reasoning("<think>20?")
    ('20?', '', False)
    >>> split_reasoning("Cut at '</think>'.")
    (None, "Cut at '</think>'.", True)
    """
    if not (_OPENINGS.match(text) or _LONE_CLOSING.search(text)):
        return None, text, True
    quotations = Quotations(text)
    parts: list[str] = []
    start = 0
    while (opening := _OPENINGS.match(text, start)) is not None:
        pattern, begin = _CLOSINGS[(opening.lastindex or 1) - 1], opening.end()
        closing = quotations.first_outside(pattern, begin) or pattern.search(text, begin)
        if closing is None:
            return _join([*parts, text[begin:].strip()]), "", False
        parts.append(text[begin : closing.start()].strip())
        start = closing.end()
    if parts:
        return _join(parts), text[start:].lstrip(), True
    lone = quotations.first_outside(_LONE_CLOSING, 0)
    # After an opening tag, it closes a block that follows the answer.
    if lone is None or _LONE_OPENING.search(text, 0, lone.start()):
        return None, text, True
    return text[: lone.start()].strip(), text[lone.end() :].lstrip(), True


def has_closing_tag(text: str) -> bool:
    """Return whether a text holds a tag that can end reasoning without an opening one."""
    return _LONE_CLOSING.search(text) is not None


def _join(parts: list[str]) -> str:
    return "\n".join(text for text in parts if text)
