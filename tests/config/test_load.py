"""From YAML, flags and overrides to a configuration, with errors that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.config.load import build_config, read_yaml
from nel.config.settings import Assignment
from nel.errors import ConfigError

ENDPOINT = {"url": "http://127.0.0.1:1/v1", "model": "m"}


@pytest.mark.parametrize(
    ("url", "base", "protocol"),
    [
        ("http://h/v1", "http://h/v1", None),
        ("http://h/v1/", "http://h/v1", None),
        ("http://h/v1/chat/completions", "http://h/v1", "chat"),
        ("HTTP://h/v1?", "http://h/v1", None),
        ("http://h/v1/responses", "http://h/v1", "responses"),
        ("http://h/v1/messages/", "http://h/v1", "anthropic"),
        ("http://h/v1beta/models/g-2:generateContent", "http://h/v1beta", "gemini"),
        ("https://h:8000/openai/v1/completions", "https://h:8000/openai/v1", "completions"),
    ],
)
def test_a_url_is_a_base_or_a_full_path(url: str, base: str, protocol: str | None) -> None:
    """A full path gives base and protocol; a base URL leaves the protocol to the benchmark."""
    endpoint = build_config({"endpoint": {"url": url, "model": "m"}, "benchmarks": ["x"]}).endpoint
    assert endpoint is not None
    assert (endpoint.url, endpoint.protocol) == (base, protocol)


def test_a_later_full_path_brings_its_protocol() -> None:
    """The URL of a flag wins over the protocol of a file; with a protocol of its own it is refused by both names."""
    data = {"endpoint": {**ENDPOINT, "protocol": "completions"}, "benchmarks": ["x"]}
    url = Assignment(flag="--model-url", path=("endpoint", "url"), value="http://h/v1/chat/completions")
    protocol = Assignment(flag="--protocol", path=("endpoint", "protocol"), value="completions")
    endpoint = build_config(data, given=[url]).endpoint
    assert endpoint is not None
    assert (endpoint.url, endpoint.protocol) == ("http://h/v1", "chat")
    with pytest.raises(ConfigError, match=r"completions.* contradicts the URL.* means chat; leave one of --protocol"):
        build_config(data, given=[protocol, url])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"benchmark": ["x"]}, 'unknown key "benchmark"; did you mean "benchmarks"?'),
        ({"benchmarks": [{"name": "x", "repeat": 2}]}, 'benchmarks.0: unknown key "repeat"; did you mean "repeats"?'),
        ({"benchmarks": []}, "benchmarks"),
        ({"benchmarks": [{"name": "x", "dataset": ""}]}, "benchmarks.0.dataset: nothing is named"),
        ({"benchmarks": ["x"], "generation": {"temperature": "hot"}}, "generation.temperature"),
        ({"benchmarks": [{"name": "x", "repeats": 0}]}, "benchmarks.0.repeats"),
        ({"benchmarks": [{"name": "x", "repeats": True}]}, "repeats is true, and a number is wanted"),
        ({"benchmarks": ["x"], "endpoint": {**ENDPOINT, "model": False}}, "model is false, and a text (in quotes"),
        ({"benchmarks": ["x"], "endpoint": {"url": "h/v1", "model": "m"}}, "is not a URL of an endpoint"),
        ({"benchmarks": ["x"], "endpoint": {"url": "http://u:p@h/v1", "model": "m"}}, "user name or password"),
        ({"benchmarks": ["x"], "endpoint": {**ENDPOINT, "api_key_env": "sk-123"}}, "give the name, not the key"),
        ({"benchmarks": ["x"], "output": {"run_id": "../up"}}, "output.run_id"),
    ],
)
def test_wrong_configurations_are_named(data: dict[str, object], message: str) -> None:
    """Each wrong key or value is an error that names it."""
    with pytest.raises(ConfigError) as caught:
        build_config(data)
    assert message in str(caught.value)


def test_variables_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """${VAR}, ${VAR:-default} and the escape $${VAR}."""
    monkeypatch.setenv("NEL_TEST_NAME", "value")
    path = tmp_path / "config.yaml"
    path.write_text('a: ${NEL_TEST_NAME}\nb: ["x-${NEL_TEST_UNSET:-y}"]\nc: $${KEPT}\n')
    assert read_yaml(path) == {"a": "value", "b": ["x-y"], "c": "${KEPT}"}


@pytest.mark.parametrize(
    ("override", "attribute", "value"),
    [
        ("engine.concurrency=7", "engine.concurrency", 7),
        ("benchmarks.0.repeats=3", "benchmarks.0.repeats", 3),
        ("generation.stop=[a, b]", "generation.stop", ["a", "b"]),
        ("generation.temperature=0", "generation.temperature", 0.0),
        ("generation.extra={top_k: 5}", "generation.extra", {"top_k": 5}),
    ],
)
def test_overrides_win(override: str, attribute: str, value: object) -> None:
    """-O sets any key by its path, lists by position, values as YAML."""
    found: object = build_config({"benchmarks": ["x"]}, overrides=[override])
    for part in attribute.split("."):
        found = found[int(part)] if isinstance(found, list) else getattr(found, part)
    assert found == value


def test_no_unscored_sample_is_tolerated_by_default() -> None:
    """A run with a single unscored sample exits 3 unless its configuration says otherwise."""
    assert build_config({"benchmarks": ["x"]}).engine.unscored_rate_max == 0


def test_benchmark_generation_wins_field_by_field() -> None:
    """A benchmark's own settings are laid over the run's, field by field, those of the body too."""
    config = build_config(
        {
            "generation": {"temperature": 0.0, "max_tokens": 5, "extra": {"top_k": 1, "min_p": 0.1}},
            "benchmarks": [{"name": "x", "generation": {"temperature": 1.0, "extra": {"top_k": 2}}}],
        }
    )
    merged = config.generation_of(config.benchmarks[0])
    assert (merged.temperature, merged.max_tokens) == (1.0, 5)
    assert merged.extra == {"top_k": 2, "min_p": 0.1}


@pytest.mark.parametrize(
    ("settings", "deadlines"),
    [
        ({}, (10, 600, 600)),
        ({"total_timeout_seconds": 1200}, (10, 1200, 1200)),
        ({"total_timeout_seconds": 5}, (5, 5, 5)),
        ({"total_timeout_seconds": 5, "first_byte_timeout_seconds": 30, "connect_timeout_seconds": 1}, (1, 5, 5)),
    ],
)
def test_the_total_timeout_takes_effect_alone(settings: dict[str, float], deadlines: tuple[float, ...]) -> None:
    """Raised or lowered, it needs no other key; deadlines that are given may only be earlier."""
    endpoint = build_config({"endpoint": {**ENDPOINT, **settings}, "benchmarks": ["x"]}).endpoint
    assert endpoint is not None
    assert (endpoint.connect_seconds, endpoint.first_byte_seconds, endpoint.total_timeout_seconds) == deadlines
