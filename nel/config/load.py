"""Builds one validated `RunConfig` of a file's data, flags and overrides; later layers win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nel.config.layers import Layers, first_problem
from nel.config.schema import RunConfig
from nel.config.settings import Assignment
from nel.config.user_settings import from_environment, from_user_file
from nel.config.yaml_file import read_yaml

__all__ = ["build_config", "call_config", "first_problem", "read_yaml"]


def build_config(
    data: Mapping[str, object],
    *,
    given: Sequence[Assignment] = (),
    overrides: Sequence[str] = (),
    where: str = "command line",
) -> RunConfig:
    """Validate raw configuration data, with flags and ``key.path=value`` overrides on top of it.

    Args:
        data: As a YAML file holds it.
        given: Values of flags.
        overrides: Win over both.
        where: The name of the data in errors.

    Raises:
        ConfigError: Anything is unknown, missing, out of range or contradictory; the message names
            its source.
    """
    layers = Layers(data, where)
    for setting in given:
        layers.lay(setting)
    for override in overrides:
        layers.override(override)
    return layers.build()


def call_config(data: Mapping[str, object], *, where: str) -> RunConfig:
    """Validate the configuration of a call in Python, over the user's file and environment.

    Raises:
        ConfigError: As `build_config`, or the user's settings for all runs are wrong.
    """
    layers = Layers(data, where)
    layers.lay_user_settings(from_environment(), from_user_file(), over_first=False)
    return layers.build()
