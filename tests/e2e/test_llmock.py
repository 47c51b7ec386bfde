"""A judge of clients that nobody here wrote: llmock breaks on purpose, and grades how the run took it."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import started
from tests.support.runs import nel, only_run, read_json, sums

LLMOCK = Path(sys.executable).with_name("llmock")
SERVE = (
    "import functools, sys, uvicorn, llmock.cli\n"
    "uvicorn.run = functools.partial(uvicorn.run, fd=int(sys.argv.pop(1)))\n"
    "llmock.cli.app()\n"
)
"""llmock as its command starts it, but on a socket that is bound already: a port that is free may be taken next."""
FAULTS = {
    "errors": ("--error-rate", "429=0.05", "--error-rate", "500=0.05", "--error-rate", "503=0.05"),
    "requests-a-minute": ("--rpm", "300"),
    "tokens-a-minute": ("--tpm", "30000"),
    "streams": (
        *("--stream-fault", "disconnect=0.05", "--stream-fault", "truncate=0.05"),
        *("--stream-fault", "malformed=0.05", "--stream-fault", "stall=0.02", "--stream-stall-seconds", "60"),
        *("--stream-chunk-delay-ms", "10"),
    ),
}


@contextmanager
def _llmock(*faults: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as bound:
        port = str(bound.getsockname()[1])
        command = [sys.executable, "-c", SERVE, str(bound.fileno()), "serve", "--host", "127.0.0.1", "--port", port]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with started([*command, "--log-level", "error", *faults], pass_fds=[bound.fileno()], **quiet):
            yield f"http://127.0.0.1:{port}"


@pytest.mark.slow
@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_a_run_through_llmock_is_complete_and_has_no_complaint(tmp_path: Path, faults: tuple[str, ...]) -> None:
    """Every sample has its answer, and the strict report passes."""
    data = sums(tmp_path / "data.jsonl", 120)
    with _llmock("--response-style", "echo", *faults) as url:
        model = ("--model-url", f"{url}/v1", "--model-id", "gpt-4o", "--max-tokens", "32", "-o", "out")
        # Far below a stall and far above what a busy machine takes between two pieces of an answer.
        settings = ("--concurrency", "8", "-O", "endpoint.idle_timeout_seconds=5", "-O", "engine.preflight=false")
        streams = ("--stream",) if "--stream-fault" in faults else ()
        command = ("eval", "run", "--bench", "gsm8k", "--dataset", str(data), *model, *settings, *streams)
        done = nel(*command, cwd=tmp_path)
        report = subprocess.run(
            [str(LLMOCK), "report", "--url", url, "--strict"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    accounting = read_json(only_run(tmp_path / "out") / "gsm8k" / "metrics.json")["accounting"]
    assert (accounting["n_total"], accounting["n_unscored"]) == (120, 0)
    assert report.returncode == 0, report.stdout
