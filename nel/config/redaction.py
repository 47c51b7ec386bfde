"""Reads secrets from the environment and removes them from texts.

An endpoint may echo the key in an error body, so every text that comes from outside passes `redact`.
"""

from __future__ import annotations

import base64
import os
from urllib.parse import quote, urlsplit, urlunsplit

from nel.errors import ConfigError

_SHOWN = "[redacted]"
_SECRET_LENGTH_MIN = 6


def read_secret(env_name: str | None) -> str | None:
    """Return the value of the named environment variable, or None when no name is given.

    Raises:
        ConfigError: The variable is not set or empty, or holds a line break.
    """
    if env_name is None:
        return None
    value = os.environ.get(env_name, "").strip()
    if not value:
        raise ConfigError(f"the environment variable {env_name}, named to hold the key, is not set; export it first")
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(f"the key in {env_name} holds characters that no HTTP header can carry; export it again")
    return value


def redact(text: str, secret: str | None) -> str:
    """Return the text with every spelling of the secret replaced: raw, percent-encoded and base64."""
    if not secret or len(secret) < _SECRET_LENGTH_MIN:
        return text
    for spelling in (secret, quote(secret, safe=""), base64.b64encode(secret.encode()).decode()):
        text = text.replace(spelling, _SHOWN)
    return text


def redact_url(url: str) -> str:
    """Return the URL without user name, password and query values."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(f"{pair.partition('=')[0]}={_SHOWN}" for pair in parts.query.split("&")) if parts.query else ""
    return urlunsplit((parts.scheme, host, parts.path, query, ""))
