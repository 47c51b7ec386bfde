"""An importer: reads the rewards that the exporter of this package wrote."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from nel.artifacts.importing import ImportedBenchmark, ImportedResult, ImportedRun
from nel.types import Sample, Scored, Unscored


def import_rewards(source: Path) -> ImportedRun | None:
    """Read rewards.txt; a dash is a result without a score, never 0."""
    path = source / "rewards.txt" if source.is_dir() else source
    if path.name != "rewards.txt" or not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    names = dict.fromkeys(line.split(" ")[0] for line in lines)
    benchmarks = [
        ImportedBenchmark(name=name, results=partial(_results, name, lines)) for name in names
    ]
    return ImportedRun(
        format="rewards", benchmarks=benchmarks, notes=["Questions and answers are not recorded."]
    )


def _results(name: str, lines: list[str]) -> Iterator[ImportedResult]:
    repeats: dict[str, int] = {}
    for line in lines:
        benchmark, _, fields = line.partition(" ")
        sample_id, _, reward = fields.rpartition(" ")
        if benchmark != name:
            continue
        repeat = repeats[sample_id] = repeats.get(sample_id, -1) + 1
        unscored = Unscored(cause="scorer", kind="unknown")
        outcome = unscored if reward == "-" else Scored(reward=float(reward), metrics={})
        yield ImportedResult(
            sample=Sample(id=sample_id, input=""), repeat=repeat, response=None, outcome=outcome
        )
