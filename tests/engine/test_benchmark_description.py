"""What `nel show` and a dry run say of a benchmark before anything is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from nel.authoring.registry import find_benchmark
from nel.cli.app import app
from nel.config.load import build_config
from nel.engine.asking.benchmark_description import describe, example_of
from nel.runs.preview import preview


def _config(**settings: object) -> object:
    endpoint = {"url": "http://127.0.0.1:9/v1", "model": "m", "stream": True}
    return {"endpoint": endpoint, "benchmarks": [{"name": "quickstart", "max_problems": 5}], **settings}


def test_a_dry_run_has_the_requests_that_are_sent() -> None:
    """Model, settings, system prompt and messages stand in the body as the client sends them, of three samples."""
    data = _config(generation={"temperature": 0.0, "max_tokens": 7})
    data["benchmarks"][0]["system_prompt"] = "Be brief."  # type: ignore[index]
    (planned,) = preview(build_config(data, where="test"))  # type: ignore[arg-type]
    assert len(planned.first_requests) == 3
    body = dict(planned.first_requests[0])
    assert (body["model"], body["temperature"], body["max_tokens"], body["stream"]) == ("m", 0.0, 7, True)
    system, user = body["messages"]  # type: ignore[misc]
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"].startswith("Mia picks 4 apples")  # type: ignore[index,call-overload]


def test_a_ranked_benchmark_shows_the_first_choice() -> None:
    """The body asks for the log-probabilities of the prompt with its first choice."""
    found = replace(find_benchmark("quickstart"), loglikelihood=True, choices=("red", "blue"), target_delimiter=" ")
    request = example_of(found).request
    assert request is not None
    assert (request["echo"], request["logprobs"]) == (True, 1)
    assert str(request["prompt"]).endswith(" red")


@pytest.mark.parametrize("name", ["gsm8k", "humaneval", "piqa", "xstest", "wmt24pp", "example-capitals"])
def test_every_kind_of_benchmark_is_described(name: str) -> None:
    """Dataset, scoring and prompt are never empty, and no dataset is read for them."""
    described = describe(find_benchmark(name))
    assert {fact.name for fact in described.facts} >= {"dataset", "target field", "sample id", "breakdown"}
    assert all(fact.text for fact in described.facts)
    assert described.scoring
    assert described.prompt is None or described.prompt.strip()


def test_the_command_shows_a_benchmark() -> None:
    """Prompt, scorer, licence, source and one row as it is asked; an unknown name is one line."""
    shown = CliRunner().invoke(app, ["show", "quickstart"])
    assert shown.exit_code == 0
    for text in ("licence          Apache-2.0", "{question}{options}", "Mia picks 4 apples", "target: 10"):
        assert text in shown.stdout
    unknown = CliRunner().invoke(app, ["show", "quickstrat"])
    assert (unknown.exit_code, 'did you mean "quickstart"' in unknown.output) == (2, True)
