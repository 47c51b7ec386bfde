"""Serve an embedded endpoint, evaluate it over HTTP with the `nel` command, and stop it again.

python scripts/demo.py demo     the demo endpoint and the quickstart benchmark
python scripts/demo.py model    a real small language model, a few quickstart problems
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

NEL = [sys.executable, "-m", "nel"]
ENDPOINTS = {
    "demo": [
        "endpoint",
        "demo",
        "--port",
        "0",
        "--accuracy",
        "0.8",
        "--rate-limit-rate",
        "0.05",
        "--latency-ms",
        "20",
    ],
    "model": ["endpoint", "model", "--port", "0"],
}
INTERRUPTED = 130
RUNS = {
    "demo": ["--concurrency", "8"],
    "model": ["--concurrency", "4", "--max-tokens", "200", "--temperature", "0", "--sample", "15"],
}


_interrupts: list[int] = []
"""Ctrl-C so far."""


class StepError(Exception):
    """A step of the demo failed, with this exit code; what went wrong is on the terminal
    already.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@contextmanager
def serving(*endpoints: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    """Serve endpoints within the block; yields the URL and the model of each.

    They do not see Ctrl-C, so that a run which is interrupted can end in order.
    """
    servers = [
        subprocess.Popen(
            [*NEL, *endpoint], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        for endpoint in endpoints
    ]
    try:
        lines = [server.stdout.readline().split() if server.stdout else [] for server in servers]
        if any(len(line) < 4 or line[0] != "serving" for line in lines):
            print("an endpoint did not start", file=sys.stderr)
            raise StepError(1)
        yield [(line[1], line[3].rstrip(")")) for line in lines]
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(timeout=60)


def step(*arguments: str | Path, expected: int = 0) -> None:
    """Show a `nel` command and run it to its end.

    Raises:
        StepError: It did not end with the expected exit code, or Ctrl-C was pressed meanwhile or
            before.
    """
    words = [str(argument) for argument in arguments]
    if not _interrupts:
        print(
            "$ nel " + " ".join(words).replace(" --judge-url", " \\\n      --judge-url"), flush=True
        )
        code = subprocess.Popen([*NEL, *words]).wait()
        if code != expected and not _interrupts:
            raise StepError(code or 1)
    if _interrupts:
        raise StepError(INTERRUPTED)


def evaluate(which: str) -> None:
    """Run the quickstart benchmark against an endpoint."""
    with serving(ENDPOINTS[which]) as ((url, model),):
        step(
            "eval",
            "run",
            "--bench",
            "quickstart",
            "--model-url",
            url,
            "--model-id",
            model,
            *RUNS[which],
        )


def ended(work: Callable[[], None]) -> int:
    """Return 0, or the exit code of the first command that fails."""
    # The command ends by itself.
    signal.signal(signal.SIGINT, lambda number, _: _interrupts.append(number))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    Path("eval_results").mkdir(exist_ok=True)
    try:
        work()
    except StepError as error:
        return error.code
    return 0


if __name__ == "__main__":
    which = sys.argv[1] if len(sys.argv) > 1 else "demo"
    sys.exit(ended(lambda: evaluate(which)))
