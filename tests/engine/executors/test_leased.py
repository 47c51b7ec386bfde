"""A run on a fleet has the scores of a local run, whatever becomes of its hosts, and refuses hosts that differ."""

from __future__ import annotations

import itertools
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.engine.executors.leased import LeasedExecutor
from nel.engine.executors.wire import ScoreAnswer
from nel.engine.progress import Progress
from nel.runs.evaluation import RunResult
from tests.engine.executors.fakes import FakeFleet, Loss
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import artifacts_of, read_json, read_results, run_config, sums

N = 24


def _says(call: Call, _: int) -> Reply:
    return answer(f"#### {2 * call.number if call.number % 3 else 0}")


def _config(tmp_path: Path, endpoint: Endpoint, name: str) -> dict[str, Any]:
    return run_config(
        endpoint.url,
        [{"name": "gsm8k", "dataset": str(sums(tmp_path / "rows.jsonl", N))}],
        tmp_path / name,
        engine={"preflight": False, "concurrency": 8},
    )


def _run(
    tmp_path: Path, endpoint: Endpoint, fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch, progress: Progress
) -> RunResult:
    with monkeypatch.context() as patched:
        executor = LeasedExecutor("fake", fleet)
        patched.setattr("nel.engine.run.opened_executor", lambda _: nullcontext(executor))
        return nel.evaluate(_config(tmp_path, endpoint, "fleet"), progress=progress)


def _every(n: int, what: str) -> Loss:
    counted = itertools.count(1)
    return lambda *_: what if next(counted) % n == 0 else None


@pytest.mark.parametrize(("loss", "n_lost"), [(None, 0), (7, 3)], ids=["steady", "hosts are lost"])
def test_scores_are_those_of_a_local_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: int | None, n_lost: int
) -> None:
    """Every artifact is equal; each loss is counted, its samples are scored elsewhere, and nothing is asked twice."""
    progress = Progress()
    with scripted(_says) as endpoint:
        fleet = FakeFleet(3, loses=_every(loss, "host")) if loss else FakeFleet(3)
        found = _run(tmp_path, endpoint, fleet, monkeypatch, progress)
        assert len(endpoint.calls) == N
        local = nel.evaluate(_config(tmp_path, endpoint, "local"))
    assert found.exit_code == local.exit_code == 0
    assert artifacts_of(found.run_dir, "gsm8k") == artifacts_of(local.run_dir, "gsm8k")
    notes = [note for note in progress.notes if "workers were lost" in note]
    assert len(notes) == (1 if n_lost else 0)
    (facts,) = read_json(found.run_dir / "gsm8k" / "runtime_stats.json")["executors"]
    nodes = {f"node-{number}": {"scoring": 1, "sandbox": 0} for number in (1, 2, 3)}
    assert facts == {"name": "fake", "address": "test", "nodes": nodes}


def test_an_answer_that_takes_hosts_down_is_unscored_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three lost hosts it is unscored by infra and never wrong; a resume scores it and asks nothing."""

    def loses(_: str, message: ScoreAnswer) -> str | None:
        return "host" if "What is 5 " in str(message.sample.input) else None

    with scripted(_says) as endpoint:
        result = _run(tmp_path, endpoint, FakeFleet(1, loses=loses), monkeypatch, Progress())
        assert result.exit_code == 3
        by_reward = {row["problem_idx"]: row["reward"] for row in read_results(result.run_dir, "gsm8k")}
        assert [idx for idx, reward in by_reward.items() if reward is None] == [5]
        row = next(row for row in read_results(result.run_dir, "gsm8k") if row["problem_idx"] == 5)
        assert (row["outcome"]["cause"], row["outcome"]["kind"]) == ("infra", "worker_lost")
        n_calls = len(endpoint.calls)
        again = nel.evaluate(_config(tmp_path, endpoint, "fleet"), resume=True)
        assert (again.exit_code, len(endpoint.calls)) == (0, n_calls)


def test_a_lost_fleet_stops_the_run_and_a_local_resume_is_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 75 with the next step; what was answered is not asked again."""
    with scripted(_says) as endpoint:
        stopped = _run(tmp_path, endpoint, FakeFleet(2, loses=_every(5, "fleet")), monkeypatch, Progress())
        assert stopped.exit_code == 75
        assert "the fleet of the test is lost; every answer is kept, resume" in stopped.ending.reason
        resumed = nel.evaluate(_config(tmp_path, endpoint, "fleet"), resume=True)
        assert len(endpoint.calls) == N
        local = nel.evaluate(_config(tmp_path, endpoint, "local"))
    assert resumed.exit_code == 0
    assert artifacts_of(resumed.run_dir, "gsm8k") == artifacts_of(local.run_dir, "gsm8k")


@pytest.mark.parametrize(
    ("hello", "message"),
    [
        ({"nel": "9.9"}, "the node node-2 has nel 9.9 and this machine nel"),
        ({"packages": {}}, r"the node node-2 has .* \(none\) and this machine"),
        ({"digests": ["0" * 64]}, r"the node node-2 has another scorer of gsm8k \(000000000000\) than this machine"),
        ({"error": "no benchmark is installed"}, "the node node-2 cannot compute scores: no benchmark is installed"),
    ],
    ids=["nel", "packages", "scorer", "error"],
)
def test_a_host_that_could_score_otherwise_is_refused_by_its_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hello: dict[str, Any], message: str
) -> None:
    """Both versions are named, and nothing is sent to the endpoint."""
    with scripted(_says) as endpoint:
        fleet = FakeFleet(2, hello=hello)
        refused = _run(tmp_path, endpoint, fleet, monkeypatch, Progress())
        assert endpoint.calls == []
    assert refused.exit_code == 2
    assert re.search(message, refused.ending.reason)
    assert fleet.ended == ["host-2"]
