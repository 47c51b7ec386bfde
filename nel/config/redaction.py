"""Reads secrets from the environment and removes them from texts.

An endpoint may repeat the key in an error or an answer, and a scorer in what it raises; so every
text that comes from outside passes a `Redactor` before it is stored or shown. It finds a secret in
the spellings that logs and servers have of one: as it is, in any case, escaped for JSON or for a
URL, and in base64 (with a user before it, too); and cut off.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from nel.core.strict_json import dumps, loads
from nel.errors import ConfigError

_SHOWN: Final = "[redacted]"
_LENGTH_MIN: Final = 6
_WHOLE_BELOW: Final = 16
"""A shorter secret is found only whole in an answer, since half of it may be a word; of a longer
one half is enough.
"""
_CUT_OFF_MIN: Final = 8
"""So many characters of a cut-off secret are found in a message."""
_BASE64_REST: Final = re.compile(r"[A-Za-z0-9+/_=-]{0,4}")
_CONVENTIONAL: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
"""Names that variables have and hardly a key, so that they can be shown."""
_NOT_ALONE: Final = re.compile(r"^['\"].*['\"]$|\s")
_Json = TypeVar("_Json")


def read_secret(env_name: str | None) -> str | None:
    """Return the value of the named environment variable, or None when no name is given.

    Raises:
        ConfigError: The variable is not set or empty, or holds a line break.
    """
    if env_name is None:
        return None
    value = os.environ.get(env_name, "").strip()
    if not value and not _CONVENTIONAL.fullmatch(env_name):
        raise ConfigError(
            "the environment variable that is named to hold the key is not set; its name is not"
            " shown, since it may be the key itself; export the key as a variable such as"
            " OPENAI_API_KEY and give that name"
        )
    if not value:
        raise ConfigError(
            f"the environment variable {env_name}, named to hold the key, is not set; export it"
            " first"
        )
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(
            f"the key in {env_name} holds characters that no HTTP header can carry; export it again"
        )
    return value


def read_key(env_name: str | None) -> str | None:
    """Return the key in the named environment variable, or None when no name is given.

    Raises:
        ConfigError: As `read_secret`, or it holds more than the key.
    """
    value = read_secret(env_name)
    if value is not None and _NOT_ALONE.search(value):
        raise ConfigError(
            f"{env_name} holds quotes, spaces or the word Bearer beside the key; export the key"
            " alone, as it was given"
        )
    return value


def secrets_in_url(url: str | None) -> tuple[str, ...]:
    """Return the password of a URL, or its user name where that stands alone, as a token does;
    empty without one.
    """
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return ()
    secret = parts.password or parts.username
    return (unquote(secret),) if secret else ()


def redact_url(url: str) -> str:
    """Return the URL without user name, password and query values."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = (
        "&".join(f"{pair.partition('=')[0]}={_SHOWN}" for pair in parts.query.split("&"))
        if parts.query
        else ""
    )
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


