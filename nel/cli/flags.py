"""From the flags of `nel eval run` and a YAML file to one configuration: which flag sets which key, and nothing more.

Trap: a flag that was not given is None (or false, or empty) and must not hide what the file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nel.errors import ConfigError

if TYPE_CHECKING:
    from nel.config.schema import RunConfig

KEYS: Final = {
    "model_url": "endpoint.url",
    "model_id": "endpoint.model",
    "api_key_env": "endpoint.api_key_env",
    "send_sample_id": "endpoint.send_sample_id",
    "stream": "endpoint.stream",
    "requests_per_minute": "endpoint.requests_per_minute",
    "tokens_per_minute": "endpoint.tokens_per_minute",
    "max_cost": "budget.max_cost",
    "max_tokens_total": "budget.max_tokens_total",
    "max_requests": "budget.max_requests",
    "cache": "cache.dir",
    "judge_template": "judge.template",
    "judge_criteria": "judge.criteria",
    "judge_repeats": "judge.repeats",
    "temperature": "generation.temperature",
    "top_p": "generation.top_p",
    "max_tokens": "generation.max_tokens",
    "stop": "generation.stop",
    "seed": "generation.seed",
    "concurrency": "engine.concurrency",
    "sandbox_workers": "sandbox.workers",
    "output_dir": "output.dir",
    "run_id": "output.run_id",
    "metrics_port": "observability.metrics_port",
}
"""Flag to the key of the configuration that it sets."""

BENCHMARK_KEYS: Final = {
    **{name: name for name in ("dataset", "max_problems", "repeats", "system_prompt", "response_field", "scorer")},
    "num_fewshot": "num_fewshot",
    "fewshot_dataset": "fewshot_dataset",
    "truncated": "truncated",
    "reducer": "reducers",
    "metric": "metrics",
}
"""Flag to the key that it sets in every benchmark of the run."""


def configured(path: Path | None, flags: Mapping[str, Any]) -> RunConfig:
    """Return the configuration that a file and the flags laid over it describe.

    Raises:
        ConfigError: A needed flag is missing, or a key is unknown or wrong.
    """
    from nel.config.load import build_config, read_yaml  # noqa: PLC0415 - keeps --help fast

    data = read_yaml(path) if path else {}
    given = {name: value for name, value in flags.items() if not (value is None or value is False or value == [])}
    for name in given.keys() & KEYS:
        section, key = KEYS[name].split(".")
        data[section] = {**(data.get(section) or {}), key: given[name]}
    panel = panel_of(given)
    if panel:
        from nel.config.load import with_panel  # noqa: PLC0415 - keeps --help fast

        data = with_panel(data, panel)
    if "bench" in given:
        data["benchmarks"] = [{"name": name} for name in given["bench"]]
    overrides = given.get("override", [])
    _check_complete(data, overrides)
    _lay_over_benchmarks(data, {key: given[name] for name, key in BENCHMARK_KEYS.items() if name in given})
    where = str(path) if path else "command line"
    return build_config(data, overrides=overrides, where=where)


def panel_of(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the judges that flags name: one for each --judge-id, each with its own URL and key or all with one.

    Raises:
        ConfigError: There are neither one nor as many of a flag as there are judges, or one is missing.
    """
    flags = {"url": "--judge-url", "model": "--judge-id", "api_key_env": "--judge-api-key-env"}
    named = {key: list(given.get(flag.lstrip("-").replace("-", "_")) or []) for key, flag in flags.items()}
    if not any(named.values()):
        return []
    for key in ("url", "model"):
        if not named[key]:
            raise ConfigError(f"a judge needs --judge-url and --judge-id; {flags[key]} is missing")
    count = len(named["model"])
    for key, values in named.items():
        if len(values) not in (0, 1, count):
            raise ConfigError(f"{flags[key]} is given {len(values)} times for {count} judges; give it once or for each")
    return [
        {key: values[number if len(values) > 1 else 0] for key, values in named.items() if values}
        for number in range(count)
    ]


def allowed_changes(*, url: bool, judge: bool) -> frozenset[str]:
    """Return the fields of a run's identity that the flags of a resume let change."""
    return frozenset(name for name, given in (("endpoint.url", url), ("judge", judge)) if given)


def _check_complete(data: dict[str, Any], overrides: list[str]) -> None:
    if not data.get("benchmarks"):
        raise ConfigError(
            "no benchmark is named; give --bench NAME or a configuration file (nel list shows what there is)"
        )
    endpoint = data.get("endpoint")
    if not isinstance(endpoint, dict) or any(override.startswith("endpoint.") for override in overrides):
        return
    if not endpoint.get("url"):
        raise ConfigError("no endpoint is named; give --model-url, for example http://127.0.0.1:8000/v1")
    if not endpoint.get("model"):
        raise ConfigError("no model is named; give --model-id, the name the endpoint knows it by")


def _lay_over_benchmarks(data: dict[str, Any], given: dict[str, Any]) -> None:
    entries = data["benchmarks"]
    if not given or not isinstance(entries, list):
        return
    if len(entries) > 1 and given.keys() & {"dataset", "response_field", "fewshot_dataset"}:
        raise ConfigError(
            "--dataset, --fewshot-dataset and --response-field name one benchmark's data; with several, use "
            "-O benchmarks.0.dataset=PATH"
        )
    data["benchmarks"] = [{**(entry if isinstance(entry, dict) else {"name": entry}), **given} for entry in entries]
