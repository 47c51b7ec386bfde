"""A judge of clients that nobody here wrote: llmock breaks on purpose, and grades how the run took it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.runs import nel, only_run, read_json, sums

LLMOCK = Path(sys.executable).with_name("llmock")
FAULTS = {
    "errors": ("--error-rate", "429=0.05", "--error-rate", "500=0.05", "--error-rate", "503=0.05"),
    "requests-a-minute": ("--rpm", "300"),
    "tokens-a-minute": ("--tpm", "30000"),
    "streams": (
        *("--stream-fault", "disconnect=0.05", "--stream-fault", "truncate=0.05"),
        *("--stream-fault", "malformed=0.05", "--stream-fault", "stall=0.02", "--stream-stall-seconds", "3"),
        *("--stream-chunk-delay-ms", "10"),
    ),
}


@contextmanager
def _llmock(*faults: str) -> Iterator[str]:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = [str(LLMOCK), "serve", "--host", "127.0.0.1", "--port", str(port), "--log-level", "error", *faults]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            # No request: it might meet a fault of its own, and asking again at once would be held against the run.
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield url
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)


@pytest.mark.slow
@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_a_run_through_llmock_is_complete_and_has_no_complaint(tmp_path: Path, faults: tuple[str, ...]) -> None:
    """Every sample has its answer, and the strict report passes."""
    data = sums(tmp_path / "data.jsonl", 120)
    with _llmock("--response-style", "echo", *faults) as url:
        model = ("--model-url", f"{url}/v1", "--model-id", "gpt-4o", "--max-tokens", "32", "-o", "out")
        settings = ("--concurrency", "8", "-O", "endpoint.idle_timeout_seconds=1", "-O", "engine.preflight=false")
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
