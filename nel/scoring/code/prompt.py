"""A Python prompt that ends within a function, and the response that continues or repeats it.

After a function's docstring, ``return x`` at the left margin parses as part of no function; so a continuation counts
only if the function has grown by it. Depends on `python_source` to parse and on `segments` to find where code ends.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nel.scoring.code.fences import dedented
from nel.scoring.code.python_source import Function, Parser, Piece, bound, is_prose
from nel.scoring.code.segments import fault_of, indent_of, looks_like_prose, may_begin_code, statement_start

_BLANKS = re.compile(r"[ \t]*")
_FUTURE = re.compile(r"^from[ ]+__future__[ ]+import[ ].*$", re.MULTILINE)
_TAIL = re.compile(r"(?:def|class|async|if[ ]+__name__|print|assert|import|from)\b|[@#]")
"""What may stand at the left margin after a function whose body is indented."""
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
    """What the preamble binds; with "*" where it does more than to bind names that can be told."""
    parameters: frozenset[str] = frozenset()

    def completed(self, piece: Piece, code: str) -> str:
        """Return code that repeats the definition, after the prompt's imports and helpers if it lacks some."""
        if not self.preamble.strip() or self.names <= piece.names:
            return code
        above = self.preamble.strip("\n")
        futures = _FUTURE.findall(code)
        if futures:  # __future__ imports must stay the first statements of the program
            return "\n".join([*futures, above, "", _FUTURE.sub("", code)])
        return f"{above}\n\n\n{code}"


def read_stub(parser: Parser, prompt: str, name: str | None) -> Stub | None:
    """Return what a prompt leaves to be completed, None if it is not Python.

    >>> stub = read_stub(Parser(), "import math\\n\\ndef area(r):\\n", None)
    >>> stub.name, stub.preamble, stub.indent
    ('area', 'import math\\n\\n', '    ')
    """
    text, indent = prompt, ""
    tree = parser.parse(text).tree
    if tree is None:  # it ends with "def f(x):" or within a body: it parses once a statement follows
        last = (prompt.rstrip() or " ").rsplit("\n", 1)[-1]
        blanks = last[: indent_of(last)]
        for indent in (blanks, blanks + "    "):
            text = f"{prompt.rstrip()}\n{indent}pass"
            tree = parser.parse(text).tree
            if tree is not None and indent:
                break
        else:
            return None
    if not prompt.strip() or any(is_prose(stmt, bound(tree.body)) for stmt in tree.body):
        return None
    stubs = [stmt for stmt in tree.body if isinstance(stmt, (Function, ast.ClassDef))]
    stub = next((stmt for stmt in reversed(stubs) if name in (None, stmt.name)), None)
    if stub is None:
        stub = next((stmt for stmt in reversed(stubs) if isinstance(stmt, ast.ClassDef)), None)
    if stub is None:
        return Stub(prompt=prompt, preamble=prompt, name=None, names=_bound(tree.body))
    return _stub(prompt, tree, stub, indent)


def _stub(prompt: str, tree: ast.Module, stub: Function | ast.ClassDef, indent: str) -> Stub:
    lines = prompt.split("\n")
    first = min([stub.lineno, *(node.lineno for node in stub.decorator_list)])
    others = [stmt for stmt in tree.body if stmt is not stub]
    is_last = tree.body[-1] is stub
    below = [] if is_last else lines[stub.end_lineno or stub.lineno :]
    inner = _last_function(stub)
    if is_last and not indent and isinstance(inner, Function):
        line = lines[inner.body[0].lineno - 1]
        on_one_line = inner.body[0].lineno == inner.lineno
        indent = line[: indent_of(line)] + ("    " if on_one_line else "")
    given = {argument.arg for argument in ast.walk(inner) if isinstance(argument, ast.arg)}
    return Stub(
        prompt=prompt,
        preamble="".join(f"{line}\n" for line in (*lines[: first - 1], *below)),
        name=stub.name,
        line=stub.lineno,
        indent=indent,
        names=_bound(others),
        parameters=frozenset(given),
    )


def _bound(statements: list[ast.stmt]) -> frozenset[str]:
    above = Piece("", ast.Module(body=statements, type_ignores=[]))
    return above.names | {"*"} if above.acts else above.names


def _last_function(stmt: Function | ast.ClassDef) -> Function | ast.ClassDef:
    """Return the function that a statement ends with, such as a class's last method."""
    while isinstance(stmt, ast.ClassDef) and isinstance(stmt.body[-1], (Function, ast.ClassDef)):
        stmt = stmt.body[-1]
    return stmt


