"""Rows of the log of a run: an exchange or a verdict is one row, written once.

Depends on the codec. A row is sealed by a checksum over all that a merge or a resume may not
change. A row that stands for a request has counts; an answer that sums up other rows has none.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from nel.core.strict_json import dumps, dumps_bytes, loads
from nel.engine.store.codec import DAMAGE, damage_of, decode_outcome, response_json, response_of
from nel.types import Outcome, Response, SampleKey, Usage

ANSWER: Final = 0
"""The last answer of a sample, or the sum that an episode or its ranked choices come to."""
VERDICT: Final = 1
TURN: Final = 2
"""The answer to an earlier turn of a conversation."""
CHOICE: Final = 3
"""The log-likelihoods of one ranked choice, or of several that were asked together."""
MODEL: Final = 4
"""A step of an episode, as all up to `END`."""
TOOL: Final = 5
USER: Final = 6
NOTE: Final = 7
VERIFY: Final = 8
END: Final = 9
"""Of an attempt that is not continued."""
JUDGE: Final = 10
SCORER: Final = 11
"""The answer to what a scorer asks the model."""

SqlValue: TypeAlias = str | int | float | bytes | None
KEEP, RESCORE, RESEND = 0, 1, 2
"""What a resume does again: nothing, the scoring, or the request as well."""


class Row(NamedTuple):
    """A row of the table ``steps``, without its number."""

    benchmark: int
    idx: int
    repeat: int
    role: int
    attempt: int = 0
    """Of an episode; of a verdict the round of scoring, which the log sets."""
    number: int = 0
    """Of a step, turn or choice; of a question, which time it was asked."""
    session: int = 0
    """That stored it; set by the log, as the checksum is."""
    void: int = 0
    """The session that took it back; 0 while it holds."""
    again: int = KEEP
    """Of a verdict: what a resume does again."""
    name: str | None = None
    """Of a judge."""
    digest: bytes | None = None
    """16 bytes of what was asked, where it may be asked again."""
    fault: str | None = None
    """The kind of the endpoint's or the tool's error; None where it went well."""
    requests: int | None = None
    """HTTP attempts; None where the row does not stand for a request, as with the tokens."""
    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    seconds: float | None = None
    """Of the exchange, or of a tool's work."""
    wall: float | None = None
    """From the start of an episode's attempt to the end of the step."""
    ended: float | None = None
    """When a request that this run sent was answered, in seconds since 1970; set by the log."""
    crc: int = 0
    request: str | None = None
    response: str | None = None

    @property
    def key(self) -> SampleKey:
        """Return which sample, in which repeat, it is of."""
        return SampleKey(*self[:3])

    @property
    def payer(self) -> str:
        """Return who is paid for it: a judge by name, or the evaluated model, which has none."""
        return (self.name or "") if self.role == JUDGE else ""


class Asked(NamedTuple):
    """Which further request of a sample: its role, and what tells it apart from others."""

    role: int
    number: int
    name: str | None = None
    digest: bytes | None = None

    @property
    def label(self) -> str:
        """Return a text that no other request of the sample has."""
        digest = "" if self.digest is None else self.digest.hex()
        return "-".join(filter(None, (_LABELS[self.role], self.name, digest, str(self.number))))


# What a row has before it is stored; one that is made by the names of so many columns takes
# twice the time.
_NOT_STORED: Final = (0, 0, KEEP)
"""``session``, ``void`` and ``again``."""
_NOT_ENDED: Final = (None, None, 0)
"""``wall``, ``ended`` and ``crc``."""
_LAST: Final = Asked(ANSWER, 0)
_LABELS: Final = {TURN: "turn", CHOICE: "choices", JUDGE: "judge", SCORER: "call"}
DIGEST_BYTES: Final = 16
COLUMNS: Final = ", ".join(Row._fields)


class Insertion(NamedTuple):
    """How a row is stored: a statement, and what it takes of the row's columns."""

    statement: str
    values: Callable[[Sequence[SqlValue]], Sequence[SqlValue]]


