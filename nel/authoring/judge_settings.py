"""A benchmark's own judges: from the form of its file to that of a run's configuration. ::

    @benchmark(
        ...,
        judge={"url": ..., "model_id": ..., "api_key": "NAME_OF_A_VARIABLE"},
        extra={"judge_1": {...}},
    )

``api_key`` is the name of an environment variable; a key itself is refused, and not shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from nel.config.load import first_problem
from nel.config.schema import JudgeConfig, ModelConfig
from nel.config.schema.variables import ENV_NAME
from nel.core.json_values import is_number
from nel.errors import ConfigError, did_you_mean

_NAMES: Final = {"model_id": "model", "model": "model", "url": "url", "name": "name"}
_GENERATION: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_new_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "seed": "seed",
}
_KEYS: Final = ("api_key", "api_key_env", "api_key_name")
_PACING: Final = ("parallelism", "max_retries", "request_timeout")
_FIELDS: Final = (*_NAMES, *_KEYS, *_GENERATION, *_PACING)
JUDGE_KEY: Final = re.compile(r"judge(_\d+)?")
_MARKS: Final = frozenset({"url", "model_id"})
"""What a judge under any other key of ``extra`` is known by."""


def judge_config_of(mapping: Mapping[str, object]) -> JudgeConfig:
    """Return the judge that a benchmark's file names as the panel of a run.

    Raises:
        ConfigError: As `model_config_of`.
    """
    return JudgeConfig(panel=[model_config_of(mapping, "judge")])


def model_config_of(mapping: Mapping[str, object], key: str) -> ModelConfig:
    """Return the model that a benchmark's file names as a judge.

    Args:
        mapping: ``url``, ``model_id``, ``api_key`` (the name of a variable), ``temperature`` (0),
            ``top_p``, ``max_new_tokens`` (4096), ``seed``, ``parallelism`` (requests in flight),
            ``max_retries``, ``request_timeout`` (seconds) and ``name``. A field that is None counts
            as left out.
        key: Where it stands, for messages.

    Raises:
        ConfigError: A field is unknown, missing or cannot be meant, or ``api_key`` is not a name of
            a variable.
    """
    # None counts as left out, as files write it that take their values from variables.
    values = {str(name): value for name, value in mapping.items() if value is not None}
    for name in values:
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS, or_all="; it has ")
            raise ConfigError(f'{key}: a judge has no field "{name}"{hint}')
    settings: dict[str, object] = {_NAMES[name]: values[name] for name in _NAMES if name in values}
    for setting, other_key in (("url", "url"), ("model", "model_id")):
        if setting not in settings:
            raise ConfigError(
                f'{key}: the judge has no "{other_key}"; give its URL and its name at that endpoint'
            )
    variables = [values[name] for name in _KEYS if name in values]
    if variables:
        settings["api_key_env"] = _variable(variables[0], key)
    generation = {ours: values[name] for name, ours in _GENERATION.items() if name in values}
    if generation:
        settings["generation"] = generation
    settings |= _pacing_of(values, key)
    try:
        return ModelConfig.model_validate(settings)
    except ValidationError as error:
        raise ConfigError(f"{key}: {first_problem(error)}") from error


def judges_in(extra: Mapping[str, object]) -> dict[str, ModelConfig]:
    """Return the judges that a benchmark has in ``extra``, by their keys.

    Those are ``judge`` and ``judge_1``, ``judge_2`` …, and whatever else has a ``url`` and a
    ``model_id``.

    Raises:
        ConfigError: As `model_config_of`.
    """
    judges = {}
    for key, value in extra.items():
        if isinstance(value, Mapping) and (JUDGE_KEY.fullmatch(str(key)) or value.keys() >= _MARKS):
            judges[str(key)] = model_config_of(value, str(key))
    return judges


def _variable(value: object, key: str) -> str:
    if not isinstance(value, str) or not ENV_NAME.fullmatch(value):
        raise ConfigError(
            f"{key}: api_key is not the name of an environment variable; put the key into a"
            " variable and give its name"
        )
    return value


def _pacing_of(values: Mapping[str, Any], key: str) -> dict[str, object]:
    for name in _PACING:
        value = values.get(name, 1)
        if not is_number(value) or value < 0:
            raise ConfigError(f"{key}: {name} is {value!r}; give a number")
    settings: dict[str, Any] = {}
    if "parallelism" in values:
        settings["concurrency"] = int(values["parallelism"])
    if "max_retries" in values:
        settings["attempts_max"] = int(values["max_retries"]) + 1  # the first is not a retry
    if "request_timeout" in values:
        settings["total_timeout_seconds"] = float(values["request_timeout"])
    return settings
