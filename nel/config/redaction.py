"""Reads secrets from the environment and removes them from texts.

An endpoint may repeat the key in an error or an answer, and a scorer in what it raises; so every
text that comes from outside passes a `Redactor` before it is stored or shown. It finds a secret in
the spellings that servers make of one: escaped for JSON, URLs, HTML or Python, in base64 (with a
user before it, too) or hex, in another case, and cut off.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from nel.config.bare_spellings import bare, heads, in_base64, runs_of
from nel.config.bare_spellings import spans as bare_spans
from nel.core.strict_json import dumps, loads
from nel.errors import ConfigError

_SHOWN = "[redacted]"
_SECRET_LENGTH_MIN = 6
_WHOLE_BELOW: Final = 16
"""A shorter secret is found only whole, since half of it may be a word."""
_PART_MIN: Final = 8
"""So many characters of a cut-off secret are found in a message; in an answer, half of the
secret.
"""
_TELLING: Final = 12
"""So many characters of a longer secret, a digit among them, are no words that an answer happens to
hold.
"""
_HEAD_MAX: Final = 24
"""The beginning of a secret that is searched for; what follows is compared one by one."""
_ENTITIES: Final = {
    "&": "amp",
    "<": "lt",
    ">": "gt",
    '"': "quot",
    "'": "apos",
    "/": "sol",
    "+": "plus",
    "=": "equals",
}
_ESCAPE: Final = re.compile(r"""(?x)
    \\+ (?: [uU]0*(?P<u>[0-9a-fA-F]{2}) | u\{0*(?P<b>[0-9a-fA-F]{2})\} | x(?P<x>[0-9a-fA-F]{2})
          | 0{2,4}(?P<s>[2-7][0-9a-fA-F])\ ? | (?P<o>[01][0-7]{2}) | (?P<c>[^\w\s]|_) )
    | % (?:25)* (?:u00)? (?P<p>[0-9a-fA-F]{2}) | = (?P<q>[2-7][0-9A-F])
    | & (?:amp;)* \# (?: x0*(?P<h>[0-9a-fA-F]{2}) | 0*(?P<d>[0-9]{2,3}) ) ;?
    | & (?P<e>amp|lt|gt|quot|apos|sol|plus|equals) ;
    """)
_PERCENT: Final = re.compile(rb"%(?:25)*(?:u00)?[2-7][0-9a-f]|=[2-7][0-9a-f](?==)")
_ENTITY: Final = re.compile(rb"&(?:#|[aglpqse][a-z]{1,5};)")
_CHARACTER: Final = {name: character for character, name in _ENTITIES.items()}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_=-]{0,4}")
_CONVENTIONAL: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
"""Names that variables have and hardly a key, so that they can be shown."""
_NOT_ALONE: Final = re.compile(r"^['\"].*['\"]$|\s")
_JSON_LETTERS: Final = "bfnrtu"
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
    """Replaces the secrets of a run in texts, in whatever spelling they stand there."""

    def __init__(self, secrets: Iterable[str | None] = ()) -> None:
        """Prepare to find secrets; those of fewer than six characters are words and are not looked
        for.

        A short one of letters or digits alone, such as ``ollama`` or ``123456``, is a placeholder
        that an answer may
        contain: taking it out would change what is scored, so it is looked for in messages alone.
        """
        known = sorted(
            {secret for secret in secrets if secret and len(secret) >= _SECRET_LENGTH_MIN}
        )
        self._in_messages = [spelling for secret in known for spelling in _spellings(secret)]
        keys = [secret for secret in known if not _is_word(secret)]
        self._spellings = [spelling for secret in keys for spelling in _spellings(secret)]
        self._runs = tuple(run for secret in keys for run in runs_of(secret))
        self._heads = heads(self._runs)
        self._literals = list(dict.fromkeys(one.literal for one in self._spellings))
        # What may spell a printable character; an escaped line end, as in most JSON, does not.
        # Three patterns, since each begins with a literal, which is searched for twenty times as
        # fast as a choice.
        marks = re.escape(
            "".join(
                sorted({one for each in self._spellings for one in each.text if not one.isalnum()})
            )
        )
        marks = f"|[{marks}]" if marks else ""
        self._escapes = (
            re.compile(
                rf"\\(?:u0*[2-7][0-9a-f]|u\{{|x[2-7][0-9a-f]|0*[01][0-7]|00{marks})".encode()
            ),
            _PERCENT,
            _ENTITY,
        )

    def finds(self, text: str | bytes) -> bool:
        """Return whether a text may hold a secret: quick, since nearly all texts hold none."""
        if not self._literals:
            return False
        data = (text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).lower()
        if any(literal in data for literal in self._literals):
            return True
        if self._heads:
            run = bare(data)
            for head in self._heads:  # half the time of any()
                if head in run:
                    return True
        if not any(escape.search(data) for escape in self._escapes):
            return False
        shown = data.decode("utf-8", "replace")
        return any(one.pattern.search(shown) for one in self._spellings if one.is_escapable)

    def text(self, text: str) -> str:
        """Return a text with every secret replaced, and every half of one; JSON stays JSON."""
        return self._replaced(text, parts=False) if self.finds(text) else text

    def message(self, text: str) -> str:
        """Return a message for people with every secret replaced, and the beginning of one that was
        cut off.
        """
        return self._replaced(text, parts=True) if self._in_messages else text

    def body(self, data: bytes) -> bytes:
        """Return bytes with every secret replaced."""
        if not self.finds(data):
            return data
        return self._replaced(data.decode("utf-8", "surrogateescape"), parts=False).encode(
            "utf-8", "surrogateescape"
        )

    def json(self, value: _Json, raw: str | bytes | None = None) -> _Json:
        """Return a decoded JSON value with every secret in its texts and keys replaced, in place
        where it can be.

        Args:
            value: What is changed.
            raw: Its text, for the quick look; made from the value when not given.
        """
        if not self._literals or not self.finds(dumps(value) if raw is None else raw):
            return value
        holder: list[Any] = [value]
        pending: list[Any] = [holder]
        while pending:
            container = pending.pop()
            if isinstance(container, dict):
                entries = list(container.items())
                container.clear()
                container.update(
                    (self.text(key) if isinstance(key, str) else key, item) for key, item in entries
                )
            for place, item in list(
                container.items() if isinstance(container, dict) else enumerate(container)
            ):
                if isinstance(item, str):
                    container[place] = self.text(item)
                elif isinstance(item, (dict, list)):
                    pending.append(item)
        changed: _Json = holder[0]
        return changed

    def json_text(self, text: str) -> str:
        """Return the text of a JSON value with every secret in its texts and keys replaced."""
        return dumps(self.json(loads(text), text)) if self.finds(text) else text

    def _replaced(self, text: str, *, parts: bool) -> str:
        spellings = self._in_messages if parts else self._spellings
        found = [span for one in spellings for span in one.spans(text, parts=parts)]
        spans = sorted([*found, *bare_spans(text, self._runs)])
        pieces, end = [], 0
        for first, last in spans:
            if last <= end:
                continue
            if first >= end:
                pieces += [text[end:first], _SHOWN]
            end = last
        return "".join([*pieces, text[end:]])


@dataclass(frozen=True)
class _Spelling:
    """One way to write a secret; each of its characters may be escaped."""

    text: str
    is_escapable: bool = True
    is_base64: bool = False
    any_case: bool = True

    @property
    def n_needed(self) -> int:
        """Return how many characters of it have to stand in an answer."""
        if len(self.text) < _WHOLE_BELOW:
            return len(self.text)
        has_digit = any(character.isdigit() for character in self.text[:_TELLING])
        return max(_PART_MIN, min(len(self.text) // 2, _TELLING if has_digit else len(self.text)))

    @property
    def literal(self) -> bytes:
        """Return what stands in the lower-case bytes of a text that holds it without escapes."""
        return self.text[: min(self.n_needed, _HEAD_MAX)].lower().encode()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern of its beginning, escaped or not, for any text."""
        return self._pattern_of(min(self.n_needed, _HEAD_MAX))

    @cached_property
    def part(self) -> re.Pattern[str]:
        """Return a pattern of a shorter beginning, for messages, which are cut off."""
        return self._pattern_of(min(self.n_needed, _PART_MIN))

    def _pattern_of(self, n_characters: int) -> re.Pattern[str]:
        ways = _ways if self.is_escapable else re.escape
        return re.compile(
            "".join(map(ways, self.text[:n_characters])), re.IGNORECASE if self.any_case else 0
        )

    def spans(self, text: str, *, parts: bool) -> Iterator[tuple[int, int]]:
        """Yield start and end of each place where it, or enough of its beginning, stands in a
        text.
        """
        pattern = self.part if parts else self.pattern
        needed = min(self.n_needed, _PART_MIN) if parts else self.n_needed
        position = 0
        while found := pattern.search(text, position):
            n_same, end = self._extent(text, found.start())
            position = max(end, found.start() + 1)
            if n_same >= needed:
                if self.is_base64 and (rest := _BASE64.match(text, end)):
                    end = rest.end()
                yield _after_escape(text, found.start()), max(end, found.end())

    def _extent(self, text: str, position: int) -> tuple[int, int]:
        """Return how many characters of the secret stand at a position, and where they end."""
        for count, wanted in enumerate(self.text):
            end = self._end_of(wanted, text, position)
            if end is None:
                return count, position
            position = end
        return len(self.text), position

    def _end_of(self, wanted: str, text: str, position: int) -> int | None:
        if position < len(text) and self._is_same(text[position], wanted):
            return position + 1
        escape = _ESCAPE.match(text, position) if self.is_escapable else None
        return escape.end() if escape and self._is_same(_unescaped(escape), wanted) else None

    def _is_same(self, one: str, other: str) -> bool:
        return one == other or (self.any_case and one.lower() == other.lower())


