"""The scorer a user names instead of a benchmark's own: ``NAME`` or ``NAME:key=value,key=value``.

Trap: values are read as YAML, so ``true`` is a bool and ``3`` a number; write ``"'3'"`` for the text.
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
    name, _, rest = text.partition(":")
    found = plugins.load("scorers", name.strip())
    chosen: Scorer = as_scorer(found, options_of(name, rest))
    return chosen


def options_of(name: str, text: str) -> dict[str, Any]:
    """Return the options of ``key=value,key=value``, each value read as YAML.

    Raises:
        ConfigError: A part is not ``key=value``, or a value is no YAML.
    """
    options: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, separator, value = part.partition("=")
        if not separator or not key.strip():
            raise ConfigError(f'"{name}": write options as key=value, not "{part}"')
        try:
            options[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f'"{name}": the value of {key.strip()} is not valid YAML: {value}') from error
    return options
