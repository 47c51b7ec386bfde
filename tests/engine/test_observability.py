"""A run reports what happens to its observers, without a secret and without harm to itself."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nel.config.schema import ObservabilityConfig
from nel.core.observer import Observer, Observers, SessionInfo
from nel.engine.observability import monitor_gate, observing
from nel.engine.observability.metrics import serve_metrics
from nel.engine.observability.metrics_server import CONNECTIONS_MAX, SILENT_SECONDS
from nel.engine.observability.progress_file import FILE_NAME as LIVE_NAME
from nel.engine.observability.progress_file import ProgressFile, read_progress_file
from nel.engine.observability.run_log import DebugRunLog, RunLog
from nel.engine.progress import Progress
from nel.errors import ConfigError, MissingExtra
from nel.types import (
    Generation,
    Message,
    ModelFailure,
    Request,
    Response,
    ResponseError,
    SampleKey,
    Scored,
    Unscored,
    Usage,
)
from tests.simulation.loop import Clock, run_virtually
from tests.support.endpoint import right_sum, scripted
from tests.support.runs import nel, only_run, sums, sums_command

KEY = 'sk-"hidden"/key+1234'
INFO = SessionInfo(
    run_id="r1",
    session=1,
    benchmarks={1: "gsm8k"},
    identities={"gsm8k": "sha256:ab"},
    config_digest="cd",
    planned=10,
    concurrency=8,
    model="m",
    url="http://h:81/v1",
)
REQUEST = Request(
    protocol="chat",
    model="m",
    sample_id="s7",
    repeat=1,
    messages=(Message(role="user", content="the prompt text"),),
    generation=Generation(temperature=0.5, seed=3),
)
ANSWER = Response(
    text="the answer text",
    finish_reason="stop",
    model="served",
    latency_seconds=0.2,
    attempts=2,
    usage=Usage(prompt_tokens=7, completion_tokens=3, cached_tokens=2),
)
LOST = Response(attempts=3, error=ResponseError(kind="timeout", message="too slow"))
RIGHT = Scored(reward=1.0, metrics={})


def lines(run_dir: Path) -> list[dict[str, Any]]:
    """Return the log, each line read strictly."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    text = (run_dir / "run.log").read_bytes().decode("ascii")
    assert text.endswith("\n")
    return [json.loads(line, parse_constant=refuse) for line in text.split("\n")[:-1]]


@contextmanager
def logged(run_dir: Path, kind: type[RunLog] = RunLog, level: str = "info", **more: Any) -> Iterator[RunLog]:
    log = kind(run_dir, level=level, progress=Progress(), **more)
    try:
        yield log
    finally:
        log.close()


def test_a_line_says_when_how_bad_and_what(tmp_path: Path) -> None:
    """UTC time, level and event come first; the fields of the event follow."""
    with logged(tmp_path) as log:
        log.session_started(INFO)
        log.session_ended("done", 0)
    first, *_, last = lines(tmp_path)
    assert first["time"].endswith("Z")
    assert (first["level"], first["event"], first["run_id"], first["config_sha256"]) == (
        "info",
        "session_started",
        "r1",
        "cd",
    )
    assert first["identities"] == {"gsm8k": "sha256:ab"}
    assert (last["event"], last["reason"], last["exit_code"], last["score"]) == ("session_ended", "done", 0, None)
    assert (tmp_path / "run.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spelling", [KEY, KEY.replace("h", r"\u0068"), "sk-%22hidden%22%2Fkey%2B1234"])
def test_no_secret_gets_into_the_log(tmp_path: Path, spelling: str) -> None:
    """A key in an error, its traceback, a field or a plugin's message is replaced, however it is spelt."""
    with logged(tmp_path, secrets=[KEY]) as log:
        log.outage_started("auth", f"refused {spelling}")
        logging.getLogger("nel.plugin").warning("sent %s", spelling)
        try:
            raise ValueError(f"bad {spelling}")
        except ValueError as error:
            log.session_failed(error)
    written = (tmp_path / "run.log").read_text()
    assert json.dumps(spelling)[1:-1] not in written
    assert "hidden" not in written
    assert written.count("[redacted]") == 4


