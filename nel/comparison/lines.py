"""The numbers and digests that a comparison keeps of each line of results; no text is kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nel.core.json_values import is_number
from nel.core.strict_json import dumps_bytes, dumps_unless_text

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
TEXTS: Final[frozenset[type]] = frozenset((str,))
MIX: Final = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio: an odd number whose bits look random, as in hash functions."""
_DIGESTS: Final = ("sample", "row", "prompt", "expected", "offset")
_SIGNED: Final = ("position", "repeat", "occurrence")
_REAL: Final = ("reward", "tokens", "latency", "characters")
CODED: Final = ("category", "group")
"""Columns of texts that repeat, kept as numbers."""


class SampleLine(NamedTuple):
    """One (sample, repeat) as its file has it. A named tuple, since a million of them are made."""

    where: str
    """File and line number, for errors."""
    offset: int
    """Byte offset of the line in its file."""
    position: int
    """The position in the dataset; no identity, but it orders rows of equal content."""
    repeat: int
    row: int | None
    """Digest of the dataset's row with its gold answer; None where the line lacks the row."""
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
    """The number in the id of a row that occurs several times, from 1; 0 in other ids."""
    is_own_id: bool = False
    """Whether the id is the row's own and not a hash of its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines of one benchmark as columns; the names are those of `SampleLine`."""

    n: int
    columns: dict[str, npt.NDArray[Any]]
    """A missing digest is 0, a number NaN, a code -1; ``row`` is 0 where rows were not read."""
    labels: Mapping[str, Iterable[str]]
    """The text of each code, by the names of `CODED`."""
    metrics: Mapping[str, Floats]
    """In the order in which they occur first; NaN where a line has none."""
    models: Mapping[str | None, int]
    causes: Mapping[str, int]
    has_samples: bool = True
    has_rows: bool
    has_questions: bool = True
    has_own_ids: bool


def block_of(lines: Sequence[SampleLine]) -> Block:
    """Return lines as columns.

    Args:
        lines: At least one.

    Raises:
        ValueError: A value is not of its column's type, as with TypeError and OverflowError.
    """
    values_by_field = zip(*lines, strict=True)  # one tuple of all lines for each field
    fields: dict[str, Sequence[Any]] = dict(zip(SampleLine._fields, values_by_field, strict=True))
    columns: dict[str, npt.NDArray[Any]] = {
        name: np.array([number or 0 for number in fields[name]], dtype=np.uint64)
        for name in _DIGESTS
    }
    columns |= {name: np.array(fields[name], dtype=np.int64) for name in _SIGNED}
    columns |= {name: np.array(fields[name], dtype=np.float64) for name in _REAL}
    labels = {}
    for name in CODED:
        columns[name], labels[name] = text_codes(fields[name])
    rows = fields["metrics"]
    return Block(
        n=len(lines),
        columns={**columns, "state": np.array(fields["state"], dtype=np.int8)},
        labels=labels,
        metrics={
            name: np.array([float(row.get(name, math.nan)) for row in rows])
            for name in dict.fromkeys(chain.from_iterable(rows))
        },
        models=Counter(fields["model"]),
        causes=Counter(filter(None, fields["cause"])),
        has_samples=None not in fields["sample"],
        has_rows=None not in fields["row"],
        has_questions=all(fields["prompt"]),
        has_own_ids=all(fields["is_own_id"]),
    )


def text_codes(texts: Sequence[str | None]) -> tuple[Ints, list[str]]:
    """Return texts as numbers, -1 for none, and the text of each number."""
    labels = [text for text in dict.fromkeys(texts) if text is not None]
    codes: dict[str | None, int] = {text: code for code, text in enumerate(labels)}
    return np.array([codes.get(text, -1) for text in texts], dtype=np.int64), labels


