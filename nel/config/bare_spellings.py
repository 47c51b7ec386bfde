"""Finds a secret by its letters and digits alone, whatever stands between them, and in spellings
made of those. No I/O.

``c n r y``, a key that is wrapped at ten characters, one with invisible characters in it, a list of
its letters, its
bytes as ``0x63, 0x6e`` or as numbers: without all that is no letter or digit each is one run of
characters.
"""

from __future__ import annotations

import base64
import codecs
import unicodedata
from collections.abc import Iterator
from typing import Final

_LENGTH_MIN: Final = 12
"""Shorter runs may stand in any text."""
_DIGITS_MIN: Final = 3
"""In the second half of a secret, for it to be no words."""
_HEAD_MAX: Final = 24
"""The beginning of a run that is searched for; what follows is compared one by one."""
_KEPT: Final = b"abcdefghijklmnopqrstuvwxyz0123456789"
_DROPPED: Final = bytes(set(range(256)) - set(_KEPT))
_FULL_WIDTH: Final = (b"\xef\xbc", b"\xef\xbd")
"""UTF-8 of U+FF00 to U+FF7F, where letters and digits of full width stand."""


def runs_of(secret: str) -> tuple[bytes, ...]:
    """Return the runs that spell a secret, in lower case; none for one too short, and words without
    a digit aside.

    >>> runs_of("sk-Ab3dEf6hIj9k")[0], runs_of("hunter2")
    (b'skab3def6hij9k', ())
    """
    data = secret.encode()
    plain = map(_bare_text, (secret, secret[::-1], codecs.encode(secret, "rot13")))
    found = [run for run in plain if any(character.isdigit() for character in run)]
    tail = _bare_text(secret[len(secret) // 2 :])
    if sum(character.isdigit() for character in tail) >= _DIGITS_MIN:
        found.append(tail)
    encoded = [
        data.hex(),
        "".join(f"0x{byte:02x}" for byte in data),
        "".join(f"{byte:04x}" for byte in data),
        "".join(str(byte) for byte in data),
        base64.b32encode(data).decode()[: 8 * len(data) // 5],
        *in_base64(data),
        *in_base64(base64.b64encode(data)),
    ]
    found += [_bare_text(text) for text in encoded]
    return (
        tuple(run.encode() for run in dict.fromkeys(found) if len(run) >= _LENGTH_MIN)
        if _is_long(secret)
        else ()
    )


def bare(data: bytes) -> bytes:
    """Return the letters and digits of a text in lower case."""
    if any(mark in data for mark in _FULL_WIDTH):
        data = (
            unicodedata.normalize("NFKC", data.decode("utf-8", "replace"))
            .encode("utf-8", "replace")
            .lower()
        )
    return data.translate(None, _DROPPED)


def heads(runs: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return what `bare` text holds that has one of the runs, or enough of its beginning."""
    return tuple(run[: min(_needed(run), _HEAD_MAX)] for run in runs)


def spans(text: str, runs: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each place in a text where a run, or enough of its beginning,
    stands.
    """
    folded = [
        unicodedata.normalize("NFKC", one).lower() if one > "\x7f" else one.lower() for one in text
    ]
    places = [place for place, one in enumerate(folded) if one.isascii() and one.isalnum()]
    run_text = "".join(folded[place] for place in places)
    if len(run_text) != len(
        places
    ):  # a ligature folds to several letters, and is no part of a secret
        places = [place for place in places if len(folded[place]) == 1]
        run_text = "".join(folded[place] for place in places)
    for run in runs:
        wanted, needed = run.decode(), _needed(run)
        position = run_text.find(wanted[:needed])
        while position >= 0:
            end = position + needed
            while (
                end - position < len(wanted)
                and end < len(run_text)
                and run_text[end] == wanted[end - position]
            ):
                end += 1
            yield places[position], places[end - 1] + 1
            position = run_text.find(wanted[:needed], end)


def _is_long(secret: str) -> bool:
    return len(_bare_text(secret)) >= _LENGTH_MIN


def _needed(run: bytes) -> int:
    return max(_LENGTH_MIN, len(run) // 2)


def _bare_text(text: str) -> str:
    return "".join(one for one in text.lower() if one.isascii() and one.isalnum())


def in_base64(data: bytes) -> Iterator[str]:
    """Yield the characters that hold bits of the data alone, whatever stands before and after
    it.
    """
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data + bytes(2)).decode()
        yield encoded[-(-8 * offset // 6) : 8 * (offset + len(data)) // 6]
