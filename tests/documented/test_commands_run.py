"""The commands of README and docs/ are run, page by page, as a reader would; each that is not has a reason.

A page's commands run in one directory, in order. Addresses of servers become those of real ones here: the demo
endpoint, or a process that a command of the page itself starts.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest

from tests.documented.commands import Shown, shown_commands
from tests.documented.not_run import CODES, FILES, REASONS, reason_not_to_run

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent
SECONDS = 180
DEFAULT_PORTS = {
    "demo": 8089,
    "replay": 8090,
    "model": 8091,
    "judge": 8092,
    "script": 8093,
    "oracle": 8094,
    "serve": 9090,
    "view": 8484,
    "limiter": 9191,
}
THEIRS = re.compile(r"https://(?:HOST|A|B)/v1|http://127\.0\.0\.1:(?:8000|33211)(?:/v1)?|(?<==)URL\b|(?<= )URL\b")
JUDGES = re.compile(r"https://(?:OTHER|JUDGE)/v1")
LOCAL = re.compile(r"(?<=127\.0\.0\.1:)(?P<port>\d{4,5})")
RUN = re.compile(r"eval_results/(?P<name>[A-Za-z0-9_.-]+)")
DATED = re.compile(r"eval_results/20\d{6}-\d{6}-\S+")
BACKGROUND = re.compile(r"^nel (?:endpoint (?:demo|judge|replay|model|script|oracle)|serve|view|limiter serve)\b|&$")
PAGES = {page: list(listed) for page, listed in groupby(shown_commands(), key=lambda one: one.page)}
RUN_HERE = {page: [one for one in listed if not reason_not_to_run(one)] for page, listed in PAGES.items()}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def environment() -> dict[str, str]:
    keys = dict.fromkeys(("MY_KEY", "JUDGE_KEY", "KEY", "REHEARSAL_KEY", "RIGHT", "VIEW_TOKEN"), "sk-right-key")
    found = {**os.environ, **keys, "WRONG": "sk-wrong-key", "PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "200"}
    return found | {"NEL_BASELINES": "baselines.json", "BROWSER": "true"}


@contextmanager
def started(command: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in a process group of its own until the block ends; it has said that it serves."""
    with (cwd / ".server.log").open("ab+") as log:
        begin = log.seek(0, os.SEEK_END)
        shell = ["bash", "-c", f"exec {command.removesuffix('&').strip()}"]
        process = subprocess.Popen(
            shell, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            until = time.monotonic() + SECONDS
            while not re.search(rb"http://127\.0\.0\.1:\d+", said := (cwd / ".server.log").read_bytes()[begin:]):
                assert process.poll() is None, (command, said.decode())
                assert time.monotonic() < until, (command, said.decode())
                time.sleep(0.05)  # until it says its address
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(SECONDS)


def with_port(command: str) -> str:
    """Return the command of a server with the port that it takes where none is given."""
    kind = re.match(r"nel (?:endpoint (demo|judge|replay|model|script|oracle)|(serve|view|limiter))\b", command)
    if kind is None or "--port" in command:
        return command
    return re.sub(r"( &)?$", rf" --port {DEFAULT_PORTS[kind[1] or kind[2]]}\1", command, count=1)


class Reader:
    """One who follows a page in a directory of their own."""

    def __init__(self, home: Path, runs: dict[str, Path], demo: str, judge: str) -> None:
        self.home, self.runs, self.demo, self.judge = home, runs, demo, judge
        self.ports: dict[str, int] = {}
        self.begun: set[str] = set()
        """Ports on which a command of the page starts a server; after any other is the demo endpoint."""

    def text_of(self, one: Shown) -> str:
        """Return a command with addresses and runs that are there."""
        text = re.sub(r"--model-id (?:NAME|MODEL)\b", "--model-id demo", THEIRS.sub(self.demo, one.text))
        text = re.sub(r"--judge-id JUDGE\b", "--judge-id judge", JUDGES.sub(self.judge, text))
        text = re.sub(r" (?:\.\.\.|…)(?= |$)", f" --model-url {self.demo} --model-id demo", text)
        text = with_port(text)
        text = self.with_ports(text)
        text = re.sub(r"(?<=--port )\d+", lambda found: str(self._port(found.group())), text)
        latest = max(self.home.glob("eval_results/*/run.db"), key=lambda path: path.stat().st_mtime, default=None)
        if latest is not None:
            text = DATED.sub(lambda found: self._latest(found.group(), latest.parent.name), text)
        for name in [found["name"] for found in RUN.finditer(text)] or ["RUN"] * (one.text == "nel view"):
            self._provide(name)
        return text

    def _latest(self, named: str, latest: str) -> str:
        """Return a run that is named by its time: one that there is, else the latest."""
        return named if named.removeprefix("eval_results/") in self.runs else f"eval_results/{latest}"

    def with_ports(self, text: str) -> str:
        return LOCAL.sub(lambda found: str(self._port(found["port"])), text)

    def _port(self, port: str) -> int:
        if self.demo.endswith(f":{port}/v1") or self.judge.endswith(f":{port}/v1"):
            return int(port)
        if port not in self.begun:
            return int(self.demo.removesuffix("/v1").rpartition(":")[2])
        return self.ports.setdefault(port, free_port())

    def _provide(self, name: str) -> None:
        target = self.home / "eval_results" / name
        if not target.exists() and name in self.runs:
            shutil.copytree(self.runs[name], target)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Start the demo endpoint and a judge, and return their addresses."""
    home, ports = tmp_path_factory.mktemp("servers"), (free_port(), free_port())
    with started(f"nel endpoint demo --port {ports[0]}", home), started(f"nel endpoint judge --port {ports[1]}", home):
        yield f"http://127.0.0.1:{ports[0]}/v1", f"http://127.0.0.1:{ports[1]}/v1"


@pytest.fixture(scope="module")
def runs(servers: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return finished runs by the names that pages give them; RUN is judged."""
    home = tmp_path_factory.mktemp("runs")
    base = f"nel eval run --bench quickstart --model-url {servers[0]} --model-id demo"
    run(f"{base} --run-id one", home)
    port = free_port()
    with started(f"nel endpoint demo --accuracy 0.6 --seed 4 --port {port}", home):
        run(f"{base.replace(servers[0], f'http://127.0.0.1:{port}/v1')} --run-id other", home)
    one, other = (home / "eval_results" / name for name in ("one", "other"))
    named = {"20261121-060611-quickstart-baseline": one, **dict.fromkeys(("BASELINE", "RUN", "RUN_A"), one)}
    return {**named, **dict.fromkeys(("CANDIDATE", "RUN_B", "RUN_C"), other)}


def run(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=cwd, env=environment(), capture_output=True, text=True, check=False,
        timeout=SECONDS, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("page", [page for page, listed in RUN_HERE.items() if listed])
def test_the_commands_of_a_page_run(page: str, servers: tuple[str, str], runs: dict[str, Path], tmp_path: Path) -> None:
    """Each ends as the page says: 0, or the exit code that stands for what the page shows."""
    reader = Reader(tmp_path, runs, *servers)
    begun = (re.search(r"--port (\d+)", with_port(one.text)) for one in RUN_HERE[page])
    reader.begun = {found[1] for found in begun if found}
    for name, source in FILES.get(page, {}).items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, Path):
            (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)
        else:
            target.write_text(reader.with_ports(source), encoding="utf-8")
    cwd, open_servers = tmp_path, {}
    try:
        for one in RUN_HERE[page]:
            text = reader.text_of(one)
            if text.startswith("cd "):
                cwd = cwd / text[3:]
                reader.home = cwd
                continue
            if text.startswith("export "):
                continue  # the keys are there
            if BACKGROUND.search(text):
                place = "".join(re.findall(r"--port \d+", text)) or text
                if place in open_servers:  # the page starts another in its place
                    open_servers.pop(place).__exit__(None, None, None)
                server = started(text, cwd)
                server.__enter__()
                open_servers[place] = server
                continue
            done = run(text, cwd)
            wanted = CODES.get((one.page, one.text), 0)
            assert done.returncode == wanted, f"{one}\nran as: {text}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
            assert "Traceback" not in done.stderr, f"{one}\n{done.stderr[-1500:]}"
    finally:
        for server in reversed(list(open_servers.values())):
            server.__exit__(None, None, None)


def test_each_command_is_run_or_has_a_reason() -> None:
    """Nothing is left out in silence: how many run and how many do not is counted, and most run."""
    everything = shown_commands()
    left = [one for one in everything if reason_not_to_run(one)]
    n_run = sum(len(listed) for listed in RUN_HERE.values())
    assert n_run + len(left) == len(everything)
    print(f"{n_run} commands run, {len(left)} have a reason not to")  # noqa: T201 - the count is the result
    unused = [pattern for pattern in REASONS if not any(re.search(pattern, one.text) for one in everything)]
    assert unused == []
