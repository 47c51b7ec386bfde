"""A response as the reader sees it: of the same length, without the marks that say nothing about an answer.

Reasoning in tags, struck-out text, emphasis in HTML, colours in LaTeX and end tokens become spaces, so that a place in
the prepared text is a place in the response. Depends on `nel.scoring.wording` and `nel.scoring.numeric.latex`.
"""

from __future__ import annotations

import re
from typing import Final

from nel.scoring.numeric.latex import COLOUR
from nel.scoring.reading.turns import own_turn
from nel.scoring.wording import cleaned

MARKS: Final = frozenset("✅✓✔☑❌✗✘✖🚫")
"""Ticks and crosses, which say of an answer beside them that it is right or wrong."""
_HTML = re.compile(r"</?(?:b|i|u|em|strong|br|p|span|div|code|mark|font|li|ul|ol|h[1-6])(?:\s[^<>\n]{0,80})?/?>")
_TAG_OPENS = re.compile(r"<[|/A-Za-z]|\[[/A-Za-z]|◁")
"""What any tag or token begins with; GSM8K's ``<<16-3=13>>`` is none."""
_END_TOKEN = re.compile(
    r"<\|channel\|>final<\|message\|>|<\|[a-z_]{2,30}\|>|</s>|\[/?INST\]|<(?:eos|end_of_turn|eot_id)>", re.IGNORECASE
)
_LONE_CLOSING = re.compile(r"</(?:final_)?answer>", re.IGNORECASE)
"""Closes what a prompt has opened for the response to fill in."""
_STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<(?P<tag>s|del|strike)>[^<]{1,400}</(?P=tag)>", re.IGNORECASE)
_CLOSING_TAGS: Final = (
    "</think>",
    "</thinking>",
    "</thought>",
    "</thoughts>",
    "</seed:think>",
    "</reasoning>",
    "</scratchpad>",
    "</reflection>",
    "</details>",
    "...done thinking.",
    "[/think]",
    "◁/think▷",
)
_OPEN_THOUGHT = re.compile(
    r"<(?:seed:think|think|thinking|thought|thoughts|reasoning|reflection|scratchpad)>|\A\s*thinking\.\.\.\n|"
    r"<details>\s*<summary>[^<]{0,40}(?:thought|thinking|reasoning)|\[THINK\]|◁think▷",
    re.IGNORECASE,
)
_OPEN_CHANNEL = re.compile(r"<\|channel\|>(?:analysis|commentary)<\|message\|>|<\|begin_of_thought\|>")
_SPACES: Final = str.maketrans(dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "))


def prepared(text: str) -> str:
    """Return a response in the same length with all that is no part of its answer as spaces.

    >>> prepared("<think>A?</think><b>B</b> ~~C~~ ✅")
    '                    B           ✅'
    """
    plain = _with_marks(text).replace("\x08oxed", "boxed")  # a backslash that was taken for an escape
    if "<|" in plain:
        plain = _without_channels(plain)
    if "color" in plain:
        plain = COLOUR.sub(_blank, plain)
    if _has_tags(plain):
        plain = _without_thoughts(plain)
        plain = _END_TOKEN.sub(_blank, _STRUCK.sub(_blank, own_turn(plain)))
        plain = _HTML.sub(_blank, plain)
        if "</" in plain and "answer>" not in plain.replace("_answer>", "answer>").replace("</answer>", ""):
            plain = _LONE_CLOSING.sub(_blank, plain)
    elif "~~" in plain:
        plain = _STRUCK.sub(_blank, plain)
    return plain


def may_hide(text: str) -> bool:
    """Return whether a response may have parts that are no part of its answer."""
    return "~~" in text or _has_tags(text)


def _has_tags(text: str) -> bool:
    if ("<" in text or "[" in text or "◁" in text) and _TAG_OPENS.search(text) is not None:
        return True
    return "Thinking..." in text and text.lstrip().startswith("Thinking...")


def _with_marks(text: str) -> str:
    if text.isascii():
        return text
    plain = cleaned(text).translate(_SPACES)
    if MARKS.isdisjoint(text):
        return plain
    return "".join(mark if mark in MARKS else other for mark, other in zip(text, plain, strict=True))


def _without_thoughts(text: str) -> str:
    lowered = text.lower()
    closing = max((lowered.rfind(tag) + len(tag) for tag in _CLOSING_TAGS if tag in lowered), default=0)
    # A chat template may have put the opening tag into the prompt: then all before the closing one is reasoning.
    first = _OPEN_THOUGHT.search(text, 0, closing)
    begin = first.start() if first else 0
    plain = text[:begin] + " " * (closing - begin) + text[closing:] if closing else text
    opening = _OPEN_THOUGHT.search(plain, closing)
    return plain[: opening.start()] + " " * (len(plain) - opening.start()) if opening else plain


def _without_channels(text: str) -> str:
    """Return a text in the form of harmony, or with tokens around its thought, with only what is final."""
    final = max(
        text.rfind("<|channel|>final<|message|>"), text.rfind("<|end_of_thought|>"), text.rfind("<|begin_of_solution|>")
    )
    if final >= 0:
        return " " * final + text[final:]
    opening = _OPEN_CHANNEL.search(text)
    return text[: opening.start()] + " " * (len(text) - opening.start()) if opening else text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