def continuation_of(parser: Parser, stub: Stub, text: str) -> tuple[str, str] | None:
    """Return the part of a text that continues a prompt, and the whole program; None if it does not.

    The first line, or all lines, may lack their indentation. What does not parse after the function is left out, and
    so is another definition of it.

    >>> stub = read_stub(Parser(), "def add(a, b):\\n", None)
    >>> continuation_of(Parser(), stub, "c = a + b\\n    return c\\n\\nThis works.")
    ('c = a + b\\n    return c', 'def add(a, b):\\n    c = a + b\\n    return c')
    """
    text = text[:_CONTINUED_CHARACTERS_MAX]
    first = text.lstrip().split("\n", 1)[0]
    if not stub.indent or not first or (looks_like_prose(first) and not first.startswith("#")):
        return None
    best: tuple[int, str, str] | None = None
    for base, body in _variants(stub, text):
        kept = _lines_kept(parser, stub, base, body)
        if kept and (best is None or kept > best[0]):
            lines = body.split("\n")
            best = kept, "\n".join(text.strip("\n").split("\n")[:kept]), base + "\n".join(lines[:kept])
            if not any(line.strip() for line in lines[kept:]):
                break
    return None if best is None else (dedented(best[1].rstrip()), best[2].rstrip())


def _variants(stub: Stub, text: str) -> Iterator[tuple[str, str]]:
    """Yield a prompt and a text as they may fit together, the likeliest way first.

    A text may go on in the prompt's last line, be indented as it is, lack the indentation of its first line, or of all.
    """
    prompt = stub.prompt
    last = prompt.rsplit("\n", 1)[-1]
    if last and "#" not in last and not text.startswith("\n"):
        yield prompt, text
    base = prompt.rstrip() + "\n"
    text = text.strip("\n")
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if line.strip())
    head = "".join(f"{line}\n" for line in lines[:first])
    stripped = head + stub.indent + "\n".join(lines[first:]).lstrip()
    margin = dedented("\n".join(lines[first:]))
    indented = head + "\n".join(stub.indent + line if line.strip() else line for line in margin.split("\n"))
    if indent_of(lines[first]):
        yield from ((base, text), (base, indented), (base, stripped))
    elif any(line[:1].strip() and not _TAIL.match(line) for line in lines[first + 1 :]):
        yield from ((base, indented), (base, stripped))
    else:
        yield from ((base, stripped), (base, indented))


def _lines_kept(parser: Parser, stub: Stub, base: str, body: str) -> int:
    """Return how many lines of a body continue the prompt; 0 if it does not fit.

    Cuts the body at the statement in which parsing fails, or at the first that is a sentence, until what is left parses
    and the function has grown.
    """
    above = base.count("\n")
    lines = (base + body).split("\n")
    margin = min(len(stub.indent), next(indent_of(line) for line in lines[above:] if line.strip()))
    end = len(lines)
    while end > above:
        parsed = parser.parse("\n".join(lines[:end]))
        if parsed.is_refused:
            return 0
        if parsed.tree is None:
            fault = fault_of(parsed, 0, end)
            if fault < above:
                return 0
            end = statement_start(lines, above, fault, margin)
            if end < len(lines) and indent_of(lines[end]) and may_begin_code(lines[end]):
                return 0
            continue
        cut = _cut(parsed.tree, stub, above)
        if cut is None:
            return end - above if _has_grown(parsed.tree, stub, above) else 0
        if not cut:
            return 0
        end = cut - 1
    return 0


def _cut(tree: ast.Module, stub: Stub, above: int) -> int | None:
    """Return the line of the first statement that is not to be kept, 0 if nothing is, None if all is."""
    names = bound(tree.body)
    for stmt in tree.body:
        if stmt.lineno > above:
            if Piece("", ast.Module(body=[stmt], type_ignores=[])).returns:
                return 0
            if is_prose(stmt, names) or stub.name in bound([stmt]):
                return stmt.lineno
    return None


def _has_grown(tree: ast.Module, stub: Stub, above: int) -> bool:
    """Return whether code has become part of the function."""
    grown = next((stmt for stmt in tree.body if stmt.lineno == stub.line), None)
    if grown is None:
        return False
    new = [node for node in ast.walk(grown) if isinstance(node, ast.stmt) and node.lineno > above]
    return any(not is_prose(node, stub.parameters) for node in new)
