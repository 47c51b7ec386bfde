"""What the limiter costs for each request, on its side and on a run's: CPU of real processes over a real socket.

python -m tests.performance.limiter [--requests 40000]
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import subprocess
import sys
import time

from nel.apps.limiter.hub import SETTLE_SECONDS
from nel.models.limiter.shared_gate import SharedGate
from nel.models.limiter.websocket import connector
from nel.models.pacing import Gate, Pace

_RUNS = 8
_AT_ONCE = 32
_PACE = Pace(concurrency_max=_RUNS * _AT_ONCE)


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123 - a file of the kernel
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _ask(gate: SharedGate | Gate, n: int, seconds: float) -> None:
    left = [n]

    async def worker() -> None:
        while left[0] > 0:
            left[0] -= 1
            permit = await gate.acquire("r", 10)
            await asyncio.sleep(seconds)
            gate.succeeded(permit, tokens=10, quotas={})
            gate.release(permit)

    await asyncio.gather(*(worker() for _ in range(_AT_ONCE)))


async def _through(url: str, n: int, seconds: float) -> None:
    gates = [
        SharedGate(_PACE, endpoint="e", connect=connector(url, None), parts=None, own_max=_AT_ONCE, jitter=lambda: 0.5)
        for _ in range(_RUNS)
    ]
    for gate in gates:
        await gate.open()
    await asyncio.gather(*(_ask(gate, n // _RUNS, seconds) for gate in gates))
    for gate in gates:
        await gate.aclose()


def _measure(n: int, seconds: float) -> str:
    """Return a row of the table."""
    began = time.process_time()
    asyncio.run(_ask(Gate(_PACE), n, seconds))
    alone = time.process_time() - began
    command = [sys.executable, "-m", "nel", "limiter", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        url = service.stdout.readline().split(";")[0].rpartition(" ")[2]
        before, own = _cpu_seconds(service.pid), time.process_time()
        wall = time.monotonic()
        asyncio.run(_through(url, n, seconds))
        wall, own = time.monotonic() - wall, time.process_time() - own
        there = _cpu_seconds(service.pid) - before
        service.terminate()
    micro = [f"{1e6 * cpu / n:.0f}" for cpu in (alone, there, own)]
    return f"| {seconds:g} s | {' | '.join(micro)} | {n / (wall - SETTLE_SECONDS):,.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=40_000)
    n = parser.parse_args().requests
    logging.disable(logging.CRITICAL)
    print(f"{n:,} requests of {_RUNS} runs, {_AT_ONCE} in flight each; microseconds of CPU for each request:\n")
    print("| an answer takes | gate of the run alone | limiter | runs that ask it | requests a second |")
    print("|---:|---:|---:|---:|---:|")
    for seconds in (0.0, 0.1, 1.0):
        print(_measure(n if seconds < 1 else n // 4, seconds))


if __name__ == "__main__":
    main()
