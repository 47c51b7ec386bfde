"""An endpoint that is gone for a while, or for good: few probes, no sample burnt, and an end that can be resumed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.cli.progress import progress_line
from nel.engine.progress import Progress
from tests.faults.invariants import nothing_paid_twice
from tests.faults.runs import config, nel_cli, run, write_config
from tests.faults.server import HANGS_SECONDS, Call, Do, Reply, closed_port, error, http, right, serving, wait_until
from tests.support.runs import only_run, read_json
from tests.support.tiers import first_rows, representatives

PATIENT = {"outage_seconds_max": 120, "outage_probe_seconds": 0.1, "attempts_max": 3}
HASTY = {"outage_seconds_max": 0.6, "outage_probe_seconds": 0.1, "attempts_max": 3}
SOON = {"first_byte_timeout_seconds": 6.0}
"""For a server that hangs; an answer that is given comes far sooner."""


class Outage:
    """Answers n calls, then is down for some seconds, then answers again."""

    def __init__(self, after: int, seconds: float, down: Reply) -> None:
        self.after, self.seconds, self.down = after, seconds, down
        self.began: float | None = None
        self.answered = 0
        self.during: list[float] = []

    def __call__(self, call: Call) -> Reply:
        if self.began is None and self.answered >= self.after:
            self.began = call.at
        if self.began is not None and call.at < self.began + self.seconds:
            self.during.append(call.at - self.began)
            return self.down
        self.answered += 1
        return right(call)


@pytest.mark.parametrize(
    ("down", "seconds"),
    representatives(
        [([Do.RESET], 1.5), ([Do.CLOSE], 1.5), (error(503, "no upstream"), 1.5), (error(502), 1.5), ([Do.HANG], 9.0)],
        "f36-reset",
        "f36-503",
        ids=["f36-reset", "f36-close", "f36-503", "f36-502", "f36-hang"],
    ),
)
def test_an_outage_passes_by_itself(tmp_path: Path, down: Reply, seconds: float) -> None:
    """Down for a while, then up: few calls meanwhile, all samples scored in the same run, nothing paid twice."""
    outage = Outage(20, seconds, down)
    endpoint = {**PATIENT, **(SOON if down == [Do.HANG] else {})}
    with serving(outage) as server:
        ran = run(tmp_path, server, n=120, engine={"concurrency": 8}, endpoint=endpoint)
        nothing_paid_twice(server)
    assert ran.states == ["scored"] * 120
    assert ran.exit_code == 0
    assert len(outage.during) <= 8 * 3 + 20, "the run stormed an endpoint that is down"
    late = [at for at in outage.during if at > seconds / 2]
    assert len(late) <= 5 + seconds / 2 / 0.1, "more than a probe in each interval"


def test_f36_people_are_told(tmp_path: Path) -> None:
    """While it lasts the progress line says that the endpoint is down and for how long."""
    progress = Progress()
    outage = Outage(10, 10_000, [Do.RESET])
    with serving(outage) as server:
        settings = config(tmp_path, server.url, n=40, endpoint=PATIENT)
        thread = _in_background(lambda: nel.evaluate(settings, progress=progress))
        wait_until(lambda: "ENDPOINT DOWN" in progress_line(progress), "the progress line says so")
        assert "JUDGE DOWN" not in progress_line(progress), "the run has no judge"
        outage.seconds = 0
        thread.join(HANGS_SECONDS)
    assert "ENDPOINT DOWN" not in progress_line(progress)


def _in_background(work: Callable[[], Any]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("down", "words"),
    [
        (error(429, "slow down"), "HTTP 429: slow down"),
        (http("<html><title>Wifi</title><p>Sign in"), "the body is a web page, not JSON: Wifi Sign in"),
        ([Do.RESET], "the endpoint closed the connection before it answered"),
    ],
    ids=["f37-rate-limit", "f37-login-page", "f37-reset"],
)
def test_an_outage_says_what_came_of_the_last_attempt(tmp_path: Path, down: Reply, words: str) -> None:
    """An endpoint that is down may well respond; what it says tells a network's login from a server that is gone."""
    with serving(lambda _: down) as server:
        ran = run(tmp_path, server, n=6, endpoint=HASTY)
    assert ran.exit_code == 75
    assert "the endpoint has not answered for" in ran.reason
    assert ran.reason.endswith(f"({server.url}: {words})")


@pytest.mark.parametrize(
    "down", first_rows(2, [[Do.RESET], error(503), [Do.HANG]]), ids=["f37-reset", "f37-503", "f37-hang"]
)
def test_an_endpoint_that_stays_down_stops_the_run(tmp_path: Path, down: Reply) -> None:
    """Down for good: exit 75 within bounds, partial artifacts that say so, and a resume that asks only the rest."""
    dead = Outage(20, 10_000, down)
    endpoint = {**HASTY, **(SOON if down == [Do.HANG] else {})}
    with serving(dead) as server:
        ran = run(tmp_path, server, n=200, engine={"concurrency": 4}, endpoint=endpoint)
        assert ran.exit_code == 75
        assert ran.metrics["complete"] is False
        assert ran.bundle["complete"] is False
        assert ran.accounting["n_scored"] == 20
        assert ran.accounting["n_unscored"] == 180
        assert len(dead.during) <= 80
        dead.seconds = 0
        again = run(tmp_path, server, n=200, endpoint=HASTY, resume=True)
        nothing_paid_twice(server)
    assert again.states == ["scored"] * 200
    assert again.exit_code == 0


def test_f37_the_line_that_resumes(tmp_path: Path) -> None:
    """The command line says that the endpoint is down, prints the line that resumes, and that line works."""
    with closed_port() as (port, held):
        path = write_config(tmp_path, f"http://127.0.0.1:{port}/v1", n=4, endpoint=HASTY)
        done = nel_cli(["eval", "run", str(path)], tmp_path)
        assert done.returncode == 75
        assert "nel eval resume" in done.stderr
        run_dir = only_run(tmp_path / "out")
        assert read_json(run_dir / "gsm8k" / "metrics.json")["headline"]["value"] is None
        with serving(on=held) as server:
            again = nel_cli(["eval", "resume", str(run_dir), "--json"], tmp_path)
            assert len(server.calls) == 4
    assert again.returncode == 0
    assert json.loads(again.stdout)["benchmarks"]["gsm8k"]["accounting"]["n_scored"] == 4
