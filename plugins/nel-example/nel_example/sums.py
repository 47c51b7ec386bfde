"""A dataset reader and a bridge: ``example-sums://20`` stands for twenty additions, made instead of
read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nel import Benchmark, ScorerInput, benchmark, numeric_match, scorer
from nel.datasets import Dataset, RawRow
from nel.errors import DatasetError


def open_sums(uri: str, _base_dir: Path | None) -> Dataset:
    """Return the additions as a dataset, for ``dataset="example-sums://20"``.

    Raises:
        DatasetError: The URI does not say how many.
    """
    count = uri.partition("://")[2]
    if not count.isdecimal():
        raise DatasetError(f"{uri}: write the number of additions, as in example-sums://20")

    def read() -> Iterator[RawRow]:
        for number in range(1, int(count) + 1):
            row = {
                "id": f"sum-{number}",
                "question": f"What is {number} plus {number}?",
                "answer": str(2 * number),
            }
            yield RawRow(number=number, data=row)

    return Dataset(uri=uri, revision=None, unit="row", read=read)


def sums_benchmark(uri: str) -> Benchmark:
    """Return a benchmark of these additions, for ``--bench example-sums://20``."""

    @benchmark(
        name="example-sums",
        description="Additions of a number to itself",
        dataset=uri,
        prompt="{question} Give the number alone.",
        target_field="answer",
    )
    @scorer
    def sums(sample: ScorerInput) -> dict[str, bool | str | None]:
        """Compare the number in the response."""
        return numeric_match(sample)

    return sums
