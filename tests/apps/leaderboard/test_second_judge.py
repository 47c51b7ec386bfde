"""What a leaderboard does about a judge that was named wrongly, and about questions that say little."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nel.runs.evaluation import evaluate
from tests.support.endpoint import scripted
from tests.support.leaderboards import finished_run, judge, word, write_bench
from tests.support.runs import nel, write_jsonl


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the runs of two models on four questions."""
    root = tmp_path_factory.mktemp("runs")
    bench = write_bench(root / "bench", n=4)
    return [str(finished_run(root, bench, name, word(name))) for name in ("alpha", "beta")]


def only(folder: Path) -> Path:
    (found,) = folder.glob("*-leaderboard-*")
    return found


def test_a_judge_that_was_named_wrongly_is_replaced(runs: list[str], tmp_path: Path) -> None:
    """It said nothing, so nothing of it stays; the next resume needs no flags and sends nothing."""
    with scripted(judge(lambda *_: "A"), models=["solomon"]) as endpoint:
        wrong = nel(
            "judge", "leaderboard", *runs, "--judge-url", endpoint.url, "--judge-id", "salomo", "-o", "out",
            cwd=tmp_path,
        )  # fmt: skip
        assert wrong.returncode == 2
        directory = only(tmp_path / "out")
        assert f"fix it, then: nel judge leaderboard --resume -o out/{directory.name}" in wrong.stderr
        assert "--judge-url and --judge-id for another judge" in wrong.stderr
        assert "4 of 4 pairs are left out (judge:model_not_served 4)" in wrong.stderr
        assert "Elo: nothing was compared" in wrong.stderr
        assert wrong.stderr.count("nothing was compared") == 1
        assert len(endpoint.calls) == 0
        resume = ("judge", "leaderboard", "--resume", "-o", f"out/{directory.name}", "--json")
        right = nel(*resume, "--judge-url", endpoint.url, "--judge-id", "solomon", cwd=tmp_path)
        assert right.returncode == 0, right.stderr
        assert len(endpoint.calls) == 8
        again = nel(*resume, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert len(endpoint.calls) == 8
    assert json.loads(again.stdout) == json.loads(right.stdout)
    assert json.loads(right.stdout)["judge"]["panel"][0]["model"] == "solomon"


def test_questions_that_not_all_runs_have_are_said(runs: list[str], tmp_path: Path) -> None:
    """Recorded answers to other rows: what is compared is one question of five, and that stands beside the ranks."""
    bench = str(write_bench(tmp_path / "bench", n=1, name="noted"))
    named = []
    for name, first in (("x", 0), ("y", 2)):
        rows = [
            {"id": f"q{i}", "number": i, "question": f"Say {i}.", "answer": str(i), "said": f"{name} {i}"}
            for i in range(first, first + 3)
        ]
        entry = {"name": bench, "dataset": str(write_jsonl(tmp_path / f"{name}.jsonl", rows)), "response_field": "said"}
        evaluate({"benchmarks": [entry], "output": {"dir": str(tmp_path), "run_id": name}})
        named.append(f"{name}={tmp_path / name}")
    with scripted(judge(lambda *_: "TIE")) as endpoint:
        done = nel(
            "judge", "leaderboard", *named, "--judge-url", endpoint.url, "--judge-id", "s", "-o", "out", cwd=tmp_path
        )
    assert done.returncode == 0, done.stderr
    said = "Questions that not all runs have, so that nothing is compared on them: 4."
    assert f"nel: {said}" in done.stderr
    assert said in (only(tmp_path / "out") / "leaderboard.html").read_text()
    assert "Only 1 question is compared" in done.stderr
