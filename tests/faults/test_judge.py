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
from tests.faults.server import Call, Reply, answer, error, right, serving
from tests.faults.test_kill import attempting
from tests.judges.hostile_outputs import HOSTILE
from tests.support import endpoint
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


BAD_REPLIES = {
    "prose": ("I would rather not say.", "no_verdict"),
    "empty": ("", "empty"),
    "out of range": ("GRADE: 8/10", "out_of_range"),
    "two at once": ("GRADE: 1\nGRADE: 5", "two_verdicts"),
    "JSON without the key": ('{"opinion": 5}', "no_verdict"),
}


def test_f95_a_reply_that_cannot_be_read_is_no_grade(tmp_path: Path) -> None:
    """Asked for once more, then unscored with the reply kept: never the lowest grade, zero or half."""
    texts, n = [text for text, _ in BAD_REPLIES.values()], len(BAD_REPLIES)

    def script(call: Call) -> Reply:
        return answer(texts[call.number]) if call.number < n else answer("GRADE: 5")

    with serving(right) as model, serving(script) as judge:
        ran = run(tmp_path, model, n=n + 1, **judged(tmp_path, judge.url, template="likert_5"))
        assert [len(judge.of(number)) for number in range(n + 1)] == [2] * n + [1]
    assert ran.exit_code == 3
    assert ran.states == [*(f"judge:{kind}" for _, kind in BAD_REPLIES.values()), "scored"]
    assert [row["reward"] for row in ran.rows] == [None] * n + [1.0]
    for text, row in zip(texts, ran.rows[:-1], strict=True):
        (record,) = row["scoring_details"]["judgements"]
        assert (record["score"], record["opinions"][0]["reply"]) == (None, text or "the judge's reply is empty")
    assert ran.accounting["unscored"]["judge"]["n"] == n


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


def test_f98_a_member_that_is_down_or_disagrees_is_seen(tmp_path: Path) -> None:
    """Two of three make the quorum; who is missing is named, and how far the others agree is measured."""

    def contrary(call: Call) -> Reply:
        return answer("GRADE: I") if call.number % 2 else honest(call)

    with serving(right) as model, serving(honest) as one, serving(contrary) as two:
        down = lambda call: error(400, "not today")  # noqa: E731 - a server in one word
        with serving(down) as three:
            ran = run(tmp_path, model, n=8, **judged(tmp_path, one.url, two.url, three.url, aggregate="mean"))
    assert [row["reward"] for row in ran.rows] == [1.0, 0.5] * 4
    judging = ran.metrics["judging"]
    assert [(judge["name"], judge["verdicts"]) for judge in judging["judges"]] == [
        ("judge-0", 8),
        ("judge-1", 8),
        ("judge-2", 0),
    ]
    (agreement,) = judging["agreement"]
    assert agreement["raw"]["value"] == 0.5
    assert any("judge-2 gave no opinion at all" in warning for warning in texts_of(ran.metrics))


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


@pytest.mark.parametrize(
    ("name", "word"), [("served-model", "judges itself"), ("Qwen/Qwen2.5-7B-Instruct", "its own family")]
)
def test_f100_a_judge_that_is_of_the_models_family_is_warned_of(tmp_path: Path, name: str, word: str) -> None:
    """By what is configured and by what the servers say; the warning stands in the metrics and on the page."""
    own = "m" if name == "served-model" else "qwen2.5-72b-instruct"

    def named(*_: Any) -> endpoint.Reply:
        said = endpoint.answer("GRADE: C")
        return endpoint.Reply(body={**said.body, "model": name})

    with serving(right) as model, endpoint.scripted(named) as judge:
        settings = judged(tmp_path, judge.url)
        settings["judge"]["panel"][0] |= {"name": "j", "model": "j" if name == "served-model" else name}
        ran = run(tmp_path, model, n=3, endpoint={"model": own}, **settings)
    (warning,) = texts_of(ran.metrics, ("judging",))
    assert word in warning
    assert word in (ran.run_dir / "report.html").read_text()
