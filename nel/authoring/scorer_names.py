"""Scorers to replace a benchmark's: ``NAME``, ``NAME:key=value,key=value``, ``package:NAME:…``.

Values are read as YAML, so ``true`` is a bool and ``3`` a number; write ``"'3'"`` for the text.
"""

from __future__ import annotations

from typing import Any

import yaml

from nel import plugins
from nel.errors import ConfigError
from nel.scoring.protocol import as_scorer
from nel.types import Scorer


def find_scorer(text: str) -> Scorer:
    """Return the installed scorer that a text names, with its options bound.

    Raises:
        PluginError: No scorer has this name, or it cannot be imported.
        ConfigError: An option is unknown or not ``key=value``.
    """
    name, option_text = plugins.split_options(text)
    plugin = plugins.load("scorers", name)
    scorer: Scorer = as_scorer(plugin, options_of(name, option_text))
    return scorer


def options_of(name: str, text: str) -> dict[str, Any]:
    """Return the options of ``key=value,key=value``, each value read as YAML.

    Raises:
        ConfigError: A part is not ``key=value``, or a value is not YAML.
    """
    options: dict[str, object] = {}
    for option in _parts(text):
        key, separator, value = option.partition("=")
        key = key.strip()
        if not separator or not key:
            raise ConfigError(f'"{name}": write options as key=value, not "{option}"')
        if key in options:
            raise ConfigError(f'"{name}": the option {key} is given twice')
        try:
            parsed = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f'"{name}": the value of {key} is not valid YAML: {value}') from error
        options[key] = value.strip() if isinstance(parsed, dict) else parsed
    return options


def _parts(text: str) -> list[str]:
    """Return the text split at commas, but for those in quotes or brackets."""
    # `depth` counts open brackets; `quote` is the mark that ends the quotation, or empty.
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        # A quotation opens where a value begins: `word=it's` holds an apostrophe.
        elif character in "'\"" and text[position - 1 : position] in ("=", "[", ",", " "):
            quote = character
        elif character in "[{(":
            depth += 1
        elif character in "]})":
            depth = max(0, depth - 1)
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [option for option in (*parts, text[start:]) if option.strip()]
