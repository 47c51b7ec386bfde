"""Runs on a Ray cluster of several nodes of this machine are local runs, also where a node or the head is killed."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_sandbox import script, tasks
from tests.sandbox.conftest import need_engine
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.ray_cluster import HAS_RAY, RayCluster, ray_client_server, ray_cluster
from tests.support.runs import artifacts_of, nel, numbers_of, only_run, read_json, read_results, sums

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: pip install ./plugins/nel-ray"),
]

N = 60
JUDGED = """
from nel import benchmark, needs_judge, scorer

@benchmark(name="judged", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def judged(sample):
    if len(sample.response) % 2:
        return sample.model_call_fn(f"Is {sample.response} even?") == "yes"
    return needs_judge(sample)
"""
SLOW = """
import time

from nel import benchmark, scorer

@benchmark(name="slow", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def slow(sample):
    time.sleep(0.05)
    return sample.response == sample.target.split()[-1]
"""
LATE = """
import time
from pathlib import Path

from nel import benchmark, scorer

@benchmark(name="late", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def late(sample):
    time.sleep(3 if Path(__file__).with_name("flag").exists() else 0.05)
    return sample.response == sample.target.split()[-1]
"""


def _says(call: Call, _: int) -> Reply:
    if "VERDICT" in call.text or "GRADE" in call.text:
        return answer("GRADE: C" if "GRADE" in call.text else "VERDICT: yes")
    if "even?" in call.text:
        return answer("yes" if "2" in call.text else "no")
    return answer(f"{2 * call.number if call.number % 3 else 0}")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(2) as found:
        yield found


def _command(endpoint: Endpoint, bench: str, executor: str, out: str) -> list[str]:
    models = ("--model-url", endpoint.url, "--model-id", "m", "--judge-url", endpoint.url, "--judge-id", "j")
    return ["eval", "run", "--bench", bench, *models, "--executor", executor, "-o", out, "--concurrency", "8"]


def _prepared(tmp_path: Path) -> None:
    sums(tmp_path / "rows.jsonl", N)
    (tmp_path / "judged.py").write_text(JUDGED)
    (tmp_path / "slow.py").write_text(SLOW)


def _run_twice(tmp_path: Path, endpoint: Endpoint, bench: str, executor: str) -> list[Path]:
    """Run a benchmark with an executor and locally, and return the directories of both runs."""
    for name, out in ((executor, "ray"), ("local", "local")):
        done = nel(*_command(endpoint, f"./{bench}.py", name, out), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    return [only_run(tmp_path / out) for out in ("ray", "local")]


@pytest.mark.parametrize("bench", ["slow", "judged"])
def test_a_run_on_two_nodes_has_the_artifacts_of_a_local_run(cluster: RayCluster, tmp_path: Path, bench: str) -> None:
    """A rule, and a scorer that asks the model and judges: all files are equal but for what is volatile."""
    _prepared(tmp_path)
    with scripted(_says, models=["m", "j"]) as endpoint:
        runs = _run_twice(tmp_path, endpoint, bench, f"ray:address={cluster.address}")
    assert artifacts_of(runs[0], bench) == artifacts_of(runs[1], bench)
    (facts,) = read_json(runs[0] / bench / "runtime_stats.json")["executors"]
    assert [node["scoring"] for node in facts["nodes"].values()] == [1, 1]


def test_a_run_through_the_client_server_has_the_artifacts_of_a_local_run(cluster: RayCluster, tmp_path: Path) -> None:
    """``ray://`` reaches the same nodes from a machine that is none of them."""
    _prepared(tmp_path)
    with scripted(_says, models=["m", "j"]) as endpoint, ray_client_server(cluster) as address:
        runs = _run_twice(tmp_path, endpoint, "slow", address)
    assert artifacts_of(runs[0], "slow") == artifacts_of(runs[1], "slow")


@pytest.mark.docker
def test_programs_run_on_the_nodes_with_an_engine(cluster: RayCluster, tmp_path: Path) -> None:
    """HumanEval's shape, with programs that fail in every way: as in a local run."""
    need_engine()
    tasks(tmp_path / "data.jsonl", 24)
    with scripted(script) as endpoint:
        for executor, out in ((f"ray:address={cluster.address}", "ray"), ("local", "local")):
            more = ("--dataset", "data.jsonl", "-O", "sandbox.workers=2")
            command = ("eval", "run", "--bench", "humaneval", "--model-url", endpoint.url, "--model-id", "m", *more)
            done = nel(*command, "--executor", executor, "-o", out, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    runs = [only_run(tmp_path / out) for out in ("ray", "local")]
    assert numbers_of(runs[0], "humaneval") == numbers_of(runs[1], "humaneval")
    (facts,) = read_json(runs[0] / "humaneval" / "runtime_stats.json")["executors"]
    assert [node["sandbox"] for node in facts["nodes"].values()] == [1, 1]


def _orders_at(number: int, cluster: RayCluster, order: str) -> tuple[Any, threading.Event]:
    """Return a script that has a node killed when so many questions were asked, and what is set then."""
    counted, is_done = itertools.count(1), threading.Event()

    def kill() -> None:
        cluster.order(order)
        is_done.set()

    def says(call: Call, n_before: int) -> Reply:
        at = next(counted)
        if at == number:
            threading.Thread(target=kill, daemon=True).start()
        reply = _says(call, n_before)
        if at >= number:
            reply.wait = is_done
        return reply

    return says, is_done


def _resumed_beside_a_local_run(tmp_path: Path, bench: str, run_dir: Path) -> int:
    """Make a local run, resume another one locally, and return how many questions the resume asked."""
    with scripted(_says, models=["m", "j"]) as endpoint:
        local = nel(*_command(endpoint, f"./{bench}.py", "local", "local"), cwd=tmp_path)
        assert local.returncode == 0, local.stderr
        n_local = len(endpoint.calls)
        again = ("eval", "resume", str(run_dir), "--executor", "local", "--model-url", endpoint.url)
        judge = ("--judge-url", endpoint.url, "--judge-id", "j")
        resumed = nel(*again, "--allow-url-change", *judge, cwd=tmp_path)
        assert resumed.returncode == 0, resumed.stderr
        return sum("What is" in call.text for call in endpoint.calls[n_local:])


def test_a_killed_node_costs_what_it_had_and_a_killed_cluster_stops_the_run(tmp_path: Path) -> None:
    """Without a node the run goes on and is equal; without the cluster it exits 75, and a local resume is equal."""
    _prepared(tmp_path)
    with ray_cluster(3) as own:
        executor = f"ray:address={own.address}"
        says, _ = _orders_at(N // 2, own, "kill 0")
        with scripted(says, models=["m", "j"]) as endpoint:
            done = nel(*_command(endpoint, "./slow.py", executor, "node"), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "workers were lost" in done.stderr
        says, _ = _orders_at(N // 2, own, "end")
        with scripted(says, models=["m", "j"]) as endpoint:
            stopped = nel(*_command(endpoint, "./slow.py", executor, "head"), cwd=tmp_path)
            assert stopped.returncode == 75, stopped.stderr
            assert "the Ray cluster at" in stopped.stderr
            n_asked = sum("What is" in call.text for call in endpoint.calls)
        run_dir = only_run(tmp_path / "head")
        rewards = [row["reward"] for row in read_results(run_dir, "slow")]
        n_resumed = _resumed_beside_a_local_run(tmp_path, "slow", run_dir)
    wanted = artifacts_of(only_run(tmp_path / "local"), "slow")
    assert artifacts_of(only_run(tmp_path / "node"), "slow")[0] == wanted[0]
    assert artifacts_of(run_dir, "slow")[0] == wanted[0]
    assert n_asked + n_resumed <= N + 8
    by_right = [row["reward"] for row in read_results(run_dir, "slow")]
    assert all(reward in (None, right) for reward, right in zip(rewards, by_right, strict=True))


def test_a_killed_head_stops_the_run_and_its_resume_is_equal(tmp_path: Path) -> None:
    """The head dies alone, and nodes are left: exit 75, every answer is kept, and a local resume is a local run."""
    _prepared(tmp_path)
    (tmp_path / "late.py").write_text(LATE)
    flag = tmp_path / "flag"  # from the kill on there is work for longer than a head is waited for
    with ray_cluster(3) as own:
        kills, _ = _orders_at(N // 2, own, "head")

        def says(call: Call, n_before: int) -> Reply:
            reply: Reply = kills(call, n_before)
            if reply.wait is not None:
                flag.touch()
            return reply

        with scripted(says, models=["m", "j"]) as endpoint:
            stopped = nel(*_command(endpoint, "./late.py", f"ray:address={own.address}", "head"), cwd=tmp_path)
            assert stopped.returncode == 75, stopped.stderr
            assert "the Ray cluster at" in stopped.stderr
            n_asked = sum("What is" in call.text for call in endpoint.calls)
    flag.unlink()
    run_dir = only_run(tmp_path / "head")
    n_resumed = _resumed_beside_a_local_run(tmp_path, "late", run_dir)
    assert artifacts_of(run_dir, "late")[0] == artifacts_of(only_run(tmp_path / "local"), "late")[0]
    assert n_asked + n_resumed <= N + 8


@pytest.mark.parametrize(("address", "advice"), [("127.0.0.1:1", "ray status"), ("ray://127.0.0.1:1", "RAY_AUTH_MODE")])
def test_an_address_that_does_not_answer_is_one_line(tmp_path: Path, address: str, advice: str) -> None:
    """Exit 2 within the bound, before anything is sent."""
    _prepared(tmp_path)
    with scripted(_says, models=["m", "j"]) as endpoint:
        executor = f"ray:address={address},connect_seconds=3"
        done = nel(*_command(endpoint, "./slow.py", executor, "out"), cwd=tmp_path)
        assert endpoint.calls == []
    assert done.returncode == 2
    assert f"the Ray cluster at {address} " in done.stderr
    assert advice in done.stderr
