"""Finds where each echoed token begins in the prompt that was sent.

A byte-level tokenizer cuts characters into pieces, and no piece is text. Servers then write ``""``
for every piece but the last (vLLM), a replacement character for each (decoding every token alone),
or nothing at all (llama-cpp-python). Where the pieces cannot be placed in one way only, a position
has several candidates and the caller must refuse.

A server's own ``text_offset`` may be right, or count the special token in front, or drift after the
first replaced character. It is compared, never trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_SPECIAL: Final = re.compile(r"<[^<>\s]{1,60}>|\[[A-Z]{1,20}\]|")
"""A token in front of the text: ``<s>``, ``<|begin_of_text|>``, ``[CLS]``, or nothing."""
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_CANDIDATES_MAX: Final = 64
"""Places a piece may have before alignment is given up: so many broken characters say nothing."""


def align(tokens: Sequence[str], prompt: str) -> list[frozenset[int]] | None:
    """Return for each token the places in the prompt where it may begin, in characters; None if it
    does not fit at all.

    Whole tokens must be found in the prompt one after the other, from its first character to its
    last. A token that is empty or has replacement characters holds pieces of characters beyond
    ASCII; each piece takes one such character or, where a later piece ends it, none. Where the
    strings alone give the prompt, every place is exact, and an empty token is a piece of the next
    one that is not (``""``, ``""``, ``" 🧪"``).
    """
    if "".join(tokens) == prompt:
        return _exact(tokens, prompt)
    # Forwards: where each token may begin, if those before it fit.
    arriving = [frozenset({0})]
    for token in tokens:
        arriving.append(
            frozenset(end for position in arriving[-1] for end in _ends(token, position, prompt))
        )
        if not 0 < len(arriving[-1]) <= _CANDIDATES_MAX:
            return None
    if len(prompt) not in arriving[-1]:
        return None
    # Backwards: of these, only the places from which the tokens after it reach the prompt's end.
    places, after = [], frozenset({len(prompt)})
    for token, begins in zip(reversed(tokens), reversed(arriving[:-1]), strict=True):
        after = frozenset(position for position in begins if _ends(token, position, prompt) & after)
        places.append(after)
    return places[::-1]


def is_special(token: str) -> bool:
    """Return whether a token may stand in front of the text without being part of it."""
    return _SPECIAL.fullmatch(token) is not None


def is_text(token: str) -> bool:
    """Return whether a token has no piece of a character in it."""
    return _REPLACEMENT not in token


def offsets_fit(
    offsets: Sequence[int], tokens: Sequence[str], places: Sequence[frozenset[int]], front: str
) -> bool:
    """Return whether a server's offsets agree with its own tokens.

    They do when they are the places in the prompt, or the running lengths of the token strings;
    either may count the token in ``front`` of the text, which has no offset here.
    """
    running, length = [], 0
    for token in tokens:
        running.append(length)
        length += len(token)
    for shift in {0, len(front)}:
        if all(offset - shift in span for offset, span in zip(offsets, places, strict=True)):
            return True
        if all(offset - shift == begin for offset, begin in zip(offsets, running, strict=True)):
            return True
    return False


def _exact(tokens: Sequence[str], prompt: str) -> list[frozenset[int]] | None:
    """Return the places of tokens that are the prompt; None if one is empty and no piece of what
    the next one ends.
    """
    places, begin = [], 0
    for token in tokens:
        places.append(frozenset({begin}))
        begin += len(token)
    following = ""
    for token in reversed(tokens):
        if not token and following.isascii():
            return None
        following = token or following
    return places


def _ends(token: str, begin: int, prompt: str) -> frozenset[int]:
    """Return the places where a token that begins here may end."""
    if token and _REPLACEMENT not in token:
        return frozenset({begin + len(token)}) if prompt.startswith(token, begin) else frozenset()
    ends = {begin}
    for character in token or _REPLACEMENT:
        if character == _REPLACEMENT:
            ends = {end + step for end in ends if _is_cut(prompt, end) for step in (0, 1)}
        else:
            ends = {end + 1 for end in ends if prompt.startswith(character, end)}
    return frozenset(ends)


def _is_cut(prompt: str, position: int) -> bool:
    """Return whether the character here may be cut into pieces, as all but ASCII may."""
    return position < len(prompt) and not prompt[position].isascii()