def test_text_from_outside_cannot_forge_a_line_or_steer_a_terminal(tmp_path: Path) -> None:
    """Line breaks, escapes, C1 controls, direction marks and lone surrogates leave as JSON escapes on one line."""
    hostile = 'x\n{"level": "info"}\r\x1b[2J\x9b31m\x7f\u2028\u202e\ud800'
    with logged(tmp_path) as log:
        log.stopping(hostile)
    (line,) = lines(tmp_path)
    assert line["reason"] == hostile.replace("\ud800", "\ufffd")
    raw = (tmp_path / "run.log").read_bytes()
    assert raw.count(b"\n") == 1
    assert all(32 <= byte < 127 for byte in raw[:-1])


def test_retries_are_counted_and_written_once_a_second(tmp_path: Path) -> None:
    """Ten thousand retries between two ticks are one line with counts; a tick without one writes nothing."""
    with logged(tmp_path) as log:
        for number in range(10_000):
            log.attempt_retried("timeout" if number % 10 else "rate_limit", 0.1, number / 1000)
        log.limit_changed(7)
        log.limit_changed(4)
        log.tick()
        log.tick()
    retried, limit, stage = lines(tmp_path)
    assert retried["retries"] == {"rate_limit": 1000, "timeout": 9000}
    assert (retried["n"], retried["wait_seconds_max"]) == (10_000, 9.999)
    assert (limit["event"], limit["limit"]) == ("concurrency_changed", 4)
    assert stage["event"] == "stage"


def test_samples_are_logged_at_debug_only(tmp_path: Path) -> None:
    """By default a sample costs no line; at debug its request and its outcome get one each, without their text."""
    assert RunLog.sample_finished is Observer.sample_finished
    assert RunLog.request_finished is Observer.request_finished
    with logged(tmp_path, DebugRunLog, "debug") as log:
        log.request_finished(REQUEST, ANSWER, 0.5)
        log.sample_finished(SampleKey(1, 4, 0), Unscored(cause="infra", kind="timeout", detail="too slow"))
        log.sample_finished(SampleKey(1, 5, 0), ModelFailure(kind="empty"))
    asked, lost, empty = lines(tmp_path)
    assert (asked["sample_id"], asked["attempts"], asked["completion_tokens"]) == ("s7", 2, 3)
    assert (lost["problem_idx"], lost["cause"], empty["kind"]) == (4, "infra", "empty")
    assert "answer text" not in json.dumps(asked)


def test_the_log_is_bounded(tmp_path: Path) -> None:
    """Four files of a bounded size are kept, each with whole lines; one enormous text is cut."""
    with logged(tmp_path, bytes_max=5_000) as log:
        for number in range(300):
            log.stopping(f"{number} {'x' * 100}")
        log.stopping("y" * 1_000_000)
    files = sorted(tmp_path.glob("run.log*"))
    assert len(files) == 4
    assert sum(path.stat().st_size for path in files) <= 4 * 5_000
    assert [json.loads(line)["event"] for path in files for line in path.read_text().splitlines()]
    assert "…" in lines(tmp_path)[-1]["reason"]


def test_a_log_that_cannot_be_written_harms_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither an unusable file nor a full disk raises or prints; what is on disk are whole lines."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "run.log").mkdir()
    with logged(tmp_path / "taken") as log:
        log.session_started(INFO)
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from nel.engine.observability.run_log import RunLog; from nel.engine.progress import Progress\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "log = RunLog(Path(sys.argv[1]), level='info', progress=Progress())\n"
        "for number in range(100): log.stopping(f'{number} ' + 'x' * 50)\n"
        "log.close(); print('lived')\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("lived\n", "")
    assert 0 < len(lines(tmp_path)) < 10
    assert capfd.readouterr() == ("", "")