def _columns(*names: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    return itemgetter(*map(Row._fields.index, names))


def _insertion(*names: str) -> Insertion:
    statement = f"INSERT INTO steps({', '.join(names)}) VALUES({', '.join('?' * len(names))})"
    return Insertion(statement, _columns(*names))


_KEY: Final = ("benchmark", "idx", "repeat", "role", "session")
_COUNTS: Final = ("requests", "prompt", "completion", "reasoning", "cached", "seconds", "ended")
APPEND: Final = _insertion(*Row._fields)
INSERTIONS: Final = {
    ANSWER: _insertion(*_KEY, "fault", *_COUNTS, "crc", "request", "response"),
    VERDICT: _insertion(*_KEY, "attempt", "again", "crc", "response"),
}
"""By role, where the other columns are what the table has by default: each column that is given
takes half a microsecond of CPU. Rows of other roles are stored by `APPEND`.
"""
_SEALED_NUMBERS: Final = (
    "idx", "repeat", "role", "attempt", "number", "again",
    "requests", "prompt", "completion", "reasoning", "cached", "seconds", "wall", "ended",
)  # fmt: skip
_SEALED_TEXTS: Final = ("name", "fault", "request", "response")
SEALED: Final = ", ".join(
    ("crc", *_SEALED_NUMBERS, *(f"CAST({name} AS BLOB)" for name in _SEALED_TEXTS), "digest")
)
"""What `is_sealed` takes, as columns of the table: texts as their bytes, which may be damaged."""
DAMAGED: Final = f"NOT nel_is_sealed({SEALED})"
"""A condition that holds for a row that is not what was stored."""
_N_NUMBERS: Final = len(_SEALED_NUMBERS)
_SURROGATES: Final = "surrogatepass"
_ROLE, _ROUND = map(_SEALED_NUMBERS.index, ("role", "attempt"))
_sealed_values: Final = _columns(*_SEALED_NUMBERS, *_SEALED_TEXTS, "digest")


def is_sealed(crc: object, *values: Any) -> bool:
    """Return whether the values of a row, as `SEALED` names them, are those that were stored."""
    *texts, digest = values[_N_NUMBERS:]
    try:
        decoded = [None if text is None else text.decode("utf-8", _SURROGATES) for text in texts]
        return crc == _checksum((*values[:_N_NUMBERS], *decoded, digest))
    except DAMAGE:
        return False


def checksum_of(row: Sequence[Any]) -> int:
    """Return the checksum of a row, or of the values of its columns in order."""
    return _checksum(_sealed_values(row))


def _checksum(values: Sequence[Any]) -> int:
    """Return a checksum of the numbers and short texts of a row, and of its long ones; the sizes of
    these say where they end. JSON of numbers takes half the time of packing them. The round of a
    verdict is not sealed, since a merge numbers rounds otherwise.
    """
    *short, request, response, digest = values
    if short[_ROLE] == VERDICT:
        short[_ROUND] = 0
    n_request = n_response = None
    request_bytes = response_bytes = b""
    if request is not None:
        request_bytes = request.encode("utf-8", _SURROGATES)
        n_request = len(request_bytes)
    if response is not None:
        response_bytes = response.encode("utf-8", _SURROGATES)
        n_response = len(response_bytes)
    head = dumps_bytes((*short, digest and digest.hex(), n_request, n_response))
    return zlib.crc32(response_bytes, zlib.crc32(request_bytes, zlib.crc32(head)))


def check_seal(row: Row) -> None:
    """Raise StoreError for a row that is not what was stored."""
    try:
        is_intact = row.crc == checksum_of(row)
    except DAMAGE as error:
        raise damage_of(error) from error
    if not is_intact:
        raise damage_of(ValueError("its checksum is not that of its values"))


def answer_row(key: SampleKey, request: str | None, response: Response) -> Row:
    """Return the row of the last answer of a sample.

    Args:
        key: Of the sample.
        request: The body that was sent; None for a recorded answer and for a sum.
        response: The answer; that of an episode or of ranked choices is a sum.
    """
    row = exchange_row(key, _LAST, request, response)
    if response.episode is None and not response.choice_scores:
        return row
    return row._replace(
        requests=None, prompt=None, completion=None, reasoning=None, cached=None, seconds=None
    )


def exchange_row(
    key: SampleKey, address: Asked, request: str | None, response: Response, *, attempt: int = 0
) -> Row:
    """Return the row of a request and its answer."""
    usage, error, seconds = response.usage, response.error, response.latency_seconds
    fields = response_json(response)
    if error is not None:
        fields["error"] = {name: value for name, value in fields["error"].items() if name != "kind"}
    return Row(
        *key,
        address.role,
        attempt,
        address.number,
        *_NOT_STORED,
        address.name,
        address.digest,
        None if error is None else error.kind,
        response.attempts,
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.reasoning_tokens,
        usage.cached_tokens,
        None if seconds is None else float(seconds),  # as SQLite returns it
        *_NOT_ENDED,
        request,
        dumps(fields),
    )


def verdict_row(key: SampleKey, outcome: str, again: int = KEEP) -> Row:
    """Return the row of an encoded outcome."""
    return Row(*key, role=VERDICT, again=again, response=outcome)


def fields_of(row: Row) -> dict[str, Any]:
    """Return the JSON object that a row has as its response."""
    fields: dict[str, Any] = loads(row.response or "")
    return fields


def response_in(row: Row) -> Response:
    """Return the response of an exchange.

    Raises:
        StoreError: It cannot be read.
    """
    check_seal(row)
    try:
        fields = fields_of(row)
        if row.fault is not None:
            fields["error"]["kind"] = row.fault
        usage = Usage(
            prompt_tokens=row.prompt,
            completion_tokens=row.completion,
            reasoning_tokens=row.reasoning,
            cached_tokens=row.cached,
        )
        return response_of(
            fields, usage=usage, attempts=row.requests or 0, latency_seconds=row.seconds
        )
    except DAMAGE as error:
        raise damage_of(error) from error


def outcome_in(row: Row) -> Outcome:
    """Return the outcome of a verdict.

    Raises:
        StoreError: It cannot be read.
    """
    check_seal(row)
    return decode_outcome(row.response or "")