def _is_word(secret: str) -> bool:
    return (secret.isalpha() or secret.isdigit()) and len(secret) < _WHOLE_BELOW


def _spellings(secret: str) -> Iterator[_Spelling]:
    yield _Spelling(secret, any_case=not _is_word(secret))
    data = secret.encode()
    yield _Spelling(data.hex(), is_escapable=False)
    for middle in in_base64(data):
        for text in dict.fromkeys((middle, middle.replace("+", "-").replace("/", "_"))):
            yield _Spelling(text, is_escapable=not text.isalnum(), is_base64=True, any_case=False)


def _ways(character: str) -> str:
    """Return a pattern of one character and its escapes; every branch begins with a literal, for a
    quick search.
    """
    codes = sorted({f"{ord(one):02x}" for one in (character.lower(), character.upper())})
    numbers = "|".join(str(int(code, 16)) for code in codes)
    code = f"(?:{'|'.join(codes)})"
    octal = "|".join(f"{int(one, 16):03o}" for one in codes)
    ways = [re.escape(character), rf"\\\\*[uU]0*{code}", rf"\\\\*u\{{0*{code}\}}", rf"\\\\*x{code}"]
    ways += [rf"\\\\*0{{2,4}}{code} ?", rf"\\\\*(?:{octal})", f"={code}", f"%(?:25)*(?:u00)?{code}"]
    ways += [f"&(?:amp;)*#x0*{code};?", f"&(?:amp;)*#0*(?:{numbers});?"]
    if not character.isalnum():
        ways.append(rf"\\\\*{re.escape(character)}")
    if character in _ENTITIES:
        ways.append(f"&{_ENTITIES[character]};")
    return f"(?:{'|'.join(ways)})"


def _unescaped(escape: re.Match[str]) -> str:
    if escape["c"] is not None:
        return escape["c"]
    if escape["e"] is not None:
        return _CHARACTER[escape["e"]]
    if escape["d"] is not None:
        return chr(int(escape["d"]))
    if escape["o"] is not None:
        return chr(int(escape["o"], 8))
    return chr(int(next(escape[name] for name in "ubxpqsh" if escape[name] is not None), 16))


def _after_escape(text: str, start: int) -> int:
    r"""Return where a secret may be cut out of JSON text: an ``n`` in front of which ``\`` stands
    is a line end."""
    n_backslashes = start - len(text[:start].rstrip("\\"))
    return start + 1 if n_backslashes % 2 and text[start] in _JSON_LETTERS else start
