"""A kill at any moment costs at most the requests in flight, and the artifacts come out the same."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from nel.engine.store.snapshot import Snapshot
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, only_run, read_json, read_results, sums, sums_command


def _script(call: Call, _: int) -> Reply:
    if call.number % 7 == 0:
        return answer("no idea")
    return answer(f"Answer: {2 * call.number + (call.number % 3 == 0)}")


def _command(endpoint: Endpoint, *more: str) -> list[str]:
    return sums_command(endpoint.url, "--concurrency", "8", *more)


def test_a_second_process_is_turned_away(tmp_path: Path) -> None:
    """Two processes on one run directory: the second names the owner, exits 2 and sends nothing."""
    sums(tmp_path / "data.jsonl", 4)
    gate = threading.Event()

    def held(call: Call, number: int) -> Reply:
        reply = _script(call, number)
        reply.wait = gate
        return reply

    alone = ("-O", "engine.first_request_seconds=600")
    with scripted(held) as endpoint, started_nel(*_command(endpoint), *alone, cwd=tmp_path) as process:
        wait_until(lambda: endpoint.calls, process)
        second = nel(*_command(endpoint, "--resume"), cwd=tmp_path)
        sent = len(endpoint.calls)
        gate.set()
        process.communicate(timeout=120)
    assert second.returncode == 2
    assert f"in use by process {process.pid}" in second.stderr
    assert sent == 1


def test_each_file_says_whose_it_is(tmp_path: Path) -> None:
    """Lines and files have the model, the benchmark and dates, those of a line within those of the run, after a kill too;
    the time of the session that was killed counts.
    """
    sums(tmp_path / "data.jsonl", 8)
    with scripted(_script) as endpoint:
        killed = nel(*_command(endpoint), cwd=tmp_path, env={"NEL_FAILPOINT": "after_commit:3"})
        assert killed.returncode < 0
        run = only_run(tmp_path / "out")
        assert nel("eval", "resume", str(run), cwd=tmp_path).returncode == 0
    with Snapshot(run / "run.db") as snapshot:
        first, second = (session["elapsed"] or 0.0 for session in snapshot.sessions())
    files = [read_json(run / "gsm8k" / f"{name}.json") for name in ("metrics", "failure_analysis", "runtime_stats")]
    lines = read_results(run, "gsm8k")
    assert {(one["model"], one["benchmark"]) for one in (*files, *lines)} == {("m", "gsm8k")}
    began, over = (files[0]["timing"][name] for name in ("started", "ended"))
    assert [one["timing"] for one in files] == [{"started": began, "ended": over}] * 3
    assert began < over
    assert first > 0
    assert files[2]["elapsed_seconds"] == first + second
    assert files[2]["run"]["cost"] is None
    assert all(began <= one["timing"]["started"] <= one["timing"]["ended"] <= over for one in lines)


def test_a_resume_without_one_of_its_benchmarks_is_refused(tmp_path: Path) -> None:
    """A run of two benchmarks is not continued as a run of one."""
    sums(tmp_path / "data.jsonl", 2)
    with scripted(_script) as endpoint:
        two = json.dumps([{"name": "gsm8k", "dataset": "data.jsonl"}] * 2)
        first = nel(*_command(endpoint, "-O", f"benchmarks={two}"), cwd=tmp_path)
        assert first.returncode == 0, first.stderr
        refused = nel(*_command(endpoint, "--resume"), cwd=tmp_path)
    assert refused.returncode == 2
    assert "gsm8k@2" in refused.stderr


def test_a_dataset_that_is_gone_does_not_stop_a_resume(tmp_path: Path) -> None:
    """run.db holds every sample; with the file deleted the run goes on and says so, but it cannot grow."""
    sums(tmp_path / "data.jsonl", 40)
    with scripted(_script, models=["m"]) as endpoint:
        stopped = nel(*_command(endpoint, "--max-requests", "20"), cwd=tmp_path)
        assert (stopped.returncode, "raise --max-requests and resume" in stopped.stderr) == (75, True)
        (tmp_path / "data.jsonl").unlink()
        run_dir = only_run(tmp_path / "out")
        done = nel("eval", "resume", str(run_dir), "--max-requests", "100", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "continuing with the copy in run.db" in done.stderr
        assert len({call.text for call in endpoint.calls}) == 40
        changed = nel("eval", "resume", str(run_dir), "-O", "generation.temperature=1", cwd=tmp_path)
        assert changed.returncode == 2
        grown = nel("eval", "resume", str(run_dir), "-O", "benchmarks.0.max_problems=9999", cwd=tmp_path)
        assert grown.returncode == 2
        assert "data.jsonl" in grown.stderr
    assert read_json(run_dir / "gsm8k" / "metrics.json")["complete"] is True
