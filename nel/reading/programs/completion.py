"""A Python prompt that ends within a function, and the response that continues or repeats it.

After a function's docstring, ``return x`` at the left margin parses as part of no function; so a
continuation counts only if the function has grown by it. Depends on `python_source` to parse.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nel.reading.programs.fences import remove_margin
from nel.reading.programs.python_source import (
    Definition,
    Parser,
    Piece,
    bound_names,
    first_line_of,
    indent_of,
    is_prose,
)

_FUTURE: Final = re.compile(r"^from[ ]+__future__[ ]+import[ ].*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A prompt that ends within a function or class to be completed."""

    prompt: str
    preamble: str
    """The prompt above what is to be completed: imports and helpers."""
    name: str
    """The function or class to be completed."""
    indent: str
    """What the lines of its body begin with, in a class those of its last method."""
    names: frozenset[str]
    """What the preamble binds."""

    def complete(self, code: str, names: frozenset[str]) -> str:
        """Return code that repeats the definition, after the preamble if it lacks that."""
        if self.names <= names:
            return code
        # Imports from __future__ must stay the first statements of a program.
        futures = "".join(f"{line}\n" for line in _FUTURE.findall(code))
        return f"{futures}{self.preamble}\n\n\n{_FUTURE.sub('', code)}"


def read_stub(parser: Parser, prompt: str) -> Stub | None:
    """Return what a prompt leaves to be completed, None if it defines nothing in Python.

    >>> stub = read_stub(Parser(), "import math\\n\\ndef area(r):\\n")
    >>> stub.name, stub.preamble, stub.indent
    ('area', 'import math', '    ')
    """
    # A prompt that ends with "def f(x):" or within a body parses once a statement follows.
    last_line = prompt.rstrip().rpartition("\n")[2]
    margin = last_line[: indent_of(last_line)]
    texts = (prompt, f"{prompt}\n{margin}pass", f"{prompt}\n{margin}    pass")
    tree = next(filter(None, map(parser.parse, texts)), ast.Module(body=[], type_ignores=[]))
    stubs = [stmt for stmt in tree.body if isinstance(stmt, Definition)]
    if not stubs:
        return None
    definition = stub = stubs[-1]
    while isinstance(definition.body[-1], Definition):
        definition = definition.body[-1]  # within a method, as prompts of LeetCode end
    return Stub(
        prompt=prompt.rstrip(),
        preamble="\n".join(prompt.split("\n")[: first_line_of(stub) - 1]).strip("\n"),
        name=stub.name,
        indent=" " * definition.body[0].col_offset,
        names=frozenset(bound_names(tree.body) - {stub.name}),
    )


def continuation_of(parser: Parser, stub: Stub | None, text: str) -> tuple[str, str] | None:
    """Return the lines of a text that continue a prompt, and the whole program; None if none does.

    The first line, or all lines, may lack their indentation. What does not parse after the function
    is left out, and so is another definition of it.

    >>> stub = read_stub(Parser(), "def add(a, b):\\n")
    >>> continuation_of(Parser(), stub, "c = a + b\\n    return c\\n\\nThis works.")
    ('c = a + b\\n    return c', 'def add(a, b):\\n    c = a + b\\n    return c')
    """
    if stub is None:
        return None
    blank_lines = len(text) - len(text.lstrip("\n"))
    body = text[blank_lines:].rstrip()
    program, count = "", 0
    indented = textwrap.indent(remove_margin(body), stub.indent)
    for variant in (stub.indent + body.lstrip(), body, indented):
        lines = variant.split("\n")
        n = _lines_that_continue(parser, stub, lines)
        if n > count:
            count, program = n, "\n".join([stub.prompt, *lines[:n]])
    code = remove_margin("\n".join(body.split("\n")[:count]))
    return (code.rstrip(), program.rstrip()) if count else None


def _lines_that_continue(parser: Parser, stub: Stub, lines: Sequence[str]) -> int:
    """Return how many lines of a body continue the prompt; 0 if it does not fit."""
    prompt_lines = stub.prompt.split("\n")
    above = len(prompt_lines)
    margin = min(len(stub.indent), indent_of(lines[0]))
    end, tree = parser.prefix([*prompt_lines, *lines], above, margin)
    body = tree.body if tree else []
    for stmt in body:
        if stmt.lineno <= above:
            continue
        if Piece("", [stmt]).returns:
            return 0
        if is_prose(stmt) or stub.name in bound_names([stmt]):
            end = first_line_of(stmt) - 1
            break
    nodes = [node for stmt in body if stmt.lineno <= above for node in ast.walk(stmt)]
    added = [node for node in nodes if isinstance(node, ast.stmt) and node.lineno > above]
    repeats = any(isinstance(node, Definition) and node.name == stub.name for node in added)
    return 0 if repeats or all(map(is_prose, added)) else end - above
