"""What a user sets once for all runs: variables of the environment that begin with NEL_, and a
configuration file of their own.

The variables are those of the flags that the schema marks with `Flag.has_variable`. Depends on the
schema and on the files of `nel.config.yaml_file`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from nel.config.schema import OutputConfig
from nel.config.settings import Assignment, Setting, settings
from nel.config.yaml_file import read_yaml
from nel.core.paths import user_directory
from nel.errors import ConfigError

FILE_VARIABLE: Final = "NEL_CONFIG"
"""Names the user's file; set and empty: there is none."""
DATA_VARIABLE: Final = "NEL_DATA"
"""Names the folder with the user's own copies of datasets."""
_PREFIX: Final = "NEL_"
_LIKENESS_MIN: Final = 0.8
"""Of a variable to one of nel, from which on it is taken for a misspelling."""
_OF_ONE_RUN: Final = ("benchmarks", "endpoints", "shard")
_UNDIVIDED: Final = ("judge", "model_roles")
"""Sections that describe models: all keys of one come from the same source."""
_OUTPUT: Final = ("output", "dir")
_BODY_FIELDS: Final = ("generation", "extra")
"""Holds fields of the request, each of which is a setting of its own."""


def variables() -> dict[str, Setting]:
    """Return the settings that a variable sets, by its name."""
    return {entry.flag.variable: entry for entry in settings() if entry.flag.has_variable}


def from_environment() -> list[Assignment]:
    """Return what the variables set; one that is empty sets nothing.

    Raises:
        ConfigError: A variable is spelt almost as one of nel's.
    """
    settings_by_name = variables()
    names = [*settings_by_name, FILE_VARIABLE, DATA_VARIABLE]
    for name in os.environ:
        # A variable NEL_… of another program is left alone, unless it is nearly one of these.
        near = get_close_matches(name, names, n=1, cutoff=_LIKENESS_MIN)
        if name.startswith(_PREFIX) and near and name not in names:
            raise ConfigError(
                f"the environment variable {name} sets nothing; did you mean {near[0]}? Rename or"
                " unset it"
            )
    return [
        Assignment(flag=name, path=entry.path, value=os.environ[name])
        for name, entry in settings_by_name.items()
        if os.environ.get(name, "").strip()
    ]


def from_user_file() -> list[Assignment]:
    """Return what the user's file sets; nothing where there is none.

    Raises:
        ConfigError: It cannot be read, or describes a single run.
    """
    variable = os.environ.get(FILE_VARIABLE)
    if variable is None:
        path = user_directory() / "config.yaml"
        has_file = path.is_file()
    else:
        path = Path(variable).expanduser()
        has_file = bool(variable.strip())  # a file that is named and missing is an error below
    if not has_file:
        return []
    try:
        data = read_yaml(path)
    except ConfigError as error:
        hint = f" ({FILE_VARIABLE} names it; correct or unset that)" if variable else ""
        raise ConfigError(f"{error}{hint}") from error
    for key in _OF_ONE_RUN:
        if key in data:
            raise ConfigError(
                f"{path}: {key} is of a single run, and this file holds for all; put it into the"
                " file of the run"
            )
    return [Assignment(flag=str(path), path=key, value=value) for key, value in _entries(data)]


def output_directory() -> str:
    """Return where runs are written where no flag and no file of a run says so."""
    for entry in (*from_environment(), *from_user_file()):
        if entry.path == _OUTPUT:
            return str(entry.value)
    return OutputConfig().dir


def _entries(data: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], object]]:
    for section, values in data.items():
        if section in _UNDIVIDED or not isinstance(values, Mapping):
            yield (section,), values
            continue
        for key, value in values.items():
            path = (section, str(key))
            if path == _BODY_FIELDS and isinstance(value, Mapping):
                yield from (((*path, str(name)), item) for name, item in value.items())
            else:
                yield path, value
