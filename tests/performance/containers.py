"""Sessions in containers: how long is a command, what does the relay carry, and what do many cost at once?

    python tests/performance/containers.py [--sessions 50] [--commands 200]

Needs a Docker engine with the image nel-base:bookworm (`make sandbox`), and a machine that does nothing else. Prints the
load of the machine before, percentiles of `true` through a session's helper, the time of 5 MB from nel's endpoint into a
container without a network, and, with so many sessions open at once, the memory of each and what is left after.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from nel.environments.agents.program import PORT, AgentProgram
from nel.environments.container import ContainerSpec
from nel.environments.session import ContainerSession
from nel.sandbox.isolation.engine import connect

IMAGE = "nel-base:bookworm"
SPEC = ContainerSpec(image=IMAGE, memory_mb=256)
BODY = os.urandom(5_000_000)
FETCH = """
import time, urllib.request
started = time.perf_counter()
n = len(urllib.request.urlopen("http://127.0.0.1:{port}/").read())
print(n, time.perf_counter() - started)
"""
_MEGABYTE = 1 << 20
_MEMORY = "cat /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory/memory.usage_in_bytes 2> /dev/null | head -n 1"


class _Endpoint(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def seconds_of_commands(session: ContainerSession, n: int) -> list[float]:
    """Return how long each of so many commands took."""
    seconds = []
    for _ in range(n):
        started = time.perf_counter()
        session.run(["true"], seconds=30)
        seconds.append(time.perf_counter() - started)
    return sorted(seconds)


def seconds_of_relay(session: ContainerSession) -> float:
    """Return how long a program in the container took to fetch 5 MB."""
    server = HTTPServer(("127.0.0.1", 0), _Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = AgentProgram(session)
    try:
        ended = program.run(
            {
                "argv": ["python3", "-c", FETCH.format(port=PORT)],
                "env": {},
                "files": {},
                "checks": [],
                "port": server.server_port,
                "seconds": 60,
            }
        )
    finally:
        program.close()
        server.shutdown()
    n_bytes, seconds = str(ended["output"]).split()
    assert int(n_bytes) == len(BODY), ended
    return float(seconds)


def measure_many(client: Any, n: int, n_commands: int) -> None:
    """Open so many sessions at once, run commands in all, and look at what is left."""
    before = {container.id for container in client.containers.list(all=True, ignore_removed=True)}
    started = time.perf_counter()
    with ThreadPoolExecutor(n) as pool:
        sessions = list(pool.map(lambda _: ContainerSession.open(connect(None), SPEC), range(n)))
        print(f"{n} sessions open after {time.perf_counter() - started:.1f} s")
        memory = [int(session.run(_MEMORY, seconds=30).stdout) / _MEGABYTE for session in sessions]
        print(f"memory of a container: median {statistics.median(memory):.1f} MB, most {max(memory):.1f} MB")
        started = time.perf_counter()
        runs = pool.map(lambda session: seconds_of_commands(session, n_commands), sessions)
        seconds = sorted(each for run in runs for each in run)
        rate = len(seconds) / (time.perf_counter() - started)
        print(f"a command in {n} at once: p50 {1000 * statistics.median(seconds):.1f} ms, {rate:.0f} a second")
        list(pool.map(ContainerSession.close, sessions))
    ids = {session.id for session in sessions}
    left = ids & {container.id for container in client.containers.list(all=True, ignore_removed=True)} - before
    print(f"containers left: {len(left)}")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--commands", type=int, default=200)
    options = parser.parse_args()
    print("load of the machine: {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()))
    client = connect(None)
    try:
        session = ContainerSession.open(client, SPEC)
        try:
            seconds = seconds_of_commands(session, options.commands)
            p99 = seconds[int(0.99 * (len(seconds) - 1))]
            print(f"a command: p50 {1000 * statistics.median(seconds):.1f} ms, p99 {1000 * p99:.1f} ms")
            print(f"5 MB through the relay: {1000 * seconds_of_relay(session):.0f} ms")
        finally:
            session.close()
        measure_many(client, options.sessions, max(1, options.commands // 20))
    finally:
        client.close()


if __name__ == "__main__":
    main()
