"""A Python prompt that ends within a function, and the response that continues or repeats it.

After a function's docstring, ``return x`` at the left margin parses as part of no function; so a
continuation counts only if the function has grown by it. Depends on `python_source` to parse.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nel.reading.programs.fences import remove_margin
from nel.reading.programs.python_source import (
    PROSE,
    Definition,
    Function,
    Parser,
    Piece,
    bound_names,
    first_line_of,
    indent_of,
    is_prose,
)

_FUTURE = re.compile(r"^from[ ]+__future__[ ]+import[ ].*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
_CONTINUED_CHARACTERS_MAX: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A prompt that ends within a function or class to be completed."""

    prompt: str
    preamble: str
    """The prompt without what is to be completed: imports and helpers."""
    name: str | None
    """The function or class to be completed."""
    line: int = 0
    """Where that begins."""
    indent: str = ""
    """What its body's lines begin with; empty if the prompt does not end within it."""
    names: frozenset[str] = frozenset()
    """What the preamble binds."""
    parameters: frozenset[str] = frozenset()

    def complete(self, code: str, names: frozenset[str]) -> str:
        """Return code that repeats the definition, after the preamble if it lacks that."""
        above = self.preamble.strip("\n")
        if not above.strip() or self.names <= names:
            return code
        # Imports from __future__ must stay the first statements of the program.
        futures = "".join(f"{line}\n" for line in _FUTURE.findall(code))
        return f"{futures}{above}\n\n\n{_FUTURE.sub('', code)}"


def read_stub(parser: Parser, prompt: str, name: str | None) -> Stub | None:
    """Return what a prompt leaves to be completed, None if it is not Python.

    >>> stub = read_stub(Parser(), "import math\\n\\ndef area(r):\\n", None)
    >>> stub.name, stub.preamble, stub.indent
    ('area', 'import math\\n\\n', '    ')
    """
    # A prompt that ends with "def f(x):" or within a body parses once a statement follows.
    blanks = prompt[: len(prompt.rstrip())].rpartition("\n")[2]
    blanks = blanks[: indent_of(blanks)]
    margins = ["", blanks, blanks + "    "]
    texts = [prompt, *(f"{prompt.rstrip()}\n{margin}pass" for margin in margins[1:])]
    trees = zip(margins, map(parser.parse, texts), strict=True)
    indent, tree = next(((margin, tree) for margin, tree in trees if tree), ("", None))
    if tree is None or not tree.body:
        return None
    stubs = [stmt for stmt in tree.body if isinstance(stmt, Definition)]
    namesakes = [stmt for stmt in stubs if name in (None, stmt.name)]
    stub = next(reversed(namesakes or stubs), None)
    if stub is None:
        return Stub(
            prompt=prompt, preamble=prompt, name=None, names=frozenset(bound_names(tree.body))
        )
    return _stub(prompt, tree, stub, indent)


def _stub(prompt: str, tree: ast.Module, stub: Definition, indent: str) -> Stub:
    lines = prompt.split("\n")
    is_last = tree.body[-1] is stub
    below = [] if is_last else lines[stub.end_lineno :]
    definition = stub
    while isinstance(definition, ast.ClassDef) and isinstance(definition.body[-1], Definition):
        definition = definition.body[-1]  # the prompt ends within a method
    if is_last and not indent and isinstance(definition, Function):
        indent = " " * definition.body[0].col_offset
    arguments = {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    return Stub(
        prompt=prompt,
        preamble="".join(f"{line}\n" for line in (*lines[: first_line_of(stub) - 1], *below)),
        name=stub.name,
        line=stub.lineno,
        indent=indent,
        names=frozenset(bound_names(stmt for stmt in tree.body if stmt is not stub)),
        parameters=frozenset(arguments),
    )


def continuation_of(parser: Parser, stub: Stub | None, text: str) -> tuple[str, str] | None:
    """Return the lines of a text that continue a prompt, and the whole program; None if none does.

    The first line, or all lines, may lack their indentation. What does not parse after the function
    is left out, and so is another definition of it.

    >>> stub = read_stub(Parser(), "def add(a, b):\\n", None)
    >>> continuation_of(Parser(), stub, "c = a + b\\n    return c\\n\\nThis works.")
    ('c = a + b\\n    return c', 'def add(a, b):\\n    c = a + b\\n    return c')
    """
    text = text[:_CONTINUED_CHARACTERS_MAX].rstrip()
    body = _BLANK_LINES.sub("", text, count=1)
    first_line = body.lstrip().split("\n", 1)[0]
    is_prose_first = PROSE.match(first_line) is not None and not first_line.startswith("#")
    if stub is None or not stub.indent or not first_line or is_prose_first:
        return None
    base = stub.prompt.rstrip() + "\n"
    line_count, program = 0, ""
    for variant in _variants(stub, body):
        lines = variant.split("\n")
        count = _lines_that_continue(parser, stub, base, lines)
        if count > line_count:
            line_count, program = count, base + "\n".join(lines[:count])
        if count == len(lines):
            break
    code = remove_margin("\n".join(body.split("\n")[:line_count]))
    return (code.rstrip(), program.rstrip()) if line_count else None


def _variants(stub: Stub, body: str) -> Iterator[str]:
    """Yield a body as it is, indented as a whole, and with its first line indented."""
    if indent_of(body):
        yield body
        yield textwrap.indent(remove_margin(body), stub.indent)
    yield stub.indent + body.lstrip()
    yield textwrap.indent(body, stub.indent)


def _lines_that_continue(parser: Parser, stub: Stub, base: str, body: Sequence[str]) -> int:
    """Return how many lines of a body continue the prompt; 0 if it does not fit."""
    above = base.count("\n")
    margin = min(len(stub.indent), indent_of(body[0]))
    end, tree = parser.prefix([*base.split("\n")[:-1], *body], above, margin)
    for stmt in tree.body if tree else ():
        if stmt.lineno <= above:
            continue
        if Piece("", ast.Module(body=[stmt], type_ignores=[])).returns:
            return 0
        if is_prose(stmt) or stub.name in bound_names([stmt]):
            end = first_line_of(stmt) - 1
            break
    grown = [stmt for stmt in tree.body if stmt.lineno == stub.line] if tree else []
    nodes = [node for stmt in grown for node in ast.walk(stmt) if isinstance(node, ast.stmt)]
    added = [node for node in nodes if node.lineno > above]
    if any(isinstance(node, Definition) and node.name == stub.name for node in added):
        return 0  # it repeats the function
    return 0 if all(map(is_prose, added)) else end - above
