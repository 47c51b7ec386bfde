"""The command line's options for settings are those of the schema, and made only when a command needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from nel.cli.app import app
from nel.cli.eval_run import allowed_changes
from nel.cli.run_layers import config_of
from nel.cli.settings import ChosenSettings
from nel.config.settings import flag_assignments
from nel.errors import ConfigError

FLAGS = """
--bench --dataset --sample --sample-seed --max-problems --repeats --repeat-check --system-prompt --num-fewshot
--fewshot-dataset --response-field --scorer --rule --answer-form --strict-form --observer
--reducer --metric --truncated --model-url --model-id --api-key-env
--send-sample-id --stream --timeout --requests-per-minute --tokens-per-minute --temperature --top-p --max-tokens
--stop --seed
--concurrency --sandbox-workers --allow-unlimited-sandbox --max-cost --max-tokens-total --max-requests --cache
--stop-when --shard --judge-url --judge-id --judge-api-key-env --judge-template --judge-criteria --judge-repeats
--output-dir --run-id --metrics-port --executor --reasoning-effort --protocol --judge-logprobs
--share-permissions --limiter --limiter-token-env --strict-verdicts --prompt --solver --max-steps --episodes
""".split()
"""What users have in scripts: none may vanish."""
COMMANDS = {
    ("eval", "run"): {
        *FLAGS, "-O", "--resume", "--fail-under", "--allow-url-change", "--allow-judge-change", "--dry-run", "--json", "--pilot",
        "--quiet", "--verbose",
    },
    ("eval", "score"): {"--scorer", "--executor", "-O", "--json", "--explain", "--quiet", "--verbose"},
    ("eval", "resume"): {
        "--model-url", "--model-id", "--api-key-env", "--timeout", "--judge-url", "--judge-id", "--judge-api-key-env",
        "-O", "--allow-url-change", "--allow-judge-change", "--json", "--executor",
        "--limiter", "--limiter-token-env", "--quiet", "--verbose", "--concurrency", "--requests-per-minute",
        "--tokens-per-minute", "--max-cost", "--max-tokens-total", "--max-requests",
    },
    ("judge", "leaderboard"): {
        "--judge-url", "--judge-id", "--judge-api-key-env", "--concurrency", "-O", "--bench", "--baseline",
        "--length-control", "--seed", "--output-dir", "--resume", "--dry-run", "--json",
    },
}  # fmt: skip


def chosen(overrides: tuple[str, ...] = (), **flags: object) -> ChosenSettings:
    """Return what a command gets for flags, written as keywords."""
    return ChosenSettings(
        flag_assignments({f"--{name.replace('_', '-')}": value for name, value in flags.items()}), overrides
    )


@pytest.mark.parametrize(("names", "expected"), COMMANDS.items(), ids=["run", "score", "resume", "leaderboard"])
def test_commands_have_their_flags(names: tuple[str, ...], expected: set[str]) -> None:
    """Each command takes what it always took; a flag has no default of its own that would hide the file."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="nel")
    for name in names:
        command = command.get_command(context, name)  # type: ignore[attr-defined] # of groups
        context = typer.Context(command, info_name=name, parent=context)
    options = [param for param in command.get_params(context) if param.param_type_name == "option"]
    longest = {max(param.opts, key=len) for param in options}
    assert longest == {*expected, "--help"}
    set_keys = [param for param in options if max(param.opts, key=len) in FLAGS and names != ("judge", "leaderboard")]
    assert {param.default for param in set_keys} <= {None, False}


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


def test_overrides_win_over_flags() -> None:
    """-O is laid over what flags set."""
    config = config_of(None, chosen(("engine.concurrency=7", "benchmarks.0.repeats=3"), bench=["x"], concurrency=2))
    assert (config.engine.concurrency, config.benchmarks[0].repeats) == (7, 3)


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
