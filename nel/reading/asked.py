"""The form of an answer that a prompt asks for, as a benchmark declares it; it is read first.

    answer_form: tag answer             <answer>…</answer>
    answer_form: json answer            "answer": …
    answer_form: after "FINAL ANSWER:"  what follows these words
    answer_form: box                    \\boxed{…}
    answer_form: Result = (\\S+)         a regular expression with one group

Depends on `nel.errors`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from nel.errors import ConfigError
from nel.reading.types import Form

_NAMED: Final = re.compile(r"(?P<form>tag|json)\s+(?P<name>[\w-]{1,60})")
_AFTER: Final = re.compile(r"after\s+[\"'](?P<text>.{1,200})[\"']")


@dataclass(frozen=True, slots=True)
class AskedForm:
    """A form that a prompt asks for."""

    form: Form
    """What the stretch after a match is: a tag, a field, a box, or whatever follows a marker."""
    pattern: re.Pattern[str]
    """What introduces the answer; its group ``value``, where it has one, is the answer."""
    is_strict: bool
    """Whether nothing else is read."""


@lru_cache(maxsize=256)
def parse_asked_form(text: str, *, is_strict: bool = False) -> AskedForm:
    """Return the form that a benchmark declares.

    Args:
        text: One of the forms above.
        is_strict: An answer in another form does not count.

    Raises:
        ConfigError: It is none of the forms.

    >>> parse_asked_form("tag answer").form, parse_asked_form('after "Result:"').form
    (<Form.TAG: 'tag'>, <Form.MARKER: 'marker'>)
    """
    declaration = text.strip()
    tag_or_field = _NAMED.fullmatch(declaration)
    if tag_or_field is not None:
        name = re.escape(tag_or_field["name"])
        if tag_or_field["form"] == "tag":
            return AskedForm(Form.TAG, re.compile(f"<{name}>", re.IGNORECASE), is_strict)
        # A key in quotes, which are escaped where the JSON stands in a string.
        key = rf"\\?(?P<quote>[\"']){name}\\?(?P=quote)\s*:\s*"
        return AskedForm(Form.FIELD, re.compile(key, re.IGNORECASE), is_strict)
    if declaration == "box":
        return AskedForm(Form.BOX, re.compile(r"\\+(?:boxed|fbox)\s*\{"), is_strict)
    after = _AFTER.fullmatch(declaration)
    if after is not None:
        words = r"\s+".join(map(re.escape, after["text"].split()))
        return AskedForm(Form.MARKER, re.compile(rf"{words}\s*:?", re.IGNORECASE), is_strict)
    try:
        pattern = re.compile(declaration)
    except re.error as error:
        raise ConfigError(
            f"the answer_form {text!r} is not a regular expression ({error}); {_FORMS}"
        ) from error
    if pattern.groups != 1:
        raise ConfigError(f"the answer_form {text!r} has {pattern.groups} groups; {_FORMS}")
    return AskedForm(Form.ASKED, pattern, is_strict)


_FORMS: Final = (
    'use "tag NAME", "json NAME", \'after "WORDS"\', "box", or a regular expression with one group'
)
