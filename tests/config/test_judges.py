"""Judges in a configuration: what is written wrongly is said with what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from nel.config.load import build_config
from nel.errors import ConfigError

URL = "http://127.0.0.1:8000/v1"


def built(judge: Any, *, of_benchmark: bool = False) -> Any:
    entry = {"name": "quickstart", **({"judge": judge} if of_benchmark else {})}
    run = {} if of_benchmark else {"judge": judge}
    return build_config({"endpoint": {"url": URL, "model": "m"}, "benchmarks": [entry], **run})


@pytest.mark.parametrize("of_benchmark", [False, True])
@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("strict", r"a str is not a judge; give \{url: …, model: …\}, or several as \{panel: \[\{…\}, …\]\}"),
        (["strict", "kind"], "a list is not a judge; give"),
        (3, "a int is not a judge; give"),
        ({"panel": {"url": URL, "model": "j"}}, "panel is one judge; make it a list"),
        ({"url": URL, "model": "j", "api_key": "sk-secret"}, "give api_key_env, the name of the variable"),
        ({"url": URL, "model": "j", "quorum": 2}, "quorum is 2 and the panel has 1; give no more than that"),
        ({"url": URL, "model": "j", "repeats": 0}, r"judge\.repeats: the value is too small: at least 1"),
        ({"url": "host/v1", "model": "j"}, r"judge\.panel\.0\.url: 'host/v1' is not a URL of an endpoint"),
        ({"url": URL, "model": "j", "panel": []}, "url, model and panel are both given"),
    ],
)
def test_a_judge_that_is_written_wrongly(judge: Any, message: str, of_benchmark: bool) -> None:
    """The place, what is wrong and what to write; no value of a key is repeated."""
    with pytest.raises(ConfigError, match=message) as refused:
        built(judge, of_benchmark=of_benchmark)
    assert "benchmarks.0.judge" in str(refused.value) or not of_benchmark
    assert "sk-secret" not in str(refused.value)


def test_a_judge_of_a_benchmark_that_does_not_fit_the_run_is_refused() -> None:
    """A quorum of the run for a benchmark's one judge is said before anything is planned."""
    panel = [{"url": URL, "model": name} for name in "ab"]
    entry = {"name": "quickstart", "judge": {"url": URL, "model": "j"}}
    run = {"endpoint": {"url": URL, "model": "m"}, "benchmarks": [entry], "judge": {"panel": panel, "quorum": 2}}
    with pytest.raises(
        ConfigError, match=r"benchmarks\.0, with what the run sets for all: quorum is 2 and the panel has 1"
    ):
        build_config(run)


def test_a_benchmark_sets_a_default_again_and_leaves_the_rest_to_the_run() -> None:
    """What an entry names replaces the run's setting even where it is the default, also when it is read again."""
    config = build_config({
        "endpoint": {"url": URL, "model": "m"},
        "judge": {"url": URL, "model": "j", "repeats": 3, "aggregate": "mean", "swap": False},
        "benchmarks": [{"name": "quickstart", "judge": {"repeats": 1, "swap": True}}],
    })  # fmt: skip
    for read in (config, build_config(config.model_dump(mode="json"))):
        judge = read.judge_of(read.benchmarks[0])
        assert judge is not None
        assert (judge.repeats, judge.swap, judge.aggregate, len(judge.panel)) == (1, True, "mean", 1)
