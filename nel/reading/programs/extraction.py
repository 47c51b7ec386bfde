"""`extract_program`: finds the program in a model's response, as a reader would copy it out.

Doubtful text may be taken for code, since both are wrong; a right program must be found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nel.core.thinking import Quotations
from nel.reading.programs.completion import continuation_of, read_stub
from nel.reading.programs.fences import blocks_of, remove_margin
from nel.reading.programs.other_languages import extract_unparsed
from nel.reading.programs.python_source import CODE, Parser, Piece, pieces_of
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

    Of several blocks the last that defines the entry point counts, with what it needs of the rest.
    Without an entry point it is the last block that reads an input, else the last with functions.
    Without fences, parsing distinguishes code from prose. A response that is the body of the
    prompt's last function is completed by the prompt; one that repeats it gets the prompt's imports
    and helpers. Code that does not parse counts up to its fault.

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
        result = _PythonResponse(text, _plain(prompt), entry_point).extract()
    else:
        result = extract_unparsed(text, tags, _plain(prompt), entry_point or "")
    return None if result is None else Extracted(code=result[0], program=result[1])


def _plain(text: str) -> str:
    """Return a text with one kind of line ends and without a byte order mark."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


class _PythonResponse:
    """A response in which Python is searched."""

    def __init__(self, text: str, prompt: str, name: str | None) -> None:
        self._text = text
        self._parser = Parser()
        self._stub = read_stub(self._parser, prompt)
        self._name = name or (self._stub.name if self._stub else "")
        blocks, self._outside = blocks_of(text, self._parses)
        self._blocks = [block.rstrip() for _, block in blocks[-_BLOCKS_MAX:] if block.strip()]
        """The texts of fenced blocks. Their tags do not matter: what is not Python defines nothing."""
        fenced, unfenced = (
            [piece for text in texts for piece in pieces_of(self._parser, text)]
            for texts in (self._blocks, self._outside[-_BLOCKS_MAX:])
        )
        self._pieces = [*unfenced, *fenced]
        """That of blocks comes last, since it is more certain."""

    def extract(self) -> tuple[str, str] | None:
        """Return the code and the program, None if there is none."""
        body = continuation_of(self._parser, self._stub, self._outside[0])
        if body and self._text.lstrip("\n")[:1] in (" ", "\t"):
            return body
        main = definer_of(self._pieces, self._name)
        if main is None or is_outline(main, self._name):
            body = self._body()
            if body:
                return body
        broken = self._broken_definitions(self._name) if self._name and main is None else []
        if main is None and not broken:
            main = main_of([piece for piece in self._pieces if not piece.returns])
        if main is not None:
            return self._with_helpers(main)
        texts = broken or self._broken_definitions("") or self._broken_blocks()
        return self._complete(self._to_fault(texts[-1])) if texts else None

    def _parses(self, text: str) -> bool:
        return self._parser.parse(remove_margin(text.strip("\n")).rstrip()) is not None

    def _body(self) -> tuple[str, str] | None:
        """Return the program of which the response holds only a function's body."""
        stretches = [piece.text for piece in self._pieces if piece.returns]
        texts = [self._outside[0], *reversed([*stretches, *self._broken_blocks()])]
        results = (continuation_of(self._parser, self._stub, text) for text in texts)
        return next(filter(None, results), None)

    def _broken_blocks(self) -> list[str]:
        """Return the blocks that look like code and do not parse, or are too long for it."""
        codes = (block for block in self._blocks if any(map(CODE.match, block.split("\n"))))
        return [block for block in codes if not self._parses(block)]

    def _broken_definitions(self, name: str) -> list[str]:
        """Return what seems to define a name, or any name, and does not parse."""
        definition = re.compile(
            rf"^[ \t]*(?:async[ ]+)?(?:def|class)[ ]+{re.escape(name) or '[^ (]+'}[ ]*[(:\[]",
            re.MULTILINE,
        )
        blocks = [block for block in self._broken_blocks() if definition.search(block)]
        outside = (text for text in self._outside if not self._parses(text))
        matches = filter(None, map(definition.search, outside))
        return blocks or [match.string[match.start() :] for match in matches]

    def _to_fault(self, code: str) -> str:
        """Return code up to its last line that parses, all of it if none does."""
        lines = remove_margin(code).split("\n")
        end, _ = self._parser.prefix(lines, 0, float("inf"))
        return "\n".join(lines[: end or None]).rstrip()

    def _with_helpers(self, main: Piece) -> tuple[str, str]:
        bound = self._stub.names if self._stub else frozenset[str]()
        helpers = helpers_of(main, self._pieces, bound)
        return self._complete("\n\n".join([*helpers, main.text]))

    def _complete(self, code: str) -> tuple[str, str]:
        tree = self._parser.parse(code)
        names = Piece(code, tree.body).names if tree else frozenset[str]()
        return code, self._stub.complete(code, names) if self._stub else code
