"""The pool against a real engine: what is left, what is never touched, and whose fault a dead container is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel.errors import DatasetError, SandboxError
from nel.sandbox import Limits, Program, Sandbox, SandboxSettings, StdinCase
from nel.sandbox.isolation.container import Container
from nel.sandbox.isolation.engine import connect, info_of, speaking
from nel.sandbox.isolation.languages import find_language
from nel.sandbox.isolation.owners import OWNER_LABEL, containers, labels_of
from tests.sandbox.conftest import need_engine
from tests.support.processes import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.docker

ROOT = Path(__file__).resolve().parents[2]
RIGHT = Program(source="def double(x):\n    return 2 * x\n", tests="assert double(4) == 8", entry_point="double")
SLOW = Program(
    source="import time\ndef double(x):\n    time.sleep(60)\n", tests="assert double(4) == 8", entry_point="double"
)
ENDLESS = Program(
    source="import time\ndef double(x):\n    time.sleep(600)\n",
    tests="assert double(4) == 8",
    entry_point="double",
    limits=Limits(idle_seconds=600),
)
RUN_FOR_EVER = """
from nel.sandbox import Sandbox, SandboxSettings
from nel.sandbox.isolation.container import Container
from tests.sandbox.test_pool import ENDLESS

send = Container._send

def tell(self, message, deadline):
    send(self, message, deadline)
    if "task" in message:
        print("sent", flush=True)

Container._send = tell
with Sandbox(SandboxSettings(workers=2)) as sandbox:
    futures = [sandbox.submit(ENDLESS) for _ in range(2)]
    futures[0].result()
"""


@pytest.fixture
def client() -> Iterator[Any]:
    need_engine("python")
    found = connect()
    yield found
    found.close()


def ids_of(client: Any, pid: int, *, but: Collection[str] = ()) -> list[str]:
    return [one.id for one in containers(client) if one.pid == str(pid) and one.id not in but]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_process_leaves_no_container(client: Any, number: signal.Signals) -> None:
    command = [sys.executable, "-c", RUN_FOR_EVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            assert [process.stdout.readline() for _ in range(2)] == ["sent\n"] * 2
            assert len(ids_of(client, process.pid)) == 2
            process.send_signal(number)
            process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()
    wait_until(lambda: not ids_of(client, process.pid))


def test_the_next_start_reaps_what_is_left_and_nothing_else(client: Any) -> None:
    mine, theirs = labels_of("python"), labels_of("python")
    home, _, _ = mine[OWNER_LABEL].partition(":")
    mine[OWNER_LABEL] = f"{home}:{2**22 + 1}:123"  # no such process
    theirs[OWNER_LABEL] = f"another-machine:{os.getpid()}:123"
    options = {
        "image": find_language("python").image,
        "command": ["sleep", "1800"],
        "detach": True,
        "network_mode": "none",
    }
    with ExitStack() as started:

        def start(labels: dict[str, str]) -> str:
            container = client.containers.run(labels=labels, **options)
            started.callback(remove, container)
            return str(container.id)

        # Not started: another sandbox on this engine may remove it at any time.
        gone = str(client.api.create_container(options["image"], options["command"], labels=mine)["Id"])
        living, foreign = start(labels_of("python")), start(theirs)
        with Sandbox(SandboxSettings(workers=1)) as sandbox:
            assert sandbox.run(RIGHT).passed
        # Another sandbox that starts at the same time may be about to remove it, and ours leaves it to that one.
        wait_until(lambda: gone not in {one.id for one in containers(client)})
        assert {living, foreign} <= {one.id for one in containers(client)}


def remove(container: Any) -> None:
    with suppress(SandboxError), speaking():
        container.remove(force=True)


def test_a_container_that_dies_costs_no_verdict(lone: Sandbox, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    others = ids_of(client, os.getpid())
    assert lone.run(RIGHT).passed
    send, is_sent = Container._send, threading.Event()

    def tell(self: Container, message: Any, deadline: float) -> None:
        send(self, message, deadline)
        is_sent.set()

    monkeypatch.setattr(Container, "_send", tell)
    waiting = lone.submit(SLOW)
    assert is_sent.wait(PATIENCE_SECONDS)
    (running,) = ids_of(client, os.getpid(), but=others)
    client.api.kill(running)
    assert waiting.result().verdict == "timeout"  # it was run again, in a container of its own
    assert lone.run(RIGHT).passed


def test_a_program_that_ends_its_container_again_and_again_has_failed(
    lone: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Container.ask

    def dies(self: Container, job: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        if "time.sleep" in str(job.get("source")):
            self.hang_up()
        return ask(self, job, seconds=seconds)

    monkeypatch.setattr(Container, "ask", dies)
    verdict = lone.run(SLOW)
    assert verdict.verdict == "runtime_error"
    assert "ended its sandbox 2 times" in verdict.detail


def test_a_machine_on_which_nothing_runs_is_no_programs_fault(lone: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Container.ask

    def dies(self: Container, job: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        if job["do"] != "ping":
            self.hang_up()
        return ask(self, job, seconds=seconds)

    monkeypatch.setattr(Container, "ask", dies)
    with pytest.raises(SandboxError) as died:
        lone.run(RIGHT)
    assert died.value.kind == "died"


def test_closing_ends_what_runs(client: Any) -> None:
    others = ids_of(client, os.getpid())
    sandbox = Sandbox(SandboxSettings(workers=1))
    waiting = sandbox.submit(ENDLESS)
    queued = sandbox.submit(RIGHT)
    wait_until(lambda: ids_of(client, os.getpid(), but=others))
    sandbox.close()
    for future in (waiting, queued):
        with pytest.raises(SandboxError, match="closed"):
            future.result(timeout=PATIENCE_SECONDS)  # the program would go on for five times as long
    with pytest.raises(SandboxError, match="closed"):
        sandbox.submit(RIGHT)
    wait_until(lambda: not ids_of(client, os.getpid(), but=others))


@pytest.mark.filterwarnings("ignore:.*unclosed.*socket:pytest.PytestUnraisableExceptionWarning")  # the SDK's
@pytest.mark.parametrize("host", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:9"])
def test_no_engine_is_said_in_one_line(host: str) -> None:
    with Sandbox(SandboxSettings(docker_host=host, engine_wait_seconds=0)) as sandbox:
        with pytest.raises(SandboxError, match="no Docker engine answers at") as refused:
            sandbox.check()
        assert refused.value.kind == "no_engine"
        with pytest.raises(SandboxError, match="no Docker engine answers at"):
            sandbox.run(RIGHT)


def test_a_missing_image_names_the_command_that_builds_it(client: Any) -> None:
    settings = SandboxSettings(images={"python": "nel-sandbox-python:never-built"}, engine_wait_seconds=0)
    with Sandbox(settings) as sandbox:
        for attempt in (sandbox.check, lambda: sandbox.run(RIGHT)):
            with pytest.raises(SandboxError, match="nel sandbox build python") as missing:
                attempt()
            assert missing.value.kind == "no_image"


def test_an_unknown_runtime_is_the_engines_refusal(client: Any) -> None:
    settings = SandboxSettings(workers=1, runtime="no-such-runtime", engine_wait_seconds=0)
    with Sandbox(settings) as sandbox, pytest.raises(SandboxError, match="no-such-runtime"):
        sandbox.run(RIGHT)


def test_an_engine_that_cannot_hold_a_limit_is_refused_unless_that_is_allowed(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the check of a run and by the first program; what is allowed is not asked of the engine, and is recorded."""
    lacks = ("memory", "processes", "CPU")
    monkeypatch.setattr("nel.sandbox.isolation.pool.info_of", lambda client: replace(info_of(client), lacks=lacks))
    with Sandbox(SandboxSettings(workers=1)) as sandbox:
        for attempt in (sandbox.check, lambda: sandbox.run(RIGHT), lambda: sandbox.run(RIGHT)):
            with pytest.raises(SandboxError, match=f"cannot limit {lacks[0]}.*allow_unlimited") as refused:
                attempt()
            assert refused.value.kind == "no_limits"
    with Sandbox(SandboxSettings(workers=1, allow_unlimited=True)) as sandbox:
        info = sandbox.check()
        assert info.lacks == lacks
        assert info.images["python"].startswith(f"{find_language('python').image}@sha256:")
        assert sandbox.run(RIGHT).passed


