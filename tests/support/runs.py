"""Small datasets and runs for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support import warm

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Recorded outputs beside the checkout, too large for it; a test that reads them has the mark `shared_data`."""
RECORDED = Path(__file__).parent / "recorded"
"""Those that are of the project, with their licence."""


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Write rows as JSON lines and return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sums(path: Path, n: int) -> Path:
    """Write n GSM8K-like rows whose gold answer is twice the number in the question."""
    rows = ({"question": f"What is {i} plus {i}?", "answer": f"It is\n#### {2 * i}"} for i in range(n))
    return write_jsonl(path, rows)


def write_bench(path: Path, verdict: str, *, name: str = "b", dataset: Path | str, **options: Any) -> Path:
    """Write a benchmark of rows with a question and an answer, whose scorer returns an expression of ``sample``."""
    chosen = {"prompt": "{question}", "target_field": "answer", **options}
    arguments = "".join(f", {option}={value!r}" for option, value in chosen.items())
    path.write_text(
        "from nel import benchmark, needs_judge, scorer\n"
        f"@benchmark(name={name!r}, dataset={str(dataset)!r}{arguments})\n"
        "@scorer\n"
        "def scored(sample):\n"
        f"    return {verdict}\n",
        encoding="utf-8",
    )
    return path


def run_config(
    url: str, benchmarks: list[Any], output: Path, *, run_id: str | None = None, **more: Any
) -> dict[str, Any]:
    """Return the configuration of a run of benchmarks with the model m of an endpoint."""
    return {
        "endpoint": {"url": url, "model": "m"},
        "benchmarks": benchmarks,
        "output": {"dir": str(output), **({} if run_id is None else {"run_id": run_id})},
        **more,
    }


def nel(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, timeout: float = 280, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, forked from one that has imported nel where that can be."""
    environment = {**os.environ, "COLUMNS": "200", **(env or {})}
    if warm.fits(environment):
        return warm.run(arguments, cwd=cwd, env=environment, timeout=timeout, stdin=stdin)
    command = [sys.executable, "-m", "nel", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
    )


def sums_command(url: str, *more: str, out: str = "out") -> list[str]:
    """Return the command that runs the sums in ``data.jsonl`` with the model m of an endpoint."""
    where = ["--dataset", "data.jsonl", "--model-url", url, "--model-id", "m", "-o", out]
    return ["eval", "run", "--bench", "gsm8k", *where, *more]


def recorded_run(folder: Path, rows: Iterable[Any], *more: str) -> Path:
    """Score recorded answers, the field ``said`` of rows of GSM8K, and return the run."""
    write_jsonl(folder / "data.jsonl", rows)
    where = ("--dataset", "data.jsonl", "--response-field", "said", "-o", "out")
    done = nel("eval", "run", "--bench", "gsm8k", *where, *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return only_run(folder / "out")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the values of a file of JSON lines; a text may hold separators at which `splitlines` would break it."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def read_results(run_dir: Path, benchmark: str) -> list[dict[str, Any]]:
    """Return the lines of results.jsonl."""
    return read_lines(run_dir / benchmark / "results.jsonl")


def numbers_of(run_dir: Path, benchmark: str) -> list[Any]:
    """Return the lines, metrics and failures of a benchmark without what two equal runs may differ in."""
    files = [read_json(run_dir / benchmark / f"{name}.json") for name in ("metrics", "failure_analysis")]
    return [without_volatile(read_results(run_dir, benchmark)), *map(comparable, files)]


def artifacts_of(run_dir: Path, benchmark: str) -> list[Any]:
    """Return the same with the bundle."""
    bundle = read_json(run_dir / benchmark / f"eval-{benchmark}.json")
    return [*numbers_of(run_dir, benchmark), comparable(bundle)]


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON document or a result line of a run without what two equal runs may differ in."""
    return {key: value for key, value in document.items() if key not in ("run_id", "timing")}


def without_volatile(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return result lines without the fields that two equal runs may differ in."""
    return list(map(comparable, rows))


def only_run(output_dir: Path) -> Path:
    """Return the one run in an output directory; a kill before the run began may leave an empty directory beside it."""
    (store,) = output_dir.glob("*/run.db")
    return store.parent
