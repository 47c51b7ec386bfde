"""`extract_program`: finds the program in a model's response, as a reader would copy it out.

Doubtful text may be taken for code, since both are wrong; a right program must be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from nel.core.thinking import Quotations
from nel.reading.programs.completion import continuation_of, read_stub
from nel.reading.programs.fences import blocks_of, remove_margin
from nel.reading.programs.other_languages import extract_unparsed
from nel.reading.programs.python_source import CODE, PROSE, Parser, Piece, has_code, pieces_of
from nel.reading.programs.selection import definer_of, helpers_of, is_outline, main_of

_PYTHON: Final = frozenset({"python", "python3", "py", "py3"})
_BLOCKS_MAX: Final = 256
"""Blocks at the end of a response that are examined."""
_START_TOKEN = re.compile(r"<\|python_tag\|>")
_END_TOKEN = re.compile(r"<\|(?:endoftext|im_end|eot_id|eom_id|end)\|>|</s>")
"""Tokens that chat models put around a program, and that some servers leave in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The program in a response."""

    code: str
    """What the model wrote, without fences, prose and the margin that all lines share."""
    program: str
    """What is to be run: the code, completed by the prompt where the response continues it."""


def extract_program(
    response: str,
    *,
    language: str = "python",
    fences: Sequence[str] = (),
    prompt: str = "",
    entry_point: str | None = None,
) -> Extracted | None:
    """Return the program in a response, None if there is no code in it.

    Of several blocks the last that defines the entry point counts, with what it needs of the rest;
    an outline with "..." does not define. Without an entry point it is the last block that reads an
    input, else the last with functions. Without fences, parsing distinguishes code from prose. A
    response that is the body of the prompt's last function is completed by the prompt; one that
    repeats it gets the prompt's imports and helpers. Broken code counts to its last good line.

    Args:
        language: The program's language. Python is parsed; others go by tags and marks.
        fences: Tags of fenced blocks that mean this language, in addition to its name.
        prompt: The code that the model was to continue or repeat; empty for a task in words.
        entry_point: The function or class that the tests call.

    >>> extract_program("Sure!\\n```python\\ndef f(x):\\n    return x\\n```\\nDone.").code
    'def f(x):\\n    return x'
    >>> extract_program("return a + b", prompt="def add(a, b):\\n").program
    'def add(a, b):\\n    return a + b'
    >>> extract_program("I cannot solve this.") is None
    True
    """
    text = _START_TOKEN.sub("", _plain(response))
    end = Quotations(text).first_outside(_END_TOKEN, 0)
    text = text[: end.start() if end else None]
    if not text.strip():
        return None
    tags = frozenset(tag.lower() for tag in (language, *fences))
    if language.lower() in _PYTHON:
        result = _PythonResponse(text, tags | _PYTHON, _plain(prompt), entry_point).extract()
    else:
        result = extract_unparsed(text, tags, _plain(prompt), entry_point or "")
    return None if result is None else Extracted(code=result[0], program=result[1])


def _plain(text: str) -> str:
    """Return a text with one kind of line ends and without a byte order mark."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


