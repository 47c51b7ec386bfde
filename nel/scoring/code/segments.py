"""Finds Python in a text without fences: where code begins between sentences, and where it ends.

A syntax error is reported where Python notices it, which may be far below its cause. So code is cut where a statement
begins, never inside of one, and a function with a syntax error is no code rather than half a function. Depends on
`python_source` to parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from nel.scoring.code.fences import dedented
from nel.scoring.code.python_source import Parsed, Parser, Piece, bound, is_program, is_prose, is_text

_START = re.compile(
    r"""
    [ \t]*+
    (?:
        (?P<definition> (?: async[ ]+ )? def[ ]+\w+[ ]*[(\[] | class[ ]+\w+[ ]*[:(\[] )
      | (?P<import> import[ ]+\w | from[ ]+[\w.]+[ ]+import\b )
      | (?P<decorator> @\w )
      | (?P<compound> (?: if | for | while | with | async | match )\b .*: | try[ ]*: )
      | (?P<keyword> (?: return | raise | assert | del | global | nonlocal | yield | await )\b )
      | (?P<keyword_alone> (?: pass | break | continue | \.\.\. )[ ]* (?: \# | $ ) )
      | (?P<call> \w[\w.]*+\( | ["'\w)\]]++\.\w+\( )
      | (?P<assignment>
            \w[\w.]*+ (?: \[[^\]]*\] )? (?: [ ]*,[ ]*[\w.]++ )*+ [ ]*
            (?: [-+*/%&|^@:] | // | \*\* | << | >> )? =(?!=)
        )
      | (?P<annotated> \w[\w.]*+ [ ]*+:[ ]*+ [\w.\[\], ]++ =(?!=) )
    )
    """,
    re.VERBOSE,
)
_PROSE = re.compile(
    r"""
    [ \t]*+
    (?:
        (?P<fence> ``` | ~~~ )
      | (?P<shell> [!%][a-z] | \$[ ] )
      | (?P<item> (?: [-*•] | [0-9]{1,3}[.)] )[ ] )
      | (?P<heading> \#{1,6}[ ] | \*\* )                        # or a comment, or bold text
      | (?P<label> [A-Z]\w* (?: [ ]\w+ )*+ :[ ]*$ )             # Example usage:
      | (?P<sentence> (?! "{3} | '{3} ) \W{0,3} [A-Z][\w'’]*+ (?: ,?[ ][\w'’`*()"-]++ ){2} )
    )
    """,
    re.VERBOSE,
)
_GOES_ON = re.compile(r"[ \t]*(?:else\b|elif\b|except\b|finally\b|case\b|[)\]}])")
_TRIES_MAX = 12
_CONSOLE = re.compile(r"[ \t]*(?:>>>|\.\.\.|In \[\d+\]:|\.\.\.:)(?: (.*)|[ \t]*$)")
_NUMBERED = re.compile(r"[ \t]*(\d{1,5})(?:[:.)]|[ ]*[|│])?(?:[ ](.*)|\t(.*)|)")


@dataclass(slots=True)
class Segments:
    """The code of a text, and what else is in it."""

    pieces: list[Piece] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """The lines that are not code."""

    @property
    def only_prose(self) -> bool:
        """Return whether all that is not code is sentences and empty lines."""
        return all(looks_like_prose(line) for line in self.others if line.strip())


def may_begin_code(line: str) -> bool:
    """Return whether a line may be the first of some code."""
    return _START.match(line) is not None


def looks_like_prose(line: str) -> bool:
    """Return whether a line is a sentence, a heading, a list item or a comment."""
    return _PROSE.match(line) is not None


def segments_of(parser: Parser, text: str, *, rank: int = 0, known: frozenset[str] = frozenset()) -> Segments:
    """Return the stretches of a text that are code, given names that are bound before it.

    >>> text = "Sure:\\n\\nimport math\\n\\nThen:\\n\\n    def f(x):\\n        return x\\n\\nThat is it."
    >>> [piece.text for piece in segments_of(Parser(), text).pieces]
    ['import math', 'def f(x):\\n    return x']
    """
    whole = dedented(text.strip("\n")).rstrip()
    tree = parser.parse(whole).tree
    if tree is not None and is_program(tree):
        return Segments([Piece(whole, tree, rank=rank)])
    lines = text.split("\n")
    found = Segments()
    at = 0
    while at < len(lines) and not parser.is_spent:
        end = _end_of_code(parser, lines, at, known) if may_begin_code(lines[at]) else at
        code = dedented("\n".join(lines[at:end]))
        tree = parser.parse(code).tree if end > at else None
        if tree is not None:
            found.pieces.append(Piece(code, tree, rank=rank))
            known = known | bound(tree.body)
        else:
            end = _behind_nested(lines, at)
            found.others.extend(lines[at:end])
        at = end
    found.others.extend(lines[at:])
    return found


def _behind_nested(lines: list[str], at: int) -> int:
    """Return the next line that is not nested in a line, so that the inside of a broken function is no code."""
    margin = indent_of(lines[at])
    end = at + 1
    if may_begin_code(lines[at]):
        while end < len(lines) and (not lines[end].strip() or indent_of(lines[end]) > margin):
            end += 1
    return end


def _end_of_code(parser: Parser, lines: list[str], start: int, known: frozenset[str]) -> int:
    """Return the line before which the code that begins at ``start`` ends; ``start`` itself where there is no code."""
    margin = indent_of(lines[start])
    end = _first_end(parser, lines, start, margin)
    while end > start:
        parsed = parser.parse(dedented("\n".join(lines[start:end])))
        if parsed.is_refused:
            return start
        if parsed.tree is None:
            end = statement_start(lines, start, fault_of(parsed, start, end), margin)
            continue
        body = parsed.tree.body
        names = known | bound(body)
        sentence = next((stmt for stmt in body if is_prose(stmt, names)), None)
        if sentence is not None:
            end = start + sentence.lineno - 1
            continue
        if all(is_text(stmt) for stmt in body):
            return start
        return start + (body[-1].end_lineno or end - start)
    return start


def _next_prose(lines: list[str], start: int, margin: int) -> int:
    """Return the next line that is left of a margin, or at it and prose; a comment at the margin is code."""
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if line.strip():
            indent = indent_of(line)
            comment = line.lstrip().startswith("#")
            if indent < margin or (indent == margin and not comment and looks_like_prose(line)):
                return at
    return len(lines)


def _first_end(parser: Parser, lines: list[str], start: int, margin: int) -> int:
    """Return the first line that looks like prose, or a later one if that stands in a string."""
    end = first = _next_prose(lines, start, margin)
    for _ in range(_TRIES_MAX):
        if not parser.parse(dedented("\n".join(lines[start:end]))).in_string:
            return end
        if end >= len(lines):
            break
        end = _next_prose(lines, end, margin)
    return first


def fault_of(parsed: Parsed, start: int, end: int) -> int:
    """Return the line of a syntax error in lines from ``start`` to ``end``: the last if it is unknown or after."""
    return min(start + parsed.fault_line, end) - 1 if parsed.fault_line else end - 1


def statement_start(lines: list[str], start: int, at: int, margin: int) -> int:
    """Return the line at which the statement begins that goes on at a line, not before ``start``."""
    while at > start and (not lines[at].strip() or indent_of(lines[at]) > margin or _GOES_ON.match(lines[at])):
        at -= 1
    return max(at, start)


def indent_of(line: str) -> int:
    """Return the number of blanks that a line begins with."""
    return len(line) - len(line.lstrip(" \t"))


def without_console(text: str) -> str | None:
    """Return the code that was typed at the prompts of an interactive session, None where there are none.

    >>> without_console(">>> def f(x):\\n...     return x\\n>>> f(3)\\n3")
    'def f(x):\\n    return x\\nf(3)'
    """
    if ">>>" not in text and "In [" not in text:
        return None
    lines = text.split("\n")
    first = next((line for line in lines if _CONSOLE.match(line) or may_begin_code(line)), "")
    if not first.lstrip().startswith((">>>", "In [")):
        return None  # such as the examples in a docstring
    typed = [match[1] or "" for line in lines if (match := _CONSOLE.match(line))]
    return "\n".join(typed)


def without_numbers(text: str) -> str | None:
    """Return code whose lines are numbered, one after the other, without the numbers; None where they are not.

    >>> without_numbers("1 def f(x):\\n2     return x")
    'def f(x):\\n    return x'
    """
    found = [_NUMBERED.fullmatch(line) for line in text.split("\n")]
    matches = [match for match in found if match is not None]
    if len(matches) < max(2, len(found)):
        return None
    numbers = [int(match[1]) for match in matches]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return "\n".join(match[2] or match[3] or "" for match in matches)
