"""A configuration of NeMo Evaluator is refused with the one that stands for it in nel."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from nel.config.load import build_config, read_yaml
from nel.errors import ConfigError

FIRST = """
evaluation:
  model_url: ${A_URL}
  model_id: ${A_MODEL}
  tasks:
    - {benchmark: sums, repeats: 3, max_problems: 9, scoring: math_equal}
    - {benchmark: facts, system_prompt: "Be brief."}
  output: {dir: ./there, formats: [json, jsonl]}
"""
SECOND = """
model: {url: "http://h/v1", id: big, api_key: "${A_KEY:-}", temperature: 0.5}
benchmarks:
  - name: mmlu
    endpoint_type: completions
    max_tokens: 64
    scorers: [mcq_extract]
    sandbox: {backend: docker}
output: {dir: out, report: [markdown, html, wandb]}
"""
THIRD = """
services:
  asked: {type: api, url: "http://h/v1/chat/completions", protocol: chat_completions, model: big, api_key: "${A_KEY}"}
  other: {type: api, url: "http://h/v1", model: small}
  grader: {type: api, url: "http://g/v1", model: judge, api_key: plain-secret}
benchmarks:
  - name: facts
    solver: {type: simple, service: asked}
    scoring: {metrics: [{type: judge, name: right, service: grader}]}
  - name: sums
    solver: {type: harbor, service: other}
    scoring: {metrics: [{type: f1}]}
cluster: {type: slurm}
"""


def refusal(tmp_path: Path, text: str) -> str:
    (tmp_path / "run.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_yaml(tmp_path / "run.yaml")
    return str(caught.value)


def written(message: str) -> dict[str, object]:
    made: dict[str, object] = yaml.safe_load(message.split("\n\n")[1])
    return made


def test_the_first_form(tmp_path: Path) -> None:
    """Variables stay as they are written, though they are not set."""
    message = refusal(tmp_path, FIRST)
    assert "run.yaml: this is a configuration of NeMo Evaluator; in nel it is" in message
    assert "Not in it" not in message
    assert written(message) == {
        "endpoint": {"url": "${A_URL}", "model": "${A_MODEL}"},
        "benchmarks": [
            {"name": "sums", "max_problems": 9, "repeats": 3, "scorer": "math_equal"},
            {"name": "facts", "system_prompt": "Be brief."},
        ],
        "output": {"dir": "./there"},
    }


def test_the_second_form(tmp_path: Path) -> None:
    """What nel has under another name is written so, and what it does not have is named."""
    message = refusal(tmp_path, SECOND)
    made = written(message)
    assert made == {
        "endpoint": {"url": "http://h/v1", "model": "big", "api_key_env": "A_KEY", "protocol": "completions"},
        "benchmarks": [{"name": "mmlu_generative", "scorer": "mcq_letter_extract", "generation": {"max_tokens": 64}}],
        "output": {"dir": "out", "reports": ["markdown"]},
    }
    assert "has no such key there: model.temperature, benchmarks.0.sandbox, output report wandb" in message
    assert build_config(made).benchmarks[0].name == "mmlu_generative"


def test_the_third_form(tmp_path: Path) -> None:
    """Judges are those of the services; a second model needs a file of its own; no key is shown."""
    message = refusal(tmp_path, THIRD)
    made = written(message)
    assert made == {
        "endpoint": {"url": "http://h/v1/chat/completions", "model": "big", "api_key_env": "A_KEY"},
        "benchmarks": [{"name": "facts"}, {"name": "sums"}],
        "judge": {"url": "http://g/v1", "model": "judge", "api_key_env": "MY_KEY"},
    }
    left = message.partition("no such key there: ")[2]
    assert left.startswith("benchmarks.1.solver.type, benchmarks.1, which asks other (give it a file of its own)")
    assert left.endswith("benchmarks.1.scoring, cluster")
    assert "plain-secret" not in message
    assert build_config(made).judge is not None


def test_a_password_in_its_address_is_not_shown(tmp_path: Path) -> None:
    """The text may end in a log."""
    message = refusal(tmp_path, 'model: {url: "http://me:hidden@h/v1", id: m}\nbenchmarks: [sums]\n')
    assert "hidden" not in message
    assert written(message)["benchmarks"] == ["sums"]


@pytest.mark.parametrize(
    "text",
    [
        "endpoint: {url: 'http://h/v1', model: m}\nbenchmarks: [sums]\nmodel: {id: m}\n",
        "benchmarks: [sums]\nmodel: m\n",
        "benchmarks: [sums]\nevaluation: full\n",
        "model: {id: m}\n",
    ],
)
def test_other_files_are_read(tmp_path: Path, text: str) -> None:
    """A wrong key of nel's own form is told of as such, later."""
    (tmp_path / "run.yaml").write_text(text)
    assert read_yaml(tmp_path / "run.yaml")
