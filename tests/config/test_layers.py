"""A wrong key is reported as what the user wrote it in: the file, a flag or ``-O``."""

from __future__ import annotations

import pytest

from nel.config.load import build_config
from nel.config.settings import flag_assignments
from nel.errors import ConfigError

URL = "http://127.0.0.1:8000/v1"
FILE = {"endpoint": {"url": URL, "model": "m"}, "benchmarks": ["x"], "engine": {"concurrency": 2}}


def refused(data: dict[str, object], flags: dict[str, object], *overrides: str) -> str:
    """Return the message of a configuration that is refused."""
    with pytest.raises(ConfigError) as error:
        build_config(data, given=flag_assignments(flags), overrides=overrides, where="run.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("endpoint.modle=b", '-O endpoint.modle=…: unknown key "modle"; did you mean "model"?'),
        ("endpoint.temprature=1", '-O endpoint.temprature=…: unknown key "temprature"; did you mean generation.temp'),
        ("endpoint.temperature=1", '-O endpoint.temperature=…: unknown key "temperature"; did you mean generation.tem'),
        ("engin.x=1", '-O engin.x=…: unknown key "engin"; did you mean "engine"?'),
        ("generation={temprature: 1}", '-O generation=…: unknown key "temprature"; did you mean "temperature"?'),
        ("engine.concurrency=0", "-O engine.concurrency=…: the value is too small: at least 1"),
        ("endpoint.url=h/v1", "-O endpoint.url=…: 'h/v1' is not a URL of an endpoint"),
        ("endpoint.url.x=1", '-O endpoint.url.x=…: "url" holds a str, which has no keys'),
        ("benchmarks.5.repeats=1", '-O benchmarks.5.repeats=…: "5" is not a position in a list of 1; count from 0'),
        ("benchmarks.1.repeats=1", '-O benchmarks.1.repeats=…: "1" is not a position in a list of 1'),
        ("nonsense", "-O nonsense: write key=value"),
        ("engine.concurrency=[", "-O engine.concurrency=…: the value is not valid YAML"),
    ],
)
def test_a_wrong_override_is_named(override: str, message: str) -> None:
    """The message begins with the override, not with the file, and shows no value that could be a key."""
    data = {**FILE, "judge": {"model": "j"}} if override.startswith("judge") else FILE
    assert refused(data, {}, override).startswith(message)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"--temperature": 11.0}, "--temperature: generation.temperature: the value is too large: at most 10"),
        ({"--repeats": 0}, "--repeats: benchmarks.0.repeats: the value is too small: at least 1"),
        ({"--truncated": "no"}, "--truncated: benchmarks.0.truncated: input should be 'failure' or 'score'"),
        ({"--timeout": 0.0}, "--timeout: endpoint.total_timeout_seconds: the value is too small: above 0"),
        ({"--api-key-env": "sk-1"}, "--api-key-env: endpoint.api_key_env: api_key_env is not the name of an env"),
        ({"--judge-url": ["h"], "--judge-id": ["j"]}, "--judge-url: judge.panel.0.url: 'h' is not a URL"),
        ({"--judge-url": [URL], "--judge-id": ["j", "j"]}, '--judge-id, --judge-url: judge: two judges are called "j"'),
    ],
)
def test_a_wrong_flag_is_named(flags: dict[str, object], message: str) -> None:
    """The message begins with the flag and says which key it set."""
    assert refused(FILE, flags).startswith(message)


def test_a_wrong_key_of_the_file_is_named_with_the_file() -> None:
    """Flags and overrides of other keys are not blamed for it."""
    data = {**FILE, "generation": {"top_p": 7}}
    message = refused(data, {"--temperature": 0.5}, "generation.seed=1")
    assert message.startswith("run.yaml: generation.top_p: the value is too large: at most 1")
    assert refused({"benchmarks": ["x"], "endpoint": {"url": URL}}, {}, "endpoint.stream=true").startswith(
        "run.yaml: endpoint.model: field required"
    )


def test_a_flag_that_says_which_rows_are_asked_wins_over_the_files_way() -> None:
    """``--sample`` replaces ``max_problems`` of a file; two flags, or both in the file, contradict each other."""
    data = {**FILE, "benchmarks": [{"name": "x", "max_problems": 5}]}
    (entry,) = build_config(data, given=flag_assignments({"--sample": 8})).benchmarks
    assert (entry.sample, entry.max_problems) == (8, None)
    assert "leave one of --sample and --max-problems out" in refused(data, {"--sample": 8, "--max-problems": 5})


def test_what_is_set_for_all_benchmarks_wins_over_their_entries_in_the_file() -> None:
    """Sampling settings and judges of an entry give way to a flag or ``-O``; those that nothing else sets stay."""
    entry = {
        "name": "x",
        "generation": {"temperature": 0.7, "seed": 9, "stop": ["X"], "extra": {"min_p": 0.1}},
        "judge": {"url": URL, "model": "own", "criteria": "kindness", "repeats": 2},
    }
    flags = flag_assignments({"--temperature": 0.0, "--judge-url": [URL], "--judge-id": ["j"], "--judge-repeats": 3})
    overrides = ("generation.seed=1", "generation.extra.top_k=5")
    config = build_config({**FILE, "benchmarks": [entry]}, given=flags, overrides=overrides)
    generation, judge = config.generation_of(config.benchmarks[0]), config.judge_of(config.benchmarks[0])
    assert (generation.temperature, generation.seed, generation.stop) == (0, 1, ["X"])
    assert generation.extra == {"min_p": 0.1, "top_k": 5}
    assert judge is not None
    assert ([member.model for member in judge.panel], judge.criteria, judge.repeats) == (["j"], "kindness", 3)
    several = {
        "benchmarks": ["x"],
        "endpoints": [{"url": URL, "model": "a", "protocol": "chat"}, {"url": URL, "model": "b"}],
    }
    config = build_config(several, given=flag_assignments({"--protocol": "completions"}))
    assert [endpoint.protocol for endpoint in config.endpoints] == ["completions", "completions"]
