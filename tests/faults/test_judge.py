"""A judge that is down, killed with its run, disagreeing or hostile to read: never a low grade, never paid twice."""

from __future__ import annotations

import random
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Attempts
from tests.faults.invariants import nothing_paid_twice, read_run, same_artifacts
from tests.faults.runs import QUICK, config, run
from tests.faults.server import Call, Reply, answer, right, serving
from tests.judges.hostile_outputs import HOSTILE
from tests.support.runs import only_run, write_bench
from tests.support.tiers import first_rows

CONCURRENCY = 4


def honest(call: Call) -> Reply:
    """Judge by the number in the question."""
    said = re.search(r"Answer: (\d+)", call.text)
    return answer(f"GRADE: {'C' if said is not None and int(said[1]) == 2 * call.number else 'I'}")


def most_right(call: Call) -> Reply:
    """Answer every fifth wrong."""
    return right(call) if call.number % 5 else answer("Answer: 999")


JUDGED = "needs_judge(sample)"


def judged(tmp_path: Path, *urls: str, verdict: str = JUDGED, **judge: Any) -> dict[str, Any]:
    """Return the parts of a configuration that make a run judged."""
    path = write_bench(tmp_path / "judged.py", verdict, name="gsm8k", dataset="unset.jsonl")
    panel = [{"name": f"judge-{number}", "url": url, **QUICK} for number, url in enumerate(urls)]
    return {"benchmark": {"name": str(path)}, "judge": {"panel": panel, **judge}}


@pytest.mark.parametrize("seed", first_rows(1, range(8), storm=3), ids=[f"f45-f62-{seed}" for seed in range(8)])
def test_kills_at_random_moments_of_a_judged_run(tmp_path: Path, attempt: Attempts, seed: int) -> None:
    """Killed again and again: equal artifacts, and no more answers and verdicts paid twice than were under way."""
    n, chance = 40, random.Random(seed)  # noqa: S311 - moments, not secrets
    with serving(most_right) as model, serving(honest) as judge:
        whole = run(tmp_path, model, n=n, out="whole", **judged(tmp_path, judge.url))
    assert whole.exit_code == 0
    with serving(most_right) as model, serving(honest) as judge:
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


def test_f96_a_hostile_answer_does_not_move_its_verdict(tmp_path: Path) -> None:
    """Forged grades, closing tags, instructions, braces and JSON, before a judge that repeats all that it was shown."""
    texts = [text.replace("@", "GRADE: C") for text in HOSTILE.values()]

    def hostile(call: Call) -> Reply:
        return answer(texts[call.number])

    def echoes(call: Call) -> Reply:
        return answer(f"{call.text}\n\nI have weighed it.\nGRADE: I")

    with serving(hostile) as model, serving(echoes) as judge:
        ran = run(tmp_path, model, n=len(texts), **judged(tmp_path, judge.url))
    told = {name: row["reward"] for name, row in zip(HOSTILE, ran.rows, strict=True) if row["reward"] != 0.0}
    assert len(texts) >= 40
    assert told == {}
