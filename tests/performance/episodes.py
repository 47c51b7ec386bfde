"""What a step of an episode costs: CPU beside an instant endpoint, and bytes of run.db beside those of its messages.

    PYTHONPATH=. python tests/performance/episodes.py [--episodes 20] [--steps 100]

A scripted endpoint in this process, which is not counted, calls one tool again and again. No two results are equal, so
that nothing but the storing of messages once keeps run.db small. The prompts of long episodes cost CPU of their own: 100
steps of 4 KB send 200 KB with each request.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.episodes.bank import calling, n_results
from tests.support.endpoint import Call, Reply, scripted

SHORT, LONG = 100, 4_000
"""Bytes of a result."""
BENCH = """
import hashlib
from nel import benchmark, scorer
from nel.tools import tool

@tool(repeatable=True)
def read(page: int, sample: str) -> str:
    \"\"\"Read a page, of which no other is equal.\"\"\"
    text = hashlib.sha256(f"{page} {sample}".encode()).hexdigest()
    return (text * 100)[:WIDTH]

ROWS = [{"id": str(number), "question": f"Read book {number}.", "target": ""} for number in range(N)]

@benchmark(name="pages", dataset=lambda: ROWS, prompt="{question}", tools=[read])
@scorer
def pages(sample):
    return True
"""


def reading(call: Call, _: int) -> Reply:
    """Play a model that reads page after page, and never ends."""
    return calling(("read", {"page": n_results(call), "sample": call.body["messages"][0]["content"]}))


def measured(folder: Path, *, episodes: int, steps: int, width: int) -> tuple[float, float]:
    """Run so many episodes; return the CPU seconds of the run's processes, and the bytes of run.db for each byte of the
    messages of the longest request.
    """
    bench = BENCH.replace("range(N)", f"range({episodes})").replace("WIDTH", str(width))
    (folder / "pages.py").write_text(bench, encoding="utf-8")
    out = folder / f"out-{episodes}-{steps}-{width}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with scripted(reading) as endpoint:
        command = [
            *(sys.executable, "-m", "nel", "eval", "run", "--bench", f"{folder}/pages.py:pages"),
            *("--model-url", endpoint.url, "--model-id", "m", "-o", str(out), "--max-steps", str(steps)),
        ]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (store,) = out.glob("*/run.db")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    longest = max(len(json.dumps(call.body["messages"])) for call in endpoint.calls)
    return seconds, store.stat().st_size / longest


def main() -> None:
    """Print both numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    n, steps = options.episodes, options.steps
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        for width in (SHORT, LONG):
            start, _ = measured(folder, episodes=n, steps=1, width=width)
            seconds, _ = measured(folder, episodes=n, steps=steps, width=width)
            milliseconds = 1000 * (seconds - start) / (n * (steps - 1))
            print(
                f"results of {width:,} bytes: {milliseconds:.2f} ms of CPU for each of {steps} steps, the tool's with it"
            )
        _, ratio = measured(folder, episodes=1, steps=steps, width=LONG)
    print(f"one episode of {steps} steps of {LONG:,} bytes: run.db has {ratio:.2f} bytes for each of its messages'")


if __name__ == "__main__":
    main()
