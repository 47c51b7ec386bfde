"""Fenced blocks in a text as models write it: unclosed, nested, glued to code, after a sentence.

CommonMark closes a block at the first fence that stands alone. Models also write such lines into
docstrings, so the first possible end is taken that leaves a whole program, as the caller tells.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

_FENCE_LINE = re.compile(r"^(?P<lead>[^\n]*?)(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)$", re.MULTILINE)
_LINES_MAX: Final = 2_000
"""Lines with a fence that are examined."""
_ENDS_MAX: Final = 12
"""Possible ends of one block that are examined, since each may be parsed."""
_DEDENTED_CHARACTERS_MAX: Final = 250_000
_MARGIN = re.compile(r"[ \t]*(?:(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+)?")
_TAG = re.compile(r"\{?[ ]*\.?([\w+#.-]*).*")
_WRAPPERS: Final = frozenset({"markdown", "md"})
"""Tags of blocks that hold a text; the blocks in it count."""

_Blocks = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Fence:
    """A line with a fence: ``lead``, the characters of the fence (``mark``), ``rest``."""

    start: int
    end: int
    lead: str
    mark: str
    rest: str

    @property
    def is_margin(self) -> bool:
        """Return whether nothing but blanks and a list mark precedes the fence."""
        return _MARGIN.fullmatch(self.lead) is not None

    @property
    def tag(self) -> str:
        """Return the first word after the fence, in lower case; empty without one."""
        return _TAG.sub(r"\1", self.rest.strip()).lower()

    @property
    def has_tag_alone(self) -> bool:
        """Return whether a tag and nothing else follows the fence."""
        return bool(self.tag) and self.tag == self.rest.strip().lower()

    @property
    def opens(self) -> bool:
        """Return whether a block can begin here: at a margin, or after an announcement."""
        if self.mark[0] in self.rest:
            return False
        announced = self.has_tag_alone or (not self.rest.strip() and self.lead.rstrip()[-1:] == ":")
        return self.is_margin or announced

    @property
    def text_end(self) -> int:
        """Return where the text before the fence ends: a fence may be glued to the last line."""
        return self.start if self.is_margin else self.start + len(self.lead)

    def ends(self, opening: _Fence) -> bool:
        """Return whether this can end the block that another line opened."""
        in_comment = self.lead.lstrip().startswith(("///", "*"))
        is_glued = not self.rest.strip() and not in_comment
        return self.mark.startswith(opening.mark) and (self.is_margin or is_glued)


def remove_margin(text: str) -> str:
    """Return a text without the margin that all its lines share; a very long one as it is."""
    has_margin = text[:1] in (" ", "\t", "\n") and len(text) <= _DEDENTED_CHARACTERS_MAX
    return textwrap.dedent(text) if has_margin else text


def blocks_of(text: str, is_whole: Callable[[str], bool]) -> tuple[_Blocks, list[str]]:
    """Return the tags and texts of fenced blocks, and the texts between them.

    >>> blocks_of("So:\\n```py\\nx = 1\\n```\\nDone.", str.isprintable)
    ([('py', 'x = 1')], ['So:\\n', '\\nDone.'])
    """
    matches = islice(_FENCE_LINE.finditer(text), _LINES_MAX)
    fences = [_Fence(*match.span(), *match.groups()) for match in matches]
    blocks: _Blocks = []
    outside: list[str] = []
    position = at = 0
    while at < len(fences):
        opening = fences[at]
        at += 1
        if opening.rest.strip() and not opening.opens:
            continue
        outside.append(text[position : opening.text_end])
        position = opening.end
        if not opening.opens or opening.tag in _WRAPPERS:
            continue  # it closes what the prompt opened, or is around other blocks
        closing = _end_of_block(text, opening, fences[at:], is_whole)
        stop = len(text) if closing is None else closing.text_end
        blocks.append((opening.tag, text[opening.end + 1 : stop].strip("\n")))
        if closing is None:
            return blocks, outside
        reopens = closing.is_margin and closing.has_tag_alone  # the closing fence was forgotten
        at = fences.index(closing, at) + (not reopens)
        position = closing.start if reopens else closing.end - len(closing.rest)
    outside.append(text[position:])
    return blocks, outside


def _end_of_block(
    text: str, opening: _Fence, fences: Sequence[_Fence], is_whole: Callable[[str], bool]
) -> _Fence | None:
    """Return the first fence that ends a whole program, else the first that can end the block."""
    possible = [fence for fence in fences[:100] if fence.ends(opening)][:_ENDS_MAX]
    programs = (fence for fence in possible if is_whole(text[opening.end + 1 : fence.text_end]))
    return next(programs, next(iter(possible), None))
