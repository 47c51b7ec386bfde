"""A judge that is down, killed with its run, disagreeing or hostile to read: never a low grade, never paid twice."""

from __future__ import annotations

import random
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from nel.reports.run_warnings import texts_of
from tests.faults.conftest import Attempts
from tests.faults.invariants import nothing_paid_twice, read_run, same_artifacts
from tests.faults.runs import QUICK, config, run
from tests.faults.server import Call, Reply, answer, error, right, serving
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
PAIRS = "needs_judge(sample, template='pairwise', baseline='It is 0.')"


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


def test_f38_a_judge_that_is_down_stops_no_generation(tmp_path: Path) -> None:
    """Every answer is made and kept; the run ends resumably, and the resume sends the model nothing."""

    def down(call: Call) -> Reply:
        return error(503, "down")

    with serving(most_right) as model:
        with serving(down) as judge:
            settings = judged(tmp_path, judge.url)
            settings["judge"]["panel"][0] |= {
                "attempts_max": 100,  # the outage is known before any sample gives up
                "outage_seconds_max": 0.5,
            }
            ran = run(tmp_path, model, n=60, **settings)
        assert (ran.exit_code, len(model.calls)) == (75, 60)
        assert set(ran.states) == {"judge:outage"}
        assert "the judge is down" in ran.reason
        with serving(honest) as judge:
            again = run(tmp_path, model, n=60, resume=True, **judged(tmp_path, judge.url))
        assert (again.exit_code, len(model.calls), len(judge.calls)) == (0, 60, 60)
    assert again.states == ["scored"] * 60


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


def test_f97_a_judge_that_always_takes_the_first_seat_finds_ties(tmp_path: Path) -> None:
    """Both orders are asked, a verdict that changes with the order is a tie, and the leaning is reported."""
    with serving(right) as model, serving(lambda call: answer("GRADE: A")) as judge:
        ran = run(tmp_path, model, n=12, **judged(tmp_path, judge.url, verdict=PAIRS))
    assert [row["reward"] for row in ran.rows] == [0.5] * 12
    (swap,) = ran.metrics["judging"]["position_swap"]
    assert (swap["n_pairs"], swap["n_first"], swap["n_second"]) == (12, 12, 0)
    assert any("prefers the first answer" in warning for warning in texts_of(ran.metrics))


def test_f99_a_judge_that_changes_its_mind_is_measured_and_its_cache_knows_what_it_was_asked(tmp_path: Path) -> None:
    """Repeats that differ are counted; another template, model or setting is not a hit."""
    seen: dict[int, int] = {}

    def wavers(call: Call) -> Reply:
        seen[call.number] = seen.get(call.number, 0) + 1
        return answer("GRADE: I") if call.number % 2 and seen[call.number] == 3 else honest(call)

    cache = {"cache": {"dir": str(tmp_path / "cache")}}
    with serving(right) as model, serving(wavers) as judge:
        ran = run(tmp_path, model, n=8, **judged(tmp_path, judge.url, repeats=3), **cache)
        (found,) = ran.metrics["judging"]["self_consistency"]
        assert found["unanimous"]["value"] == 0.5
        assert [row["reward"] for row in ran.rows] == [1.0] * 8
        asked = len(judge.calls)
        again = run(tmp_path, model, n=8, out="again", **judged(tmp_path, judge.url, repeats=3), **cache)
        assert (len(judge.calls), again.metrics["judging"]) == (asked, ran.metrics["judging"])
        for number, other in enumerate(({"template": "simpleqa"}, {"criteria": "Be strict."})):
            settings = judged(tmp_path, judge.url, repeats=3, **other)
            run(tmp_path, model, n=8, out=f"other{number}", **settings, **cache)
            assert len(judge.calls) > asked
            asked = len(judge.calls)
        settings = judged(tmp_path, judge.url, repeats=3)
        settings["judge"]["panel"][0]["generation"] = {"temperature": 0.5}
        run(tmp_path, model, n=8, out="warmer", **settings, **cache)
        assert len(judge.calls) > asked
