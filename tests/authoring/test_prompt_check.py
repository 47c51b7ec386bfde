"""What a prompt must take of a row, in a benchmark and in a run's own template, wherever it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nel
from nel.discovery.benchmark_checks import check_file
from nel.errors import NelError
from nel.runs.evaluation import stored_config
from tests.support.endpoint import answer, scripted
from tests.support.runs import run_config, sums


def settings(tmp_path: Path, url: str, prompt: str, **more: Any) -> dict[str, Any]:
    """Return the configuration of a run of four sums."""
    rows = str(sums(tmp_path / "rows.jsonl", 4))
    return run_config(
        url,
        [{"name": "gsm8k", "dataset": rows, "prompt": prompt}],
        tmp_path / "runs",
        engine={"concurrency": 1, "drain_seconds": 0},
        **more,
    )


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


GOLD_ALONE = "takes nothing of the row but the gold answer, {answer}"
ROWS = [{"question": f"What is {n} plus {n}?", "topic": "sums", "answer": f"{2 * n}"} for n in range(1, 4)]


def evaluate(tmp_path: Path, benchmark: Any, **entry: Any) -> Any:
    """Run a file's benchmark against an endpoint that would answer anything."""
    (tmp_path / "mine.py").write_text(benchmark)
    with scripted(lambda *_: answer("Answer: 4"), models=["m"]) as endpoint:
        try:
            return nel.evaluate(
                run_config(endpoint.url, [{"name": str(tmp_path / "mine.py"), **entry}], tmp_path / "runs")
            )
        finally:
            assert entry.get("starts") or not endpoint.of_samples


CODE = """
from nel import answer_line, benchmark, scorer, ScorerInput
from nel.byob import SeedResult

ROWS = {rows!r}

def rows():
    return ROWS

@benchmark(name="mine", dataset=rows, target_field="answer", {options})
@scorer
def mine(sample: ScorerInput) -> dict:
    return answer_line(sample)
"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('prompt="Answer well."', "the prompt of mine takes no field of the row, so that every question is the same"),
        ('prompt="Say {answer}."', GOLD_ALONE),
        ('prompt="Think about {topic}."', "all prompts of mine are equal although its rows differ: 'Think about sums.'"),
        ("seed_fn=lambda row: SeedResult('Go.', row['answer'])", "all prompts of mine are equal although its rows differ"),
    ],
)  # fmt: skip
def test_a_run_that_asks_the_same_of_all_rows_does_not_start(tmp_path: Path, options: str, message: str) -> None:
    """In a template or in code, for one row or for many: nothing is sent."""
    with pytest.raises(NelError) as error:
        evaluate(tmp_path, CODE.format(rows=ROWS, options=options))
    assert message in str(error.value)
    checks = check_file(tmp_path / "mine.py")["mine"]
    assert any(message in check.detail for check in checks if not check.passed)


def test_a_yaml_benchmark_takes_a_field_in_any_message(tmp_path: Path) -> None:
    """Each message counts, and none may be the same for all rows."""
    text = "rows: [{question: a}, {question: b}]\nchecks: [{contains: x}]\nmessages:\n"
    asks = "  - {role: system, content: Be brief.}\n  - {role: user, content: '{question}'}\n"
    (tmp_path / "asks.yaml").write_text(text + asks)
    (tmp_path / "same.yaml").write_text(text + asks.replace("'{question}'", "Go."))
    assert all(check.passed for check in check_file(tmp_path / "asks.yaml")["asks"])
    (fault,) = check_file(tmp_path / "same.yaml")["same"]
    assert "the prompt of same takes no field of the row" in fault.detail


def test_an_empty_question_is_a_bad_row(tmp_path: Path) -> None:
    """It is named by its number and never asked; the other rows are."""
    rows = [*ROWS, {"question": " ", "topic": "sums", "answer": "4"}]
    code = CODE.format(rows=rows, options='prompt="{topic}: {question}"')
    (tmp_path / "mine.py").write_text(code)
    details = [check.detail for check in check_file(tmp_path / "mine.py")["mine"] if not check.passed]
    assert details[:1] == ['row 4: the question is empty: the field "question"']
