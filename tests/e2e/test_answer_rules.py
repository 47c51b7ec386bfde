"""By which rule a run reads answers, and the form that its prompt asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.runs import nel, only_run, read_json, read_results, recorded_run, write_jsonl

RESPONSES = ("<answer>18</answer> The answer is 20.", "The answer is 18.", "So 5 + 13.\n#### 18")
YAML = """
dataset: rows.jsonl
prompt: "{question} Answer in <answer> tags."
answer_form: %s
checks:
  - equals: "18"
"""


def recorded(tmp_path: Path, *flags: str) -> tuple[Any, list[float]]:
    """Score the responses above with GSM8K's scorer; return the `reading` of metrics.json and the rewards."""
    rows = ({"question": f"{place}?", "answer": "#### 18", "said": text} for place, text in enumerate(RESPONSES))
    run_dir = recorded_run(tmp_path, rows, *flags)
    rewards = [row["reward"] for row in read_results(run_dir, "gsm8k")]
    return read_json(run_dir / "gsm8k" / "metrics.json")["reading"], rewards


def test_the_rule_and_its_versions_stand_beside_the_score(tmp_path: Path) -> None:
    """metrics.json names the rule of the reference, and the versions of the readers that the scorer uses."""
    reading, rewards = recorded(tmp_path)
    assert reading["rule"] == "general"
    assert set(reading["versions"]) == {"numbers", "rule"}
    assert rewards == [1.0, 1.0, 1.0]


def test_a_strict_form_reads_nothing_else(tmp_path: Path) -> None:
    """An answer outside of the tag is not an answer; a warning counts such answers, and no metric does."""
    _, rewards = recorded(tmp_path, "--answer-form", "tag answer", "--strict-form")
    assert rewards == [1.0, 0.0, 0.0]
    metrics = read_json(only_run(tmp_path / "out") / "gsm8k" / "metrics.json")
    assert [row["name"] for row in metrics["metrics"]] == ["accuracy"]
    assert [one["text"] for one in metrics["warnings"] if one["kind"] == "other_form"] == [
        "2 answers are not in the form that the prompt asks for; --strict-form reads no other"
    ]


def test_a_benchmark_in_yaml_declares_its_form(tmp_path: Path) -> None:
    """`equals` looks at the answer in that form."""
    (tmp_path / "b.yaml").write_text(YAML % "tag answer", encoding="utf-8")
    write_jsonl(tmp_path / "rows.jsonl", [{"question": "5 + 13?", "said": f"Well. {RESPONSES[0]}"}])
    done = nel("eval", "run", "--bench", "./b.yaml", "--response-field", "said", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [row["reward"] for row in read_results(only_run(tmp_path / "eval_results"), "b")] == [1.0]
