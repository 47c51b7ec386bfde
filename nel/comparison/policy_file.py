"""Reads a policy from YAML, with errors that name the key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from nel.config.layers import first_problem
from nel.config.yaml_file import read_yaml
from nel.decide.policy import Policy
from nel.errors import ConfigError


def read_policy(path: Path) -> Policy:
    """Return the policy in a YAML file, in nel's form or NeMo Evaluator's.

    Raises:
        ConfigError: There is no such file, it is not YAML, or a key or value is wrong.
    """
    return policy_of(read_yaml(path), where=str(path))


def policy_of(content: Mapping[str, object], *, where: str) -> Policy:
    """Return the policy that a mapping describes.

    Raises:
        ConfigError: A key or value is wrong; the message begins with where it is from.
    """
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_problem(error)}") from error
