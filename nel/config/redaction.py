"""Reads secrets from the environment and removes them from texts.

An endpoint may repeat the key in an error or an answer, and a scorer in what it raises; so every
text that comes from outside passes a `Redactor` before it is stored or shown. It finds a secret as
it is, in any case, and with any of its characters escaped for JSON or for a URL.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from nel.core.strict_json import dumps, loads
from nel.errors import ConfigError

_MARK: Final = "[redacted]"
_LENGTH_MIN: Final = 6
_PLACEHOLDER_BELOW: Final = 16
"""A shorter secret of letters or digits alone may be a word or a number of an answer."""
_BEGINNING_CHARACTERS: Final = 8
"""So many of a secret that was cut off are looked for in a message."""
# \u006b of JSON, %6b of a URL, and %256b where a URL stands in a URL
_ESCAPE: Final = re.compile(r"\\+u00([2-7][0-9a-f])|%(?:25)*([2-7][0-9a-f])")
_VARIABLE_NAME: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
"""Names that variables have and hardly a key, so that they can be shown."""
_SECRET_NAME: Final = re.compile(r"(?i)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$")
# 'sk-…' with its quotes, or "Bearer sk-…"
_MORE_THAN_KEY: Final = re.compile(r"^['\"].*['\"]$|\s")
_Json = TypeVar("_Json")


def read_secret(env_name: str | None) -> str | None:
    """Return the value of the named environment variable, or None when no name is given.

    Raises:
        ConfigError: The variable is not set or empty, or holds a line break.
    """
    if env_name is None:
        return None
    value = os.environ.get(env_name, "").strip()
    if not value and not _VARIABLE_NAME.fullmatch(env_name):
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
    if value is not None and _MORE_THAN_KEY.search(value):
        raise ConfigError(
            f"{env_name} holds quotes, spaces or the word Bearer beside the key; export the key"
            " alone, as it was given"
        )
    return value


def secrets_in_url(url: str | None) -> tuple[str, ...]:
    """Return the password of a URL, or its user name alone (a token), and the header of the two."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return ()
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user or password):
        return ()
    return password or user, base64.b64encode(f"{user}:{password}".encode()).decode()


def secrets_of_environment() -> tuple[str, ...]:
    """Return the values of variables with names of keys, and the passwords of URLs in others.

    Whatever they are for: a solver runs in the process that has them.
    """
    secrets: list[str] = []
    for name, value in os.environ.items():
        is_path = value.startswith("/")  # of a file that holds a key
        if _SECRET_NAME.search(name) and len(value) >= _PLACEHOLDER_BELOW and not is_path:
            secrets.append(value)
        if "://" in value:
            secrets += secrets_in_url(value)
    return tuple(secrets)


def redact_url(url: str) -> str:
    """Return the URL without user name, password and query values."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    pairs = parts.query.split("&") if parts.query else []
    query = "&".join(f"{pair.partition('=')[0]}={_MARK}" for pair in pairs)
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


class Redactor:
    """Replaces the secrets of a run in texts."""

    def __init__(self, secrets: Iterable[str | None] = ()) -> None:
        """Prepare to find secrets of six characters or more; shorter ones are words.

        A short one of letters or digits alone, such as ``ollama`` or ``123456``, is a placeholder
        that an answer may contain: taking it out would change what is scored, so it is looked for
        only in messages.
        """
        distinct = {secret for secret in secrets if secret and len(secret) >= _LENGTH_MIN}
        # The longest first, since one secret may begin another and would leave its end.
        longest_first = sorted(sorted(distinct), key=len, reverse=True)
        self._in_messages = [_Pattern(secret) for secret in longest_first]
        self._in_answers = [_Pattern(secret) for secret in longest_first if not _is_word(secret)]

    def finds(self, text: str | bytes) -> bool:
        """Return whether a text may hold a secret: quick, since nearly all texts hold none."""
        if not self._in_answers:
            return False
        unescaped = _without_escapes(text if isinstance(text, str) else text.decode("latin-1"))
        return any(secret.unescaped in unescaped for secret in self._in_answers)

    def text(self, text: str) -> str:
        """Return a text with every secret replaced."""
        return _redact_all(text, self._in_answers) if self.finds(text) else text

    def message(self, text: str) -> str:
        """Return a message for people with every secret replaced, placeholders too.

        What begins as a secret goes too, since a message may quote an endpoint and cut it off.
        """
        text = _redact_all(text, self._in_messages)
        for secret in self._in_answers:
            text = secret.beginning.sub(_MARK, text)
        return text

    def body(self, data: bytes) -> bytes:
        """Return bytes with every secret replaced."""
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def json(self, value: _Json, text: str | bytes | None = None) -> _Json:
        """Return a decoded JSON value with every secret in its texts and keys replaced.

        Args:
            value: Its dictionaries and lists are changed in place.
            text: The value as JSON, for the quick look; made from the value when None.
        """
        if not self._in_answers or not self.finds(dumps(value) if text is None else text):
            return value
        # Values nest as deep as an endpoint likes, hence a list of what is to do and no recursion.
        root: list[Any] = [value]
        containers: list[Any] = [root]
        while containers:
            container = containers.pop()
            entries: list[tuple[Any, Any]] = list(enumerate(container))
            if isinstance(container, dict):
                redacted_keys = {self.text(key): item for key, item in container.items()}
                container.clear()
                container.update(redacted_keys)
                entries = list(redacted_keys.items())
            for key, item in entries:
                if isinstance(item, str):
                    container[key] = self.text(item)
                elif isinstance(item, (dict, list)):
                    containers.append(item)
        redacted: _Json = root[0]
        return redacted

    def json_text(self, text: str) -> str:
        """Return the text of a JSON value with every secret in its texts and keys replaced."""
        return dumps(self.json(loads(text), text)) if self.finds(text) else text


class _Pattern:
    """Finds one secret, whichever of its characters are escaped for JSON or for a URL."""

    def __init__(self, secret: str) -> None:
        self.unescaped = _without_escapes(secret)
        """What stands in `_without_escapes` of every text that holds it."""
        flags = re.NOFLAG if _is_word(secret) else re.IGNORECASE
        self.written = re.compile("".join(map(_escapable, secret)), flags)
        # Its first characters, and on to the end of the word: how much was cut off is not known.
        beginning = "".join(map(_escapable, secret[:_BEGINNING_CHARACTERS]))
        self.beginning = re.compile(beginning + r"[^\s\"'<>]*", flags)


def _redact_all(text: str, secrets: Iterable[_Pattern]) -> str:
    for secret in secrets:
        text = secret.written.sub(_MARK, text)
    return text


def _without_escapes(text: str) -> str:
    """Return a text in lower case, its escapes undone as far as secrets are written with them."""
    text = text.lower()
    if "%" in text or "\\u" in text:
        text = _ESCAPE.sub(lambda escape: chr(int(escape[1] or escape[2], 16)).lower(), text)
    # JSON in JSON doubles its backslashes, as often as it is nested.
    return text.replace("\\", "")


def _is_word(secret: str) -> bool:
    return (secret.isalpha() or secret.isdigit()) and len(secret) < _PLACEHOLDER_BELOW


def _escapable(character: str) -> str:
    """Return a pattern of one character of a secret."""
    code = f"{ord(character):02x}"
    return rf"(?:\\*{re.escape(character)}|\\+u00(?i:{code})|%(?:25)*(?i:{code}))"
