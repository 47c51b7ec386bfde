"""Episodes in whole runs: what ends a session, and the commands that read, merge and score a run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest
import yaml

from tests.episodes.bank import calling, depositing, n_results, write_bank
from tests.support.endpoint import Call, Endpoint, Reply, Script, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, only_run, read_json, read_results, without_volatile
from tests.support.tiers import first_rows

N = 3
N_REQUESTS = 4 * N


def evaluate(tmp_path: Path, endpoint: Endpoint, *options: str, out: str = "out", bench: str = "bank") -> int:
    """Run a benchmark of the bank; return the exit code."""
    path = write_bank(tmp_path, N)
    where = ("--bench", f"{path}:{bench}", "--model-url", endpoint.url, "--model-id", "m", "-o", out)
    done = nel("eval", "run", *where, *options, cwd=tmp_path, env=mails(tmp_path))
    return done.returncode


def command(tmp_path: Path, *arguments: str) -> int:
    """Run a command; return the exit code."""
    done = nel(*arguments, cwd=tmp_path, env=mails(tmp_path))
    return done.returncode


def mails(tmp_path: Path) -> dict[str, str]:
    """Return where the bank notes its mails."""
    return {"MAILS": str(tmp_path / "mails")}


def lines(run_dir: Path) -> list[dict]:
    return without_volatile(read_results(run_dir, "bank"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a finished run, not to be changed."""
    home = tmp_path_factory.mktemp("whole")
    with scripted(depositing) as endpoint:
        assert evaluate(home, endpoint) == 0
    return only_run(home / "out")


@pytest.fixture
def finished(whole: Path, tmp_path: Path) -> Path:
    write_bank(tmp_path, N)
    return Path(shutil.copytree(whole, tmp_path / "finished"))


@pytest.mark.parametrize("solver", first_rows(1, ["stubborn", "react"]))
def test_a_cap_of_the_run_holds_inside_an_episode(tmp_path: Path, whole: Path, solver: str) -> None:
    """At the cap the run ends resumably without an outcome, however the solver catches errors; a resume goes on."""
    with scripted(depositing) as endpoint:
        cap = ("--max-requests", "6", "--episodes", "1", "--solver", solver)
        bench = "bank" if solver == "react" else "stubborn"
        options = cap if solver == "react" else cap[:-2]
        assert evaluate(tmp_path, endpoint, *options, bench=bench) == 75
        assert len(endpoint.calls) == 6
        (run_dir,) = (path.parent for path in (tmp_path / "out").glob("*/run.db"))
        partial = read_results(run_dir, bench)
        unscored = [line for line in partial if line["reward"] is None]
        assert [line["outcome"]["cause"] for line in unscored] == ["budget", "budget"]
        cut, never_asked = sorted(unscored, key=lambda line: "episode" not in line)
        assert (cut["episode"]["steps"], cut["episode"]["ended_by"]) == (2, "budget:spent")
        assert (cut["tokens"]["prompt"], cut["timing"]["episode"]["attempts"]) == (2 * 7, 1)
        assert cut["outcome"]["detail"].startswith("cut off in its episode after step 2; the run ended")
        assert "episode" not in never_asked
        assert command(tmp_path, "eval", "resume", str(run_dir), "-O", "budget.max_requests=100") == 0
        assert len(endpoint.calls) == N_REQUESTS
        assert endpoint.resent() == 0
    assert [line["reward"] for line in read_results(run_dir, bench)] == [1.0] * N


def test_a_cap_in_money_is_reserved_before_a_step(tmp_path: Path) -> None:
    """The bill stays below the cap, whatever an episode still wanted."""
    prices = ("-O", "budget.prices.m.input=100000", "-O", "budget.prices.m.output=100000")
    with scripted(depositing) as endpoint:
        options = ("--max-cost", "120", "--max-tokens", "20", "--episodes", "1", *prices)
        assert evaluate(tmp_path, endpoint, *options) == 75
    assert 0 < len(endpoint.calls) < N_REQUESTS


