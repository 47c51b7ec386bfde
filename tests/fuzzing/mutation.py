"""Breaks well-formed inputs: bytes, JSON values, lines. The same random source gives the same input."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_NASTY_NUMBERS = (
    "0", "-1", "-0.0", "1e309", "-1e309", "1e-400", "9" * 5000, "9" * 400, "2" * 19, "0.1e", "NaN", "Infinity", "1_0",
    "٣", "²", "½", "Ⅷ", "0x10", "+5", " 7 ", "1,000", "1.", ".5", "1e5", "--1", "9007199254740993", "-1.7e308",
)  # fmt: skip
_NASTY_TEXTS = (
    "", "\0", "\ud800", "\u2028", "\U0010ffff", "e\u0301", "A" * 3000, "null", "[DONE]", "data:", "\r", "\n\n", "%s{x}",
    "<think>", "</think>", "length", "error", "content_filter", "context_length_exceeded", "insufficient_quota",
    "429", "401", "maximum context length is 10 tokens", "\x1b[31m", "😀", "ﬁ", "\ufeff",
)  # fmt: skip
_SPLICES = (
    b"\0", b"\r", b"\n", b"\r\n", b"\n\n", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b'"',
    b"\\u", b"\\", b",", b":", b"data: ", b"event: error\n", b"\x1f\x8b", b"HTTP/1.1 200 OK\r\n", b"0\r\n\r\n", b"1e999",
)  # fmt: skip
_DEPTH_MAX = 4_000


def break_bytes(rng: Random, data: bytes, *others: bytes) -> bytes:
    """Return the bytes with up to four edits: cut, repeated, spliced with another input, flipped."""
    for _ in range(rng.randrange(5)):
        if not data:
            return rng.choice(_SPLICES)
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.choice((0, 1, 1, 2, 4, 16, 64, 4096)))
        kind = rng.randrange(6)
        if kind == 0:
            data = data[:start] + data[end:]
        elif kind == 1:
            data = data[:start] + rng.choice(_SPLICES) + data[start:]
        elif kind == 2:
            data = data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]
        elif kind == 3:
            data = data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]
        elif kind == 4 and others:
            other = rng.choice(others)
            data = data[:start] + other[rng.randrange(len(other) + 1) :]
        else:
            number = rng.choice(_NASTY_NUMBERS).encode()
            data = data[:start] + number + data[end:]
    return data


def break_json(rng: Random, value: Any) -> str:
    """Return the JSON text of a value after up to six edits of its tree; a text may not be JSON any more."""
    tree = json.loads(json.dumps(value))
    holder = [tree]
    for _ in range(rng.randrange(1, 7)):
        parent, key = rng.choice(_places(holder))
        _edit(rng, parent, key)
    text = json.dumps(holder[0], ensure_ascii=rng.random() < 0.5)
    for number in range(3):
        mark = f'"@number{number}"'
        if mark in text:
            text = text.replace(mark, rng.choice(_NASTY_NUMBERS))
    return text.replace('"@deep"', _deep(rng))


def _places(holder: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a tree."""
    found, pending = [], [holder]
    while pending:
        node = pending.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            found.append((node, key))
            if isinstance(node[key], (dict, list)):
                pending.append(node[key])
    return found


def _edit(rng: Random, parent: Any, key: Any) -> None:
    kind = rng.randrange(10)
    if kind == 0:
        parent[key] = None
    elif kind == 1:
        parent[key] = f"@number{rng.randrange(3)}"
    elif kind == 2:
        parent[key] = rng.choice(_NASTY_TEXTS)
    elif kind == 3:
        parent[key] = rng.choice(_NASTY_NUMBERS)
    elif kind == 4:
        parent[key] = [parent[key]] * rng.choice((0, 1, 2))
    elif kind == 5:
        parent[key] = {rng.choice(("error", "text", "index", "code", "", "\0")): parent[key]}
    elif kind == 6:
        parent[key] = rng.choice((True, False, 0, -1, 10**30, 1.5, [], {}, ""))
    elif kind == 7:
        parent[key] = "@deep"
    elif kind == 8 and isinstance(parent, dict):
        parent[rng.choice(("error", "finish_reason", "index", "usage", "code", "type", "message"))] = parent.pop(key)
    elif isinstance(parent, list):
        parent.extend(json.loads(json.dumps(parent[: rng.randrange(3)])))
    else:
        parent[key] = str(parent[key])[:200]


def _deep(rng: Random) -> str:
    depth = rng.choice((3, 200, 300, 900, 1023, _DEPTH_MAX))
    opening, closing = rng.choice((("[", "]"), ('{"a":', "}"), ('[{"error":', "}]")))
    return opening * depth + "1" + closing * depth
