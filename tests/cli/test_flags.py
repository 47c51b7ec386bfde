"""Flags, configuration keys and documentation name the same things."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from nel.cli import eval_run
from nel.cli.flags import BENCHMARK_KEYS, KEYS, configured
from nel.config.schema import (
    BenchmarkConfig,
    BudgetConfig,
    CacheConfig,
    EndpointConfig,
    EngineConfig,
    GenerationConfig,
    JudgeConfig,
    ObservabilityConfig,
    OutputConfig,
    SandboxConfig,
)
from nel.errors import ConfigError

NOT_CONFIGURATION = {
    "config",
    "bench",
    "resume",
    "allow_url_change",
    "allow_judge_change",
    "override",
    "dry_run",
    "as_json",
}
JUDGES = {"judge_url", "judge_id", "judge_api_key_env"}
"""Lists that make a panel together; see `panel_of`."""


def test_every_flag_sets_a_key_that_exists() -> None:
    """Each flag of `nel eval run` leads to a field of the configuration, with no default of its own."""
    parameters = inspect.signature(eval_run.run).parameters
    assert set(parameters) - NOT_CONFIGURATION - JUDGES == set(KEYS) | set(BENCHMARK_KEYS)
    sections = {
        "endpoint": EndpointConfig,
        "generation": GenerationConfig,
        "engine": EngineConfig,
        "sandbox": SandboxConfig,
        "output": OutputConfig,
        "budget": BudgetConfig,
        "cache": CacheConfig,
        "observability": ObservabilityConfig,
        "judge": JudgeConfig,
    }
    for path in KEYS.values():
        section, key = path.split(".")
        assert key in sections[section].model_fields
    assert set(BENCHMARK_KEYS.values()) <= set(BenchmarkConfig.model_fields)
    assert {parameter.default for parameter in parameters.values()} <= {None, False}


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    """A flag replaces the file's value and leaves the rest of the section alone."""
    path = tmp_path / "config.yaml"
    path.write_text(
        "endpoint: {url: http://h/v1, model: a}\n"
        "benchmarks: [gsm8k, {name: mmlu_pro, repeats: 2}]\n"
        "engine: {concurrency: 3}\n"
    )
    config = configured(path, {"model_id": "b", "max_problems": 5, "concurrency": None, "stop": [], "resume": False})
    assert config.endpoint is not None
    assert (config.endpoint.url, config.endpoint.model, config.engine.concurrency) == ("http://h/v1", "b", 3)
    assert [(entry.name, entry.max_problems, entry.repeats) for entry in config.benchmarks] == [
        ("gsm8k", 5, 1),
        ("mmlu_pro", 5, 2),
    ]


def test_temperature_zero_is_given() -> None:
    """Zero is a value, not an absence."""
    config = configured(None, {"bench": ["x"], "temperature": 0.0, "seed": 0})
    assert (config.generation.temperature, config.generation.seed) == (0.0, 0)


def test_one_dataset_for_several_benchmarks_is_refused() -> None:
    """--dataset with several benchmarks would feed one file to all of them."""
    with pytest.raises(ConfigError, match="one benchmark's data"):
        configured(None, {"bench": ["a", "b"], "dataset": "x.jsonl"})
