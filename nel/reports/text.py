r"""Makes untrusted text printable: control and bidi characters become escapes, long text is
truncated with a mark.

The caller still escapes the text for HTML. The escapes are plain text, so a model that writes a
literal ``\x1b`` looks the same as one that sends the character.
"""

from __future__ import annotations

import json
import re
from typing import Final

import orjson

from nel.reports.numbers import count

PREVIEW_CHARACTERS_MAX: Final = 4_000
WHOLE_CHARACTERS_MAX: Final = 100_000
"""Of a text that a page of its own shows."""
_HEAD_SHARE: Final = 0.7
"""Of a preview: the beginning; the rest is the end."""
_SCALAR: Final = json.JSONEncoder(ensure_ascii=False).encode
_BYTE_MAX: Final = 0xFF
_BMP_MAX: Final = 0xFFFF

# Controls but tab and newline, bidi controls, invisible spaces, line separators, noncharacters,
# surrogates, tags.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return the text with hidden or dangerous characters escaped, e.g. ``\x1b``, ``\u202e``.

    Tabs and newlines stay, and a CR LF pair counts as a newline. The result can always be encoded
    as UTF-8.
    """
    # The common cases, ten times faster than looking for what hides.
    if text.isprintable() or text.replace("\n", " ").replace("\t", " ").isprintable():
        return text
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return visible text with every run of white space as one space."""
    return " ".join(visible(text).split())


def preview(text: str, *, characters_max: int = PREVIEW_CHARACTERS_MAX) -> str:
    """Return visible text, its middle cut out and the cut marked when it is too long.

    The end is kept because that is where models put their answer, and prompts their question.
    """
    line = visible(text)
    if len(line) <= characters_max:
        return line
    head = int(characters_max * _HEAD_SHARE)
    tail = characters_max - head
    cut = f"[… {count(len(line) - characters_max)} characters cut here; results.jsonl holds all …]"
    return f"{line[:head]}\n\n{cut}\n\n{line[len(line) - tail :]}"


def whole(text: str) -> str:
    """Return visible text as a page of its own shows it, cut only where it is very long."""
    return preview(text, characters_max=WHOLE_CHARACTERS_MAX)


def as_text(value: object) -> str:
    """Return a JSON value as text: a string as it is, everything else as JSON."""
    if isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    if not isinstance(value, (dict, list)):
        return _SCALAR(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:  # a number over 64 bits, half a character
        return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def cut(value: object, characters_max: int) -> str:
    """Return a JSON value as one line of at most so many characters."""
    text = value if isinstance(value, str) else as_text(value)
    return one_line(text if len(text) <= characters_max else text[:characters_max] + "…")


def content_text(content: object) -> str:
    """Return the text of a message's content; pieces of it that are not a text by their type."""
    if content is None:
        return ""
    pieces = content if isinstance(content, (list, tuple)) else [content]
    return "\n".join(map(_piece_text, pieces))


def _piece_text(piece: object) -> str:
    if not isinstance(piece, dict):
        return as_text(piece)
    if "text" in piece:
        return as_text(piece["text"])
    return f"[{piece.get('type')}]"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code <= _BYTE_MAX:
        return "\\r" if code == ord("\r") else f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _BMP_MAX else f"\\U{code:08x}"
