"""Runs whose answers are programs: verdicts in the artifacts, a missing engine, and one that goes away."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from nel.errors import EXIT_UNSCORED, EXIT_USAGE
from nel.sandbox.isolation.engine import connect
from nel.sandbox.isolation.languages import find_language
from nel.sandbox.isolation.owners import containers
from tests.sandbox.conftest import need_engine
from tests.support.endpoint import Call, Endpoint, Reply, Script, Turnstile, answer, scripted
from tests.support.engine import can_start, own_engine
from tests.support.processes import PATIENCE_SECONDS, started_nel, wait_until
from tests.support.runs import (
    nel,
    numbers_of,
    only_run,
    read_json,
    read_results,
    write_jsonl,
)
from tests.support.tiers import first_rows

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]

N = 12
BENCH = "humaneval"
NEVER_ENDING = 4
"""One alone; it uses up all its CPU time, which no honest one comes near."""


def tasks(path: Path, n: int = N) -> Path:
    """Write n rows of HumanEval's shape, each to multiply by its number."""
    return write_jsonl(
        path,
        (
            {
                "task_id": f"times/{i}",
                "prompt": f'def times_{i}(x: int) -> int:\n    """Return x times {i}."""\n',
                "canonical_solution": f"    return x * {i}\n",
                "test": f"def check(candidate):\n    assert candidate(3) == {3 * i}\n    assert candidate(0) == 0\n",
                "entry_point": f"times_{i}",
            }
            for i in range(1, n + 1)
        ),
    )


def script(call: Call, _: int) -> Reply:
    """Answer right but for some: wrong, ending early, not parsing, never ending, no code."""
    number = int(call.text.split("def times_")[1].split("(")[0])
    body = {
        1: f"return x * {number} + 1",
        2: "import os; os._exit(0)",
        3: "return x *",
        NEVER_ENDING: "while True: pass",
    }.get(number, f"return x * {number}")
    if number == 5:
        return answer("I would rather not.")
    return answer(f"Here:\n```python\ndef times_{number}(x):\n    {body}\n```")


def always(body: str) -> Script:
    """Return what answers each task with a function of this body."""

    def reply(call: Call, _: int) -> Reply:
        return answer(f"```python\ndef {call.text.split('def ')[1].split('(')[0]}(x):\n    {body}\n```")

    return reply