def test_an_observer_that_raises_is_dropped_and_reported() -> None:
    """The others are called as before; the run sees no error."""
    told: list[str] = []
    reported: list[BaseException] = []

    class Broken(Observer):
        def limit_changed(self, limit: int) -> None:
            raise RuntimeError("broken")

        def stopping(self, reason: str) -> None:
            told.append("broken")

        def close(self) -> None:
            told.append("closed")

    class Whole(Observer):
        def limit_changed(self, limit: int) -> None:
            told.append(str(limit))

    observers = Observers([Broken(), Whole()], report=reported.append)
    observers.limit_changed(3)
    observers.limit_changed(4)
    observers.stopping("x")
    observers.close()
    assert told == ["3", "4", "closed"]
    assert [str(error) for error in reported] == ["broken"]


def metrics_anywhere(run: str, progress: Progress, host: str = "127.0.0.1") -> tuple[int, Any]:
    """Serve metrics on a port that was free, or on another one where it was taken meanwhile."""
    for _ in range(20):
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = int(sock.getsockname()[1])
        with suppress(ConfigError):
            return port, serve_metrics(port, run, progress, host=host)
    raise AssertionError("no port can be had")


def scrape(port: int) -> str:
    """Return what Prometheus would get."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as reply:
        return str(reply.read().decode())


def test_metrics_count_what_happened() -> None:
    """Counters, the histogram and the gauges stand at what they were told, labelled by run and model."""
    progress = Progress(scored=4, reward_sum=3.0, in_flight={0: 1.0, 1: 2.0})
    port, metrics = metrics_anywhere("r1", progress)
    try:
        metrics.session_started(INFO)
        metrics.attempt_retried("timeout", 0.1, 0.5)
        metrics.request_finished(REQUEST, ANSWER, 0.7)
        metrics.request_finished(REQUEST, LOST, 9.0)
        metrics.sample_finished(SampleKey(1, 0, 0), RIGHT)
        metrics.sample_finished(SampleKey(1, 1, 0), RIGHT)
        metrics.sample_finished(SampleKey(1, 2, 0), Unscored(cause="infra", kind="timeout"))
        metrics.limit_changed(5)
        found = scrape(port)
    finally:
        metrics.close()
    for line in (
        'nel_requests_total{model="m",outcome="answered",run="r1"} 1.0',
        'nel_requests_total{model="m",outcome="timeout",run="r1"} 1.0',
        'nel_retries_total{kind="timeout",model="m",run="r1"} 1.0',
        'nel_samples_total{benchmark="gsm8k",kind="",model="m",run="r1",state="scored"} 2.0',
        'nel_samples_total{benchmark="gsm8k",kind="infra",model="m",run="r1",state="unscored"} 1.0',
        'nel_request_seconds_count{model="m",run="r1"} 1.0',
        'nel_tokens_total{kind="prompt",model="m",run="r1"} 7.0',
        'nel_tokens_total{kind="completion",model="m",run="r1"} 3.0',
        'nel_in_flight{model="m",run="r1"} 2.0',
        'nel_concurrency_limit{model="m",run="r1"} 5.0',
        'nel_running_score{model="m",run="r1"} 0.75',
        'nel_samples_planned{model="m",run="r1"} 10.0',
    ):
        assert line in found.splitlines()
    again = serve_metrics(port, "r2", progress)  # the port is free again
    again.close()


@pytest.mark.parametrize(
    ("host", "name", "is_told"),
    [
        ("127.0.0.1", "nel", False),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.2", "127.0.0.2", True),
        ("0.0.0.0", "nel", True),  # noqa: S104 - what is tested
    ],
)
def test_another_address_is_served_under_any_name_and_loopback_under_its_own(
    host: str, name: str, is_told: bool
) -> None:
    """A page of the web whose name leads to loopback reads nothing; a container is asked by the name it has there."""
    port, metrics = metrics_anywhere("r1", Progress(), host=host)
    try:
        connection = http.client.HTTPConnection("127.0.0.2" if host == "127.0.0.2" else "127.0.0.1", port, timeout=60)
        connection.request("GET", "/metrics", headers={"Host": f"{name}:{port}"})
        assert (connection.getresponse().status == 200) is is_told
        connection.close()
    finally:
        metrics.close()
    with pytest.raises(ValidationError, match="is not an address of this machine"):
        ObservabilityConfig(metrics_host="nel")


@pytest.mark.parametrize("sent", [b"", b"GET /metrics HTTP/1.1\r\nX: "])
def test_clients_that_say_nothing_hold_few_connections(sent: bytes) -> None:
    """Further ones are closed before their silence is over, and the port is free at the end."""
    with ExitStack() as stack:
        port, metrics = metrics_anywhere("r1", Progress())
        stack.callback(metrics.close)
        for _ in range(CONNECTIONS_MAX + 1):
            client = stack.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            with suppress(OSError):  # closed at once, as it should be
                client.sendall(sent)
        client.settimeout(SILENT_SECONDS * 0.8)
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""
    serve_metrics(port, "r2", Progress()).close()


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for and not installed is an error that says what to install; nothing is left open."""
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    config = ObservabilityConfig(metrics_port=9464)
    with pytest.raises(MissingExtra, match="pip install prometheus-client"), observing(tmp_path, config, Progress()):
        pytest.fail("the block may not run")
    assert list(tmp_path.iterdir()) == []


