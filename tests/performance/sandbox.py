"""Programs per second in the sandbox, beside a container for each program and beside a bare local interpreter.

All three run HumanEval's canonical solutions with their tests, two at a time, in one session of this script. The other
two are what a harness does that puts program and tests into one text and looks at the exit status; the sandbox keeps
them apart in two processes. `docker run` gets the limits of the sandbox.
"""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nel.sandbox import Program, Sandbox, SandboxSettings
from nel.sandbox.isolation.container import Container, host_options
from nel.sandbox.isolation.engine import connect
from nel.sandbox.isolation.languages import find_language

DATA = Path(__file__).parents[3] / "shared" / "data" / "humaneval.jsonl.gz"
WORKERS = 2
ROUNDS = 3
CONTAINERS = 24
"""A container for each program is slow: so many of them in each round."""


def rows() -> list[dict[str, Any]]:
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def one_text(row: dict[str, Any]) -> str:
    return f"{row['prompt']}{row['canonical_solution']}\n{row['test']}\ncheck({row['entry_point']})\n"


def docker_run(row: dict[str, Any]) -> None:
    language = find_language("python")
    options = host_options(language)
    command = [
        "docker", "run", "--rm", "-i", "--network", "none", "--read-only", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges", "--log-driver", "none", "--user", "65534:65534",
        "--memory", str(options["mem_limit"]), "--memory-swap", str(options["memswap_limit"]), "--cpus", "1",
        "--pids-limit", str(options["pids_limit"]), "--tmpfs", "/tmp:rw,nosuid,nodev,noexec,size=64m",
        language.image, "python3", "-I", "-",
    ]  # fmt: skip
    subprocess.run(command, input=one_text(row), text=True, check=True, capture_output=True)


def local_interpreter(row: dict[str, Any]) -> None:
    subprocess.run([sys.executable, "-I", "-"], input=one_text(row), text=True, check=True, capture_output=True)


def rate(run: Callable[[dict[str, Any]], None], given: list[dict[str, Any]]) -> float:
    started = time.monotonic()
    with ThreadPoolExecutor(WORKERS) as threads:
        list(threads.map(run, given))
    return len(given) / (time.monotonic() - started)


def sandbox_rate(sandbox: Sandbox, given: list[dict[str, Any]], mode: Any) -> float:
    started = time.monotonic()
    programs = [
        Program(
            source=row["prompt"] + row["canonical_solution"],
            tests=row["test"],
            entry_point=row["entry_point"],
            prompt=row["prompt"],
            mode=mode,
        )
        for row in given
    ]
    verdicts = [future.result() for future in [sandbox.submit(one) for one in programs]]
    assert all(verdict.passed for verdict in verdicts)
    return len(given) / (time.monotonic() - started)


def cold_start() -> tuple[float, int]:
    """Return milliseconds until a new container answers, and the bytes it holds then."""
    client = connect()
    times = []
    memory = 0
    for _ in range(5):
        started = time.monotonic()
        container = Container(client, find_language("python"), Sandbox().pool._modules, find_language("python").image)
        times.append((time.monotonic() - started) * 1000)
        stats = client.api.stats(container.id, stream=False)["memory_stats"]
        memory = stats["usage"] - stats.get("stats", {}).get("total_inactive_file", 0)
        container.remove()
    client.close()
    return statistics.median(times), memory


def main() -> None:
    given = rows()
    found: dict[str, list[float]] = {"split": [], "shared": [], "docker run": [], "local": []}
    with Sandbox(SandboxSettings(workers=WORKERS)) as sandbox:
        sandbox_rate(sandbox, given[:8], "split")
        for _ in range(ROUNDS):
            found["docker run"].append(rate(docker_run, given[:CONTAINERS]))
            found["split"].append(sandbox_rate(sandbox, given, "split"))
            found["local"].append(rate(local_interpreter, given))
            found["shared"].append(sandbox_rate(sandbox, given, "shared"))
    middle = {name: statistics.median(values) for name, values in found.items()}
    milliseconds, memory = cold_start()
    print(f"programs per second, {WORKERS} at a time, median of {ROUNDS} rounds of HumanEval")
    for name, value in middle.items():
        print(f"  {name:<14}{value:8.1f}")
    print(f"split is {middle['split'] / middle['docker run']:.1f} x docker run for each program")
    print(f"split is {middle['split'] / middle['local']:.2f} x a bare local interpreter for each program")
    print(f"a container answers {milliseconds:.0f} ms after it was asked for and holds {memory / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
