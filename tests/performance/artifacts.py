"""Artifacts and page of a large run: how long they take, in one process and in as many as there are CPUs.

    python tests/performance/artifacts.py [--samples 1000000]

A run.db is written by hand, since no model is asked. Each row is a process of its own, so that peaks of memory are its
alone. Exits 1 when a byte of an artifact depends on the number of processes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.performance.viewing import write_store

_WRITE = """
import os, resource, sys, time
from pathlib import Path
from nel.artifacts import ranges
from nel.artifacts.write import write_artifacts
from nel.reports import samples
from nel.reports.html import write_report
run_dir, processes = Path(sys.argv[1]), sys.argv[2]
if processes == "one":
    ranges.usable_processes = samples.usable_processes = lambda: 1
for what, write in (("artifacts", write_artifacts), ("page", write_report)):
    began, before = time.monotonic(), os.times()
    write(run_dir)
    after = os.times()
    own = after.user + after.system - before.user - before.system
    others = after.children_user + after.children_system - before.children_user - before.children_system
    # Not ru_maxrss, which begins with that of the process that started this one.
    (peak,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    peaks = int(peak.split()[1]) / 1024, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    seconds = time.monotonic() - began
    print(f"  {what:<10} {processes:<8} {seconds:7.1f} s   CPU {own:6.1f} s + {others:6.1f} s in processes"
          f"   peak {peaks[0]:6.1f} MB, of a process {peaks[1]:6.1f} MB", flush=True)
"""


def digests(run_dir: Path) -> dict[str, str]:
    """Return a digest of each artifact."""
    paths = [path for path in sorted(run_dir.rglob("*")) if path.is_file() and not path.name.startswith("run.db")]
    found = {}
    for path in paths:
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def main() -> None:
    """Print the table; exit 1 where the files differ."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    n = parser.parse_args().samples
    with tempfile.TemporaryDirectory() as folder:
        run_dir = Path(folder, "run")
        began = time.monotonic()
        write_store(run_dir, n)
        size = (run_dir / "run.db").stat().st_size
        print(f"{n:,} samples, run.db {size / 1e6:,.0f} MB, made in {time.monotonic() - began:.0f} s", flush=True)
        found = []
        for processes in ("one", "several"):
            subprocess.run([sys.executable, "-c", _WRITE, str(run_dir), processes], check=True)
            found.append(digests(run_dir))
    print(f"load average {os.getloadavg()[0]:.1f}")
    if found[0] != found[1]:
        sys.exit("the files depend on the number of processes")


if __name__ == "__main__":
    main()
