"""Splits a configuration with several endpoints into one for each; depends on the schema alone."""

from __future__ import annotations

from typing import TypeVar

from nel.config.schema import (
    EndpointConfig,
    JudgeConfig,
    ModelConfig,
    NamedEndpointConfig,
    RunConfig,
)

_Model = TypeVar("_Model", bound=ModelConfig)


def split_config(config: RunConfig) -> list[tuple[str, RunConfig]]:
    """Return the name and the configuration of each endpoint's run.

    Every run asks the judges through a gate of its own, so each gets an equal share of their rates
    and of their concurrency, at least one request at a time.

    Args:
        config: With at least one of `endpoints`.
    """
    n = len(config.endpoints)
    return [(endpoint.label, _config_of(config, endpoint, n)) for endpoint in config.endpoints]


def _config_of(config: RunConfig, of_run: NamedEndpointConfig, n: int) -> RunConfig:
    endpoint = EndpointConfig.model_validate(of_run.model_dump(exclude={"name", "concurrency"}))
    concurrency = of_run.concurrency or config.engine.concurrency
    benchmarks = [
        entry.model_copy(update={"judge": _shared_judge(entry.judge, config.engine.concurrency, n)})
        for entry in config.benchmarks
    ]
    roles = {
        role: _shared_model(model, config.engine.concurrency, n)
        for role, model in config.model_roles.items()
    }
    return config.model_copy(
        update={
            "endpoints": [],
            "endpoint": endpoint,
            "engine": config.engine.model_copy(update={"concurrency": concurrency}),
            "judge": _shared_judge(config.judge, config.engine.concurrency, n),
            "benchmarks": benchmarks,
            "model_roles": roles,
        }
    )


def _shared_judge(judge: JudgeConfig | None, concurrency: int, n: int) -> JudgeConfig | None:
    if judge is None or not judge.panel:
        return judge
    return judge.model_copy(
        update={"panel": [_shared_model(member, concurrency, n) for member in judge.panel]}
    )


def _shared_model(model: _Model, concurrency: int, n: int) -> _Model:
    rates = {
        name: rate / n
        for name in ("requests_per_minute", "tokens_per_minute")
        if (rate := getattr(model, name)) is not None
    }
    return model.model_copy(
        update={**rates, "concurrency": max(1, (model.concurrency or concurrency) // n)}
    )
