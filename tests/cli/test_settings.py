"""The command line's options for settings are those of the schema, and made only when a command needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nel.cli.eval_run import allowed_changes
from nel.cli.run_layers import config_of
from nel.cli.settings import Chosen
from nel.config.settings import given_settings
from nel.errors import ConfigError


def chosen(overrides: tuple[str, ...] = (), **flags: object) -> Chosen:
    """Return what a command gets for flags, written as keywords."""
    return Chosen(given_settings({f"--{name.replace('_', '-')}": value for name, value in flags.items()}), overrides)


def test_help_does_not_wait_for_the_schema() -> None:
    """The schema is imported for commands that take settings, not for the lists of commands."""
    arguments = ["--help"]
    program = (
        "import sys; from nel.cli.app import app\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "sys.exit('nel.config.schema' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, check=False).returncode == 0


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    """A flag replaces the file's value, also with a zero, and leaves the rest of the section alone."""
    path = tmp_path / "config.yaml"
    path.write_text(
        "endpoint: {url: http://h/v1, model: a}\n"
        "benchmarks: [gsm8k, {name: mmlu_pro, repeats: 2}]\n"
        "engine: {concurrency: 3}\n"
        "generation: {temperature: 1.0}\n"
    )
    config = config_of(
        path, chosen(model_id="b", max_problems=5, concurrency=None, stop=[], stream=False, temperature=0.0)
    )
    assert config.endpoint is not None
    assert (config.endpoint.url, config.endpoint.model, config.engine.concurrency) == ("http://h/v1", "b", 3)
    assert config.generation.temperature == 0
    assert [(entry.name, entry.max_problems, entry.repeats) for entry in config.benchmarks] == [
        ("gsm8k", 5, 1),
        ("mmlu_pro", 5, 2),
    ]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({}, "no benchmark is named; give --bench NAME"),
        ({"repeats": 2}, "for --repeats to set"),
        ({"bench": ["a", "b"], "dataset": "x.jsonl"}, "--dataset names the data of one benchmark and there are 2"),
        ({"bench": ["a"], "stream": True}, "no endpoint is named; give --model-url"),
        ({"bench": ["a"], "model_url": "http://h/v1"}, "no model is named; give --model-id"),
        ({"bench": ["a"], "judge_id": ["j"]}, "--judge-url and --judge-id are given together; --judge-url is missing"),
        (
            {"bench": ["a"], "judge_url": ["u", "v"], "judge_id": ["j", "k", "l"]},
            "--judge-url is given 2 times and --judge-id 3 times; give it once, or as often",
        ),
    ],
)
def test_flags_that_do_not_suffice_are_named(flags: dict[str, object], message: str) -> None:
    """What is missing, or does not fit, is said with the flag to give."""
    with pytest.raises(ConfigError) as refused:
        config_of(None, chosen(**flags))
    assert message in str(refused.value)


def test_judge_flags_make_a_panel(tmp_path: Path) -> None:
    """Each --judge-id is a judge; one URL serves all, and settings of the file that name no judge stay."""
    path = tmp_path / "config.yaml"
    path.write_text("benchmarks: [x]\njudge: {url: http://old/v1, model: old, repeats: 3}\n")
    judge = config_of(path, chosen(judge_url=["http://h/v1"], judge_id=["a", "b"])).judge
    assert judge is not None
    assert [(member.url, member.model) for member in judge.panel] == [("http://h/v1", "a"), ("http://h/v1", "b")]
    assert judge.repeats == 3


def test_each_allowance_of_a_resume_allows_one_change() -> None:
    """Another URL is no other judge."""
    assert allowed_changes(url=True, judge=False) == {"endpoint.url"}
    assert allowed_changes(url=False, judge=True) == {"judge"}
