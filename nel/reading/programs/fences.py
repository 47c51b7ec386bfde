"""Fenced blocks in a text as models write it: unclosed, nested, glued to code, after a sentence.

CommonMark closes a block at the first fence that stands alone. Models also write such lines into
docstrings, so the first possible end is taken that leaves a whole program, as the caller tells.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

_FENCE_LINE = re.compile(
    r"^(?![ \t]*///)(?P<lead>[^\n]*?)(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)$", re.MULTILINE
)
"""A line with a fence; not in a comment of Rust, which fences its examples."""
_LINES_MAX: Final = 2_000
"""Lines with a fence that are examined."""
_ENDS_MAX: Final = 12
"""Possible ends of one block that are examined, since each may be parsed."""
_DEDENTED_CHARACTERS_MAX: Final = 250_000
_MARGIN = re.compile(r"[ \t]*(?:(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+)?")
_TAG = re.compile(r"[ ]*\{?[ ]*\.?([\w+#.-]*).*")

_TAG_ALONE = re.compile(r"[ ]*\w[\w+#.-]*[ ]*")

_Fence = re.Match[str]
_Blocks = list[tuple[str, str]]


def remove_margin(text: str) -> str:
    """Return a text without the margin that all its lines share; a very long one as it is."""
    has_margin = text[:1] in (" ", "\t", "\n") and len(text) <= _DEDENTED_CHARACTERS_MAX
    return textwrap.dedent(text) if has_margin else text


def blocks_of(text: str, is_whole: Callable[[str], bool]) -> tuple[_Blocks, list[str]]:
    """Return the tags and texts of fenced blocks, and the texts between them.

    >>> blocks_of("So:\\n```py\\nx = 1\\n```\\nDone.", str.isprintable)
    ([('py', 'x = 1')], ['So:\\n', '\\nDone.'])
    """
    fences = list(islice(_FENCE_LINE.finditer(text), _LINES_MAX))
    blocks: _Blocks = []
    outside: list[str] = []
    position = at = 0
    while at < len(fences):
        opening = fences[at]
        at += 1
        opens = _is_margin(opening) or _TAG_ALONE.fullmatch(opening["rest"])
        if not opens and opening["rest"].strip():
            continue
        outside.append(text[position : _text_end(opening)])
        position = opening.end("mark")
        if not opens:
            continue  # it closes what the prompt opened
        closing = _end_of_block(text, opening, fences[at:], is_whole)
        stop = len(text) if closing is None else _text_end(closing)
        blocks.append((_tag(opening), text[opening.end() + 1 : stop].strip("\n")))
        if closing is None:
            return blocks, outside
        reopens = _is_margin(closing) and _tag(closing)  # the closing fence was forgotten
        at = fences.index(closing, at) + (not reopens)
        position = closing.end("mark")
    outside.append(text[position:])
    return blocks, outside


def _end_of_block(
    text: str, opening: _Fence, fences: Sequence[_Fence], is_whole: Callable[[str], bool]
) -> _Fence | None:
    """Return the first fence that ends a whole program, else the first that can end the block."""
    possible = [
        fence
        for fence in fences[:100]
        if fence["mark"].startswith(opening["mark"])
        and (_is_margin(fence) or not fence["rest"].strip())
    ][:_ENDS_MAX]
    programs = (fence for fence in possible if is_whole(text[opening.end() + 1 : _text_end(fence)]))
    return next(programs, next(iter(possible), None))


def _is_margin(fence: _Fence) -> bool:
    """Return whether nothing but blanks and a list mark precedes a fence."""
    return _MARGIN.fullmatch(fence["lead"]) is not None


def _tag(fence: _Fence) -> str:
    """Return the first word after a fence, in lower case; empty without one."""
    return _TAG.sub(r"\1", fence["rest"]).lower()


def _text_end(fence: _Fence) -> int:
    """Return where the text before a fence ends: a fence may be glued to the last line."""
    return fence.start() if _is_margin(fence) else fence.start("mark")
