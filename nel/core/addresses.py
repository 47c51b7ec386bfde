"""Addresses of plugins, ``scheme://PATH?NAME=VALUE``: their path and their parameters."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import parse_qsl, unquote

from nel.errors import ConfigError, NelError, did_you_mean


def split_address(
    uri: str, names: Collection[str] | None = None, *, error: type[NelError] = ConfigError
) -> tuple[str, dict[str, str]]:
    """Return the path of an address and its parameters.

    Args:
        names: The parameters that the plugin takes; None: any.
        error: The class of what is raised.

    Raises:
        NelError: A parameter is unknown or given twice.

    >>> split_address("lm-eval://gsm8k?num_fewshot=5")
    ('gsm8k', {'num_fewshot': '5'})
    """
    path, _, query = uri.partition("://")[2].partition("?")
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if names is not None and name not in names:
            hint = did_you_mean(name, names) or ";"
            raise error(f'{uri}: unknown parameter "{name}"{hint} known: {", ".join(names)}')
        if name in parameters:
            raise error(f"{uri}: {name} is given twice")
        parameters[name] = value
    # Decoded last: `%3F` in a path is a question mark of the path, and begins no query.
    return unquote(path), parameters
