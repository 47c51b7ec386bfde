"""Draws the answers of a run that people should label.

Results are read twice rather than held: only the answers that are drawn are in memory.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from nel.apps.calibrate.judged_answers import (
    JudgedBenchmark,
    compares_pairs,
    judge_score,
    judged_benchmark,
    printable,
    verdicts,
)
from nel.artifacts.files import directory_name
from nel.artifacts.labels.calibration import response_text
from nel.artifacts.labels.file import write_label_file
from nel.artifacts.labels.pairs import baseline_of, shown_pair
from nel.artifacts.results import Result
from nel.core.strict_json import dumps
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.judges.stats.human_labels import allocate, priority
from nel.judges.stats.tally import key_of, stratum_keys
from nel.reports.questions import asked_text
from nel.scoring.delegation import reference_of
from nel.types import Sample

Row: TypeAlias = dict[str, str | int]
"""What the file has of an answer beside its label, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDraw:
    """What was put into a file to be labelled."""

    path: Path
    n: int
    n_judged: int
    is_pair: bool = False
    """Whether each is a pair of answers."""


def draw_labels(
    run_dir: Path, path: Path | None, *, slot: str | None = None, n: int = 200
) -> LabelDraw:
    """Write the answers that a person should label.

    They are drawn by the judge's score, from rare ones more than their share. Which samples come
    follows from a hash of each sample alone, so that another model's run of the same benchmark asks
    about mostly the same ones. Of a sample with several repeats one is drawn.

    Args:
        run_dir: The directory of the run.
        path: A .csv or .jsonl file that is not there yet; None: ``<benchmark>-to-label.csv`` in the
            run's directory.
        slot: The benchmark, where several were judged.
        n: At most so many.

    Raises:
        UsageError: The run has no such benchmark or no verdicts, or the file is there already.
        StoreError: There is no usable run.db.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmark = judged_benchmark(snapshot, run_dir, slot)
        compares_pairs(snapshot, benchmark)
        keys, sizes, n_judged = _strata(snapshot, benchmark)
        rows = _choose(snapshot, benchmark, keys, allocate(sizes, n))
        if path is None:
            path = run_dir / f"{directory_name(benchmark.slot)}-to-label.csv"
        write_label_file(path, rows)
    return LabelDraw(
        path=path, n=len(rows), n_judged=n_judged, is_pair=any("answer_a" in row for row in rows)
    )


def _candidates(
    snapshot: Snapshot, benchmark: JudgedBenchmark
) -> Iterator[tuple[bytes, Result, int]]:
    """Yield each sample's place in the order of drawing, one judged answer, and their number."""
    for _, repeats in groupby(verdicts(snapshot, benchmark), key=lambda result: result.idx):
        results = list(repeats)
        rank = priority(results[0].sample_id, _content(results[0].sample))
        # The last byte of the hash chooses the repeat, so both passes over a run choose the same.
        yield rank, results[rank[-1] % len(results)], len(results)


def _strata(
    snapshot: Snapshot, benchmark: JudgedBenchmark
) -> tuple[dict[float, float], Counter[float], int]:
    """Return the stratum of each score, the size of each stratum, and how many were judged."""
    by_score: Counter[float] = Counter()
    n_judged = 0
    for _, result, count in _candidates(snapshot, benchmark):
        by_score[key_of(judge_score(result))] += 1
        n_judged += count
    keys = stratum_keys(by_score)
    sizes: Counter[float] = Counter()
    for key, amount in by_score.items():
        sizes[keys[key]] += amount
    return keys, sizes, n_judged


def _choose(
    snapshot: Snapshot,
    benchmark: JudgedBenchmark,
    keys: Mapping[float, float],
    n_by_stratum: Mapping[float, int],
) -> list[Row]:
    """Return the first so many of each stratum in the order of drawing, which hides it."""
    ranked_rows: list[tuple[bytes, int, Row]] = []
    # One pass over the run for each stratum, in which `nsmallest` holds n rows and no more.
    for stratum, n in n_by_stratum.items():
        members = (
            (rank, result.idx, _row(result))
            for rank, result, _ in _candidates(snapshot, benchmark)
            if keys[key_of(judge_score(result))] == stratum
        )
        ranked_rows += heapq.nsmallest(n, members, key=itemgetter(0, 1))
    return [row for _, _, row in sorted(ranked_rows, key=itemgetter(0, 1))]


def _row(result: Result) -> Row:
    sample = result.sample
    question = reference = ""
    if sample is not None:
        question = _question(sample)
        reference = reference_of(sample.target) or ""
    response, baseline = printable(response_text(result)), baseline_of(result)
    answers = {"response": response}
    if baseline is not None:
        answer_a, answer_b = shown_pair(result, response, printable(baseline))
        answers = {"answer_a": answer_a, "answer_b": answer_b}
    return {
        "sample_id": result.sample_id,
        "repeat": result.repeat,
        "question": question,
        "reference": reference,
        **answers,
    }


def _question(sample: Sample) -> str:
    return "\n\n".join([asked_text(sample), *sample.turns])


def _content(sample: Sample | None) -> str:
    """Return what makes a sample the same in two runs: what is asked, and what is right."""
    return "" if sample is None else dumps([_question(sample), sample.target])