def test_containers_are_replaced_after_so_many_programs(lone: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nel.sandbox.isolation.pool._JOBS_MAX", 5)
    seen = set()
    for _ in range(12):
        assert lone.run(RIGHT).passed
        seen |= {one for worker in lone.pool._workers for one in worker._containers}
    assert seen <= {("python", None)}


def test_a_program_without_tests_is_the_rows_fault(sandbox: Sandbox) -> None:
    with pytest.raises(DatasetError, match="neither tests nor cases"):
        sandbox.run(Program(source=RIGHT.source))


def test_a_mode_that_the_tests_do_not_allow_is_the_rows_fault(sandbox: Sandbox) -> None:
    program = Program(source="def f(g): return 1", tests="f(object())", entry_point="f", mode="split")
    with pytest.raises(DatasetError, match="mode: shared"):
        sandbox.run(program)


def test_a_failing_assertion_is_kept_with_the_call(sandbox: Sandbox) -> None:
    verdict = sandbox.run(
        Program(source="def double(x): return x", tests="assert double(4) == 8", entry_point="double")
    )
    assert verdict.verdict == "wrong"
    assert "line 1: assert double(4) == 8" in verdict.detail
    assert "double(4) -> 4" in verdict.detail


def test_inputs_and_outputs(sandbox: Sandbox) -> None:
    cases = (StdinCase(stdin="1 2\n", expected_output="3"), StdinCase(stdin="5 5\n", expected_output="10\n"))
    right = Program(source="print(sum(map(int, input().split())))", cases=cases)
    assert sandbox.run(right).passed
    half = sandbox.run(Program(source="print(3)", cases=cases))
    assert (half.verdict, half.mode) == ("wrong", "outside")
    assert half.detail.startswith("case 2 of 2")
    assert sandbox.run(Program(source="", cases=cases)).verdict == "no_code"


def test_idle_time_is_not_cpu_time(sandbox: Sandbox) -> None:
    waits = "import time\ndef f():\n    time.sleep(2.2)\n    return 1"
    limits = Limits(cpu_seconds=2.0, idle_seconds=30.0)
    assert sandbox.run(Program(source=waits, tests="assert f() == 1", entry_point="f", limits=limits)).passed
    limits = Limits(cpu_seconds=5.0, idle_seconds=0.5)
    assert sandbox.run(Program(source=waits, tests="f()", entry_point="f", limits=limits)).verdict == "timeout"
