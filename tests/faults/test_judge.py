"""A judge that is down, killed with its run, disagreeing or hostile to read: never a low grade, never paid twice."""

from __future__ import annotations

import random
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from nel.reports.run_warnings import texts_of
from tests.faults.invariants import nothing_paid_twice, read_run, same_artifacts
from tests.faults.runs import QUICK, config, run
from tests.faults.server import Call, Reply, answer, right, serving
from tests.faults.test_kill import attempting
from tests.support.runs import only_run
from tests.support.tiers import first_rows

BENCH = """
from nel import ScorerInput, benchmark, needs_judge, scorer

@benchmark(name="gsm8k", dataset="unset.jsonl", prompt="{question}", target_field="answer")
@scorer
def judged(sample: ScorerInput) -> dict:
    return needs_judge(sample)
"""
CONCURRENCY = 4


def honest(call: Call) -> Reply:
    """Judge by the number in the question."""
    said = re.search(r"Answer: (\d+)", call.text)
    return answer(f"GRADE: {'C' if said is not None and int(said[1]) == 2 * call.number else 'I'}")


def most_right(call: Call) -> Reply:
    """Answer every fifth wrong."""
    return right(call) if call.number % 5 else answer("Answer: 999")


def judged(tmp_path: Path, *urls: str, **judge: Any) -> dict[str, Any]:
    """Return the parts of a configuration that make a run judged."""
    path = tmp_path / "judged.py"
    path.write_text(BENCH)
    panel = [{"name": f"judge-{number}", "url": url, **QUICK} for number, url in enumerate(urls)]
    return {"benchmark": {"name": str(path)}, "judge": {"panel": panel, **judge}}


@pytest.mark.parametrize("seed", first_rows(1, range(8)), ids=[f"f45-f62-{seed}" for seed in range(8)])
def test_kills_at_random_moments_of_a_judged_run(tmp_path: Path, seed: int) -> None:
    """Killed again and again: equal artifacts, and no more answers and verdicts paid twice than were under way."""
    n, chance = 40, random.Random(seed)  # noqa: S311 - moments, not secrets
    with serving(most_right) as model, serving(honest) as judge:
        whole = run(tmp_path, model, n=n, out="whole", **judged(tmp_path, judge.url))
    assert whole.exit_code == 0
    with serving(most_right) as model, serving(honest) as judge, attempting() as attempt:
        settings = config(tmp_path, model.url, n=n, engine={"concurrency": CONCURRENCY}, **judged(tmp_path, judge.url))
        kills, ended = 0, -signal.SIGKILL
        while ended != 0 and kills < 30:
            resume = bool(list((tmp_path / "out").glob("*/run.db")))
            point = chance.choice(("request_sent", "response_received", "before_commit", "before_score", "after_score"))
            env = {"NEL_FAILPOINT": f"{point}:{chance.randint(1, 60)}"} if kills < 6 else {}
            ended = attempt(settings, resume=resume, env=env)
            kills += ended != 0
        assert ended == 0
        nothing_paid_twice(model, at_most=CONCURRENCY * kills)
        nothing_paid_twice(judge, at_most=CONCURRENCY * kills)
    same_artifacts(whole, read_run(only_run(tmp_path / "out"), 0, killed=True))


PAIRS = BENCH.replace("(sample)\n", '(sample, template="pairwise", baseline="It is 0.")\n')


def test_f97_a_judge_that_always_takes_the_first_seat_finds_ties(tmp_path: Path) -> None:
    """Both orders are asked, a verdict that changes with the order is a tie, and the leaning is reported."""
    with serving(right) as model, serving(lambda call: answer("GRADE: A")) as judge:
        parts = judged(tmp_path, judge.url)
        (tmp_path / "judged.py").write_text(PAIRS)
        ran = run(tmp_path, model, n=12, **parts)
    assert [row["reward"] for row in ran.rows] == [0.5] * 12
    (swap,) = ran.metrics["judging"]["position_swap"]
    assert (swap["n_pairs"], swap["n_first"], swap["n_second"]) == (12, 12, 0)
    assert any("prefers the first answer" in warning for warning in texts_of(ran.metrics))
