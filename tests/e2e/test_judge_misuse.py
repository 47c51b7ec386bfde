"""What a benchmark's author gets wrong about judges: said in so many words, and harmless to every other sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results, write_jsonl
from tests.support.tiers import first_rows

BENCH = """
from nel import ScorerInput, benchmark, needs_judge, scorer
from nel.byob.judge import judge_score

@benchmark(name="asked", dataset="rows.jsonl", prompt="{{question}}", target_field="answer", response_field="said")
@scorer
def asked(sample: ScorerInput) -> dict:
    return {how}
"""


def says(text: str) -> Any:
    def script(_: Call, __: int) -> Reply:
        return answer(text)

    return script


def run(tmp_path: Path, how: str, reply: str = "GRADE: C", *more: str) -> tuple[int, str, list[dict[str, Any]], int]:
    """Run three recorded answers, the middle one's row strange; return exit code, stderr, rows and requests."""
    rows = [{"id": f"q{n}", "question": "Why?", "answer": "So.", "said": "So.", "strange": n == 1} for n in range(3)]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    (tmp_path / "asked.py").write_text(BENCH.format(how=how))
    with scripted(says(reply)) as judge:
        done = nel(
            "eval", "run", "--bench", "asked.py", "--judge-url", judge.url, "--judge-id", "strict", "-o", "out", *more,
            cwd=tmp_path,
        )  # fmt: skip
        n_asked = len(judge.calls)
    return done.returncode, done.stderr, read_results(only_run(tmp_path / "out"), "asked"), n_asked


@pytest.mark.parametrize(
    ("how", "said"),
    first_rows(
        1,
        [
            (
                'needs_judge(sample, template=3 if sample.metadata["strange"] else "")',
                "template is 3 (int); give a text",
            ),
            (
                'needs_judge(sample, score_mapping=[1, 2] if sample.metadata["strange"] else None)',
                "score_mapping is [1, 2] (list); give a mapping",
            ),
            (
                'needs_judge(sample, aggregate="mode" if sample.metadata["strange"] else None)',
                "'mode' is none of majority",
            ),
            (
                'needs_judge(sample, criteria=7 if sample.metadata["strange"] else "")',
                "criteria is 7 (int); give a text",
            ),
        ],
    ),
)
def test_a_case_of_the_wrong_type_costs_its_own_sample(tmp_path: Path, how: str, said: str) -> None:
    """The run goes on, the others have their score, and stderr says what was wrong and that it is to be corrected."""
    code, stderr, rows, _ = run(tmp_path, how)
    assert code == 3
    assert [row["reward"] for row in rows] == [1.0, None, 1.0]
    assert rows[1]["outcome"]["kind"] == "bad_case"
    assert "Traceback" not in stderr
    assert "asked: no judge could be asked about 1 sample (bad_case): " in stderr
    assert said in stderr
    assert "fix that, then: nel eval resume" in stderr


@pytest.mark.parametrize(
    ("how", "said"),
    first_rows(
        1,
        [
            (
                'needs_judge(sample, template="binary_qaa")',
                'no judge "binary_qaa" is installed; did you mean "binary_qa"?',
            ),
            (
                'needs_judge(sample, template="{respnse} {response}")',
                'nor the scorer provides; did you mean "response"?',
            ),
            ('needs_judge(sample, template="{% if %} {{ response }}")', "TemplateSyntaxError"),
            (
                'judge_score(sample, template="{response}", grade_pattern="GRADE: [CI]")',
                'its whole match is never a grade; enclose the grade in parentheses, as in "GRADE: ([CI])"',
            ),
        ],
    ),
)
def test_a_template_that_cannot_be_used_is_named_and_nothing_is_sent(tmp_path: Path, how: str, said: str) -> None:
    """The reason stands on the terminal; the hint does not speak of judges that are not missing."""
    code, stderr, rows, n_asked = run(tmp_path, how)
    assert (code, n_asked) == (3, 0)
    assert {row["outcome"]["kind"] for row in rows} == {"bad_template"}
    assert "asked: no judge could be asked about 3 samples (bad_template): " in stderr
    assert said in stderr
    assert "--judge-url URL" not in stderr


def test_a_judge_that_was_named_wrongly_is_replaced_on_a_resume(tmp_path: Path) -> None:
    """It never answered, so nothing has to be allowed; once one has answered, another is refused."""
    write_jsonl(tmp_path / "rows.jsonl", [{"question": "Why?", "answer": "So.", "said": "So."}])
    (tmp_path / "asked.py").write_text(BENCH.format(how="needs_judge(sample)"))
    with scripted(says("GRADE: C"), models=["strict", "kind"]) as judge:
        flags = ("--judge-url", judge.url, "--judge-id")
        wrong = nel("eval", "run", "--bench", "asked.py", *flags, "strickt", "-o", "out", cwd=tmp_path)
        assert wrong.returncode == 2
        run_dir = only_run(tmp_path / "out")
        right = nel("eval", "resume", str(run_dir), *flags, "strict", cwd=tmp_path)
        assert right.returncode == 0, right.stderr
        assert [row["reward"] for row in read_results(run_dir, "asked")] == [1.0]
        other = nel("eval", "resume", str(run_dir), *flags, "kind", cwd=tmp_path)
        assert other.returncode == 2
        assert "--allow-judge-change" in other.stderr
        assert len(judge.calls) == 1
