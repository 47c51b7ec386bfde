"""Episodes in whole runs: what ends a session, and the commands that read, merge and score a run."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest

from tests.episodes.bank import calling, depositing, n_results, write_bank
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results, without_volatile
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
    """Return the lines of a run of the bank."""
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
    """Return the directory of a copy of the finished run."""
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


def test_stored_episodes_are_scored_again_without_asking(finished: Path, whole: Path, tmp_path: Path) -> None:
    """A scorer sees the stored evidence and conversation again; no endpoint is there to ask."""
    assert command(tmp_path, "eval", "score", str(finished)) == 0
    assert lines(finished) == lines(whole)
    assert not (tmp_path / "mails").exists()


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
