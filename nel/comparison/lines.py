"""What a comparison keeps of one line of results: numbers and digests, never a text. Does no
I/O.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nel.core.strict_json import dumps_bytes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Digests = npt.NDArray[np.uint64]

METRICS_MAX: Final = 32
"""Metrics beside the reward that are kept of one benchmark."""
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
MIX: Final = 0x9E3779B97F4A7C15
_DIGESTS: Final = ("sample", "row", "prompt", "expected", "offset")
_SIGNED: Final = ("position", "repeat", "occurrence")
_REAL: Final = ("reward", "tokens", "latency", "characters")
_SMALL: Final = ("state", "is_own_id")
_METRIC: Final = "metric "
"""Before the name of a metric among the columns."""
CODED: Final = ("category", "group")
"""Columns of texts that repeat, kept as numbers."""


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


class Columns:
    """The lines of one benchmark of one side, as arrays of about a hundred bytes a line."""

    def __init__(self) -> None:
        """Start without lines."""
        self._chunks: list[dict[str, npt.NDArray[Any]]] = []
        """Of digests 0 where a line has none, of numbers NaN, of codes -1."""
        self._sizes: list[int] = []
        self._joined: dict[str, npt.NDArray[Any]] = {}
        self._metrics: dict[str, None] = {}
        """Names, in the order in which they occur first."""
        self._codes: dict[str, dict[str, int]] = {name: {} for name in CODED}
        self.models: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()

    def __len__(self) -> int:
        """Return the number of lines."""
        return sum(self._sizes)

    def add(self, lines: Sequence[Line]) -> None:
        """Take in lines, at least one; of metrics those with one of the first `METRICS_MAX` names.

        Raises:
            ValueError: A value is not of its column's type, as with TypeError and OverflowError.
        """
        fields: dict[str, Sequence[Any]] = dict(
            zip(Line._fields, zip(*lines, strict=True), strict=True)
        )
        chunk: dict[str, npt.NDArray[Any]] = {
            name: np.array([number or 0 for number in fields[name]], dtype=np.uint64)
            for name in _DIGESTS
        }
        chunk |= {name: np.array(fields[name], dtype=np.int64) for name in _SIGNED}
        chunk |= {name: np.array(fields[name], dtype=np.float64) for name in _REAL}
        chunk |= {name: np.array(fields[name], dtype=np.int8) for name in _SMALL}
        for name, codes in self._codes.items():
            known = [
                -1 if text is None else codes.setdefault(text, len(codes)) for text in fields[name]
            ]
            chunk[name] = np.array(known, dtype=np.int64)
        rows = fields["metrics"]
        self._name_metrics(chain.from_iterable(rows))
        chunk |= {
            _METRIC + name: np.array([float(row.get(name, math.nan)) for row in rows])
            for name in self._metrics
        }
        self._chunks.append(chunk)
        self._sizes.append(len(lines))
        self.models.update(filter(None, fields["model"]))
        self.causes.update(filter(None, fields["cause"]))

    def extend(self, other: Columns) -> None:
        """Take in the lines that follow, read into columns of their own; these are used up."""
        for name, codes in self._codes.items():
            known = [codes.setdefault(text, len(codes)) for text in other._codes[name]]
            own = np.array([*known, -1], dtype=np.int64)
            for chunk in other._chunks:
                chunk[name] = own[chunk[name]]
        self._name_metrics(other._metrics)
        self._chunks += other._chunks
        self._sizes += other._sizes
        self.models.update(other.models)
        self.causes.update(other.causes)

    def _name_metrics(self, names: Iterable[str]) -> None:
        for name in names:
            if len(self._metrics) < METRICS_MAX:
                self._metrics.setdefault(name)

    @property
    def is_cut(self) -> bool:
        """Return whether there may have been more names than are kept."""
        return len(self._metrics) >= METRICS_MAX

    def has(self, name: str) -> bool:
        """Return whether every line has a digest, or a flag."""
        return bool(self._column(name).all())

    def _column(self, name: str) -> npt.NDArray[Any]:
        """Return a column, put together when it is first used; NaN where a chunk has none."""
        if name not in self._joined:
            nothing = np.array(math.nan)
            parts = [
                chunk.pop(name) if name in chunk else np.broadcast_to(nothing, (size,))
                for chunk, size in zip(self._chunks, self._sizes, strict=True)
            ]
            self._joined[name] = np.concatenate(parts)
        return self._joined[name]

    def digests(self, name: str) -> Digests:
        """Return a column of digests, or ``offset``; ``question`` joins prompts and
        gold answers.
        """
        if name == "question":
            return joined_digests(self.digests("prompt"), self.digests("expected"))
        return self._column(name)

    def integers(self, name: str) -> Ints:
        """Return ``position``, ``repeat``, ``occurrence``, or the codes of ``category`` or
        ``group``; -1 is none.
        """
        return self._column(name)

    def numbers(self, name: str) -> Floats:
        """Return ``reward``, ``tokens``, ``latency`` or ``characters``; NaN is none."""
        return self._column(name)

    def metric(self, name: str) -> Floats:
        """Return the values of a metric beside the reward; NaN where a line has none."""
        return self._column(_METRIC + name)

    @property
    def states(self) -> npt.NDArray[np.int8]:
        """Return the state of each line."""
        return self._column("state")

    @property
    def metric_names(self) -> list[str]:
        """Return the names of the metrics beside the reward."""
        return sorted(self._metrics)

    @property
    def categories(self) -> list[str]:
        """Return the name of each code of ``category``."""
        return list(self._codes["category"])

    @property
    def groups(self) -> list[str]:
        """Return the name of each code of ``group``."""
        return list(self._codes["group"])


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
