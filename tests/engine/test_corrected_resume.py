"""A run that never got an answer is resumed with the command it printed; the first answer fixes its identity."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.cli.run_table import remarks
from nel.config.settings import Assignment
from nel.errors import ResumeRefused
from nel.models.preflight import nearest_model
from nel.runs.evaluation import RunResult, stored_config
from tests.faults.runs import config
from tests.support.endpoint import Reply, Script, answer, scripted

FIELDS = {"--model-id": "model", "--model-url": "url"}


def _first(call: object, number: int) -> Reply:
    return answer("The answer is 2.")


def _evaluate(tmp_path: Path, url: str, **endpoint: Any) -> RunResult:
    found = config(tmp_path, url, endpoint={"api_key_env": None, **endpoint}, engine={"preflight": True})
    return nel.evaluate(found)


def _resume(command: str) -> RunResult:
    """Do what a printed command does."""
    _, _, _, directory, *options = shlex.split(command)
    pairs = zip(options[::2], options[1::2], strict=True)
    given = [Assignment(flag=flag, path=("endpoint", FIELDS[flag]), value=value) for flag, value in pairs]
    return nel.evaluate(stored_config(Path(directory), settings=given), resume=True)


def _printed(result: RunResult) -> str:
    """Return the command in the last remark of a run."""
    *_, last = remarks(result)
    return last.removeprefix("fix it, then: ")


def test_a_wrong_model_name_is_corrected_by_the_printed_command(tmp_path: Path) -> None:
    """The nearest name of the list stands in the command, which goes on with the same directory."""
    with scripted(_first, models=["llama-3", "qwen-2"]) as endpoint:
        wrong = _evaluate(tmp_path, endpoint.url, model="lama3")
        assert wrong.exit_code == 2
        assert _printed(wrong) == f"nel eval resume {wrong.run_dir} --model-id llama-3"
        right = _resume(_printed(wrong))
    assert (right.exit_code, right.run_dir) == (0, wrong.run_dir)
    assert {call.body["model"] for call in endpoint.calls} == {"llama-3"}


@pytest.mark.parametrize("pasted", ["", "/v1/models", "/api"], ids=["no-v1", "list", "other-path"])
def test_a_wrong_base_url_is_corrected_by_the_printed_command(tmp_path: Path, pasted: str) -> None:
    """A URL under which nothing is served is replaced by the one at its host that lists models."""
    with scripted(_first, models=["m"]) as endpoint:
        wrong = _evaluate(tmp_path, endpoint.url.removesuffix("/v1") + pasted)
        assert wrong.exit_code == 2
        assert _printed(wrong) == f"nel eval resume {wrong.run_dir} --model-url {endpoint.url}"
        assert _resume(_printed(wrong)).exit_code == 0


def test_answers_of_one_model_are_never_continued_by_another(tmp_path: Path) -> None:
    """Once an answer is stored no other model is offered, and a resume with one is refused; another URL is offered."""
    served: list[str] = ["m"]
    stopped: Script = lambda call, number: answer("2") if number == 0 and len(endpoint.calls) < 2 else Reply(status=404)  # noqa: E731
    with scripted(stopped, models=served) as endpoint:
        first = _evaluate(tmp_path, endpoint.url)
        served[:] = ["n"]
        again = nel.evaluate(stored_config(first.run_dir), resume=True)
        assert 'does not serve the model "m"; did you mean "n"' in again.ending.reason
        assert again.resume_command == f"nel eval resume {first.run_dir}"
        with pytest.raises(ResumeRefused, match=r"endpoint.model: m -> n"):
            _resume(f"nel eval resume {first.run_dir} --model-id n")
        with pytest.raises(ResumeRefused, match="--allow-url-change"):
            _resume(f"nel eval resume {first.run_dir} --model-url {endpoint.url}/x")


def test_a_run_without_an_answer_takes_another_dataset(tmp_path: Path) -> None:
    """Before the first answer even the rows and the settings may change: what is stored is of the new ones alone."""
    with scripted(_first, models=["m"]) as endpoint:
        wrong = _evaluate(tmp_path, endpoint.url, model="x")
        shorter = tmp_path / "shorter.jsonl"
        shorter.write_text('{"question": "1 + 1?", "answer": "#### 2"}\n', encoding="utf-8")
        changes = [f"benchmarks.0.dataset={shorter}", "generation.temperature=0.5", "endpoint.model=m"]
        right = nel.evaluate(stored_config(wrong.run_dir, overrides=changes), resume=True)
    assert right.benchmarks[0].accounting["n_total"] == 1
    assert [call.body["temperature"] for call in endpoint.calls] == [0.5]


@pytest.mark.parametrize(
    ("wanted", "listed", "near"),
    [
        ("llama-3-8b", ["mistral-7b", "meta-llama/Meta-Llama-3-8B-Instruct"], "meta-llama/Meta-Llama-3-8B-Instruct"),
        ("gtp-4o", ["gpt-4o", "gpt-4o-mini"], "gpt-4o"),
        ("openai/gpt-4o", ["gpt-4o-mini", "gpt-4o"], "gpt-4o"),
        ("anything", ["the-only-one"], "the-only-one"),
        ("gemma", ["mistral-7b", "qwen-2"], None),
    ],
)
def test_the_nearest_model(wanted: str, listed: list[str], near: str | None) -> None:
    """Names are compared without case and organization; the only model is meant whatever was written."""
    assert nearest_model(wanted, listed) == near
