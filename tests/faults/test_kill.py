"""SIGKILL at every named point and at hundreds of random ones: nothing is paid twice and the artifacts are the same."""

from __future__ import annotations

import random
import shutil
import signal
from pathlib import Path

import pytest

from tests.faults.conftest import Attempts
from tests.faults.invariants import Ran, nothing_paid_twice, read_run, same_artifacts
from tests.faults.runs import config, run
from tests.faults.server import Call, Reply, answer, error, right, serving
from tests.support.runs import only_run
from tests.support.tiers import first_rows, representatives

POINTS = [
    "request_sent",
    "response_received",
    "before_commit",
    "after_commit",
    "before_score",
    "after_score",
    "before_artifacts",
    "during_rename",
    "after_artifacts",
]
CONCURRENCY = 4


def _mixed(call: Call) -> Reply:
    """Right, wrong, empty and refused answers; none that is tried again, since kills alone are looked at here."""
    if call.number % 11 == 0:
        return error(400, "maximum context length is 10 tokens")
    if call.number % 7 == 0:
        return answer("no idea")
    return right(call) if call.number % 5 else answer("")


def _resumable(out: Path) -> bool:
    return bool(list(out.glob("*/run.db")))


def _whole(tmp_path: Path, n: int) -> Ran:
    with serving(_mixed) as server:
        whole = run(tmp_path, server, n=n, out="whole")
    assert whole.exit_code == 0
    return whole


@pytest.mark.parametrize(
    ("point", "count"),
    representatives(
        {f"f45-{point}-{nth}": (point, count) for point in POINTS for nth, count in (("first", 1), ("fourth", 4))},
        "f45-after_commit-first",
    ),
)
def test_a_kill_at_a_named_point(tmp_path: Path, attempt: Attempts, point: str, count: int) -> None:
    """Killed at the point, resumed: equal artifacts, and no more paid twice than was in flight."""
    n = 40
    whole = _whole(tmp_path, n)
    # Answers come in waves, so that no point is passed once for many of them.
    with serving(lambda call: [0.01, *_mixed(call)]) as server:
        settings = config(tmp_path, server.url, n=n, engine={"concurrency": CONCURRENCY})
        killed = attempt(settings, resume=False, env={"NEL_FAILPOINT": f"{point}:{count}"})
        if not (point in ("before_artifacts", "after_artifacts") and count > 1):
            assert killed == -signal.SIGKILL, "the point was never reached"
        assert attempt(settings, resume=True) == 0
        nothing_paid_twice(server, at_most=CONCURRENCY)
        keys = {call.headers.get("idempotency-key") for call in server.calls}
        assert len(keys) == n
    same_artifacts(whole, read_run(only_run(tmp_path / "out"), 0, killed=True))


@pytest.mark.parametrize(
    "point", representatives({f"f45-again-{point}": point for point in POINTS}, "f45-again-before_commit")
)
def test_a_kill_at_the_same_point_of_every_attempt(tmp_path: Path, attempt: Attempts, point: str) -> None:
    """Killed there again and again, a little later each time: the run gets to its end."""
    n = 30
    with serving(_mixed) as server:
        settings = config(tmp_path, server.url, n=n, engine={"concurrency": CONCURRENCY})
        first = 1 if point.endswith("_artifacts") else 3  # artifacts are written once
        ends = [attempt(settings, resume=False, env={"NEL_FAILPOINT": f"{point}:{first}"})]
        while ends[-1] != 0 and len(ends) < 40:
            resume = _resumable(tmp_path / "out")
            ends.append(attempt(settings, resume=resume, env={"NEL_FAILPOINT": f"{point}:{5 * len(ends)}"}))
        assert ends[-1] == 0, ends
        kills = sum(end == -signal.SIGKILL for end in ends)
        assert kills >= 1, "the point was never reached"
        nothing_paid_twice(server, at_most=CONCURRENCY * kills)
    ran = read_run(only_run(tmp_path / "out"), 0, killed=True)
    assert ran.accounting["n_total"] == n


def test_f45_no_temporary_file_stays(tmp_path: Path) -> None:
    """What a kill left half written beside an artifact is gone after the next run to the end."""
    with serving(_mixed) as server:
        first = run(tmp_path, server, n=4)
        half = first.run_dir / "gsm8k" / ".results.jsonl.4194304-0.tmp"
        half.write_text("half")
        run_again = run(tmp_path, server, n=4, resume=True)
    assert not half.exists()
    assert run_again.accounting == first.accounting


@pytest.mark.parametrize("seed", first_rows(0, range(8), storm=3), ids=[f"f45-random-{seed}" for seed in range(8)])
def test_kills_at_random_moments(tmp_path: Path, attempt: Attempts, seed: int) -> None:
    """25 kills of one run at random moments, start-up and the last artifact included; then it is let to its end.

    The moments adapt to the machine: sooner after an attempt that came to its end, later after one that asked nothing.
    """
    moments = random.Random(20261121 + seed)  # noqa: S311 - moments, not secrets
    n = 150
    whole = _whole(tmp_path, n)
    slow = 0.01 * (seed % 3)
    with serving(lambda call: [slow, *_mixed(call)]) as server:
        settings = config(tmp_path, server.url, n=n, engine={"concurrency": CONCURRENCY})
        settings["endpoint"]["attempts_max"] = 6
        kills = tries = 0
        latest = 0.35
        while kills < 25 and tries < 150:
            tries += 1
            resume = _resumable(tmp_path / "out")
            asked = len(server.calls)
            end = attempt(settings, resume=resume, seconds=moments.uniform(0.0, latest))
            if end == 0:
                latest *= 0.7
            elif len(server.calls) == asked and len({call.digest for call in server.calls}) < n:
                latest = min(1.5 * latest, 10.0)
            if end == 2 and not server.calls:
                shutil.rmtree(tmp_path / "out")  # see test_f48_a_kill_while_the_store_is_made
                continue
            assert end in (0, -signal.SIGKILL), f"attempt {tries} ended with {end}"
            kills += end != 0
        assert kills >= 25
        assert attempt(settings, resume=_resumable(tmp_path / "out")) == 0
        nothing_paid_twice(server, at_most=CONCURRENCY * kills)
        per_body = [sum(call.digest == digest for call in server.calls) for digest in {c.digest for c in server.calls}]
        assert len(per_body) == n
    same_artifacts(whole, read_run(only_run(tmp_path / "out"), 0, killed=True))
