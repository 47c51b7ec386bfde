"""Fenced blocks in a text as models write it.

CommonMark closes a block at the first line that holds a fence alone. Models write such lines into docstrings, glue the
closing fence to their last line, or forget it; so the end of a block is found with the caller's `BlockChecks`, which
say of a text whether it can be a whole program. Depends on the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final

_FENCE_LINE = re.compile(r"^(?P<lead>[^\n]*?)(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*)$", re.MULTILINE)
_LINES_MAX: Final = 2_000
"""Lines with a fence that are examined."""
_AHEAD_MAX: Final = 100
"""Lines with a fence that are examined for the end of one block."""
_TRIES_MAX: Final = 12
"""Possible ends of one block that are checked, since a check may parse the text."""
_MARGIN = re.compile(r"[ \t]*(?:>[ \t]*){0,4}")
_LIST_MARGIN = re.compile(r"[ \t]*(?:>[ \t]*){0,4}(?:(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+)?")
_INDENTED = re.compile(r"^([ \t]*+)[^\s]", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]*>[ ]?", re.MULTILINE)
_TAG = re.compile(r"\{?\s*\.?(?:language-|lang-)?([\w+#.-]*+)(?!=[\"'])")
_TAG_ALONE = re.compile(r"[\w+#.-]*[ \t]*")
_CODE_BEHIND = re.compile(
    r"""
    (?:
        (?! (?: def | async | class | import | from | public | static | func | function | fn | using )\b )
        (?P<tag> [\w+\#.-]+ ) [ \t]+
    )?
    (?P<code>
        (?:
            (?: async[ ]+ )? def[ ]+\w+[ ]*\( | class[ ]+\w+[ ]*[:({]
          | import[ ]+\w | from[ ]+[\w.]+[ ]+import[ ] | \#[ ]?include | print\(
          | (?: public | static | func | function | fn | using )[ ]+\w
        )
        .*
    )
    """,
    re.VERBOSE,
)
"""What stands after a fence where a model began its code there: "```python def f(x):"."""
_WRAPPERS: Final = frozenset({"markdown", "md", "mdx"})
"""Tags of blocks that hold a text, not a program; the blocks in it count."""
_CHANGES: Final = frozenset({"diff", "patch"})
"""Tags of blocks that hold changes of a program: what counts is the program after them."""
_DIFF_LINES = re.compile(r"(?:(?:[-+ @].*|)(?:\n|$))*")
_LEFT_OUT = re.compile(r"^(?:(?:---|[+]{3}|@@|-).*(?:\n|$)|[+ ])", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block."""

    tag: str
    """The first word after the fence, in lower case; empty without one."""
    text: str
    start: int
    """Where its first line begins in the response, the fence included; it goes on to ``end``."""
    end: int
    is_closed: bool = True


@dataclass(frozen=True, slots=True)
class _Fence:
    """A line with a fence: ``lead``, the characters of the fence (``mark``), ``rest``."""

    start: int
    end: int
    lead: str
    mark: str
    rest: str

    @property
    def stands_alone(self) -> bool:
        """Return whether nothing but the margin is before the fence."""
        return _MARGIN.fullmatch(self.lead) is not None

    @property
    def is_bare(self) -> bool:
        """Return whether the line holds the fence and nothing else."""
        return self.stands_alone and not self.rest.strip()

    @property
    def is_glued(self) -> bool:
        """Return whether the line ends with the fence, and begins with something else."""
        return not self.stands_alone and not self.rest.strip()

    @property
    def closes_at(self) -> int:
        """Return the offset at which the text before the fence ends."""
        return self.start + (len(self.lead) if self.is_glued else 0)

    @property
    def opens(self) -> bool:
        """Return whether a block can begin here: after a margin or list mark, or before a tag alone."""
        if self.mark[0] in self.rest:
            return False  # a code span in one line
        return _LIST_MARGIN.fullmatch(self.lead) is not None or _TAG_ALONE.fullmatch(self.rest) is not None

    @property
    def within(self) -> str | None:
        """Return what stands between two fences in this one line, None if there is no such thing."""
        rest = self.rest.rstrip()
        return rest[: -len(self.mark)] if self.stands_alone and rest.endswith(self.mark) else None

    def ends(self, opening: _Fence) -> bool:
        """Return whether this can end the block that another line opened."""
        alike = self.mark.startswith(opening.mark)  # as long as the opening fence, or longer
        next_opens = self.opens and not self.lead.strip()  # the closing fence was forgotten
        return alike and (self.is_bare or self.is_glued or next_opens)


def dedented(text: str) -> str:
    """Return the text without the margin that all its lines share; unlike in `textwrap.dedent`, empty lines stay.

    >>> dedented("    a = 1\\n\\n      b = 2")
    'a = 1\\n\\n  b = 2'
    """
    if text[:1] not in (" ", "\t", "\n"):
        return text
    margins = {match[1] for match in _INDENTED.finditer(text)} or {""}
    margin = _shared_start(min(margins), max(margins))
    return re.sub(rf"^{margin}", "", text, flags=re.MULTILINE) if margin else text


def _shared_start(left: str, right: str) -> str:
    """Return what two texts both begin with."""
    pairs = enumerate(zip(left, right, strict=False))
    return left[: next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockChecks:
    """What a caller can tell about a text that may be the whole of a block."""

    is_whole: Callable[[str], bool]
    """It can end here: of several possible ends, the first for which this is true is taken, else the first."""
    is_open: Callable[[str], bool]
    """It cannot end here, since it would end within a string."""
    is_code: Callable[[str], bool]
    """It is code and nothing else."""


def blocks_of(text: str, checks: BlockChecks) -> list[Block]:
    """Return the fenced blocks of a text.

    A text that begins inside a block, since the prompt opened it, has that beginning as a block without a tag.

    >>> checks = BlockChecks(is_whole=str.isprintable, is_open=str.isspace, is_code=str.isdigit)
    >>> blocks_of("So:\\n```py\\nx = 1\\n```\\nDone.", checks)
    [Block(tag='py', text='x = 1', start=4, end=19, is_closed=True)]
    """
    fences = [_Fence(*match.span(), *match.groups()) for match in islice(_FENCE_LINE.finditer(text), _LINES_MAX)]
    found: list[Block] = []
    at = 0
    if fences and not fences[0].rest.strip():  # the first fence may close a block that the prompt opened
        before = text[: fences[0].start] + fences[0].lead
        inside = text[fences[0].end : fences[1].start if fences[1:] else len(text)]
        if before.strip() and checks.is_code(before) and not checks.is_code(inside):
            found.append(Block(tag="", text=before.rstrip(), start=0, end=fences[0].end))
            at = 1
    while at < len(fences):
        fence = fences[at]
        at += 1
        if fence.within is not None:
            tag, code = _info(fence.within)
            found.append(Block(tag=tag, text=code or fence.within, start=fence.start, end=fence.end))
        elif fence.opens and _info(fence.rest)[0] not in _WRAPPERS:
            block, at = _block(text, fences, at, checks)
            found.append(block)
    return found


def _block(text: str, fences: list[_Fence], at: int, checks: BlockChecks) -> tuple[Block, int]:
    """Return the block that the fence before ``at`` opens, and the next fence."""
    opening = fences[at - 1]
    tag, first = _info(opening.rest)
    at, stop, end = _end_of_block(text, fences, at, checks)
    body = first + text[opening.end + (not first) : stop]
    if ">" in opening.lead and _LIST_MARGIN.fullmatch(opening.lead):
        body = _QUOTED.sub("", body)
    body = body.removesuffix("\n")
    if tag in _CHANGES and _DIFF_LINES.fullmatch(body):
        body = _LEFT_OUT.sub("", body)
    return Block(tag=tag, text=body, start=opening.start, end=end, is_closed=stop < len(text)), at


def _info(rest: str) -> tuple[str, str]:
    """Return the tag after a fence, and the code that a model wrote after it instead of below."""
    code = _CODE_BEHIND.fullmatch(rest.strip())
    if code is not None:
        return (code["tag"] or "").lower(), code["code"]
    match = _TAG.match(rest.strip())
    return (match[1].lower() if match else ""), ""


def _end_of_block(text: str, fences: list[_Fence], at: int, checks: BlockChecks) -> tuple[int, int, int]:
    """Return, of the block that the fence before ``at`` opens: the next fence, the end of its text, and its own end."""
    opening = fences[at - 1]
    possible = [index for index in range(at, min(at + _AHEAD_MAX, len(fences))) if fences[index].ends(opening)]
    if not possible:
        return len(fences), len(text), len(text)
    # The nearest fence on a line of its own, and the glued ones above it. A bare line is tried first, since a glued
    # fence may be part of a string in the code; a line that opens the next block comes last.
    proper = [index for index in possible if not fences[index].is_glued][:1]
    glued = [index for index in possible if fences[index].is_glued and index < min(proper, default=len(fences))]
    order = [*proper, *glued] if proper and fences[proper[0]].is_bare else [*glued, *proper]
    first = _info(opening.rest)[1]

    def before(index: int) -> str:
        return first + text[opening.end : fences[index].closes_at]

    for index in order[:_TRIES_MAX]:
        if checks.is_whole(before(index)):
            return _behind(fences, index)
    # None of them ends a whole program. As long as the text would end within a string, the fence stands in that string
    # (a docstring with an example), and the next ones are tried.
    last = order[-1] if not proper else proper[0]
    for index in [index for index in possible if index > last][:_TRIES_MAX]:
        if not checks.is_open(before(last)):
            break
        if checks.is_whole(before(index)):
            return _behind(fences, index)
        last = index
    return _behind(fences, order[0])


def _behind(fences: list[_Fence], index: int) -> tuple[int, int, int]:
    """Return what `_end_of_block` returns, for a block that ends at a fence; one that opens the next block stays."""
    fence = fences[index]
    if fence.is_bare or fence.is_glued:
        return index + 1, fence.closes_at, fence.end
    return index, fence.start, fence.start
