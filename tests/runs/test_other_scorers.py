"""What a run says whose scorer read next to nothing: which scorer would have."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.runs import nel, write_jsonl

BENCHMARK = """
from nel import benchmark, scorer
from nel.scoring import {scorer} as rule

@benchmark(name="quiz", dataset="rows.jsonl", prompt="{{question}}", target_field="answer", response_field="said")
@scorer
def quiz(sample):
    return rule(sample)
"""


def _run(folder: Path, scorer: str, *, is_right: bool = True) -> str:
    """Return what a run of recorded answers says on stderr."""
    golds = ["yes", "no"] * 6
    said = golds if is_right else golds[::-1]
    rows = [
        {"question": f"Is {n} even?", "answer": gold, "said": f"Looking at {n}, I would say {word}, it seems."}
        for n, (gold, word) in enumerate(zip(golds, said, strict=True))
    ]
    write_jsonl(folder / "rows.jsonl", rows)
    (folder / "quiz.py").write_text(BENCHMARK.format(scorer=scorer))
    done = nel("eval", "run", "--bench", "quiz.py", "--response-field", "said", "-o", "runs of today", cwd=folder)
    assert done.returncode == 0, done.stderr
    return str(done.stderr)


@pytest.mark.parametrize("scorer", ["answer_line", "exact_match"])
def test_a_scorer_that_reads_the_answers_is_named_with_a_command_that_works(tmp_path: Path, scorer: str) -> None:
    """A first file never ends in a silent zero; the printed command scores the stored answers as it stands."""
    stderr = _run(tmp_path, scorer)
    assert "quiz: the scorer boolean_yesno finds 100 % of 12 stored answers right" in stderr
    command = shlex.split(stderr.partition("without a request: ")[2].splitlines()[0])
    done = nel(*command[1:], cwd=tmp_path)
    assert "100.00" in done.stdout
    assert "stored answers" not in done.stderr


def test_answers_that_are_wrong_are_no_matter_of_the_scorer(tmp_path: Path) -> None:
    """Where no scorer finds more right there is nothing to name."""
    assert "stored answers" not in _run(tmp_path, "exact_match", is_right=False)
