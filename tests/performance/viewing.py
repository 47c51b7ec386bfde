"""`nel view` over a run of a million samples: how soon is the first page there, and what does a search take?

    python tests/performance/viewing.py [--samples 1000000] [--keep DIR]

A run.db is written by hand, with answers of a few sentences. The app runs as a user starts it; pages are asked for over
HTTP while its index is built, and after. CPU is that of the whole process, the building of the index included. Peak
memory is what Linux notes of the process (VmHWM). Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from urllib.parse import quote

from nel.artifacts.write import write_artifacts
from nel.core.strict_json import dumps
from nel.engine.store.codec import encode_outcome
from nel.engine.store.rows import Row, answer_row, verdict_row
from nel.types import ModelFailure, Outcome, Response, Sample, Scored, Unscored, Usage
from tests.support.stores import stored_plan, write_run_db

FIRST_PAGE_SECONDS_MAX = 1.0
SEARCH_SECONDS_MAX = 0.5
SUBJECTS = ("algebra", "biology", "chemistry", "economics", "engineering", "health", "history", "law", "philosophy")


def words() -> list[str]:
    """Return 20,000 made-up words, the first ones frequent in `text`."""
    chance = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstv" for b in "aeiou"]
    return ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(20_000)]


def write_store(run_dir: Path, n: int) -> None:
    """Write a finished run of n samples."""
    write_run_db(
        run_dir,
        "quiz",
        (sample for sample, *_ in _answers(n)),
        lambda key: _rows(key, n),
        plan=stored_plan("s", n, identity={"benchmark": "quiz", "mode": "generation"}),
        config={"endpoint": {"model": "m", "url": "http://127.0.0.1:9/v1"}},
        run_id="million",
        ended={
            "ended": "done",
            "elapsed": 3600.0,
            "attempts": n,
            "spent": {"requests": n, "tokens": 200 * n, "cost": 0.0},
        },
    )


def write_head(run_dir: Path) -> None:
    """Write the artifacts that the head of a finished run is read from: those of a run of 1,000 samples."""
    with tempfile.TemporaryDirectory() as name:
        small = Path(name) / run_dir.name
        write_store(small, 1_000)
        write_artifacts(small)
        (run_dir / "quiz").mkdir()
        for path in (small / "quiz").glob("[em]*.json"):
            shutil.copy(path, run_dir / "quiz")


def _rows(key: int, n: int) -> Iterator[Row]:
    for idx, (sample, response, outcome) in enumerate(_answers(n)):
        sent = {"messages": [{"content": sample.input, "role": "user"}], "model": "m"}
        yield answer_row((key, idx, 0), dumps(sent), response)
        yield verdict_row((key, idx, 0), encode_outcome(outcome))


def _answers(n: int) -> Iterator[tuple[Sample, Response, Outcome]]:
    known, chance = words(), random.Random(0)
    # Frequent as words of a language are: the one at rank r is met in proportion to 1 / (r + 2.7).
    shares = list(accumulate(1 / (rank + 2.7) for rank in range(len(known))))
    places = chance.choices(range(len(known)), cum_weights=shares, k=1_000_000)
    for idx in range(n):
        start = chance.randrange(len(places) - 200)
        text = [known[place] for place in places[start : start + 140]]
        question, answer = " ".join(text[:40]) + f" {idx}?", " ".join(text[40:])
        sample = Sample(
            id=f"q{idx}", input=question, target="B", metadata={"question": question}, subset=SUBJECTS[idx % 9]
        )
        said = "B" if chance.random() < 0.6 else "C"
        response = Response(
            text=f"{answer}\n\nThe answer is {said}.",
            finish_reason="stop",
            usage=Usage(prompt_tokens=60 + idx % 40, completion_tokens=int(chance.lognormvariate(5, 0.6))),
            latency_seconds=chance.lognormvariate(0, 0.5),
            attempts=1,
        )
        outcome: Outcome = Scored(reward=float(said == "B"), metrics={}, answer=said)
        if idx % 1000 == 1:
            outcome = Unscored(cause="infra", kind="timeout", detail="no answer within 600 s")
        elif idx % 100 == 2:
            outcome = ModelFailure(kind="truncated", detail="cut off")
        yield sample, response, outcome


class Viewer:
    """A running `nel view`."""

    def __init__(self, folder: Path, cache: Path) -> None:
        """Start it and wait until it listens."""
        command = [sys.executable, "-m", "nel", "view", str(folder), "--no-token", "--no-open", "--port", "0"]
        started = time.monotonic()
        self.process = subprocess.Popen(
            [*command, "--cache-dir", str(cache)], stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().removeprefix("view: ").strip().rstrip("/")
        self.start_seconds = time.monotonic() - started

    def get(self, path: str) -> tuple[float, str]:
        """Return the seconds that a page took, and the page."""
        started = time.monotonic()
        with urllib.request.urlopen(f"{self.url}{path}", timeout=600) as answer:
            text = answer.read().decode()
        return time.monotonic() - started, text

    @property
    def peak_bytes(self) -> int:
        """Return the most memory that it has had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]

    @property
    def cpu_seconds(self) -> float:
        """Return the user and system time that it has had, all its threads together."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def measure(viewer: Viewer, folder: Path, n: int) -> list[str]:
    """Print what pages take and return the goals that were missed."""
    missed = []
    print(f"{n:,} samples, run.db {(folder / 'runs' / 'million' / 'run.db').stat().st_size / 1e6:,.0f} MB")
    print(f"  starts in {viewer.start_seconds:.2f} s, {viewer.peak_bytes / 1e6:.0f} MB")

    def show(what: str, path: str, goal: float | None = None) -> str:
        cpu = viewer.cpu_seconds
        seconds, text = viewer.get(path)
        cpu = viewer.cpu_seconds - cpu
        shown = re.search(r"([^>]*match[^<]*found in[^<]*)", text)
        print(
            f"  {what:<46} {seconds * 1000:8.0f} ms, CPU {cpu * 1000:4.0f} ms   {shown[1].strip() if shown else ''}",
            flush=True,
        )
        if goal is not None and seconds > goal:
            missed.append(what)
        return text

    samples = "/runs/million/quiz"
    show("table of runs", "/", FIRST_PAGE_SECONDS_MAX)
    show("page of the run", "/runs/million", FIRST_PAGE_SECONDS_MAX)
    show("first page of samples, no index yet", samples, FIRST_PAGE_SECONDS_MAX)
    show("again, while the index is built", samples, FIRST_PAGE_SECONDS_MAX)
    show("one sample, while the index is built", f"{samples}/{n // 2}", FIRST_PAGE_SECONDS_MAX)
    while '"is_ready":true' not in viewer.get("/api/runs/million/index")[1]:
        time.sleep(1)
    print(f"  index: {viewer.get('/api/runs/million/index')[1]}")
    print(
        f"  {sum(path.stat().st_size for path in (folder / 'cache').iterdir()) / 1e6:,.0f} MB in the cache", flush=True
    )
    known = words()
    for what, query in (
        ("first page of samples", ""), ("page in the middle", f"?after={n // 2}"), ("last page", f"?before={n}"),
        ("wrong ones", "?outcome=wrong"), ("unscored, in the middle", f"?outcome=unscored&after={n // 2}"),
        ("a category and an outcome", "?category=law&outcome=model_failure"), ("a frequent word", f"?q={known[1]}"),
        ("two frequent words", f"?q={known[1]}+{known[2]}"), ("a rare word", f"?q={known[15_000]}"),
        ("one number", f"?q={n // 3}"), ("a phrase", f"?q={quote(chr(34) + known[1] + ' ' + known[2] + chr(34))}"),
        ("a word without another", f"?q={known[40]}+-{known[60]}"), ("a prefix", f"?q={known[90][:4]}*"),
        ("a frequent word among the unscored", f"?q={known[1]}&outcome=unscored"), ("nothing", "?q=xyzzy"),
        ("slowest first", "?sort=-latency"), ("fewest tokens first, in the middle", f"?sort=completion_tokens&after={n // 2}"),
        ("slowest wrong ones with a word", f"?sort=-latency&outcome=wrong&q={known[1]}"), ("tokens and score", "?q=tokens>150+score<1"),
        ("an impossible number", "?q=tokens>99999999"),
    ):  # fmt: skip
        show(what, f"{samples}{query}", SEARCH_SECONDS_MAX)
    show("one sample", f"{samples}/{n // 2}", SEARCH_SECONDS_MAX)
    show("one sample among the wrong", f"{samples}/{n // 2}?outcome=wrong&q={known[1]}", SEARCH_SECONDS_MAX)
    show("page of the run", "/runs/million", FIRST_PAGE_SECONDS_MAX)
    print(f"  peak memory {viewer.peak_bytes / 1e6:.0f} MB")
    return missed


def main() -> None:
    """Print the table; exit 1 when a goal is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="folder of the run and the cache; used again where it is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        if not (folder / "runs" / "million").exists():
            write_store(folder / "runs" / "million", options.samples)
            write_head(folder / "runs" / "million")
        viewer = Viewer(folder / "runs", folder / "cache")
        try:
            missed = measure(viewer, folder, options.samples)
        finally:
            viewer.stop()
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
