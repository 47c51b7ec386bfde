"""What a comparison keeps of one line of results: numbers and digests, never a text. Does no
I/O.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nel.core.strict_json import dumps_bytes
from nel.errors import UsageError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Digests = npt.NDArray[np.uint64]

METRICS_MAX: Final = 32
"""Metrics beside the reward that are kept of one benchmark."""
LABELS_MAX: Final = 100_000
"""Distinct models, causes and kinds that are counted by name."""
SCORED: Final = 0
FAILED: Final = 1
UNSCORED: Final = 2
NOT_ASKED: Final = 3
STATES: Final = {
    "scored": SCORED,
    "model_failure": FAILED,
    "unscored": UNSCORED,
    "not_asked": NOT_ASKED,
}
DIGEST_BYTES: Final = 8
_DIGEST_BITS: Final = (1 << 64) - 1
_TEXTS: Final[frozenset[type]] = frozenset((str,))
MIX: Final = 0x9E3779B97F4A7C15
_WHOLE: Final = ("sample", "row", "prompt", "expected", "offset")
_SIGNED: Final = ("position", "repeat", "occurrence", "category", "group")
_REAL: Final = ("reward", "tokens", "latency", "characters")
_CODED: Final = ("category", "group")
_FLAGS: Final = ("has_samples", "has_rows", "has_questions", "has_own_ids")


class Line(NamedTuple):
    """One (sample, repeat) as its file has it. A named tuple, since a million of them are made."""

    where: str
    """File and line number, for errors."""
    offset: int
    """Byte offset of the line in its file."""
    position: int
    """The position in the dataset; no identity, but it orders rows of equal content."""
    repeat: int
    row: int | None
    """Digest of the dataset's row with its gold answer; None where the line does not have the
    row.
    """
    prompt: int
    """Digest of the prompt; 0 where there is none."""
    expected: int
    reward: float | None
    state: int
    cause: str
    """The kind of a failure, ``cause: kind`` of what is unscored; empty for what is scored."""
    metrics: Mapping[str, float]
    category: str | None
    characters: float
    """NaN where unknown, as with the next two."""
    tokens: float = math.nan
    """Of the completion."""
    latency: float = math.nan
    model: str | None = None
    group: str | None = None
    sample: int | None = None
    """Digest of the stable id without its occurrence number; None where the line has no id."""
    occurrence: int = 0
    """From 1; the number in the id of a repeated row."""
    is_own_id: bool = False
    """Whether the id is the row's own and not a hash of its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines of one benchmark as columns; the names are those of `Line`."""

    sample: Digests
    row: Digests | None
    """None where it was not wanted."""
    prompt: Digests
    """0 where a line has no prompt."""
    expected: Digests
    offset: Digests
    position: Ints
    repeat: Ints
    occurrence: Ints
    category: Sequence[str | None]
    group: Sequence[str | None]
    reward: Floats
    tokens: Floats
    latency: Floats
    characters: Floats
    states: npt.NDArray[np.int8]
    metrics: Mapping[str, Floats]
    """In the order in which they occur first; NaN where a line has none."""
    models: Mapping[str | None, int]
    causes: Mapping[str, int]
    has_own_ids: bool


@dataclass(slots=True)
class _Labels:
    """Texts that repeat, as numbers."""

    codes: dict[str, int] = field(default_factory=dict)

    def code(self, text: str | None) -> int:
        return -1 if text is None else self.codes.setdefault(text, len(self.codes))

    def codes_of(self, texts: Sequence[str | None]) -> Ints:
        table = {text: self.code(text) for text in dict.fromkeys(texts)}
        if len(table) == 1:
            return np.full(len(texts), table[texts[0]], dtype=np.int64)
        return np.array([table[text] for text in texts], dtype=np.int64)

    def recoded(self, other: _Labels, codes: Ints) -> Ints:
        """Return the codes of another's texts as codes of these."""
        table = np.array([*map(self.code, other.codes), -1], dtype=np.int64)
        return np.asarray(table[codes])


