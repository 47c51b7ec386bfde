"""The command of a run, and what a command took; for the scripts of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CONCURRENCY = 64


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, with all that it started and waited for."""

    output: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int


def cost_of(command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end; where it fails, so does the script."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=cwd)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        sys.exit(f"{' '.join(command[:6])} … ended with {process.returncode}: {output[-500:]}")
    seconds = time.perf_counter() - started
    return Cost(output, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def nel_run(url: str, dataset: Path, out: Path, *more: str, concurrency: int = CONCURRENCY) -> list[str]:
    """Return the command of a run of rows like those of GSM8K."""
    return [
        sys.executable, "-m", "nel", "eval", "run", "--bench", "gsm8k", "--dataset", str(dataset), "--model-url", url,
        "--model-id", "m", "--concurrency", str(concurrency), "-o", str(out), "--json", *more,
    ]  # fmt: skip
