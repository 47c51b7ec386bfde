"""A run of a million samples: is its memory that of a small one, and how soon does a killed one ask again?

    python tests/performance/million.py [--samples 1000000]

nginx answers every request at once. Four runs of nel: one that ends at its first request, a small one, one of all
samples, and one that is killed half-way (SIGKILL) and resumed. Peak memory is what Linux notes of the process itself
(VmHWM); its children are added up beside it. The first request of a run or a resume is timed from the start of the
command, by nginx's log; that of the pre-flight does not count. Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from client import write_dataset
from instant_server import instant_server
from measuring import nel_run

SMALL = 10_000
MEMORY_RATIO_MAX = 1.2
RESUME_SECONDS_MAX = 10.0
POLL_SECONDS = 0.05
LOG_FLUSH_SECONDS = 2.5


@dataclass(frozen=True, slots=True)
class Watched:
    """What a nel process needed."""

    seconds: float
    peak_bytes: int
    children_peak_bytes: int
    status: int


def watch(command: list[str], *, until: Callable[[], bool] | None = None) -> Watched:
    """Run a command to its end, or kill it as soon as `until` says so; note its memory all the time."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = children = 0
    while process.poll() is None:
        peak = max(peak, _memory(process.pid, "VmHWM"))
        children = max(children, sum(_memory(child, "VmRSS") for child in _children(process.pid)))
        if until is not None and until():
            process.send_signal(signal.SIGKILL)
            process.wait()
            break
        time.sleep(POLL_SECONDS)
    return Watched(time.monotonic() - started, peak, children, process.returncode)


def first_request(log: Path, after: float) -> float | None:
    """Return when the first sample was asked after a moment, in seconds since 1970, None when none was."""
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            stamp, method, _ = line.split()
            if method == "POST" and float(stamp) >= after:
                return float(stamp)
    return None


def responses(run_db: Path) -> int:
    """Return how many answers a run has on disk."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{run_db}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM steps WHERE role = 0").fetchone()[0])
    return 0


def results(out: Path) -> int:
    """Return the number of samples that the artifacts of the only run account for."""
    (bundle,) = out.glob("*/gsm8k/eval-gsm8k.json")
    return int(json.loads(bundle.read_text(encoding="utf-8"))["benchmark"]["accounting"]["n_scored"])


def run_whole(url: str, folder: Path, n: int) -> Watched:
    """Run n samples without a stop and print what it took."""
    out = folder / f"whole-{n}"
    dataset = write_dataset(folder / f"data-{n}.jsonl", n)
    watched = watch(nel_run(url, dataset, out))
    if watched.status or results(out) != n:
        sys.exit(f"the run of {n:,} samples ended with {watched.status} and scored {results(out):,}")
    shutil.rmtree(out)
    _print_row(f"{n:,} samples", watched)
    return watched


def run_setup(url: str, folder: Path, log: Path, n: int) -> None:
    """Print how long after its start a new run of n samples sends its first request, and end it there."""
    dataset = write_dataset(folder / f"data-{n}.jsonl", n)
    started = time.time()
    watch(nel_run(url, dataset, folder / "setup"), until=lambda: first_request(log, started) is not None)
    shutil.rmtree(folder / "setup")
    asked = first_request(log, started)
    if asked is None:
        sys.exit("the run ended without a request")
    print(f"  first request of a new run of {n:,} samples after {asked - started:.1f} s", flush=True)


def run_killed(url: str, folder: Path, log: Path, n: int, killed_at: float) -> tuple[float | None, Watched]:
    """Kill a run part of the way, resume it, and return the seconds until it asked and what the resume took."""
    out = folder / "killed"
    dataset = write_dataset(folder / f"data-{n}.jsonl", n)

    def far_enough() -> bool:
        return any(responses(path) >= n * killed_at for path in out.glob("*/run.db"))

    killed = watch(nel_run(url, dataset, out), until=far_enough)
    _print_row(f"{n:,} samples, killed at {killed_at:.0%}", killed)
    if killed.status != -signal.SIGKILL:
        sys.exit(f"the run ended with {killed.status} before it could be killed")
    (run_db,) = out.glob("*/run.db")
    print(f"  run.db: {run_db.stat().st_size / 1e6:,.0f} MB with {responses(run_db):,} answers", flush=True)
    started = time.time()
    resumed = watch([sys.executable, "-m", "nel", "eval", "resume", str(run_db.parent), "--json"])
    time.sleep(LOG_FLUSH_SECONDS)
    asked = first_request(log, started)
    _print_row(f"{n:,} samples, resumed", resumed)
    if resumed.status or results(out) != n:
        sys.exit(f"the resume ended with {resumed.status} and scored {results(out):,} of {n:,}")
    shutil.rmtree(out)
    return (None if asked is None else asked - started), resumed


def _print_row(what: str, watched: Watched) -> None:
    print(
        f"  {what:<40} {watched.seconds:8,.1f} s   peak {watched.peak_bytes / 1e6:6,.1f} MB"
        f"   children {watched.children_peak_bytes / 1e6:5,.1f} MB",
        flush=True,
    )


def _memory(pid: int, what: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(what):
                return int(line.split()[1]) * 1024
    return 0


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]
    return []


def main() -> None:
    """Print the table; exit 1 when a goal is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--killed-at", type=float, default=0.5, help="share of the samples that are answered by then")
    parser.add_argument("--only", choices=("setup", "memory", "resume"), help="one of the measurements")
    options = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "access.log"
        with instant_server(folder, log) as url:
            if options.only in (None, "setup"):
                run_setup(url, folder, log, options.samples)
            if options.only == "setup":
                return
            small = run_whole(url, folder, SMALL).peak_bytes
            peaks = []
            if options.only != "resume":
                peaks.append(("uninterrupted", run_whole(url, folder, options.samples).peak_bytes))
            if options.only != "memory":
                seconds, resumed = run_killed(url, folder, log, options.samples, options.killed_at)
                peaks.append(("resumed", resumed.peak_bytes))
                asked = "never" if seconds is None else f"after {seconds:.1f} s"
                print(f"first request of the resume {asked}; the goal is {RESUME_SECONDS_MAX:.0f} s")
                if seconds is None or seconds > RESUME_SECONDS_MAX:
                    missed.append("resume")
            for what, peak in peaks:
                print(f"memory, {what}: {peak / small:.2f} times that of {SMALL:,}; the goal is {MEMORY_RATIO_MAX}")
                if peak > MEMORY_RATIO_MAX * small:
                    missed.append(f"memory, {what}")
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
