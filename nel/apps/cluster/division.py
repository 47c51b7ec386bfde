"""Divides the limits of a run among its shards, where no limiter shares them. Does no I/O.

Undivided, a limit of the run would hold once for each shard. A run whose limits cannot be divided
is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from nel.config.openai_environment import key_variable
from nel.config.schema import EndpointConfig, RunConfig
from nel.config.schema.shard import SHARDS_MAX
from nel.errors import ConfigError
from nel.types import JsonObject

_RATES: Final = ("requests_per_minute", "tokens_per_minute")
_COUNTS: Final = ("max_requests", "max_tokens_total")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardConfig:
    """The configuration that all shards have, but for their numbers."""

    config: dict[str, Any]
    """As JSON."""
    limits: tuple[str, ...]
    """One line for each limit: its share of a shard."""


def divide(config: RunConfig, shards: int) -> ShardConfig:
    """Return the configuration of each shard, with every limit divided by their number.

    Raises:
        ConfigError: The number is out of range, a limit is too small to be divided, or the run
            cannot be divided.
    """
    if not 1 <= shards <= SHARDS_MAX:
        raise ConfigError(f"--shards {shards}: a run has 1 to {SHARDS_MAX:,} shards")
    if config.shard is not None:
        raise ConfigError(
            f"--shard {config.shard} is given; each job gets its own, so leave it out"
        )
    if config.endpoints:
        raise ConfigError("there are several endpoints; submit the shards of each by itself")
    if config.observability.metrics_port is not None:
        raise ConfigError(
            "two shards on one machine cannot both serve observability.metrics_port; leave it out"
        )
    data = _with_keys_named(config)
    limits = _divided_limits if config.limiter.url is None else _shared_limits
    texts = list(limits(data, shards))
    texts += [
        _divide_count(data["budget"], "budget", key, shards)
        for key in _COUNTS
        if data["budget"][key] is not None
    ]
    if data["budget"]["max_cost"] is not None:
        texts.append(_divide_rate(data["budget"], "budget", "max_cost", shards))
    return ShardConfig(config=data, limits=tuple(texts))


def _shared_limits(data: dict[str, Any], shards: int) -> Iterator[str]:
    endpoints = list(_endpoints(data))
    for name, section in [("engine", data["engine"]), *endpoints]:
        total = section.get("concurrency")
        if not total:
            continue
        if total < shards:
            raise ConfigError(
                f"{name}.concurrency is {total:,}, which {shards:,} shards would have to share"
                f" without the limiter; set it to {shards:,} at least, or take fewer shards"
            )
        yield f"{name}.concurrency: {total:,} in all, shared through the limiter"
    for name, endpoint in endpoints:
        for key in _RATES:
            if endpoint[key] is not None:
                yield f"{name}.{key}: {endpoint[key]:g} in all, shared through the limiter"


def _divided_limits(data: dict[str, Any], shards: int) -> Iterator[str]:
    """Divide the concurrency and the rates in place, and yield a line for each."""
    yield _divide_count(data["engine"], "engine", "concurrency", shards)
    for name, endpoint in _endpoints(data):
        for key in _RATES:
            if endpoint[key] is not None:
                yield _divide_rate(endpoint, name, key, shards)
        if endpoint.get("concurrency") is not None:
            yield _divide_count(endpoint, name, "concurrency", shards)


def secrets_of(config: RunConfig) -> tuple[str, ...]:
    """Return the names of the environment variables that hold keys, each once."""
    names = [
        name
        for _, endpoint in _endpoints(_with_keys_named(config))
        for name in (endpoint["api_key_env"], *endpoint["headers_env"].values())
    ]
    names.append(config.limiter.token_env)
    return tuple(dict.fromkeys(name for name in names if name))


def _with_keys_named(config: RunConfig) -> dict[str, Any]:
    """Return a configuration as JSON that names the variable of each key.

    The default variable depends on the environment, and a job has another environment than this.
    """
    data: dict[str, Any] = config.model_dump(mode="json")
    for _, endpoint in _endpoints(data):
        fields = {name: endpoint[name] for name in ("url", "model", "api_key_env", "headers_env")}
        endpoint["api_key_env"] = key_variable(EndpointConfig.model_validate(fields))
    return data


def _endpoints(data: JsonObject) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the settings of each endpoint of a configuration."""
    if data["endpoint"] is not None:
        yield "endpoint", data["endpoint"]
    judges = [("judge", data["judge"])]
    judges += [("benchmarks.judge", entry["judge"]) for entry in data["benchmarks"]]
    for section, judge in judges:
        for number, member in enumerate((judge or {}).get("panel", ())):
            yield f"{section}.panel.{number}", member
    for role, member in data["model_roles"].items():
        yield f"model_roles.{role}", member


def _divide_count(section: dict[str, Any], name: str, key: str, shards: int) -> str:
    total = section[key]
    if total < shards:
        raise ConfigError(
            f"{name}.{key} is {total:,}, which {shards:,} shards cannot share; set it to"
            f" {shards:,} at least, or take fewer shards"
        )
    # Rounded down: the shards together stay below the limit, by less than one each.
    share = section[key] = total // shards
    return f"{name}.{key}: {share:,} in each shard, {share * shards:,} of {total:,} in all"


def _divide_rate(section: dict[str, Any], name: str, key: str, shards: int) -> str:
    total = section[key]
    share = section[key] = total / shards
    return f"{name}.{key}: {share:g} in each shard, {total:g} in all"
