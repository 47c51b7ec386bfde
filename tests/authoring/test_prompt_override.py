"""A run's own prompt in the place of the benchmark's: what is asked, what is stored, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nel
from nel.errors import NelError
from nel.runs.evaluation import stored_config
from tests.support.endpoint import answer, scripted
from tests.support.runs import sums


def settings(tmp_path: Path, url: str, prompt: str, **more: Any) -> dict[str, Any]:
    """Return the configuration of a run of four sums."""
    rows = str(sums(tmp_path / "rows.jsonl", 4))
    return {
        "endpoint": {"url": url, "model": "m"},
        "benchmarks": [{"name": "gsm8k", "dataset": rows, "prompt": prompt}],
        "output": {"dir": str(tmp_path / "runs")},
        "engine": {"concurrency": 1, "drain_seconds": 0},
        **more,
    }


def test_the_prompt_is_asked_stored_and_shown(tmp_path: Path) -> None:
    """The file may go while the run is stopped; another template is another run."""
    path = tmp_path / "mine.jinja"
    path.write_text("Compute: {{ question }}")
    with scripted(lambda *_: answer("#### 4"), models=["m"]) as endpoint:
        config = settings(tmp_path, endpoint.url, str(path))
        capped = nel.evaluate({**config, "budget": {"max_requests": 2}})
        path.unlink()
        stored = stored_config(capped.run_dir, overrides=["budget.max_requests=null"])
        result = nel.evaluate(stored, resume=True)
        assert {call.text for call in endpoint.of_samples} >= {f"Compute: What is {i} plus {i}?" for i in range(4)}
        config["benchmarks"][0]["prompt"] = "Now {question}"
        with pytest.raises(nel.NelError, match=r"prompt\.template"):
            nel.evaluate({**config, "output": {"dir": str(capped.run_dir)}}, resume=True)
    assert result.exit_code == 0
    assert result.benchmarks[0].bundle["config"]["prompt"].endswith("Compute: {{ question }}")
    assert "Compute: {{ question }}" in result.report.read_text(encoding="utf-8")
    assert any("asked by the run's own prompt" in note for note in result.notes)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("Q: {questoin}", 'names {questoin}, which no row of gsm8k has; did you mean "question"? the fields are '),
        ("Think.", "leaves out the question of gsm8k, which is {question}; the fields are "),
        ("{question} {gold}", "would show the model the gold answer, {gold}; the fields are "),
        ("missing.txt", "template file missing.txt does not exist"),
        ("{question", 'a single "{"'),
    ],
)
def test_a_template_that_cannot_be_meant_is_refused(prompt: str, message: str, tmp_path: Path) -> None:
    """Before anything is sent, with the fields that there are."""
    with pytest.raises(NelError) as error:
        nel.evaluate(settings(tmp_path, "http://127.0.0.1:1/v1", prompt))
    assert message in str(error.value)
    assert not (tmp_path / "runs").exists()
