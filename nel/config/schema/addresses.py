"""Checks of fields that name a service of the user's, or a variable with a secret."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of an environment variable."""


def service_url(url: str | None, *, what: str, example: str, secret: str) -> str | None:
    """Return the URL of a service without white space around it; None stays None.

    Args:
        what: The service, with its article.
        example: A URL that would do.
        secret: What to do where the URL holds a user name or a query, which may be secret.

    Raises:
        ValueError: It is not an http URL with a host, or holds more than host, port and path.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f"{url!r} is not {what}; give one like {example}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"the URL holds a user name or a query; {secret}")
    return url.strip()


def variable_name(name: str | None, *, field: str, secret: str) -> str | None:
    """Return the name of an environment variable; None stays None.

    Args:
        field: The key in the configuration.
        secret: What the variable holds, which is not a name of one.

    Raises:
        ValueError: It is not such a name.
    """
    if name is not None and not ENV_NAME.fullmatch(name):
        raise ValueError(
            f"{field} is not the name of an environment variable; give the name, not {secret}"
        )
    return name