def command(endpoint: Endpoint, out: str, *more: str) -> list[str]:
    return [
        "eval", "run", "--bench", "humaneval", "--dataset", "data.jsonl", "--model-url", endpoint.url,
        "--model-id", "m", "--concurrency", "4", "-o", out, "-O", "sandbox.workers=2",
        "-O", "sandbox.limits.cpu_seconds=3", *more,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a finished run, not to be changed."""
    need_engine("python")
    home = tmp_path_factory.mktemp("whole")
    tasks(home / "data.jsonl")
    with scripted(script, models=["m"]) as endpoint:
        done = nel(*command(endpoint, "out", "--repeats", "2"), cwd=home)
    assert done.returncode == 0, done.stderr
    return only_run(home / "out")


def test_verdicts_reach_the_artifacts(whole: Path) -> None:
    found = read_json(whole / "humaneval" / "failure_analysis.json")
    kinds = {name: part["count"] for name, part in found["kinds"].items()}
    assert kinds == {"wrong_answer": 2, "runtime_error": 2, "syntax_error": 2, "timeout": 2, "no_answer": 2}
    details = {one["category"]: one["detail"] for one in found["exemplars"]}
    assert "assert candidate(3) == 3\ntimes_1(3) -> 4" in details["wrong_answer"]
    bundle = read_json(whole / "humaneval" / "eval-humaneval.json")
    scores = bundle["benchmark"]["scores"]
    assert scores["pass@1"]["value"] == pytest.approx(7 / 12)
    assert scores["pass@2"]["value"] == pytest.approx(7 / 12)
    row = read_results(whole, "humaneval")[0]
    assert (row["scoring_details"]["verdict"], row["scoring_details"]["mode"]) == ("wrong", "split")


def test_passes_of_shared_tests_stand_beside_the_score_and_strictness_leaves_them_unscored(tmp_path: Path) -> None:
    """They are not proof against a program that attacks its tests."""
    need_engine("python")
    test = "def check(candidate):\n    assert candidate(lambda: 3) == 3\n"
    row = {"task_id": "call/0", "prompt": "def call(f):\n", "canonical_solution": "    return f()\n"}
    write_jsonl(tmp_path / "data.jsonl", [{**row, "test": test, "entry_point": "call"}])
    right = answer("```python\ndef call(f):\n    return f()\n```")
    with scripted(lambda *_: right, models=["m"]) as endpoint:
        assert nel(*command(endpoint, "plain"), cwd=tmp_path).returncode == 0
        strict = nel(*command(endpoint, "strict", "--strict-verdicts"), cwd=tmp_path)
    metrics = read_json(only_run(tmp_path / "plain") / "humaneval" / "metrics.json")
    assert metrics["shared_passes"] == 1
    assert "1 pass is not proof" in metrics["warnings"][0]["text"]
    assert strict.returncode == EXIT_UNSCORED, strict.stderr
    assert "resume" not in strict.stderr
    outcome = read_results(only_run(tmp_path / "strict"), "humaneval")[0]["outcome"]
    assert (outcome["cause"], outcome["kind"]) == ("sandbox", "shared_verdict")


def test_a_check_of_the_pages_own_benchmark_needs_gold_programs(tmp_path: Path) -> None:
    """Exit code 3 where none was there to be tried, 0 where all passed, 2 where the tests fail one."""
    need_engine("python")
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "run-programs.md").read_text(encoding="utf-8")
    (tmp_path / "b.py").write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    row = {"stub": "def twice(x):\n", "entry_point": "twice", "tests": "assert twice(2) == 4"}
    wanted = {"none": EXIT_UNSCORED, "    return 2 * x": 0, "    return 3 * x": EXIT_USAGE}
    for body, code in wanted.items():
        gold = {} if body == "none" else {"canonical_solution": body}
        write_jsonl(tmp_path / "functions.jsonl", [row | gold])
        done = nel("benchmark", "check", "b.py", cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
    assert "the tests fail the gold program: wrong" in done.stdout


def test_merged_shards_of_programs_are_the_run_that_was_never_divided(tmp_path: Path, whole: Path) -> None:
    """Verdicts, limits and engines of two shards make the artifacts of one run."""
    tasks(tmp_path / "data.jsonl")
    with scripted(script, models=["m"]) as endpoint:
        for more in (["s1", "--shard", "1/2"], ["s2", "--shard", "2/2"]):
            done = nel(*command(endpoint, "out", "--repeats", "2", "--run-id", *more), cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    merged = nel("eval", "merge", "out/s2", "out/s1", "-o", "out/merged", cwd=tmp_path)
    assert merged.returncode == 0, merged.stderr
    assert numbers_of(tmp_path / "out" / "merged", BENCH) == numbers_of(whole, BENCH)
    used = [read_json(run / "humaneval" / "runtime_stats.json") for run in (tmp_path / "out" / "merged", whole)]
    assert used[0]["sandboxes"] == used[1]["sandboxes"] != []


def test_without_an_engine_nothing_is_paid_for(tmp_path: Path) -> None:
    tasks(tmp_path / "data.jsonl")
    with scripted(script, models=["m"]) as endpoint:
        refused = nel(*command(endpoint, "out"), cwd=tmp_path, env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})
        assert refused.returncode == 2
        assert "programs cannot be run: no Docker engine answers at unix:///nowhere/docker.sock" in refused.stderr
        assert endpoint.calls == []


def test_without_the_image_nothing_is_paid_for(tmp_path: Path) -> None:
    need_engine("python")
    tasks(tmp_path / "data.jsonl")
    with scripted(script, models=["m"]) as endpoint:
        missing = nel(*command(endpoint, "out", "-O", "sandbox.images={python: 'nel-none:0'}"), cwd=tmp_path)
        assert missing.returncode == 2
        assert "nel sandbox build python" in missing.stderr
        assert endpoint.calls == []


def test_a_kill_leaves_no_container_and_a_resume_asks_nothing_twice(tmp_path: Path, whole: Path) -> None:
    tasks(tmp_path / "data.jsonl")
    turnstile = Turnstile(script)
    turnstile.hold_after(10)
    with scripted(turnstile, models=["m"]) as endpoint:
        with started_nel(*command(endpoint, "killed", "--repeats", "2"), cwd=tmp_path) as process:
            wait_for_calls(endpoint, 10, process)
            process.kill()
            process.communicate()
        turnstile.open()
        done = nel(*command(endpoint, "killed", "--repeats", "2", "--resume"), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(endpoint.of_samples) - 2 * N <= 4
    client = connect()
    try:
        assert [one for one in containers(client) if one.pid == str(process.pid)] == []
    finally:
        client.close()
    assert numbers_of(only_run(tmp_path / "killed"), BENCH) == numbers_of(whole, BENCH)


def test_asking_waits_for_scoring(tmp_path: Path) -> None:
    """Answers do not pile up without bound where programs are slower than the model."""
    need_engine("python")
    tasks(tmp_path / "data.jsonl", 600)
    with scripted(always("import time; time.sleep(5)"), models=["m"]) as endpoint:
        arguments = command(endpoint, "out", "-O", "sandbox.workers=1")
        with started_nel(*arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_for_calls(endpoint, 100, process)
            time.sleep(2.0)
            assert len(endpoint.calls) < 200


@pytest.mark.parametrize("number", first_rows(1, [signal.SIGINT, signal.SIGTERM]))
def test_a_signal_does_not_wait_for_programs(tmp_path: Path, number: signal.Signals) -> None:
    """Programs that spin for an hour, and a drain of an hour for requests: the run ends at once all the same."""
    need_engine("python")
    tasks(tmp_path / "data.jsonl", 40)
    with scripted(always("while True: pass"), models=["m"]) as endpoint:
        options = ["-O", "engine.drain_seconds=3600", "-O", "sandbox.limits.cpu_seconds=3600"]
        arguments = command(endpoint, "out", *options)
        with started_nel(*arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_for_calls(endpoint, 10, process)
            wait_until(lambda: containers_of(process.pid), process)
            process.send_signal(number)
            assert process.wait(PATIENCE_SECONDS) == 128 + number
            assert containers_of(process.pid) == []


def containers_of(pid: int) -> list[str]:
    client = connect()
    try:
        return [one.id for one in containers(client) if one.pid == str(pid)]
    finally:
        client.close()


def test_a_changed_limit_scores_stored_answers_again(tmp_path: Path) -> None:
    need_engine("python")
    tasks(tmp_path / "data.jsonl", 1)
    with scripted(always("import time; time.sleep(1); return x"), models=["m"]) as endpoint:
        assert nel(*command(endpoint, "out"), cwd=tmp_path).returncode == 0
        (before,) = read_results(only_run(tmp_path / "out"), "humaneval")
        assert before["reward"] == 1
        asked = len(endpoint.calls)
        again = nel(*command(endpoint, "out", "--resume", "-O", "sandbox.limits.idle_seconds=0.5"), cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert len(endpoint.calls) == asked
    (row,) = read_results(only_run(tmp_path / "out"), "humaneval")
    assert (row["reward"], row["scoring_details"]["verdict"]) == (0, "timeout")  # it sleeps for 1 s


@pytest.mark.slow
@pytest.mark.skipif(not can_start(), reason="needs root and dockerd, to start an engine of its own")
def test_an_engine_that_goes_away_stops_the_run_and_a_resume_completes_it(tmp_path: Path) -> None:
    need_engine("python")
    tasks(tmp_path / "data.jsonl")
    home = Path(tempfile.mkdtemp(prefix="nel-engine-", dir="/tmp"))
    turnstile = Turnstile(script)
    with own_engine(home) as engine, scripted(turnstile, models=["m"]) as endpoint:
        engine.take(find_language("python").image)
        env = {**os.environ, "DOCKER_HOST": engine.host}
        assert nel(*command(endpoint, "whole"), cwd=tmp_path, env=env).returncode == 0
        asked = len(endpoint.calls)
        turnstile.hold_after(8)
        arguments = command(endpoint, "cut", "-O", "engine.concurrency=2", "-O", "sandbox.engine_wait_seconds=2")
        with started_nel(*arguments, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL) as process:
            wait_for_calls(endpoint, asked + 8, process)
            engine.stop()
            turnstile.open()
            _, said = process.communicate(timeout=200)
        assert process.returncode in (3, 75), said
        assert "no Docker engine answers" in said
        cut = only_run(tmp_path / "cut")
        unscored = read_json(cut / "humaneval" / "failure_analysis.json")["accounting"]
        assert unscored["n_unscored"] > 0
        assert unscored["n_total"] == N
        engine.start()
        done = nel(*command(endpoint, "cut", "--resume"), cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        assert numbers_of(cut, BENCH) == numbers_of(only_run(tmp_path / "whole"), BENCH)


def wait_for_calls(endpoint: Endpoint, n: int, process: subprocess.Popen[str]) -> None:
    wait_until(lambda: len(endpoint.calls) >= n, process)
