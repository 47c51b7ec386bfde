"""The whole pipeline beside a raw aiohttp loop, against an instant local server, on the same cores, in one run.

    python tests/performance/client.py [--samples 50000] [--cores 2] [--memory] [--against ../other]

nginx answers every request with a fixed completion. "raw" posts the same bodies with aiohttp and reads the answers, no
more. "pipeline" is the session of `nel eval run`: read the snapshot, build requests, send, parse, score, commit.
"end to end" is the whole process: start-up, dataset, pre-flight, session, artifacts, report; its CPU is counted too,
user and system. With --memory the peak memory of 10,000 and 200,000 samples is compared. With --against another checkout
takes its turn in each round.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instant_server import instant_server
from measuring import CONCURRENCY, Cost, cost_of, nel_run

RAW = """
import asyncio, sys, time, aiohttp
try:
    import uvloop; run = uvloop.run
except ImportError:
    run = asyncio.run
url, n, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
body = {"model": "m", "messages": [{"role": "user", "content": "x" * 400}]}
async def main():
    numbers = iter(range(n))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:
        async def work():
            for _ in numbers:
                async with session.post(url + "/chat/completions", json=body) as response:
                    await response.json()
        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(concurrency)))
        print(n / (time.perf_counter() - started))
run(main())
"""


def write_dataset(path: Path, n: int) -> Path:
    """Write n distinct GSM8K-like rows of about 330 characters."""
    with path.open("w") as file:
        for i in range(n):
            file.write(json.dumps({"question": f"What is {i} plus {i}? " + "x" * 300, "answer": "#### 42"}) + "\n")
    return path


def run_nel(url: str, dataset: Path, folder: Path, n: int, tree: Path | None = None) -> tuple[float, Cost]:
    """Return the pipeline's requests a second, and what the whole command took, with the nel of a checkout."""
    out = folder / f"out-{n}-{time.monotonic_ns()}"
    environment = {**os.environ, **({"PYTHONPATH": str(tree)} if tree else {})}
    taken = cost_of(nel_run(url, dataset, out), cwd=tree, env=environment)
    run_dir = Path(json.loads(taken.output)["run_dir"])
    elapsed = json.loads((run_dir / "gsm8k" / "runtime_stats.json").read_text())["elapsed_seconds"]
    shutil.rmtree(out)
    return n / elapsed, taken


def main() -> None:
    """Print the ratios, and the memory when asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=1, help="on which each command runs; the server has all")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with instant_server(folder) as url:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])  # and that of what it starts
            dataset = write_dataset(folder / "data.jsonl", options.samples)
            rows = []
            for _ in range(options.rounds):
                raw = cost_of([sys.executable, "-c", RAW, url, str(options.samples), str(CONCURRENCY)])
                rate = float(raw.output)
                pipeline, whole = run_nel(url, dataset, folder, options.samples)
                other = run_nel(url, dataset, folder, options.samples, options.against)[1] if options.against else whole
                rows.append((raw, rate, pipeline, whole, other))
                micro = 1e6 / options.samples
                print(
                    f"raw {rate:7,.0f}/s, {raw.cpu_seconds * micro:4.0f} µs of CPU"
                    f"   pipeline {pipeline:7,.0f}/s ({pipeline / rate:.2f})"
                    f"   end to end {whole.cpu_seconds * micro:4.0f} µs of CPU"
                    + (f", the other {other.cpu_seconds * micro:4.0f}" if options.against else ""),
                    flush=True,
                )
            print(
                f"median of {options.rounds} rounds, {options.samples:,} samples, concurrency {CONCURRENCY}, cores {options.cores}:"
                f" pipeline {statistics.median(p / r for _, r, p, _, _ in rows):.2f} of raw by rate, end to end raw has"
                f" {statistics.median(r.cpu_seconds / w.cpu_seconds for r, _, _, w, _ in rows):.2f} of its CPU"
                + (
                    f"; the CPU is {statistics.median(w.cpu_seconds / o.cpu_seconds for *_, w, o in rows):.2f}"
                    " of the other's"
                    if options.against
                    else ""
                )
            )
            if options.memory:
                peaks = [
                    run_nel(url, write_dataset(folder / "m.jsonl", n), folder, n)[1].peak_bytes
                    for n in (10_000, 200_000)
                ]
                print(f"peak memory: 10,000 samples {peaks[0] / 1e6:.0f} MB, 200,000 samples {peaks[1] / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