class Columns:
    """The lines of one benchmark of one side, as arrays of about a hundred bytes a line."""

    def __init__(self) -> None:
        """Start without lines."""
        self._whole = {name: array("Q") for name in _WHOLE}
        self._signed = {name: array("q") for name in _SIGNED}
        self._real = {name: array("d") for name in _REAL}
        self._states = array("b")
        self._append_whole = [
            column.append for column in (*self._whole.values(), *self._signed.values())
        ]
        self._append_real = [column.append for column in self._real.values()]
        self._metrics: dict[str, array[float]] = {}
        self._categories, self._groups = _Labels(), _Labels()
        self.models: dict[str, int] = {}
        self.causes: dict[str, int] = {}
        self.has_samples = True
        self.has_rows = True
        self.has_questions = True
        self.has_own_ids = True

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._states)

    def add(self, line: Line) -> None:
        """Take in one line.

        Raises:
            UsageError: Its reward is not a finite number.
        """
        if line.reward is not None and not math.isfinite(line.reward):
            raise UsageError(
                f"{line.where}: the score is {line.reward}, not a finite number; score the run"
                " again"
            )
        if line.sample is None or line.row is None or not line.prompt or not line.is_own_id:
            self._note_missing(line)
        whole = (
            *(line.sample or 0, line.row or 0, line.prompt, line.expected, line.offset),
            *(line.position, line.repeat, line.occurrence),
            *(self._categories.code(line.category), self._groups.code(line.group)),
        )
        for append, number in zip(self._append_whole, whole, strict=True):
            append(number)
        reward = math.nan if line.reward is None else line.reward
        for append, value in zip(
            self._append_real, (reward, line.tokens, line.latency, line.characters), strict=True
        ):
            append(value)
        self._states.append(line.state)
        self._add_metrics(line)
        _count(self.models, line.model)
        if line.cause:
            _count(self.causes, line.cause)

    def add_block(self, block: Block) -> None:
        """Take in many lines."""
        n, before = len(block.states), len(self._states)
        nothing = np.zeros(n, dtype=np.uint64)
        whole = (
            block.sample,
            nothing if block.row is None else block.row,
            block.prompt,
            block.expected,
            block.offset,
        )
        for column, whole_numbers in zip(self._whole.values(), whole, strict=True):
            column.frombytes(whole_numbers.tobytes())
        codes = (labels.codes_of(names) for labels, names in self._labelled(block))
        signed = (block.position, block.repeat, block.occurrence, *codes)
        for column, integers in zip(self._signed.values(), signed, strict=True):
            column.frombytes(integers.tobytes())
        real = (block.reward, block.tokens, block.latency, block.characters)
        for numbers, values in zip(self._real.values(), real, strict=True):
            numbers.frombytes(values.tobytes())
        self._states.frombytes(block.states.tobytes())
        for name in block.metrics:
            self._begin_metric(name, before)
        for name, numbers in self._metrics.items():
            numbers.frombytes(
                (block.metrics[name] if name in block.metrics else np.full(n, np.nan)).tobytes()
            )
        for counts, counter in ((self.models, block.models), (self.causes, block.causes)):
            for text, count in counter.items():
                _count(counts, text, count)
        self.has_rows = self.has_rows and block.row is not None
        self.has_own_ids = self.has_own_ids and block.has_own_ids

    def extend(self, other: Columns) -> None:
        """Take in the lines that follow, read into columns of their own.

        Raises:
            ValueError: They hold more names than are kept, so that which are kept depends on the
                lines before them.
        """
        if other.is_cut:
            raise ValueError("more names than are kept")
        before = len(self._states)
        recoded = (
            mine.recoded(theirs, other.integers(name))
            for name, mine, theirs in self._labels_with(other)
        )
        codes = dict(zip(_CODED, recoded, strict=True))
        for name, whole in self._whole.items():
            whole.extend(other._whole[name])
        for name, signed in self._signed.items():
            if name in codes:
                signed.frombytes(codes[name].tobytes())
            else:
                signed.extend(other._signed[name])
        for name, real in self._real.items():
            real.extend(other._real[name])
        self._states.extend(other._states)
        for name in other._metrics:
            self._begin_metric(name, before)
        for name, numbers in self._metrics.items():
            numbers.extend(other._metrics.get(name) or array("d", [math.nan]) * len(other))
        for counts, counter in ((self.models, other.models), (self.causes, other.causes)):
            for text, count in counter.items():
                _count(counts, text, count)
        for flag in _FLAGS:
            setattr(self, flag, getattr(self, flag) and getattr(other, flag))

    @property
    def is_cut(self) -> bool:
        """Return whether there may have been more names than are kept."""
        return (
            len(self._metrics) >= METRICS_MAX
            or max(len(self.models), len(self.causes)) >= LABELS_MAX
        )

    def _labels_with(self, other: Columns) -> tuple[tuple[str, _Labels, _Labels], ...]:
        both = (self._categories, other._categories), (self._groups, other._groups)
        return tuple((name, *pair) for name, pair in zip(_CODED, both, strict=True))

    def _labelled(self, block: Block) -> tuple[tuple[_Labels, Sequence[str | None]], ...]:
        return (self._categories, block.category), (self._groups, block.group)

    def _begin_metric(self, name: str, before: int) -> None:
        """Make room for a metric, with NaN for the lines that stand already."""
        if name not in self._metrics and len(self._metrics) < METRICS_MAX:
            self._metrics[name] = array("d", bytes(0))
            self._metrics[name].extend([math.nan] * before)

    def _note_missing(self, line: Line) -> None:
        self.has_samples = self.has_samples and line.sample is not None
        self.has_rows = self.has_rows and line.row is not None
        self.has_questions = self.has_questions and line.prompt != 0
        self.has_own_ids = self.has_own_ids and line.is_own_id

    def _add_metrics(self, line: Line) -> None:
        for name in line.metrics:
            self._begin_metric(name, len(self._states) - 1)
        for name, values in self._metrics.items():
            values.append(float(line.metrics.get(name, math.nan)))

    def digests(self, name: str) -> Digests:
        """Return a column of digests, or ``offset``, without a copy; ``question`` joins prompts and
        gold answers.
        """
        if name == "question":
            return joined_digests(self.digests("prompt"), self.digests("expected"))
        return np.frombuffer(self._whole[name], dtype=np.uint64)

    def integers(self, name: str) -> Ints:
        """Return ``position``, ``repeat``, ``occurrence``, or the codes of ``category`` or
        ``group``; -1 is none.
        """
        return np.frombuffer(self._signed[name], dtype=np.int64)

    def numbers(self, name: str) -> Floats:
        """Return ``reward``, ``tokens``, ``latency`` or ``characters``; NaN is none."""
        return np.frombuffer(self._real[name], dtype=np.float64)

    def metric(self, name: str) -> Floats:
        """Return the values of a metric beside the reward; NaN where a line has none."""
        return np.frombuffer(self._metrics[name], dtype=np.float64)

    @property
    def states(self) -> npt.NDArray[np.int8]:
        """Return the state of each line."""
        return np.frombuffer(self._states, dtype=np.int8)

    @property
    def metric_names(self) -> list[str]:
        """Return the names of the metrics beside the reward."""
        return sorted(self._metrics)

    @property
    def categories(self) -> list[str]:
        """Return the names behind the codes of ``category``."""
        return list(self._categories.codes)

    @property
    def groups(self) -> list[str]:
        """Return the names behind the codes of ``group``."""
        return list(self._groups.codes)