def test_live_numbers_are_there_while_it_lasts(tmp_path: Path) -> None:
    """The file is whole at every moment, is renewed by a tick, and goes with the session."""
    progress = Progress(total=10)
    live = ProgressFile(tmp_path, progress)
    live.session_started(INFO)
    progress.scored = 3
    live.limit_changed(4)
    live.outage_started("endpoint", "down")
    live.tick()
    found = read_progress_file(tmp_path)
    assert found is not None
    assert (found["done"], found["total"], found["concurrency_limit"], found["host"]) == (
        3,
        10,
        4,
        socket.gethostname(),
    )
    assert found["outage_seconds"] >= 0
    live.session_ended("done", 0)
    live.tick()
    assert list(tmp_path.iterdir()) == []


@dataclass
class _Gate:
    limit: int = 8
    down_seconds: float | None = None


def test_changes_of_pace_are_reported_once() -> None:
    """A limit or an outage is reported when it changes, not at each poll."""
    told: list[tuple[str, Any]] = []

    class Listener(Observer):
        def limit_changed(self, limit: int) -> None:
            told.append(("limit", limit))

        def outage_started(self, kind: str, detail: str) -> None:
            told.append(("down", detail))

        def outage_ended(self, seconds: float) -> None:
            told.append(("up", seconds))

    async def change() -> None:
        gate = _Gate()
        task = asyncio.create_task(monitor_gate(gate, Listener()))
        for limit, down in ((8, None), (4, 1.0), (4, 2.0), (4, None), (4, None)):
            gate.limit, gate.down_seconds = limit, down
            await asyncio.sleep(10)
        task.cancel()

    run_virtually(change(), Clock(), started=lambda _: None, died=lambda: None)
    assert told == [
        ("limit", 8),
        ("limit", 4),
        ("down", "it has not answered for 1 s"),
        ("up", 2.0),
    ]


def test_a_run_leaves_its_log_and_no_live_numbers(tmp_path: Path) -> None:
    """Start, pre-flight and end are in run.log; progress.json is gone."""
    sums(tmp_path / "data.jsonl", 3)
    with scripted(right_sum, models=["m"]) as endpoint:
        done = nel(*sums_command(endpoint.url), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    events = [line["event"] for line in lines(run_dir)]
    assert events[0] == "session_started"
    assert "preflight_finished" in events
    assert events[-1] == "session_ended"
    assert not (run_dir / LIVE_NAME).exists()


def test_a_port_in_use_ends_a_run_before_anything_is_sent(tmp_path: Path) -> None:
    """Exit 2, one line that names the port, no request and no directory left."""
    sums(tmp_path / "data.jsonl", 3)
    with socket.socket() as taken, scripted(right_sum, models=["m"]) as endpoint:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = nel(*sums_command(endpoint.url, "--metrics-port", str(port)), cwd=tmp_path)
        assert endpoint.calls == []
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []
