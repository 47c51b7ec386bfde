"""`nel compare` on two large runs beside reading both results.jsonl twice: seconds, CPU, memory and the ratios.

    python tests/performance/comparing.py [--samples 1000000] [--rounds 3] [--answer 0]

The runs are written first: lines as nel writes them, with one in twenty scores turned. What "reading" means is measured
three ways, each in a process of its own that reads both files twice: the bytes alone, each line decoded with orjson,
and each line decoded with Python's json. ``--answer N`` adds N characters to each prompt and each answer: short lines
are the hardest, since most of what a comparison does with a line costs the same however long its texts are.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from measuring import Cost, cost_of

from nel.core.strict_json import dumps
from nel.metrics.accumulator import Accumulator
from nel.types import Scored
from tests.support.compared import line, write_run

ROOT = Path(__file__).parents[2]
PLACE = 777_777
"""Stands for the number of the sample in the form of a line."""
READERS = {
    "bytes": "def read(file):\n    while file.read(1 << 20): pass\n",
    "orjson": "import orjson\ndef read(file):\n    for line in file: orjson.loads(line)\n",
    "json": "import json\ndef read(file):\n    for line in file: json.loads(line)\n",
}
TWICE = "import sys\nfor path in sys.argv[1:] * 2:\n    with open(path, 'rb') as file: read(file)\n"


def write_runs(place: Path, n: int, answer: int) -> list[Path]:
    """Write a run of n samples, and one with a twentieth of its scores turned; return both."""
    rng = np.random.default_rng(1)
    before = rng.random(n) < 0.6
    after = before ^ (rng.random(n) < 0.05)
    text = "word " * (answer // 5)
    forms = []
    for reward in (0.0, 1.0):
        row = line(PLACE, reward, category="c1", expected="B", question=f"Question {PLACE}? {text}", answer=f"B {text}")
        row["metadata"] = {"category": "c1"}
        forms.append(dumps(row).replace(str(PLACE), "%d") + "\n")
    runs = []
    for name, scores in (("baseline", before), ("candidate", after)):
        counted = Accumulator()
        for idx, score in enumerate(scores.tolist()):
            counted.add(idx, Scored(reward=float(score), metrics={"correct": float(score)}))
        runs.append(write_run(place / name, [], counted=counted))
        with results_of(runs[-1]).open("w") as file:
            for idx, score in enumerate(scores.tolist()):
                form = forms[score]
                file.write(form % ((idx,) * form.count("%d")))
    return runs


def results_of(run: Path) -> Path:
    """Return the file with a line a sample."""
    return run / "quiz" / "results.jsonl"


def main() -> None:
    """Write the runs, measure in alternating rounds, and print medians and ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--answer", type=int, default=0, help="characters added to each prompt and each answer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        runs = write_runs(Path(name), options.samples, options.answer)
        files = [results_of(run) for run in runs]
        size = sum(file.stat().st_size for file in files)
        commands = {"nel compare": [sys.executable, "-m", "nel", "compare", *map(str, runs), "--json"]}
        for reader, code in READERS.items():
            commands[f"both files twice, {reader}"] = [sys.executable, "-c", code + TWICE, *map(str, files)]
        found: dict[str, list[Cost]] = {what: [] for what in commands}
        for _ in range(options.rounds):
            for what, command in commands.items():
                found[what].append(cost_of(command, cwd=ROOT))
    print(f"two runs of {options.samples:,} samples, {size / 2e6:,.0f} MB each, median of {options.rounds} rounds")
    ours, waited = (
        statistics.median(getattr(one, key) for one in found["nel compare"]) for key in ("cpu_seconds", "seconds")
    )
    for what, costs in found.items():
        cpu, seconds = (statistics.median(getattr(one, key) for one in costs) for key in ("cpu_seconds", "seconds"))
        peak = max(one.peak_bytes for one in costs) / 1e6
        ratios = f"{waited / seconds:.2f} (time), {ours / cpu:.2f} (CPU)"
        print(f"  {what:<26}{seconds:7.1f} s {cpu:7.1f} s CPU {peak:6.0f} MB   nel / this: {ratios}")
    print(f"load average {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
