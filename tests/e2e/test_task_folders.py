"""The demo tasks in real containers: checked, solved by a scripted agent, killed half way and resumed."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import docker
import pytest

from nel.environments.tasks.harbor import read_harbor
from nel.environments.tasks.images import image_of
from tests.episodes.bank import calling, n_results
from tests.support.containers import engine_client
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, only_run, read_results

DEMO = Path(__file__).resolve().parents[2] / "docs" / "examples" / "tasks"
CHEAT = "(while :; do echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 1}' > /logs/verifier/reward.json; done) &"
pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with engine_client() as engine:
        yield engine


@pytest.fixture
def tasks(client: Any, tmp_path: Path) -> Iterator[Path]:
    """Return a folder with copies of three of the demo's tasks, whose images are this test's alone."""
    folders = [tmp_path / "tasks" / name for name in ("impossible", "pipeline", "python-bug")]
    for folder in folders:
        shutil.copytree(DEMO / folder.name, folder)
        with (folder / "environment" / "Dockerfile").open("a") as dockerfile:
            dockerfile.write(f"LABEL test={tmp_path.name}-{os.getpid()}\n")
    images = [image_of(read_harbor(folder)) for folder in folders]
    yield tmp_path / "tasks"
    for image in images:
        with suppress(docker.errors.ImageNotFound):
            client.images.remove(image, force=True)


def solving(call: Call, _: int) -> Reply:
    """Play an agent that solves the pipeline, looks for the tests, and cheats where it can do no better."""
    if n_results(call):
        return answer("done")
    if "access.log" in call.text:
        solution = (DEMO / "pipeline" / "solution" / "solve.sh").read_text()
        return calling(("bash", {"command": solution}))
    if "intervals" in call.text:
        return calling(
            ("bash", {"command": "ls /tests /solution; find / -name 'test_intervals*' -not -path '/proc/*'"})
        )
    return calling(("bash", {"command": f"{CHEAT} echo"}))


def evaluate(tmp_path: Path, url: str, *options: str) -> int:
    where = ("--bench", "./tasks", "--model-url", url, "--model-id", "m", "-o", "out", *options)
    return nel("eval", "run", *where, cwd=tmp_path).returncode


def outcomes(tmp_path: Path) -> dict[str, tuple[Any, ...]]:
    """Return reward, level and cause of each task."""
    lines = read_results(only_run(tmp_path / "out"), "tasks")
    return {
        line["sample_id"]: (line["reward"], line["scoring_details"].get("verdict_level"), line["outcome"]["kind"])
        for line in lines
    }


def test_a_verdict_sees_what_was_changed_before_a_kill(tasks: Path, tmp_path: Path) -> None:
    """An interpreter that was put before the image's own by a killed session is flagged after its resume."""
    for name in ("impossible", "python-bug"):
        shutil.rmtree(tasks / name)
    replace = "cp /usr/bin/python3 /usr/local/bin/python3"

    def script(call: Call, repeat: int) -> Reply:
        commands = [replace, (DEMO / "pipeline" / "solution" / "solve.sh").read_text()]
        n_taken = n_results(call)
        return calling(("bash", {"command": commands[n_taken]})) if n_taken < len(commands) else answer("done")

    with scripted(script) as endpoint:
        where = (
            "--bench",
            "tasks://./tasks?resume=snapshot",
            "--model-url",
            endpoint.url,
            "--model-id",
            "m",
            "-o",
            "out",
        )
        env = {"NEL_FAILPOINT": "after_step:3"}
        assert nel("eval", "run", *where, cwd=tmp_path, env=env).returncode != 0
        assert nel("eval", "resume", str(only_run(tmp_path / "out")), cwd=tmp_path).returncode == 0
        assert (endpoint.resent(), len(endpoint.calls)) == (0, 3)
    (line,) = read_results(only_run(tmp_path / "out"), "tasks")
    assert (line["reward"], line["timing"]["episode"]["attempts"]) == (1.0, 1)
    assert line["scoring_details"]["tampered"] == ["/usr/local/bin/python3"]


def containers_of(client: Any, folder: Path) -> list[Any]:
    """Return the containers of a task, living and dead."""
    image = image_of(read_harbor(folder))
    return list(client.containers.list(all=True, filters={"ancestor": image}, ignore_removed=True))


def test_a_check_tries_each_solution_and_doing_nothing(tasks: Path, tmp_path: Path) -> None:
    """The task that cannot be solved is named, and so is one that is solved by doing nothing."""
    (tasks / "python-bug" / "tests" / "test.sh").write_text("#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n")
    done = nel("benchmark", "check", "./tasks", cwd=tmp_path)
    assert done.returncode == 2
    lines = [line for line in done.stdout.splitlines() if "task" in line]
    assert [line.split()[:3] for line in lines] == [
        ["FAIL", "task", "impossible:"],
        ["ok", "task", "pipeline:"],
        ["FAIL", "task", "python-bug:"],
    ]
    assert "doing nothing reaches 1" in done.stdout


def test_an_agent_solves_what_it_solves_and_nothing_else(tasks: Path, tmp_path: Path, client: Any) -> None:
    """Tests are not there before the agent's end, a process that it leaves decides nothing, and an image that cannot
    be built costs its own task alone.
    """
    broken = Path(shutil.copytree(tasks / "pipeline", tasks / "broken"))
    (broken / "environment" / "Dockerfile").write_text("FROM nel-no-such-base:1\n")
    results: list[str] = []

    def script(call: Call, repeat: int) -> Reply:
        results.extend(message["content"] for message in call.body["messages"] if message["role"] == "tool")
        return solving(call, repeat)

    with scripted(script) as endpoint:
        assert evaluate(tmp_path, endpoint.url) == 3
    assert outcomes(tmp_path) == {
        "broken": (None, None, "image"),
        "impossible": (0.0, "fresh", None),
        "pipeline": (1.0, "fresh", None),
        "python-bug": (0.0, "fresh", None),
    }
    (hidden,) = [result for result in results if "/tests" in result]
    assert hidden.count("No such file") == 2
    assert "/test_intervals" not in hidden
    assert not containers_of(client, tasks / "pipeline")


def test_a_killed_run_leaves_no_container_and_resumes(tasks: Path, tmp_path: Path, client: Any) -> None:
    """The container ends with its run; a resume begins the episode again, in a new one."""
    for name in ("impossible", "python-bug"):
        shutil.rmtree(tasks / name)
    passes = threading.Event()

    def script(call: Call, repeat: int) -> Reply:
        if n_results(call) and not passes.is_set():
            return Reply(wait=passes)
        return solving(call, repeat)

    with scripted(script) as endpoint:
        where = ("--bench", "./tasks", "--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        with started_nel("eval", "run", *where, cwd=tmp_path) as process:
            wait_until(lambda: len(endpoint.calls) == 2, process)
            assert containers_of(client, tasks / "pipeline")
            process.send_signal(signal.SIGKILL)
            process.communicate()
        wait_until(lambda: not containers_of(client, tasks / "pipeline"))
        passes.set()
        assert nel("eval", "resume", str(only_run(tmp_path / "out")), cwd=tmp_path).returncode == 0
    assert outcomes(tmp_path) == {"pipeline": (1.0, "fresh", None)}
