"""Reads a policy from YAML, with errors that name the key."""

from __future__ import annotations

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
    try:
        return Policy.model_validate(read_yaml(path))
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error
