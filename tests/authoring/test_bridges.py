"""A URI names a benchmark through the bridge of its scheme, and a benchmark brings its own generation settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel import evaluate
from nel.authoring.registry import find_benchmark
from nel.errors import ConfigError, PluginError
from nel.runs.evaluation import rescore
from tests.support.distributions import install
from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, run_config, write_jsonl

BRIDGE = """
from dataclasses import replace
from nel import BenchmarkGroup
from nel.benchmarks.mathematics.gsm8k import gsm8k
from nel.errors import ConfigError

def open_it(uri):
    with open("opened", "a") as opened:
        print(uri, file=opened)
    if uri.endswith("://wrong"):
        raise ConfigError(f"{uri}: no such thing")
    if uri.endswith("://both"):
        members = ("mine://left.jsonl", "mine://right.jsonl")
        mean = {"name": "both", "metric": "accuracy", "benchmarks": members}
        return BenchmarkGroup(members=members, aggregates=(mean,))
    settings = {"temperature": 0.0, "max_tokens": 32, "stop": ["Question:"]}
    return replace(gsm8k, name="bridged", dataset=uri.partition("://")[2], generation=settings)

def open_number(uri):
    return 4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a throw-away distribution with two bridges."""
    entries = {"nel.bridges": {"mine": "a_bridge:open_it", "number": "a_bridge:open_number"}}
    install(tmp_path, "nel-bridge", entries, modules={"a_bridge": BRIDGE})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_of_an_address_that_names_a_file_is_scored_again(folder: Path) -> None:
    """The address is kept as it is, since it is not a path; the recorded configuration finds the bridge again."""
    write_jsonl(folder / "rows.py.jsonl", [{"question": "What is 2 plus 2?", "answer": "#### 4"}])
    with scripted(lambda *_: answer("Answer: 4"), models=["m"]) as endpoint:
        named = {"name": f"mine://{folder}/rows.py.jsonl"}
        result = evaluate(run_config(endpoint.url, [named], folder / "out"))
    assert rescore(result.run_dir).exit_code == 0
    assert (folder / "opened").read_text().splitlines() == [named["name"]] * 2  # once a run or rescoring


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("uri", "error", "message"),
    [
        ("mein://x", PluginError, 'no bridge for "mein://" is installed; did you mean "mine"'),
        ("quite-other://x", PluginError, "install the plugin that provides it"),
        ("number://x", PluginError, 'bridge "number" of nel-bridge 1.0 returned a int'),
        ("mine://wrong", ConfigError, "mine://wrong: no such thing"),
    ],
)
def test_a_uri_that_leads_nowhere_says_why(uri: str, error: type[Exception], message: str) -> None:
    """A missing or broken bridge is named; what a bridge says itself comes through."""
    with pytest.raises(error, match=message):
        find_benchmark(uri)


def test_a_group_is_asked_as_its_members_and_has_its_mean(folder: Path) -> None:
    """Its members are benchmarks of the run, a resume included; a group is asked once, and is not one benchmark."""
    for name, numbers in (("left", "45"), ("right", "4444")):
        rows = [{"question": f"{name} {place}?", "answer": f"#### {number}"} for place, number in enumerate(numbers)]
        write_jsonl(folder / f"{name}.jsonl", rows)
    with scripted(lambda *_: answer("Answer: 4"), models=["m"]) as endpoint:
        config = {"endpoint": {"url": endpoint.url, "model": "m"}, "output": {"dir": str(folder / "out")}}
        result = evaluate({**config, "benchmarks": ["mine://both"]})
        resumed = evaluate({**config, "benchmarks": ["mine://both"]}, resume=True)
        with pytest.raises(ConfigError, match="mine://both is named twice"):
            evaluate({**config, "benchmarks": ["mine://both", "mine://both"]})
    assert [item.slot for item in result.benchmarks] == ["bridged", "bridged@2"]
    (row,) = result.aggregates
    assert (row["aggregate"], row["value"], row["weights"]) == ("both", 5 / 6, {"bridged": 2 / 6, "bridged@2": 4 / 6})
    assert resumed.aggregates == result.aggregates
    assert rescore(result.run_dir).aggregates == result.aggregates
    with pytest.raises(PluginError, match="mine://both is a group of 2 benchmarks; give one, such as mine://left"):
        find_benchmark("mine://both")


def test_a_dry_run_shows_the_benchmarks_own_settings(folder: Path) -> None:
    """What would be sent is shown, and the run's setting in place of the benchmark's where it has one."""
    write_jsonl(folder / "rows.jsonl", [{"question": "What is 2 plus 2?", "answer": "#### 4"}])
    flags = ("--bench", "mine://rows.jsonl", "--model-url", "http://127.0.0.1:9/v1", "--model-id", "m", "--dry-run")
    shown = nel("eval", "run", *flags, "--max-tokens", "9", cwd=folder, env={"PYTHONPATH": str(folder)})
    assert shown.returncode == 0, shown.stderr
    assert "bridged: {'temperature': 0.0, 'max_tokens': 9, 'stop': ['Question:']}" in shown.stdout
