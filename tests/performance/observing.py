"""What it costs to watch a run, a sample: python tests/performance/observing.py

The log at its default level, metrics, the log at debug. Prints; asserts nothing.
"""

from __future__ import annotations

import socket
import tempfile
import time
from pathlib import Path

from nel.config.schema import ObservabilityConfig
from nel.core.observer import Observer, SessionInfo
from nel.engine.observability import observing
from nel.engine.progress import Progress
from nel.types import Request, Response, Scored, Usage

REQUEST = Request(protocol="chat", model="m", sample_id="s", repeat=0)
RESPONSE = Response(text="x", latency_seconds=0.1, attempts=1, usage=Usage(prompt_tokens=7, completion_tokens=3))
OUTCOME = Scored(reward=1.0, metrics={})
INFO = SessionInfo(
    run_id="r", session=1, benchmarks={1: "b"}, identities={}, config_digest="", planned=1, concurrency=8
)  # fmt: skip


def microseconds(observer: Observer, n: int) -> float:
    """Return the cost of all calls that one sample makes."""
    started = time.perf_counter()
    for idx in range(n):
        observer.sample_started((1, idx, 0), "s")
        observer.request_finished(REQUEST, RESPONSE, 0.1)
        observer.sample_finished((1, idx, 0), OUTCOME)
    return (time.perf_counter() - started) / n * 1e6


def main() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    configs = {
        "log": ObservabilityConfig(),
        "log and metrics": ObservabilityConfig(metrics_port=port),
        "log at debug": ObservabilityConfig(log_level="debug"),
    }
    for name, config in configs.items():
        with tempfile.TemporaryDirectory() as directory, observing(Path(directory), config, Progress()) as observer:
            observer.session_started(INFO)
            print(f"{name:16} {microseconds(observer, 20_000):8.2f} µs a sample")


if __name__ == "__main__":
    main()