class Redactor:
    """Replaces the secrets of a run in texts."""

    def __init__(self, secrets: Iterable[str | None] = ()) -> None:
        """Prepare to find secrets; those of fewer than six characters are words and are not looked
        for.

        A short one of letters or digits alone, such as ``ollama`` or ``123456``, is a placeholder
        that an answer may contain: taking it out would change what is scored, so it is looked for
        in messages alone.
        """
        known = sorted({secret for secret in secrets if secret and len(secret) >= _LENGTH_MIN})
        self._in_messages = [spelling for secret in known for spelling in _spellings(secret)]
        self._in_answers = [
            spelling for secret in known if not _is_word(secret) for spelling in _spellings(secret)
        ]

    def finds(self, text: str | bytes) -> bool:
        """Return whether a text may hold a secret: quick, since nearly all texts hold none."""
        if not self._in_answers:
            return False
        data = (text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).lower()
        return any(spelling.literal in data for spelling in self._in_answers)

    def text(self, text: str) -> str:
        """Return a text with every secret replaced, and every half of one."""
        if not self.finds(text):
            return text
        return _redact_spans(text, (span for each in self._in_answers for span in each.spans(text)))

    def message(self, text: str) -> str:
        """Return a message for people with every secret replaced, and the beginning of one that was
        cut off.
        """
        spans = (span for each in self._in_messages for span in each.spans(text, cut_off=True))
        return _redact_spans(text, spans)

    def body(self, data: bytes) -> bytes:
        """Return bytes with every secret replaced."""
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def json(self, value: _Json, raw: str | bytes | None = None) -> _Json:
        """Return a decoded JSON value with every secret in its texts and keys replaced, in place
        where it can be.

        Args:
            value: What is changed.
            raw: Its text, for the quick look; made from the value when not given.
        """
        if not self._in_answers or not self.finds(dumps(value) if raw is None else raw):
            return value
        root: list[Any] = [value]
        pending: list[Any] = [root]
        while pending:
            container = pending.pop()
            if isinstance(container, dict):
                entries = [(self.text(key), item) for key, item in container.items()]
                container.clear()
                container.update(entries)
            for key, item in list(
                container.items() if isinstance(container, dict) else enumerate(container)
            ):
                if isinstance(item, str):
                    container[key] = self.text(item)
                elif isinstance(item, (dict, list)):
                    pending.append(item)
        changed: _Json = root[0]
        return changed

    def json_text(self, text: str) -> str:
        """Return the text of a JSON value with every secret in its texts and keys replaced."""
        return dumps(self.json(loads(text), text)) if self.finds(text) else text


class _Spelling:
    """One way to write a secret; each sign in it may be escaped for JSON or for a URL."""

    def __init__(self, text: str, *, any_case: bool = False, is_base64: bool = False) -> None:
        flags = re.IGNORECASE if any_case else 0
        needed = len(text) if len(text) < _WHOLE_BELOW else len(text) // 2
        characters = [_escapable(character) for character in text]
        self._heads = {
            is_cut: re.compile("".join(characters[:n]), flags)
            for is_cut, n in ((False, needed), (True, min(needed, _CUT_OFF_MIN)))
        }
        self._lengths = {False: needed, True: min(needed, _CUT_OFF_MIN)}
        self._characters = [re.compile(character, flags) for character in characters]
        self._rest = _BASE64_REST if is_base64 else None
        runs = re.findall(r"[a-z0-9]+", text[:needed].lower())
        self.literal: bytes = max(runs, key=len, default="").encode()
        """What stands in the lower-case bytes of every text that holds it, escaped or not."""

    def spans(self, text: str, *, cut_off: bool = False) -> Iterator[tuple[int, int]]:
        """Yield start and end of each place where it, or enough of its beginning, stands in a
        text.
        """
        for head in self._heads[cut_off].finditer(text):
            end = head.end()
            for character in self._characters[self._lengths[cut_off] :]:
                if (match := character.match(text, end)) is None:
                    break
                end = match.end()
            if self._rest is not None and (rest := self._rest.match(text, end)):
                end = rest.end()
            yield head.start(), end


def _redact_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for first, last in sorted(spans):
        if first >= end:
            pieces += [text[end:first], _SHOWN]
        end = max(end, last)
    return "".join([*pieces, text[end:]])


def _is_word(secret: str) -> bool:
    return (secret.isalpha() or secret.isdigit()) and len(secret) < _WHOLE_BELOW


def _spellings(secret: str) -> Iterator[_Spelling]:
    yield _Spelling(secret, any_case=not _is_word(secret))
    data = secret.encode()
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data + bytes(2)).decode()
        # Those characters that hold bits of the secret alone, whatever is encoded around it.
        middle = encoded[-(-8 * offset // 6) : 8 * (offset + len(data)) // 6]
        for text in dict.fromkeys((middle, middle.replace("+", "-").replace("/", "_"))):
            yield _Spelling(text, is_base64=True)


def _escapable(character: str) -> str:
    """Return a pattern of one character of a secret; letters and digits are never escaped."""
    if character.isalnum():
        return character
    code = f"{ord(character):02x}"
    return rf"(?:\\*{re.escape(character)}|\\+u00(?i:{code})|%(?:25)*(?i:{code}))"