def digest(value: object) -> int:
    """Return 64 bits that stand for a JSON value; the order of keys does not matter."""
    encoded = (
        value.encode("utf-8", "surrogatepass")
        if isinstance(value, str)
        else b"\x00" + dumps_bytes(value)
    )
    return int.from_bytes(blake2b(encoded, digest_size=DIGEST_BYTES).digest(), "little")


def joined(number: int, other: int) -> int:
    """Return a digest of two digests; their order matters."""
    return ((number * MIX) ^ (other + (number >> 7))) & _DIGEST_BITS


def digests_of(values: Sequence[object]) -> Digests:
    """Return `digest` of each value."""
    if not _TEXTS.issuperset(map(type, values)):
        return np.array([digest(text) for text in values], dtype=np.uint64)
    texts: Sequence[Any] = values
    digests = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
        for text in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False)


def joined_digests(first: Digests, other: Digests) -> Digests:
    """Return `joined` of each pair of digests."""
    return np.asarray((first * np.uint64(MIX)) ^ (other + (first >> np.uint64(7))))


def number_or_nan(value: Any) -> float:
    """Return a number, NaN for anything else."""
    return (
        float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else math.nan
    )


def _count(counts: dict[str, int], name: str | None, more: int = 1) -> None:
    if name is not None and (name in counts or len(counts) < LABELS_MAX):
        counts[name] = counts.get(name, 0) + more
