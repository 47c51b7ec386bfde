"""One side of a comparison: the benchmarks of a run, or of a result of another tool."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Final, Literal

import numpy as np

from nel.comparison.blocks import BlockReader
from nel.comparison.lines import Block, Columns, SampleLine, block_of
from nel.core.forked_map import collection_paused, map_forked, parts_of_lines, usable_processes
from nel.core.json_values import is_whole
from nel.errors import NelError, OutputError, UsageError
from nel.reports.run_files import json_object
from nel.types import JsonObject

Kind = Literal["nel", "nemo-evaluator", "lm-eval", "imported"]
LineReader = Callable[[JsonObject, str, int], SampleLine | None]
"""From a JSON object, its place for messages and its byte offset; None skips the line."""
LineBlocks = Iterator[tuple[list[bytes], int, list[int]]]
"""Blocks of lines: the lines, the number of the first one, and the byte offset of each."""

_BLOCK_BYTES: Final = 1 << 18
"""The approximate size of a block."""
PART_BYTES: Final = 1 << 24
"""A longer file is read in parts of this size, by as many processes as there are CPUs."""
_REMEDY: Final = "write the results again"
DAMAGE: Final = (AttributeError, KeyError, TypeError, ValueError, OverflowError)
"""Errors that code raises when it reads JSON of an unexpected shape."""


@contextmanager
def readable(
    what: Path | str, fault: str = "does not hold what it should", again: str = "write it again"
) -> Iterator[None]:
    """Turn errors of reading JSON of an unexpected shape into one that names the file or line.

    Raises:
        OutputError: The shape is not the expected one.
    """
    try:
        yield
    except DAMAGE as error:
        raise OutputError(f"{what} {fault} ({type(error).__name__}: {error}); {again}") from error


_result = partial(readable, fault="is not a result", again=_REMEDY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The texts of one answer, for people."""

    sample_id: str
    prompt: object
    expected: object
    response: str | None
    extracted: str | None
    reward: float | None
    outcome: str
    """``scored``, the kind of a model failure, or the cause and kind of what is unscored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBenchmark:
    """One benchmark of one side, its lines not read yet."""

    name: str
    kind: Kind
    path: Path
    """The file with a line for each (sample, repeat)."""
    read_line: LineReader
    read_texts: Callable[[JsonObject], Texts]
    fields: Mapping[str, object]
    """The recorded fields that must be equal for two results to be comparable."""
    make_blocks: Callable[[], BlockReader] | None = None
    """Makes a reader of whole blocks; None where lines are read one by one."""
    n_lines: int | None = None
    """The number of lines by the files beside it; None where they do not have it."""
    recorded: bool = False
    """Whether recorded answers were scored, so that ids and rows may depend on the answers."""
    headline: str = "mean_reward"
    """The name of the reward."""
    lower_is_better: frozenset[str] = frozenset()
    """Names of metrics of which less is better."""
    cost: float | None = None
    failed_metrics: tuple[str, ...] = ()
    run_id: str | None = None
    stop_rule: JsonObject | None = None
    """``stop_rule`` of metrics.json; None without one, or where the files do not say."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Words for fields that are digests: the scorer (``scorer.rules``) and the ``samples``."""
    judging: JsonObject | None = None
    """``judging`` of metrics.json; None where nothing was judged, or the files do not say."""
    warnings: Sequence[Mapping[str, str]] = ()
    """``warnings`` of metrics.json; none where the files do not say."""
    check: Callable[[Columns], None] | None = None
    """Raises OutputError where the lines contradict the files beside them."""

    @property
    def directory(self) -> str:
        """The name of the folder of its files."""
        return self.path.parent.name

    def columns(self, *, rows: bool = True) -> Columns:
        """Read every line.

        Args:
            rows: Whether to make digests of the dataset's rows; without them nel's own results are
                read faster.

        Raises:
            OutputError: The file is damaged or empty, or contradicts the files beside it.
            UsageError: A score is not a finite number.
        """
        # Decoded JSON has no cycles, and the garbage collector's search takes a fifth of the time.
        with collection_paused():
            columns = self._read(rows=rows)
        if not len(columns):
            raise OutputError(f"{self.path} holds no result; nothing can be compared")
        if self.n_lines is not None and len(columns) != self.n_lines:
            raise OutputError(
                f"{self.path} has {len(columns):,} results and {self.n_lines:,} were counted when"
                " it was written: it was cut off or edited; write it again (nel report DIR for a"
                " run of nel)"
            )
        for name in columns.metric_names:
            if np.isinf(columns.metric(name)).any():
                raise UsageError(
                    f'{self.path}: a value of "{name}" is not a finite number; score the run again'
                )
        if self.check is not None:
            self.check(columns)
        return columns

    def _read(self, *, rows: bool) -> Columns:
        processes = usable_processes() if self.make_blocks is not None else 1
        try:
            if processes > 1 and self.path.stat().st_size > PART_BYTES:
                columns = self._read_in_parts(processes, rows=rows)
                if columns is not None:
                    return columns
        except OSError as error:
            raise OutputError(f"cannot read {self.path}: {error.strerror or error}") from error
        return self._read_lines(line_blocks(self.path), rows=rows)

    def _read_in_parts(self, processes: int, *, rows: bool) -> Columns | None:
        """Read parts of the file in processes; None where one is damaged or has too many names."""
        columns = Columns()
        ranges = parts_of_lines(self.path, PART_BYTES)
        parts = map_forked(partial(self._part, rows=rows), ranges, processes=processes)
        with closing(parts):
            for part in parts:
                if part is None or part.is_cut:
                    return None
                columns.extend(part)
        return columns

    def _part(self, byte_range: tuple[int, int], *, rows: bool) -> Columns | None:
        try:
            return self._read_lines(line_blocks(self.path, *byte_range), rows=rows)
        except NelError:  # the whole file is read again, which says where
            return None

    def _read_lines(self, blocks: LineBlocks, *, rows: bool) -> Columns:
        columns = Columns()
        reader = None if self.make_blocks is None else self.make_blocks()
        for lines, first_number, offsets in blocks:
            block = None if reader is None else reader.block_of(lines, offsets, rows=rows)
            # The block reader gives up on lines of an unusual shape: read one by one, the bad line
            # can be named.
            if block is None:
                block = self._block(json_objects(lines, first_number, offsets, self.path))
            if block is not None:
                columns.add(block)
        return columns

    def _block(self, objects: Iterator[tuple[JsonObject, int, int]]) -> Block | None:
        """Return a block of lines that are read one by one; None without any line that counts.

        Raises:
            OutputError: A line is not a result.
            UsageError: A score is not a finite number.
        """
        lines = []
        for value, number, offset in objects:
            where = f"{self.path}:{number}"
            with _result(where):
                line = self.read_line(value, where, offset)
            if line is None:
                continue
            if line.reward is not None and not math.isfinite(line.reward):
                raise UsageError(
                    f"{where}: the score is {line.reward}, not a finite number; score the run again"
                )
            lines.append(line)
        try:
            return block_of(lines) if lines else None
        except DAMAGE:
            # Each line alone, so that the error names the one with a value of another type.
            for line in lines:
                with _result(line.where):
                    block_of([line])
            raise

    def texts(self, offsets: list[int]) -> Iterator[Texts]:
        """Yield the texts of the lines at some byte offsets, in their order."""
        with self.path.open("rb") as file:
            for offset in offsets:
                file.seek(offset)
                yield self.read_texts(
                    json_object(file.readline(), f"{self.path}, byte {offset}", _REMEDY)
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A run, or a result of another tool."""

    label: str
    kind: Kind
    run_id: str | None = None
    models: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    """Flat settings of the whole run; a comparison lists those that differ."""
    benchmarks: Mapping[str, SideBenchmark] = field(default_factory=dict)
    aggregates: Mapping[str, JsonObject] = field(default_factory=dict)
    """Means over several of them by their titles, as aggregates.json has them."""


def line_blocks(path: Path, offset: int = 0, end: int | None = None) -> LineBlocks:
    """Yield the lines of a file in blocks.

    Args:
        path: Of the file.
        offset: Of the first line; line numbers count from there.
        end: The offset after the last line; None is the end of the file.

    Raises:
        OutputError: The file cannot be read.
    """
    number = 1
    try:
        with path.open("rb", buffering=_BLOCK_BYTES) as file:
            file.seek(offset)
            while True:
                size_hint = _BLOCK_BYTES if end is None else min(_BLOCK_BYTES, end - offset)
                lines = file.readlines(size_hint)
                if not lines:
                    break
                # One offset more than lines: where the next block begins.
                offsets = list(accumulate(map(len, lines), initial=offset))
                # The size is a hint: `readlines` may return more.
                while end is not None and offsets[-1] > end:
                    offsets.pop()
                    lines.pop()
                offset = offsets.pop()
                yield lines, number, offsets
                number += len(lines)
                if end is not None and offset >= end:
                    break
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror or error}") from error


def json_objects(
    lines: list[bytes], first_number: int, offsets: list[int], path: Path
) -> Iterator[tuple[JsonObject, int, int]]:
    """Yield the object of each line that is not empty, with its number and its byte offset.

    Raises:
        OutputError: A line is not a JSON object.
    """
    for number, (line, offset) in enumerate(zip(lines, offsets, strict=True), first_number):
        if line.strip():
            yield json_object(line, f"{path}:{number}", _REMEDY), number, offset


def reward_of(value: JsonObject, name: str, where: str) -> float | None:
    """Return the score under a key; None for null, which means unscored.

    Raises:
        UsageError: The key is missing, or its value is not a number.
    """
    if name not in value:
        raise UsageError(
            f'{where}: there is no "{name}"; a missing score is not 0, so nothing is compared'
        )
    reward = value[name]
    if reward is None:
        return None
    if not isinstance(reward, (bool, int, float)):
        raise UsageError(f'{where}: "{name}" is a {type(reward).__name__}, not a number')
    return float(reward)


def whole_of(value: JsonObject, name: str, where: str, default: int | None = None) -> int:
    """Return a whole number under a key.

    Raises:
        UsageError: It is missing without a default, or is not a whole number.
    """
    number = value.get(name, default)
    if not is_whole(number):
        raise UsageError(f'{where}: "{name}" is not a whole number')
    return number


def text_or_none(value: object) -> str | None:
    """Return a text, None for anything else."""
    return value if isinstance(value, str) else None


def text_form(value: object) -> str | None:
    """Return the text form of a value; None stays None."""
    return None if value is None else str(value)