def test_an_outage_in_the_middle_leaves_no_outcome(tmp_path: Path, whole: Path) -> None:
    """The run ends resumably where the endpoint goes away inside an episode, and goes on there."""
    is_down = threading.Event()

    def script(call: Call, number: int) -> Reply:
        if n_results(call) == 2:
            is_down.set()
        return Reply(reset=True) if is_down.is_set() else depositing(call, number)

    with scripted(script) as endpoint:
        options = ("--episodes", "1", "-O", "endpoint.outage_seconds_max=0")
        assert evaluate(tmp_path, endpoint, *options) == 75
        run_dir = only_run(tmp_path / "out")
    with scripted(depositing) as endpoint:
        moved = ("--model-url", endpoint.url, "--allow-url-change")
        assert command(tmp_path, "eval", "resume", str(run_dir), *moved) == 0
        assert len(endpoint.calls) == N_REQUESTS - 2
    assert lines(run_dir) == lines(whole)


def test_ctrl_c_keeps_the_steps(tmp_path: Path, whole: Path) -> None:
    """The answer in flight is kept as a step; a resume sends the rest."""
    passes = threading.Event()

    def script(call: Call, number: int) -> Reply:
        reply = depositing(call, number)
        reply.wait = passes if n_results(call) == 1 else None
        return reply

    path = write_bank(tmp_path, N)
    with scripted(script) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--episodes", "1")
        with started_nel(
            "eval", "run", "--bench", f"{path}:bank", *where, cwd=tmp_path, env={**os.environ, **mails(tmp_path)}
        ) as process:
            wait_until(lambda: len(endpoint.calls) == 2, process)
            process.send_signal(signal.SIGINT)
            log = only_run(tmp_path / "out") / "run.log"
            wait_until(lambda: '"event": "stopping"' in log.read_text(), process)
            passes.set()
            process.communicate()
            assert process.returncode == 130
        run_dir = only_run(tmp_path / "out")
        assert command(tmp_path, "eval", "resume", str(run_dir)) == 0
        assert (len(endpoint.calls), endpoint.resent()) == (N_REQUESTS, 0)
    assert lines(run_dir) == lines(whole)