class Columns:
    """The lines of one benchmark of one side, as arrays of about a hundred bytes a line."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._joined: dict[str, npt.NDArray[Any]] = {}
        self._n = 0
        self._metrics: dict[str, None] = {}
        """Names, in the order in which they occur first."""
        self._codes: dict[str, dict[str, int]] = {name: {} for name in CODED}
        self.models: dict[str, int] = {}
        self.causes: dict[str, int] = {}
        self.has_samples = True
        self.has_rows = True
        self.has_questions = True
        self.has_own_ids = True

    def __len__(self) -> int:
        return self._n

    def add(self, block: Block) -> None:
        """Append lines; only the first `METRICS_MAX` metrics are kept."""
        for name in block.metrics:
            if len(self._metrics) < METRICS_MAX:
                self._metrics.setdefault(name)
        metrics = {name: block.metrics[name] for name in block.metrics if name in self._metrics}
        self._blocks.append(replace(block, metrics=metrics))
        self._n += block.n
        for name, codes in self._codes.items():
            # Maps codes of the block to codes of all blocks. A block's -1, which is none, indexes
            # the last entry, which is -1 again.
            recoded = [codes.setdefault(text, len(codes)) for text in block.labels[name]]
            code_of = np.array([*recoded, -1], dtype=np.int64)
            block.columns[name] = code_of[block.columns[name]]
        _count(self.models, block.models)
        _count(self.causes, block.causes)
        self.has_samples &= block.has_samples
        self.has_rows &= block.has_rows
        self.has_questions &= block.has_questions
        self.has_own_ids &= block.has_own_ids

    def extend(self, columns: Columns) -> None:
        """Append lines that were read into other columns, which cannot be used afterwards."""
        for block in columns._blocks:
            self.add(replace(block, labels=columns._codes))

    @property
    def is_cut(self) -> bool:
        """Whether some names may have been left out, since a limit is reached."""
        return (
            len(self._metrics) >= METRICS_MAX
            or max(len(self.models), len(self.causes)) >= LABELS_MAX
        )

    def _column(self, name: str) -> npt.NDArray[Any]:
        """Return a column, joined from its blocks, which are freed, at the first use."""
        if name not in self._joined:
            parts = [block.columns.pop(name) for block in self._blocks]
            self._joined[name] = np.concatenate(parts)
        return self._joined[name]

    def digests(self, name: str) -> Digests:
        """Return a column of digests, or ``offset``; ``question`` joins prompt and gold answer."""
        if name == "question":
            return joined_digests(self.digests("prompt"), self.digests("expected"))
        return self._column(name)

    def integers(self, name: str) -> Ints:
        """Return ``position``, ``repeat`` or ``occurrence``, or codes; the code -1 is none."""
        return self._column(name)

    def numbers(self, name: str) -> Floats:
        """Return ``reward``, ``tokens``, ``latency`` or ``characters``; NaN is none."""
        return self._column(name)

    def metric(self, name: str) -> Floats:
        """Return the values of a metric beside the reward; NaN where a line has none."""
        parts = [block.metrics.get(name, np.full(block.n, math.nan)) for block in self._blocks]
        return np.concatenate(parts)

    @property
    def states(self) -> npt.NDArray[np.int8]:
        """The state of each line."""
        return self._column("state")

    @property
    def metric_names(self) -> list[str]:
        """The names of the metrics beside the reward."""
        return sorted(self._metrics)

    @property
    def categories(self) -> list[str]:
        """The name of each code of ``category``."""
        return list(self._codes["category"])

    @property
    def groups(self) -> list[str]:
        """The name of each code of ``group``."""
        return list(self._codes["group"])


def digest(value: object) -> int:
    """Return 64 bits that stand for a JSON value; the order of keys does not matter."""
    # The zero byte keeps the text "1" apart from the number 1.
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
    else:
        encoded = b"\x00" + dumps_bytes(value)
    return int.from_bytes(blake2b(encoded, digest_size=DIGEST_BYTES).digest(), "little")


def gold_digest(gold: object) -> int:
    """Return the digest of a gold answer as text, as other tools store it; none is empty there.

    >>> gold_digest(5) == gold_digest("5"), gold_digest(None) == gold_digest("")
    (True, True)
    """
    return digest("" if gold is None else dumps_unless_text(gold))


def join_digests(a: int, b: int) -> int:
    """Return a digest of two digests; their order matters."""
    # The mask makes Python's integers wrap at 64 bits, as those of `joined_digests` do.
    return ((a * MIX) ^ (b + (a >> 7))) & _DIGEST_BITS


def digests_of(values: Sequence[object]) -> Digests:
    """Return `digest` of each value."""
    if not TEXTS.issuperset(map(type, values)):
        return np.array([digest(text) for text in values], dtype=np.uint64)
    texts: Sequence[Any] = values
    digests = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
        for text in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False)


def joined_digests(a: Digests, b: Digests) -> Digests:
    """Return `join_digests` of each pair of digests; arrays of uint64 need no mask."""
    return np.asarray((a * np.uint64(MIX)) ^ (b + (a >> np.uint64(7))))


def number_or_nan(value: Any) -> float:
    """Return a number, NaN for anything else."""
    return float(value) if is_number(value) else math.nan


def length_or_nan(text: str | None) -> float:
    """Return the characters of an answer, NaN where there is none."""
    return math.nan if text is None else float(len(text))


def _count(
    counts: dict[str, int], block_counts: Mapping[str | None, int] | Mapping[str, int]
) -> None:
    for name, count in block_counts.items():
        if name is not None and (name in counts or len(counts) < LABELS_MAX):
            counts[name] = counts.get(name, 0) + count
