"""`nel --help` beside `import typer`, and a run's first request beside its libraries: medians of alternating rounds.

python tests/performance/startup.py [--rounds 15]

The first request is timed where it arrives. CPU seconds are those that the process had used by then; on a machine with
other work they say more than the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from measuring import cost_of

LIBRARIES = "import asyncio, sqlite3, ssl, httptools, orjson, pydantic, stevedore, typer, yaml, yarl"
"""What a run is made of, without nel."""
ANSWER = json.dumps(
    {
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "42"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
).encode()


class FirstRequest:
    """A server that answers everything, and notes when it was first asked and what its client had used by then."""

    def __init__(self) -> None:
        self.pid: int | None = None
        self.at = self.cpu = 0.0
        self.url = ""

    def note(self) -> None:
        """Read the client's CPU time at its first request."""
        if self.pid is not None:
            self.at, self.cpu = time.perf_counter(), cpu_of(self.pid)
            self.pid = None


def cpu_of(pid: int) -> float:
    """Return the CPU seconds that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server() -> Iterator[FirstRequest]:
    """Serve until the block ends."""
    first = FirstRequest()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Stay silent."""

        def do_GET(self) -> None:
            self._reply(b'{"data": [{"id": "m"}]}')

        def do_POST(self) -> None:
            first.note()
            self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(ANSWER)

        def _reply(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        first.url = f"http://127.0.0.1:{listening.server_port}/v1"
        yield first
        listening.shutdown()


def cost(command: list[str]) -> tuple[float, float]:
    """Return the wall and CPU seconds of a command."""
    found = cost_of(command)
    return found.seconds, found.cpu_seconds


def first_request(first: FirstRequest, folder: Path) -> tuple[float, float]:
    """Return the wall and CPU seconds from the start of a run to its first request."""
    rows = folder / "rows.jsonl"
    rows.write_text('{"question": "6 x 7?", "answer": "#### 42"}\n', encoding="utf-8")
    command = [
        *nel(), "eval", "run", "--bench", "gsm8k", "--dataset", str(rows), "--model-url", first.url, "--model-id", "m",
        "-o", str(folder / "out"), "--json",
    ]  # fmt: skip
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first.pid = process.pid
    if process.wait():
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return first.at - started, first.cpu


def nel() -> list[str]:
    """Return the installed command."""
    return [str(Path(sys.executable).with_name("nel"))]


def main() -> None:
    """Print the medians and their ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    found: dict[str, list[tuple[float, float]]] = {}
    with server() as first, tempfile.TemporaryDirectory() as name:
        first_request(first, Path(name))  # compiles modules and keeps digests of sources, as the first run of a user
        for _ in range(rounds):
            for what, measured in (
                ("import typer", lambda: cost([sys.executable, "-c", "import typer"])),
                ("nel --help", lambda: cost([*nel(), "--help"])),
                ("import the libraries of a run", lambda: cost([sys.executable, "-c", LIBRARIES])),
                ("first request of nel eval run", lambda: first_request(first, Path(name))),
            ):
                found.setdefault(what, []).append(measured())
    medians = {what: [statistics.median(side) for side in zip(*all_, strict=True)] for what, all_ in found.items()}
    for what, (wall, cpu) in medians.items():
        print(f"  {what:<32} {1000 * wall:6.0f} ms   {1000 * cpu:6.0f} ms CPU")
    for ours, theirs in (
        ("nel --help", "import typer"),
        ("first request of nel eval run", "import the libraries of a run"),
    ):
        print(f"{ours} / {theirs}: {medians[ours][1] / medians[theirs][1]:.2f} (CPU, median of {rounds})")
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
