"""The totals of a run equal what a counting server served, whatever a sample takes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.episodes.bank import calling, n_results, write_bank
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_json, read_results

PRICES = ("-O", "budget.prices.m.input=1000000", "-O", "budget.prices.m.output=2000000")
"""A unit of money a prompt token, two a completion token."""
DIALOGUE = """
from nel import ScorerInput, benchmark, scorer

@benchmark(name="dialogue", dataset="data.jsonl", prompt="{turn}", target_field="targets", turns_field="turns")
@scorer
async def dialogue(sample: ScorerInput) -> dict:
    return {"correct": bool(await sample.model_call_fn("sure?"))}
"""


def run(tmp_path: Path, endpoint: Endpoint, bench: str, *options: str) -> int:
    """Run a benchmark with prices; return the exit code."""
    where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", *PRICES)
    mails = {"MAILS": str(tmp_path / "mails")}
    return nel("eval", "run", "--bench", bench, *where, *options, cwd=tmp_path, env=mails).returncode


def totals(tmp_path: Path, benchmark: str) -> tuple[int, int, float, int]:
    """Return attempts, tokens, cost and answered samples as runtime_stats.json has them."""
    stats = read_json(only_run(tmp_path / "out") / benchmark / "runtime_stats.json")
    tokens = stats["tokens"]["prompt"] + stats["tokens"]["completion"]
    assert sum(stats["finish_reasons"].values()) == stats["requests"]["completed"]
    return stats["requests"]["attempts"], tokens, stats["cost"]["total"], stats["n_answered"]


def served(endpoint: Endpoint) -> tuple[int, int, float]:
    """Return requests, tokens and the price of answers of 7 and 3 tokens."""
    n = len(endpoint.of_samples)
    return n, 10 * n, 13.0 * n


def test_an_episode_that_was_begun_again_costs_all_its_attempts(tmp_path: Path) -> None:
    """A tool that dies once has its episode restarted: the requests of both attempts are counted."""
    path = write_bank(tmp_path, 1)

    def dying_once(call: Call, number: int) -> Reply:
        if n_results(call):
            return answer("done")
        return calling(("crash", {"how": "die"})) if number == 0 else calling(("add", {"a": 1}))

    with scripted(dying_once) as endpoint:
        assert run(tmp_path, endpoint, f"{path}:functions") == 0
    assert totals(tmp_path, "functions") == (*served(endpoint), 1)
    (line,) = read_results(only_run(tmp_path / "out"), "functions")
    assert (line["timing"]["episode"]["attempts"], line["episode"]["steps"]) == (2, 2)
    assert len(endpoint.calls) == 3


def test_turns_and_what_a_scorer_asks_are_requests_of_one_sample(tmp_path: Path) -> None:
    """Two turns, each with a question of its scorer: four requests make one answer, of two samples asked twice."""
    (tmp_path / "bench.py").write_text(DIALOGUE, encoding="utf-8")
    rows = [{"turns": [f"one {i}", "two"], "targets": ["", ""]} for i in range(2)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with scripted(lambda *_: answer("yes")) as endpoint:
        assert run(tmp_path, endpoint, "bench.py", "--repeats", "2") == 0
    assert len(endpoint.of_samples) == 2 * 2 * 4
    assert totals(tmp_path, "dialogue") == (*served(endpoint), 4)


def test_what_a_resume_asks_again_stays_in_the_totals(tmp_path: Path) -> None:
    """A request that failed in one session and was answered in the next was served in both."""
    path = write_bank(tmp_path, 4)
    is_down = True

    def failing(call: Call, _: int) -> Reply:
        if is_down and "Add 2" in call.text:
            return Reply(status=500, body={"error": {"message": "out of order"}})
        return answer("done")

    with scripted(failing) as endpoint:
        quick = ("-O", "endpoint.attempts_max=2", "-O", "endpoint.backoff_seconds=0.01")
        assert run(tmp_path, endpoint, f"{path}:plain", *quick) == 3
        is_down = False
        assert nel("eval", "resume", str(only_run(tmp_path / "out")), cwd=tmp_path).returncode == 0
    stats = read_json(only_run(tmp_path / "out") / "plain" / "runtime_stats.json")
    assert stats["sessions"] == 2
    assert stats["requests"] == {"completed": 4, "failed": 1, "attempts": 6, "retries": 1, "cached": 0}
    assert totals(tmp_path, "plain") == (len(endpoint.of_samples), 40, 52.0, 4)
