"""Renders the rows of a large dataset in processes, ahead of storing; the samples are the same.

Only what is known to depend on nothing but the row is rendered there: a benchmark of nel's own, or
one that prepares no rows, with plain templates. Code of users and plugins may draw numbers or count
rows, so its rows are rendered in order by one process.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from nel.authoring.benchmark import Benchmark
from nel.authoring.prompt_check import empty_question
from nel.core.forked_map import map_forked
from nel.datasets import RawRow, content_id
from nel.engine.planning.golds import gold_fault
from nel.engine.store.codec import encode_sample, seal_text
from nel.episodes.limits import limits_of_row
from nel.errors import DatasetError, PromptError

ROWS_ALONE: Final = 20_000
"""So many rows are rendered here first: a second of work, and few datasets have more."""
_ROWS_AT_ONCE: Final = 256
_CHARACTERS_AT_ONCE: Final = 1 << 20


class Rendering(NamedTuple):
    """What a row is, apart from its id."""

    content: str
    """Its `content_id`."""
    content_number: int
    """For the digest of the dataset."""
    encoded: str | None
    """The encoded and sealed sample; None where the row makes none."""
    fault: str | None
    """Why it makes none, or why its gold answer decides nothing; such a row is not asked."""
    number: int
    """For the digest of the prompts; 0 where it makes none."""


def rendering_of(
    benchmark: Benchmark, data: dict[str, Any], content: str, sample_id: str
) -> Rendering:
    """Return what a row makes.

    Args:
        benchmark: Of the run.
        data: The row.
        content: Its `content_id`.
        sample_id: Of the sample; it is not in the encoded text.
    """
    content_number = number_of(content.encode())
    try:
        sample = benchmark.sample(data, sample_id=sample_id)
        if sample.limits is not None:
            limits_of_row(sample.limits, f'the field "{benchmark.limits_field}"')
        encoded = encode_sample(sample)
    except (DatasetError, PromptError, ValueError) as error:
        return Rendering(content, content_number, None, str(error), 0)
    return Rendering(
        content,
        content_number,
        seal_text(encoded),
        empty_question(benchmark, sample) or gold_fault(benchmark, sample),
        number_of(encoded.encode()),
    )


def rendered_ahead(
    benchmark: Benchmark, rows: Iterator[RawRow], *, processes: int
) -> Iterator[tuple[RawRow, Rendering | None]]:
    """Yield each row with its rendering, or with None where the caller has to make it.

    Args:
        benchmark: Of the run.
        rows: In order; at most a few hundred for each process are read ahead.
        processes: Of which fewer than two render nothing.
    """
    for row in islice(rows, ROWS_ALONE):
        yield row, None
    if processes < 2 or not depends_on_the_row_alone(benchmark):  # noqa: PLR2004
        for row in rows:
            yield row, None
        return
    row_after = next(rows, None)
    if row_after is None:  # as of most datasets: no processes for nothing
        return
    ahead = _Ahead(chain((row_after,), rows))
    for made in map_forked(partial(_renderings, benchmark), ahead.tasks(), processes=processes):
        for row, fields in zip(ahead.given.popleft(), made, strict=True):
            yield row, None if fields is None else Rendering._make(fields)
    if ahead.error is not None:  # what is wrong with a row comes after the rows before it
        raise ahead.error


def depends_on_the_row_alone(benchmark: Benchmark) -> bool:
    """Return whether a benchmark is known to make one sample of a row anywhere, in any order."""
    prepares = benchmark.prepare_row
    few = benchmark.fewshot
    templates = (
        *(benchmark.prompt, benchmark.system_prompt, benchmark.continuation, benchmark.preamble),
        *(few.template, few.target_template, few.prefix),
    )
    return (
        type(benchmark) is Benchmark
        and benchmark.images_field is None
        and (
            prepares is None
            or str(getattr(prepares, "__module__", "")).startswith("nel.benchmarks.")
        )
        and all(template is None or template.kind == "format" for template in templates)
    )


class _Ahead:
    """Rows that were given to processes, and what ended their reading."""

    def __init__(self, rows: Iterator[RawRow]) -> None:
        self._rows = rows
        self.given: deque[list[RawRow]] = deque()
        self.error: DatasetError | None = None

    def tasks(self) -> Iterator[list[dict[str, Any]]]:
        while chunk := self._chunk():
            self.given.append(chunk)
            yield [row.data for row in chunk]

    def _chunk(self) -> list[RawRow]:
        chunk: list[RawRow] = []
        size = 0
        try:
            while self.error is None and len(chunk) < _ROWS_AT_ONCE and size < _CHARACTERS_AT_ONCE:
                row = next(self._rows, None)
                if row is None:
                    break
                chunk.append(row)
                size += sum(len(value) for value in row.data.values() if type(value) is str)
        except DatasetError as error:
            self.error = error
        return chunk


def _renderings(
    benchmark: Benchmark, rows: Sequence[dict[str, Any]]
) -> list[tuple[Any, ...] | None]:
    """Return renderings as plain tuples, which pickle and load in half the time."""
    renderings = [_rendering(benchmark, data) for data in rows]
    return [None if rendering is None else tuple(rendering) for rendering in renderings]


def _rendering(benchmark: Benchmark, data: dict[str, Any]) -> Rendering | None:
    try:
        content = content_id(data)
    except DatasetError:  # the caller says so, in its turn
        return None
    return rendering_of(benchmark, data, content, "")


def number_of(encoded: bytes) -> int:
    """Return the SHA-256 of a text as a number."""
    return int.from_bytes(hashlib.sha256(encoded).digest())
