"""Measures executors: what a worker's CPU second scores, and what a sample costs that only waits for the endpoint.

    python -m tests.performance.executors [--rows 3000] [--ray]

CPU-bound: recorded mathematical answers, scored by one worker and by two. Network-bound: short answers of an endpoint
in this process, at 64 requests in flight.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import nel
from nel.engine.executors.find import find_executor
from nel.engine.executors.leased import LeasedExecutor
from tests.support.endpoint import Call, Reply, answer, scripted

ANSWERS = (
    (r"\frac{{{n}}}{{7}}", r"So it is $\boxed{{\dfrac{{{n}}}{{7}}}}$."),
    (r"{n}\sqrt{{2}}", r"Hence $x = \boxed{{\sqrt{{2}} \cdot {n}}}$."),
    (r"(x-{n})(x+1)", r"We get $\boxed{{x^2 - {m} x - {n}}}$."),
    (r"{n}\pi", r"The area is $\boxed{{{n}.5\pi}}$."),
)


def mathematics(path: Path, n: int) -> Path:
    """Write n recorded answers to mathematical questions."""
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            target, said = ANSWERS[i % len(ANSWERS)]
            number = i + 2
            row = {
                "problem": f"Question {i}",
                "answer": target.format(n=number),
                "said": said.format(n=number, m=number - 1),
            }
            file.write(json.dumps(row) + "\n")
    return path


@contextmanager
def executor_of(text: str) -> Iterator[Any]:
    """Have runs in this process use an executor that stays here to be looked at."""
    found = find_executor(text)

    @contextmanager
    def opened(_: str) -> Iterator[Any]:
        try:
            yield found
        finally:
            found.close()

    with mock.patch("nel.engine.run.opened_executor", opened):
        yield found


class WorkersCpu(threading.Thread):
    """Samples the CPU time of a run's workers and of their scoring processes, those that end meanwhile included.

    A worker is known by the module that it runs and by a variable of this process, which it has inherited: on Ray it
    is no child of this process.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._mark = f"NEL_MEASURED_BY={os.getpid()}-{id(self)}"
        name, _, value = self._mark.partition("=")
        os.environ[name] = value
        self._seconds: dict[int, float] = {}
        self._workers: set[int] = set()
        self._is_over = threading.Event()

    def run(self) -> None:
        while not self._is_over.wait(0.1):
            self._look()

    def stop(self) -> float:
        """Return the CPU seconds of all of them."""
        self._is_over.set()
        self.join()
        return sum(self._seconds.values())

    def _look(self) -> None:
        children: dict[int, list[int]] = {}
        spent: dict[int, float] = {}
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, IndexError):
                fields = (path / "stat").read_text().rpartition(")")[2].split()
                pid = int(path.name)
                children.setdefault(int(fields[1]), []).append(pid)
                spent[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                if pid not in self._workers and b"nel.engine.executors.host" in (path / "cmdline").read_bytes():
                    is_mine = self._mark.encode() in (path / "environ").read_bytes().split(b"\0")
                    self._workers.update([pid] if is_mine else [])
        pending = [pid for pid in self._workers if pid in spent]
        while pending:
            pid = pending.pop()
            self._seconds[pid] = spent[pid]
            pending += children.get(pid, ())


def cpu_bound(executors: list[str], n: int) -> None:
    """Print for each executor what n answers cost more than a quarter of them do: the start is left out."""
    print(f"\n{n:,} mathematical answers, recorded")
    print("| executor | s for all | scored per CPU s of the workers |")
    print("|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for text in executors:
            part, whole = (_scored(text, number, Path(folder)) for number in (n // 4, n))
            seconds, cpu = ((after - before) / (n - n // 4) for before, after in zip(part, whole, strict=True))
            print(f"| {text} | {seconds * n:.1f} | {1 / cpu:.1f} |", flush=True)


def _scored(text: str, n: int, folder: Path) -> tuple[float, float]:
    """Return the seconds of a session and the CPU seconds of its workers."""
    rows = mathematics(folder / "rows.jsonl", n)
    entry = {"name": "math500", "dataset": str(rows), "response_field": "said"}
    config = {"benchmarks": [entry], "output": {"dir": str(folder / f"{text.replace(':', '-')}-{n}")}}
    sampled = WorkersCpu()
    sampled.start()
    with executor_of(text):
        result = nel.evaluate(config)
    cpu = sampled.stop()
    assert result.exit_code == 0, result.ending.reason
    stats = json.loads((result.run_dir / "math500" / "runtime_stats.json").read_text())
    return stats["elapsed_seconds"], cpu


def _says(call: Call, _: int) -> Reply:
    return answer("The answer is 42.")


def network_bound(executors: list[str], n: int) -> None:
    """Print a line for each executor."""
    print(f"\n{n:,} answers of an endpoint, 64 requests in flight")
    print("| executor | elapsed s of the session | CPU ms of the run per sample | CPU ms of its workers per sample |")
    print("|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, scripted(_says, models=["m"]) as endpoint:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(json.dumps({"question": f"{i}?", "answer": f"#### {i}"}) + "\n" for i in range(n)))
        for text in executors:
            config = {
                "benchmarks": [{"name": "gsm8k", "dataset": str(path)}],
                "endpoint": {"url": endpoint.url, "model": "m"},
                "engine": {"concurrency": 64},
                "output": {"dir": f"{folder}/{text.replace(':', '-')}"},
            }
            with executor_of(text) as executor:
                before = resource.getrusage(resource.RUSAGE_SELF)
                result = nel.evaluate(config)
                after = resource.getrusage(resource.RUSAGE_SELF)
            assert result.exit_code == 0, result.ending.reason
            stats = json.loads((result.run_dir / "gsm8k" / "runtime_stats.json").read_text())
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            workers = executor.cpu_seconds if isinstance(executor, LeasedExecutor) else 0.0
            elapsed = stats["elapsed_seconds"]
            print(f"| {text} | {elapsed:.1f} | {1000 * cpu / n:.2f} | {1000 * workers / n:.2f} |", flush=True)


def main() -> None:
    """Measure and print two tables in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--ray", action="store_true", help="also on a Ray cluster of this machine, which it starts")
    given = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    on_ray = ["ray:address=local,workers=1", "ray:address=local,workers=2"] if given.ray else []
    cpu_bound(["processes:workers=1", "processes:workers=2", *on_ray], given.rows)
    network_bound(["local", "processes:workers=1", *on_ray[:1]], given.rows)


if __name__ == "__main__":
    main()
