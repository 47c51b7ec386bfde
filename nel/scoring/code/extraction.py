"""`extract_program`: finds the program in a model's response.

What counts is what a reader would copy out of the response. A response that holds no code and one whose code does not
parse both count as wrong, so doubtful text may be taken for code; but a program that is there, and is right, must be
found. Depends on the other modules of this package: `fences` finds blocks, `segments` finds code among sentences,
`prompt` joins a response to the code that it continues, `selection` chooses, `generic` serves other languages than
Python.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from nel.core.thinking import split_reasoning
from nel.scoring.code.fences import Block, BlockChecks, blocks_of, dedented
from nel.scoring.code.generic import extract_generic
from nel.scoring.code.prompt import continuation_of, read_stub
from nel.scoring.code.python_source import PROGRAM_CHARACTERS_MAX, Parser, Piece, has_code, is_program
from nel.scoring.code.segments import (
    Segments,
    looks_like_prose,
    may_begin_code,
    segments_of,
    without_console,
    without_numbers,
)
from nel.scoring.code.selection import definer_of, has_function, is_outline, main_of, with_helpers

_PYTHON: Final = frozenset({"python", "python3", "py", "py3"})
_BLOCKS_MAX: Final = 256
"""Blocks at the end of a response that are examined."""
_TAGGED, _UNTAGGED, _OTHER, _UNFENCED = range(4)
"""Ranks of a piece by its origin; the lower, the more certainly it is the program."""
_ELEMENT = r"(?:pre|code|python|answer|solution|program)"
_ELEMENT_BEGINS = re.compile(rf"^(?:[ \t]*<{_ELEMENT}(?:[ ][^<>\n]*)?>){{1,3}}", re.MULTILINE)
_ELEMENT_ENDS = re.compile(rf"(?:</{_ELEMENT}>[ \t]*){{1,3}}$", re.MULTILINE)
_RECORD = re.compile(
    r"\s*(?:```(?:json)?[ \t]*\n\s*|<tool_call>\s*)?(?P<record>\{.*\})\s*(?:```\s*|</tool_call>\s*)?", re.DOTALL
)
_RECORD_FIELDS: Final = ("code", "solution", "program", "answer", "completion", "function", "content")
_QUOTES_ALONE = re.compile(r"^[ \t]*'''(\w*)[ \t]*$", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_TOKEN = re.compile(r"<\|(?:python_tag|eom_id|eot_id|im_end)\|>")
"""Tokens that chat models put around a program, and that some servers leave in the text."""
_ESCAPED = re.compile(r"&(?:lt|gt|amp|quot|#39|#x27);")
_CDATA = re.compile(r"<!\[CDATA\[|\]\]>(?=\s*(?:</|$))")
_NULS_AFTER = re.compile(r"\s*+\x00(?:\s*+\x00)*+")
_BYTE_ORDER_MARKS = re.compile("^\ufeff+", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The program in a response."""

    code: str
    """What the model wrote, without fences and prose, and without the margin that all its lines share."""
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

    Of several blocks the last that defines the entry point counts, with what it needs of the others; a quotation of its
    first lines or an outline with "..." is no definition. Without an entry point it is the last block that reads an
    input, else the last with functions. Without fences, parsing distinguishes code from prose. A response that is the
    body of the prompt's last function is completed by the prompt; one that repeats the function gets the prompt's
    imports and helpers.

    Args:
        language: What the program is to be in. Python is parsed; other languages go by tags and marks.
        fences: Tags of fenced blocks that mean this language, in addition to its name.
        prompt: The code that the model was given to continue or repeat; empty for a task in words.
        entry_point: The function or class that the tests call.

    >>> extract_program("Sure!\\n```python\\ndef f(x):\\n    return x\\n```\\nDone.").code
    'def f(x):\\n    return x'
    >>> extract_program("return a + b", prompt="def add(a, b):\\n").program
    'def add(a, b):\\n    return a + b'
    >>> extract_program("I cannot solve this.") is None
    True
    """
    _, answer, is_whole = split_reasoning(response)  # which a run has taken out, and a recorded text may still have
    marked, above = _plain(_of_record(answer if is_whole else "")), _plain(prompt)
    marked = _TOKEN.sub("", marked)
    if "<![CDATA[" in marked:
        marked = _CDATA.sub("", marked)
    text = marked.replace("\0", "")  # they are no part of any language, so that nothing around them would parse
    if not text.strip():
        return None
    tags = frozenset(tag.lower() for tag in (language, *fences))
    if language.lower() in _PYTHON:
        found = _extract_python(text, tags | _PYTHON, above, entry_point)
    else:
        found = extract_generic(text, tags, above, entry_point)
    if found is None:
        return None
    code, program = found
    if text != marked and code and (whole := _with_nuls(code, text, marked)) != code:
        program = program.replace(code, whole, 1)
        code = whole
    return Extracted(code=code, program=program)


def _of_record(response: str) -> str:
    """Return the code of a response that is nothing but a JSON object with it; other responses as they are."""
    match = _RECORD.fullmatch(response) if len(response) <= PROGRAM_CHARACTERS_MAX else None
    if match is None:
        return response
    try:
        record = json.loads(match["record"])
    except (ValueError, RecursionError):
        return response
    if isinstance(record.get("arguments"), dict):
        record = record["arguments"]
    found = [record[name] for name in _RECORD_FIELDS if isinstance(record.get(name), str)]
    if isinstance(record.get("cells"), list):
        found = ["\n\n".join(_cells(record["cells"]))]
    return found[0].encode("utf-8", "replace").decode() if found else response


def _cells(cells: list[object]) -> Iterator[str]:
    """Yield the code of a notebook's cells."""
    for cell in cells:
        source = cell.get("source") if isinstance(cell, dict) and cell.get("cell_type") == "code" else None
        if isinstance(source, str):
            yield source
        elif isinstance(source, list):
            yield "".join(line for line in source if isinstance(line, str))


