"""A kill at any moment costs at most the requests in flight, and the artifacts come out the same."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import pytest

from tests.support.endpoint import Call, Endpoint, Reply, Turnstile, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import comparable, nel, only_run, read_json, read_results, sums, without_volatile

CONCURRENCY = 8
N = 400


def _script(call: Call, _: int) -> Reply:
    number = int(call.text.split("What is ")[1].split()[0])
    if number % 7 == 0:
        return answer("no idea")
    return answer(f"Answer: {2 * number + (number % 3 == 0)}")


def _bench(verdict: str) -> str:
    return (
        "from nel import benchmark, scorer\n"
        "@benchmark(name='mine', dataset='data.jsonl', prompt='{question}', target_field='answer')\n"
        "@scorer\n"
        "def mine(sample):\n"
        f"    return {{'correct': {verdict}}}\n"
    )


def _command(endpoint: Endpoint, out: str, *more: str) -> list[str]:
    return [
        "eval", "run", "--bench", "gsm8k", "--dataset", "data.jsonl", "--model-url", endpoint.url, "--model-id", "m",
        "--concurrency", str(CONCURRENCY), "-o", out, *more,
    ]  # fmt: skip


def _wait_for_calls(endpoint: Endpoint, n: int, process: subprocess.Popen[str]) -> None:
    wait_until(lambda: len(endpoint.calls) >= n, process)


def _kill(process: subprocess.Popen[str]) -> None:
    assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()


def _same_artifacts(first: Path, second: Path) -> None:
    assert without_volatile(read_results(first, "gsm8k")) == without_volatile(read_results(second, "gsm8k"))
    for name in ("metrics.json", "failure_analysis.json"):
        ours, theirs = read_json(first / "gsm8k" / name), read_json(second / "gsm8k" / name)
        assert comparable(ours) == comparable(theirs)


@pytest.mark.slow
def test_kill_and_resume_equals_never_stopping(tmp_path: Path) -> None:
    """Two SIGKILLs in the middle: at most one request a worker is sent again each time, artifacts are equal."""
    sums(tmp_path / "data.jsonl", N)
    with scripted(_script, models=["m"]) as endpoint:
        assert nel(*_command(endpoint, "whole"), cwd=tmp_path).returncode == 0
    turnstile = Turnstile(_script)
    with scripted(turnstile, models=["m"]) as endpoint:
        resume: tuple[str, ...] = ()
        for stop_at in (60, 260):
            turnstile.hold_after(stop_at - len(endpoint.calls))
            with started_nel(*_command(endpoint, "killed", *resume), cwd=tmp_path) as process:
                _wait_for_calls(endpoint, stop_at, process)
                _kill(process)
            turnstile.open()
            resume = ("--resume",)
        done = nel(*_command(endpoint, "killed", "--resume"), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len({call.text for call in endpoint.calls}) == N
        assert endpoint.resent() <= 2 * CONCURRENCY
        _same_artifacts(only_run(tmp_path / "whole"), only_run(tmp_path / "killed"))
        sent = len(endpoint.calls)
        assert nel(*_command(endpoint, "killed", "--resume"), cwd=tmp_path).returncode == 0
        assert len(endpoint.calls) == sent
    sessions = read_json(only_run(tmp_path / "killed") / "gsm8k" / "runtime_stats.json")["sessions"]
    assert sessions == 4


def test_a_second_process_is_turned_away(tmp_path: Path) -> None:
    """Two processes on one run directory: the second names the owner, exits 2 and sends nothing."""
    sums(tmp_path / "data.jsonl", 4)
    gate = threading.Event()

    def held(call: Call, number: int) -> Reply:
        reply = _script(call, number)
        reply.wait = gate
        return reply

    alone = ("-O", "engine.first_request_seconds=600")
    with scripted(held) as endpoint, started_nel(*_command(endpoint, "out"), *alone, cwd=tmp_path) as process:
        _wait_for_calls(endpoint, 1, process)
        second = nel(*_command(endpoint, "out", "--resume"), cwd=tmp_path)
        sent = len(endpoint.calls)
        gate.set()
        process.communicate(timeout=120)
    assert second.returncode == 2
    assert f"in use by process {process.pid}" in second.stderr
    assert sent == 1


def test_report_rebuilds_every_byte(tmp_path: Path) -> None:
    """Deleted artifacts come back from run.db alone, byte for byte."""
    sums(tmp_path / "data.jsonl", 20)
    with scripted(_script) as endpoint:
        assert nel(*_command(endpoint, "out"), cwd=tmp_path).returncode == 0
    run_dir = only_run(tmp_path / "out")
    files = {
        path: path.read_bytes()
        for path in run_dir.rglob("*")
        if path.is_file() and not path.name.startswith(("run.db", "run.log", "."))
    }
    assert len(files) == 7
    for path in files:
        path.unlink()
    assert nel("report", str(run_dir), cwd=tmp_path).returncode == 0
    assert {path: path.read_bytes() for path in files} == files


def test_each_file_says_whose_it_is(tmp_path: Path) -> None:
    """Lines and files have the model, the benchmark and dates, those of a line within those of the run, after a kill too."""
    sums(tmp_path / "data.jsonl", 8)
    with scripted(_script) as endpoint:
        killed = nel(*_command(endpoint, "out"), cwd=tmp_path, env={"NEL_FAILPOINT": "after_commit:3"})
        assert killed.returncode < 0
        run = only_run(tmp_path / "out")
        assert nel("eval", "resume", str(run), cwd=tmp_path).returncode == 0
    files = [read_json(run / "gsm8k" / f"{name}.json") for name in ("metrics", "failure_analysis", "runtime_stats")]
    lines = read_results(run, "gsm8k")
    assert {(one["model"], one["benchmark"]) for one in (*files, *lines)} == {("m", "gsm8k")}
    began, over = (files[0]["timing"][name] for name in ("started", "ended"))
    assert [one["timing"] for one in files] == [{"started": began, "ended": over}] * 3
    assert began < over
    assert all(began <= one["timing"]["started"] <= one["timing"]["ended"] <= over for one in lines)


def test_a_changed_helper_of_the_scorer_scores_again(tmp_path: Path) -> None:
    """A module beside the benchmark file belongs to the scorer."""
    (tmp_path / "bench.py").write_text(
        "import sys; sys.path.insert(0, '.')\n"
        "import my_rule\n"
        "from nel import benchmark, scorer\n"
        "@benchmark(name='mine', dataset='data.jsonl', prompt='{question}', target_field='answer')\n"
        "@scorer\n"
        "def mine(sample):\n"
        "    return {'correct': my_rule.verdict()}\n"
    )
    sums(tmp_path / "data.jsonl", 3)
    command = ("eval", "run", "--bench", "bench.py", "--response-field", "answer", "-o", "out")
    for verdict in (True, False):
        (tmp_path / "my_rule.py").write_text(f"def verdict():\n    return {verdict}\n")
        more = () if verdict else ("--resume",)
        done = nel(*command, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert read_json(only_run(tmp_path / "out") / "mine" / "metrics.json")["headline"]["value"] == 0.0


def test_a_resume_without_one_of_its_benchmarks_is_refused(tmp_path: Path) -> None:
    """A run of two benchmarks is not continued as a run of one."""
    sums(tmp_path / "data.jsonl", 2)
    with scripted(_script) as endpoint:
        two = json.dumps([{"name": "gsm8k", "dataset": "data.jsonl"}] * 2)
        first = nel(*_command(endpoint, "out", "-O", f"benchmarks={two}"), cwd=tmp_path)
        assert first.returncode == 0, first.stderr
        refused = nel(*_command(endpoint, "out", "--resume"), cwd=tmp_path)
    assert refused.returncode == 2
    assert "gsm8k@2" in refused.stderr


def test_a_dataset_that_is_gone_does_not_stop_a_resume(tmp_path: Path) -> None:
    """run.db holds every sample; with the file deleted the run goes on and says so, but it cannot grow."""
    sums(tmp_path / "data.jsonl", 40)
    with scripted(_script, models=["m"]) as endpoint:
        assert nel(*_command(endpoint, "out", "--max-requests", "20"), cwd=tmp_path).returncode == 75
        (tmp_path / "data.jsonl").unlink()
        run_dir = only_run(tmp_path / "out")
        done = nel("eval", "resume", str(run_dir), "-O", "budget.max_requests=100", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "continuing with the copy in run.db" in done.stderr
        assert len({call.text for call in endpoint.calls}) == 40
        changed = nel("eval", "resume", str(run_dir), "-O", "generation.temperature=1", cwd=tmp_path)
        assert changed.returncode == 2
        grown = nel("eval", "resume", str(run_dir), "-O", "benchmarks.0.max_problems=9999", cwd=tmp_path)
        assert grown.returncode == 2
        assert "data.jsonl" in grown.stderr
    assert read_json(run_dir / "gsm8k" / "metrics.json")["complete"] is True