class _PythonResponse:
    """A response in which Python is searched."""

    def __init__(self, text: str, tags: frozenset[str], prompt: str, name: str | None) -> None:
        self._text = text
        self._tags = tags
        self._parser = Parser()
        self._stub = read_stub(self._parser, prompt, name) if prompt.strip() else None
        self._name = name or (self._stub.name if self._stub else None) or ""
        self._own: list[Piece] = []
        """The code of blocks in Python, and of those that name no language."""
        self._others: list[Piece] = []
        """The code of blocks in other languages, as their tags say."""
        self._broken: list[str] = []
        """The blocks that do not parse."""
        self._blocks: list[tuple[str, str]] = []
        self._outside = [text]
        if not self._parses(text):  # else its strings may hold fences
            self._blocks, self._outside = blocks_of(text, self._parses)

    def extract(self) -> tuple[str, str] | None:
        """Return the code and the program, None if there is none."""
        body = continuation_of(self._parser, self._stub, self._outside[0])
        if body and self._text.lstrip("\n")[:1] in (" ", "\t"):
            return body
        for tag, text in self._blocks[-_BLOCKS_MAX:]:
            self._read(tag, remove_margin(text).rstrip())
        return self._defining_program() or self._body() or self._any_program() or self._faulty()

    def _parses(self, text: str) -> bool:
        return self._parser.parse(remove_margin(text.strip("\n")).rstrip()) is not None

    def _read(self, tag: str, text: str) -> None:
        """Sort the code of a block by its tag, or keep it as broken."""
        is_own = not tag or tag in self._tags or tag.startswith("py")  # such as python3.12
        first_line, _, below = text.partition("\n")
        if not tag and first_line.strip().lower() in self._tags:
            text = below  # the tag slipped into the block
        tree = self._parser.parse(text)
        pieces = [Piece(text, tree)] if tree else pieces_of(self._parser, text)
        is_code = tree is not None and has_code(tree)
        if is_code or any(self._defines(piece) for piece in pieces):
            (self._own if is_own else self._others).extend(pieces)
        elif is_own and not tree and any(map(CODE.match, text.split("\n", 1000)[:1000])):
            self._broken.append(text)

    def _defines(self, piece: Piece) -> bool:
        return self._name in piece.defined if self._name else piece.has_definition

    @cached_property
    def _unfenced(self) -> list[Piece]:
        """The code outside of all blocks."""
        texts = self._outside[-_BLOCKS_MAX:]
        return [piece for text in texts for piece in pieces_of(self._parser, text)]

    def _groups(self) -> Iterator[list[Piece]]:
        """Yield the code of the response, the most certain origin first."""
        yield self._own
        yield self._unfenced
        yield self._others

    def _defining_program(self) -> tuple[str, str] | None:
        """Return the program that defines the name."""
        for pieces in self._groups() if self._name else ():
            main = definer_of(pieces, self._name)
            if main is not None:
                body = self._body() if is_outline(main, self._name) else None
                return body or self._with_helpers(main, pieces)
        return None

    def _body(self) -> tuple[str, str] | None:
        """Return the program of which the response holds only a function's body."""
        texts = [piece.text for piece in reversed(self._own) if piece.returns]
        texts += [*reversed(self._broken), self._outside[0]]
        texts += [piece.text for piece in self._unfenced if piece.returns]
        results = (continuation_of(self._parser, self._stub, text) for text in texts)
        result = next(filter(None, results), None)
        tree = self._parser.parse(result[0]) if result else None
        if self._stub is None or result is None or tree is None:
            return result
        bound = self._stub.names | self._stub.parameters
        pieces = [piece for piece in (*self._own, *self._unfenced) if not piece.returns]
        above = "".join(f"{text}\n\n" for text in helpers_of(Piece("", tree), pieces, bound))
        return above + result[0], above + result[1]

    def _any_program(self) -> tuple[str, str] | None:
        """Return a program that defines another name, or any if no name is asked for."""
        pattern = _definition(self._name)
        if any(pattern.search(text) for text in self._broken):
            return None
        groups = [pieces for pieces in self._groups() if pieces]
        makers = [pieces for pieces in groups if any(piece.has_definition for piece in pieces)]
        pieces = next(iter(makers or ([] if self._name else groups)), [])
        main = main_of(pieces)
        return self._with_helpers(main, pieces) if main else None

    def _with_helpers(self, main: Piece, pieces: list[Piece]) -> tuple[str, str]:
        bound = self._stub.names if self._stub else frozenset[str]()
        lacking = main.missing.difference(bound, *(piece.names for piece in pieces))
        if lacking and main not in self._unfenced:
            pieces = [*self._unfenced, *pieces]
        return self._complete("\n\n".join([*helpers_of(main, pieces, bound), main.text]))

    def _complete(self, code: str) -> tuple[str, str]:
        tree = self._parser.parse(code)
        names = Piece(code, tree).names if tree else frozenset[str]()
        return code, self._stub.complete(code, names) if self._stub else code

    def _faulty(self) -> tuple[str, str] | None:
        """Return code that does not parse, or is too long, up to its last line that parses."""
        pattern = _definition(self._name)
        matches = [match for match in map(pattern.search, self._outside) if match]
        texts = self._broken or [match.string[match.start() :] for match in matches]
        code = next((text for text in reversed(texts) if pattern.search(text)), "".join(texts[-1:]))
        lines = remove_margin(code).split("\n")
        while lines and (PROSE.match(lines[-1]) or not lines[-1].strip()):
            lines.pop()
        end, tree = self._parser.prefix(lines, 0, float("inf"))
        if tree and self._defines(Piece("", tree)):
            lines = lines[:end]
        return self._complete("\n".join(lines).rstrip()) if lines else None


def _definition(name: str) -> re.Pattern[str]:
    """Return what the definition of a name looks like, of any name without one."""
    word = re.escape(name) or r"\w+"
    return re.compile(rf"^[ \t]*(?:async[ ]+)?(?:def|class)[ ]+{word}[ ]*[(:\[]", re.MULTILINE)
