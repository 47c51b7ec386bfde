"""Where a response ends and the model goes on to write the next turn itself: at its own end token.

Servers that do not stop at the token pass on what follows it, mostly an invented question with its answer. Depends on
the standard library alone.
"""

from __future__ import annotations

import re
from typing import Final

_TURN_ENDS: Final = re.compile(
    r"(?:<\|(?:endoftext|im_end|eot_id|eom_id|end_of_text|end_of_turn)\|>|<｜end▁of▁sentence｜>|</s>|<eos>|<end_of_turn>)"
    r"(?P<next>\s*+(?:<\|?(?!assistant|model)[a-z_]{1,20}\|?>\s*+){0,3}(?:<\|)?(?:assistant|model|channel|start)\b)?"
)
_LETTER: Final = re.compile(r"\w")


def own_turn(text: str) -> str:
    """Return a response in the same length with the turns after its own as spaces.

    What precedes an end token has to say something, and a token before another turn of the assistant ends nothing.

    >>> own_turn("18<|im_end|>\\nuser: 3 + 3?").rstrip()
    '18'
    """
    if "<" not in text:
        return text
    for found in _TURN_ENDS.finditer(text):
        if found["next"] is None and _LETTER.search(text, 0, found.start()):
            return text[: found.start()] + " " * (len(text) - found.start())
    return text