def test_an_endpoint_that_refuses_everything_ends_the_run_at_once(tmp_path: Path) -> None:
    """A wrong key is found with the first step, is not a sample's score, and the other samples are not asked for it."""
    refusal = {"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}}
    with scripted(lambda *_: Reply(status=401, body=refusal)) as endpoint:
        assert evaluate(tmp_path, endpoint) == 2
        assert len(endpoint.calls) <= N + 1
    assert {line["outcome"]["cause"] for line in lines(only_run(tmp_path / "out"))} == {"infra"}


@pytest.mark.parametrize("n_accepted", first_rows(1, [1, 0]))
def test_a_setting_that_the_model_refuses_is_changed(tmp_path: Path, n_accepted: int) -> None:
    """The temperature is left out, and an episode that began with it goes on from its stored steps."""

    def script(call: Call, number: int) -> Reply:
        message = "Unsupported value: 'temperature' does not support 0.5 with this model."
        error = {"message": message, "type": "invalid_request_error", "param": "temperature"}
        if "temperature" in call.body and n_results(call) >= n_accepted:
            return Reply(status=400, body={"error": {**error, "code": "unsupported_value"}})
        return depositing(call, number)

    with scripted(script) as endpoint:
        code = evaluate(tmp_path, endpoint, "--temperature", "0.5", "--episodes", "1")
    causes = {line["outcome"]["cause"] for line in lines(only_run(tmp_path / "out"))}
    assert (code, causes, endpoint.resent()) == (0, {None}, 0)


def test_repeats_count_what_is_missing_both_ways(tmp_path: Path) -> None:
    """pass@2 and pass^2 over three repeats, one of them unscored; the bounds take it as failed and as passed."""

    def script(call: Call, number: int) -> Reply:
        if n_results(call) or "Add 2" not in call.text:
            return depositing(call, 0)
        return [calling(("crash", {"how": "raise"})), answer("wrong"), calling(("add", {"a": 1}))][number % 3]

    with scripted(script) as endpoint:
        repeats = ("--repeats", "3", "--reducer", "pass_at_2", "--reducer", "pass_k_2", "--episodes", "1")
        assert evaluate(tmp_path, endpoint, *repeats, bench="functions") == 3
    run_dir = only_run(tmp_path / "out")
    rows = read_results(run_dir, "functions")
    assert [row["reward"] for row in rows if row["sample_id"] == "q2"] == [None, 0.0, 1.0]
    metrics = {row["name"]: row for row in read_json(run_dir / "functions" / "metrics.json")["metrics"]}
    assert metrics["accuracy"]["bounds"] == {"lower": pytest.approx(7 / 9), "upper": pytest.approx(8 / 9)}
    values = {name: (row["value"], row["n"], row["bounds"]) for name, row in metrics.items()}
    ends = {"lower": pytest.approx(8 / 9), "upper": 1.0}
    assert values["accuracy/pass_at_2"] == (1.0, 3, ends)
    ends = {"lower": pytest.approx(2 / 3), "upper": pytest.approx(7 / 9)}
    assert values["accuracy/pass_k_2"] == (pytest.approx(2 / 3), 3, ends)


def test_shards_are_merged_with_their_steps(tmp_path: Path, whole: Path) -> None:
    """The merged run equals the whole one, and its transcripts are read from its own store."""
    with scripted(depositing) as endpoint:
        for number in (1, 2):
            assert evaluate(tmp_path, endpoint, "--shard", f"{number}/2", out=f"shard{number}") == 0
    shards = [str(only_run(tmp_path / f"shard{number}")) for number in (1, 2)]
    assert command(tmp_path, "eval", "merge", *shards, "-o", "merged") == 0
    merged = tmp_path / "merged"
    assert lines(merged) == lines(whole)
    assert command(tmp_path, "eval", "score", str(merged)) == 0
    assert lines(merged) == lines(whole)


def test_stored_episodes_are_scored_again_without_asking(finished: Path, whole: Path, tmp_path: Path) -> None:
    """A scorer sees the stored evidence and conversation again; no endpoint is there to ask."""
    assert command(tmp_path, "eval", "score", str(finished)) == 0
    assert lines(finished) == lines(whole)
    assert not (tmp_path / "mails").exists()


@pytest.mark.slow
def test_a_run_of_episodes_is_reproduced(tmp_path: Path, whole: Path) -> None:
    """The same run begins again beside the old one, asks everything again, and comes to the same lines."""
    with scripted(depositing) as endpoint:
        assert evaluate(tmp_path, endpoint, "--run-id", "first") == 0
        assert command(tmp_path, "eval", "reproduce", "out/first") == 0
        assert len(endpoint.calls) == 2 * N_REQUESTS
    runs = sorted(path.parent for path in (tmp_path / "out").glob("*/run.db"))
    assert [lines(run) for run in runs] == [lines(whole)] * 2


SCRIPT = """
- when: Add 0
  turns:
    - reasoning: Both at once, I think.
      calls: [{name: add, arguments: {a: 0}}, {name: deposit, raw: '{"amount":'}]
    - {reasoning: Once more., text: I add., calls: [{name: deposit, arguments: {amount: 0}}]}
    - text: done
- turns:
    - text: I will not.
"""


def test_streamed_episodes_are_those_of_whole_answers(tmp_path: Path) -> None:
    """Calls, a call that cannot be read, and signed thinking come to the same lines, streamed or not."""
    path = write_bank(tmp_path, 2)
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    with started_nel("endpoint", "script", "script.yaml", "--port", "0", cwd=tmp_path) as endpoint:
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().split()[1]
        where = ("--bench", f"{path}:bank", "--model-url", url, "--model-id", "scripted", "--max-tokens", "99")
        protocol = ("-O", "endpoint.protocol=anthropic")
        for out in ("whole", "streamed"):
            stream = ("--stream",) if out == "streamed" else ()
            assert command(tmp_path, "eval", "run", *where, *protocol, *stream, "-o", out) == 0
    whole, streamed = (lines(only_run(tmp_path / out)) for out in ("whole", "streamed"))
    assert whole == streamed
    assert [(line["reward"], line["episode"]["tool_errors"]) for line in whole] == [(1.0, {"bad_json": 1}), (0.0, {})]


@pytest.mark.slow
def test_the_response_cache_answers_the_steps_of_another_run(tmp_path: Path, whole: Path) -> None:
    """A second run with the same cache runs the tools and sends nothing."""
    with scripted(depositing) as endpoint:
        assert evaluate(tmp_path, endpoint, "--cache", "cache", out="first") == 0
        assert evaluate(tmp_path, endpoint, "--cache", "cache", out="second") == 0
        assert len(endpoint.calls) == N_REQUESTS
    second = lines(only_run(tmp_path / "second"))
    assert [(line["reward"], line["episode"]) for line in second] == [
        (line["reward"], line["episode"]) for line in lines(whole)
    ]


@pytest.mark.parametrize(("n_steps", "tokens", "cost"), [(None, (7 * 12, 3 * 12), 84e-6 + 36e-6), (4, (16, 0), 16e-6)])
def test_a_dry_run_estimates_episodes(
    whole: Path, tmp_path: Path, n_steps: int | None, tokens: tuple[int, int], cost: float
) -> None:
    """By an earlier run they take what those took on average; by a number of steps, at least the first prompt each."""
    path = write_bank(tmp_path, N)
    prices = ("-O", "budget.prices.m.input=1", "-O", "budget.prices.m.output=1")
    where = ("--bench", f"{path}:bank", "--model-url", "http://127.0.0.1:9/v1", "--model-id", "m", *prices)
    pilot = str(n_steps or whole)
    done = nel("eval", "run", *where, "--dry-run", "--json", "--pilot", pilot, cwd=tmp_path)
    (planned,) = json.loads(done.stdout)["benchmarks"]
    estimate = planned["estimate"]
    assert (estimate["steps"], estimate["requests"], planned["requests"]) == (4, N_REQUESTS, 100 * N)
    assert (estimate["prompt_tokens"], estimate["completion_tokens"]) == tokens
    assert estimate["cost"] == pytest.approx(cost)


@pytest.mark.slow
def test_several_endpoints_answer_episodes(tmp_path: Path) -> None:
    """Each endpoint of a matrix has its own episodes; one that never calls a tool solves what needs none."""
    path = write_bank(tmp_path, N)
    scripts: dict[str, Script] = {"good": depositing, "lazy": lambda *_: answer("done")}
    with scripted(scripts["good"]) as good, scripted(scripts["lazy"]) as lazy:
        endpoints = [{"name": name, "url": each.url, "model": "m"} for name, each in (("good", good), ("lazy", lazy))]
        config = {"benchmarks": [f"{path}:bank"], "endpoints": endpoints, "output": {"dir": "out", "run_id": "matrix"}}
        (tmp_path / "m.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        done = nel("eval", "run", "m.yaml", cwd=tmp_path, env=mails(tmp_path))
        assert done.returncode == 0, done.stderr
    rewards = [
        [line["reward"] for line in read_results(path.parent, "bank")]
        for path in sorted((tmp_path / "out").rglob("run.db"))
    ]
    assert sorted(rewards) == [[1.0, 0.0, 0.0], [1.0] * N]


def test_what_plugins_say_is_redacted(tmp_path: Path) -> None:
    """A key that a tool, the evidence or a solver gives away is in no file of the run."""
    key = "sk-tellingsecret-0123456789"
    path = write_bank(tmp_path, 2)

    def script(call: Call, _: int) -> Reply:
        return (
            calling(("leak", {"how": "return" if "Add 0" in call.text else "raise"}))
            if not n_results(call)
            else answer("done")
        )

    with scripted(script) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--api-key-env", "SECRET_KEY")
        done = nel(
            "eval",
            "run",
            "--bench",
            f"{path}:leaking",
            *where,
            cwd=tmp_path,
            env={**mails(tmp_path), "SECRET_KEY": key},
        )
    assert done.returncode == 3
    rows = read_results(only_run(tmp_path / "out"), "leaking")
    assert [row["outcome"]["kind"] for row in rows] == [None, "tool_raised"]
    assert key not in done.stdout + done.stderr + str([call.body for call in endpoint.calls])
    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert [file.name for file in files if key.encode() in file.read_bytes()] == []
