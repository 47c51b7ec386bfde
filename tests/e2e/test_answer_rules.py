"""By which rule a run reads answers, and the form that its prompt asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.runs import nel, only_run, read_json, read_results, write_jsonl

RESPONSES = ("<answer>18</answer> The answer is 20.", "The answer is 18.", "So 5 + 13.\n#### 18")


def recorded(tmp_path: Path, *flags: str) -> tuple[Any, list[float]]:
    """Score the responses above with GSM8K's scorer; return the `reading` of metrics.json and the rewards."""
    rows = ({"question": f"{place}?", "answer": "#### 18", "said": text} for place, text in enumerate(RESPONSES))
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    common = ("eval", "run", "--bench", "gsm8k", "--dataset", str(data), "--response-field", "said")
    done = nel(*common, *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "eval_results")
    rewards = [row["reward"] for row in read_results(run_dir, "gsm8k")]
    return read_json(run_dir / "gsm8k" / "metrics.json")["reading"], rewards


def test_the_rule_and_its_versions_stand_beside_the_score(tmp_path: Path) -> None:
    """metrics.json names the rule of the reference, and the versions of the readers that the scorer uses."""
    reading, rewards = recorded(tmp_path)
    assert reading["rule"] == "general"
    assert set(reading["versions"]) == {"numbers", "rule"}
    assert rewards == [1.0, 1.0, 1.0]


def test_the_official_rule_is_chosen_by_its_name(tmp_path: Path) -> None:
    """The authors of GSM8K read what follows four hashes and nothing else."""
    reading, rewards = recorded(tmp_path, "--rule", "official")
    assert (reading["rule"], rewards) == ("official", [0.0, 0.0, 1.0])