def _with_nuls(code: str, text: str, marked: str) -> str:
    """Return code as it stands in the response, the NUL characters in and beside it included: they are the model's."""
    start = text.rfind(code)
    if start < 0:
        return code
    places = [place for place, letter in enumerate(marked) if letter != "\0"]
    first, last = places[start], places[start + len(code) - 1]
    ahead = marked[:first]
    _, nul, blank = ahead[len(ahead.rstrip("\0 \t\n")) :].partition("\0")
    after = _NULS_AFTER.match(marked, last + 1)
    return nul + blank + marked[first : last + 1] + (after[0] if after else "")


def _plain(text: str) -> str:
    """Return a text with one kind of line ends and no byte order marks, and without the marks of a code span."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\ufeff" in plain:
        plain = _BYTE_ORDER_MARKS.sub("", plain)
    bare = plain.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == "`" and "\n" not in bare and "`" not in bare[1:-1]:
        return bare[1:-1]
    return plain


def _extract_python(text: str, tags: frozenset[str], prompt: str, name: str | None) -> tuple[str, str] | None:
    """Return the code and the program; elements such as <code>, or three quotes, may stand for fences."""
    texts = [text]
    if "```" not in text and _ELEMENT_BEGINS.search(text) and _ELEMENT_ENDS.search(text):
        fenced = _ELEMENT_ENDS.sub("\n```", _ELEMENT_BEGINS.sub("```\n", text))
        texts = [fenced, html.unescape(fenced), text] if _ESCAPED.search(text) else [fenced, text]
    elif "```" not in text and _QUOTES_ALONE.search(text):
        texts.append(_QUOTES_ALONE.sub(r"```\1", text))
    for each in texts:
        response = _PythonResponse(each, tags, prompt, name)
        if found := response.extracted():
            return found
    return response.broken()


class _PythonResponse:
    """A response in which Python is searched."""

    def __init__(self, text: str, tags: frozenset[str], prompt: str, name: str | None) -> None:
        self._text = text
        self._tags = tags
        self._parser = Parser()
        self._stub = read_stub(self._parser, prompt, name) if prompt.strip() else None
        self._name = name or (self._stub.name if self._stub else None)
        self._blocks: list[Block] = []
        self._fenced: list[Piece] = []
        self._faulty: list[tuple[int, str]] = []

    def extracted(self) -> tuple[str, str] | None:
        """Return the code and the program, None if nothing parses."""
        # Before any block is looked for: a body that goes on within the function may hold fences in its strings.
        if self._begins_indented() and (found := self._continued(self._text)):
            return found
        checks = BlockChecks(is_whole=self._parses, is_open=self._is_open, is_code=self._is_code)
        self._blocks = blocks_of(self._text, checks)[-_BLOCKS_MAX:]
        for block in self._blocks:
            self._read(block)
        own = [piece for piece in self._fenced if piece.rank != _OTHER]
        others = [piece for piece in self._fenced if piece.rank == _OTHER]
        return self._defined(own, others) or self._body(own) or self._unnamed(own, others)

    def broken(self) -> tuple[str, str] | None:
        """Return what looks like Python and does not parse, or is too long for it; None if nothing does."""
        named = [text for _, text in self._faulty if self._name and _definition(self._name).search(text)]
        own = [text for rank, text in self._faulty if rank != _OTHER]
        if code := next(reversed(named or own), None):
            return self._with_preamble(code)
        text = self._text[:PROGRAM_CHARACTERS_MAX] if not self._blocks else ""
        match = _definition(self._name or r"\w+").search(text) or (self._name and _definition(r"\w+").search(text))
        if match:
            lines = text[match.start() :].rstrip().split("\n")
            while looks_like_prose(lines[-1]) or not lines[-1].strip():
                lines.pop()
            return self._with_preamble(dedented("\n".join(lines)))
        if self._begins_indented() and self._stub and may_begin_code(text.lstrip("\n").split("\n", 1)[0]):
            return dedented(text.strip("\n").rstrip()), f"{self._stub.prompt.rstrip()}\n{text}"
        return None

    def _begins_indented(self) -> bool:
        """Return whether the response begins like the rest of a function, and does not repeat the function there."""
        if self._stub is None or self._text.lstrip("\n")[:1] not in (" ", "\t"):
            return False
        again = _definition(self._name).search(self._text) if self._name else None
        return again is None or again[0][:1] not in (" ", "\t")

    def _parses(self, text: str) -> bool:
        return self._parser.parse(dedented(text)).tree is not None

    def _is_open(self, text: str) -> bool:
        return self._parser.parse(dedented(text)).in_string

    def _is_code(self, text: str) -> bool:
        """Return whether a text before a lone fence is code."""
        if is_program(self._parser.parse(dedented(text)).tree):
            return True
        found = self._continued(text)
        return found is not None and found[0].count("\n") == dedented(text.strip("\n")).rstrip().count("\n")

    def _read(self, block: Block) -> None:
        """Sort a block into pieces that parse and code that does not."""
        is_tagged = block.tag in self._tags or block.tag.startswith("py")  # such as pycon, python3.12
        rank = _TAGGED if is_tagged else _OTHER if block.tag else _UNTAGGED
        text = dedented(block.text.strip("\n")).rstrip()
        first, _, below = text.partition("\n")
        if rank == _UNTAGGED and first.strip().lower() in self._tags:
            text = below  # the tag slipped into the block
        for code in (text, without_console(text), without_numbers(text)):
            tree = self._parser.parse(code).tree if code else None
            if code and tree is not None:
                if (tree.body and rank == _TAGGED) or has_code(tree):
                    self._fenced.append(Piece(code, tree, rank=rank))
                return
        found = self._segments(text, rank)
        if found.pieces and (found.only_prose or (not block.is_closed and self._has_answer(found))):
            self._fenced.extend(found.pieces)
        elif any(may_begin_code(line) for line in text[:PROGRAM_CHARACTERS_MAX].split("\n")):
            self._faulty.append((rank, text))

    def _has_answer(self, found: Segments) -> bool:
        """Return whether what is lost by leaving out the end of a block that was cut off is only an example."""
        if self._name:
            return any(self._name in piece.defined for piece in found.pieces)
        return has_function(found.pieces) and not _definition(r"\w+").search("\n".join(found.others))

    def _defined(self, own: list[Piece], others: list[Piece]) -> tuple[str, str] | None:
        """Return the program that defines the name, by the most certain origin first."""
        if not self._name:
            return None
        main = definer_of(own, self._name)
        if main is not None and is_outline(main, self._name) and (found := self._body(own)):
            return found  # the response repeats the stub and gives the body apart from it
        if main is not None:
            return self._with_helpers(main, own)
        text = self._text[:PROGRAM_CHARACTERS_MAX]
        for code in (text, without_console(text)) if self._name in text else ():
            pieces = self._segments(code, _UNFENCED).pieces if code else []
            if main := definer_of(pieces, self._name):
                return self._with_helpers(main, pieces)
        for pieces in (others, self._spans):
            if main := definer_of(pieces, self._name):
                return self._with_helpers(main, pieces)
        importers = [piece for piece in own if self._name in piece.names]
        return self._with_helpers(importers[-1], own) if importers else None

    def _body(self, own: list[Piece]) -> tuple[str, str] | None:
        """Return the program of which the response holds only a function's body."""
        if self._stub is None:
            return None
        # In the order of certainty: blocks that return, blocks that do not parse alone, the whole response, code
        # among sentences, blocks that use the parameters, code spans.
        texts = [piece.text for piece in reversed(own) if piece.returns]
        texts += [text for rank, text in reversed(self._faulty) if rank != _OTHER]
        texts += [self._text]
        texts += [piece.text for piece in self._unfenced if piece.returns]
        uses = [piece for piece in reversed(own) if piece.used & self._stub.parameters and not has_function([piece])]
        texts += [piece.text for piece in uses if self._name not in piece.used]
        texts += [piece.text for piece in self._spans if piece.returns]
        for text in texts:
            if found := self._continued(text):
                return self._with_imports(found, text, own)
        return None

    def _with_imports(self, found: tuple[str, str], body: str, own: list[Piece]) -> tuple[str, str]:
        """Return a completed program after those other pieces that bind what the body needs."""
        tree = self._parser.parse(body).tree
        if tree is None or self._stub is None:
            return found
        lacking = Piece(body, tree).missing - self._stub.names - self._stub.parameters
        pieces = [piece for piece in (*own, *self._unfenced) if lacking & piece.names and not piece.returns]
        above = "".join(f"{piece.text}\n\n" for piece in pieces)
        return above + found[0], above + found[1]

    def _unnamed(self, own: list[Piece], others: list[Piece]) -> tuple[str, str] | None:
        """Return a program that defines something other than the name, or the program where there is no name."""
        tagged = [piece for piece in own if piece.rank == _TAGGED]
        if self._is_faulty(main_of(tagged)):
            return None
        unfenced = [] if has_function(tagged) else self._unfenced
        if not has_function(unfenced) and (self._name or not any(piece.acts for piece in unfenced)):
            unfenced = []  # nothing but formulas among sentences
        groups = [tagged, own, unfenced, others]
        if any(piece.defined & example.missing for piece in unfenced for example in tagged):
            groups.insert(0, unfenced)
        pieces = next((group for group in groups if group), [])
        main = main_of(pieces)
        return self._with_helpers(main, own if pieces is tagged else pieces) if main else None

    def _is_faulty(self, main: Piece | None) -> bool:
        """Return whether a block that does not parse is rather the program than a piece is."""
        if self._name and any(_definition(self._name).search(text) for _, text in self._faulty):
            return True
        sizes = [len(text) for rank, text in self._faulty if rank == _TAGGED]
        return bool(sizes) and (main is None or sizes[-1] > len(main.text))

    @cached_property
    def _unfenced(self) -> list[Piece]:
        """Return the code outside of all blocks."""
        outside, place = [], 0
        for block in self._blocks:
            outside.append(self._text[place : block.start])
            place = block.end
        outside.append(self._text[place:])
        texts = [text[:PROGRAM_CHARACTERS_MAX] for text in outside if text.strip()]
        return [piece for text in texts for piece in self._segments(text, _UNFENCED).pieces]

    @cached_property
    def _spans(self) -> list[Piece]:
        """Return the code between single backticks."""
        spans = islice(_SPAN.finditer(self._text), _BLOCKS_MAX)
        parsed = [(span[1], self._parser.parse(span[1]).tree) for span in spans]
        return [Piece(text, tree, rank=_OTHER) for text, tree in parsed if tree is not None and has_code(tree)]

    def _segments(self, text: str, rank: int) -> Segments:
        if len(text) > PROGRAM_CHARACTERS_MAX:
            return Segments(others=[text])
        known = self._stub.names | self._stub.parameters if self._stub else frozenset()
        return segments_of(self._parser, text, rank=rank, known=known)

    def _continued(self, text: str) -> tuple[str, str] | None:
        return continuation_of(self._parser, self._stub, text) if self._stub else None

    def _with_helpers(self, main: Piece, pieces: list[Piece]) -> tuple[str, str]:
        known = self._stub.names if self._stub else frozenset()
        lacking = main.missing.difference(known, *(piece.names for piece in pieces))
        if lacking and main.rank != _UNFENCED:
            pieces = [*(piece for piece in self._unfenced if lacking & piece.names), *pieces]
        code = with_helpers(main, pieces, name=self._name, known=known).strip("\n").rstrip()
        tree = self._parser.parse(code).tree
        whole = main if tree is None else Piece(code, tree)
        return code, self._stub.completed(whole, code) if self._stub else code

    def _with_preamble(self, code: str) -> tuple[str, str]:
        above = self._stub.preamble.strip("\n") if self._stub else ""
        return code, f"{above}\n\n\n{code}" if above else code


def _definition(name: str) -> re.Pattern[str]:
    """Return what a definition looks like of a name, or of what a pattern matches."""
    word = name if name == r"\w+" else re.escape(name)
    return re.compile(rf"^[ \t]*(?:async[ ]+)?(?:def|class)[ ]+{word}[ ]*[(:\[]", re.MULTILINE)
