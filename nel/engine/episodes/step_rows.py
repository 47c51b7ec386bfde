"""Steps as rows of the log, and their messages in the pool of messages.

A message is stored once: a request of a step names the messages that it has beyond those of the
step before, and an answer or a result is named by its step. So a run of 100 steps of 4 KB costs
0.4 MB, where whole bodies would cost 20.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from nel.core.message_json import call_json, message_json
from nel.core.strict_json import dumps, loads
from nel.engine.store.log import Pooled
from nel.engine.store.rows import (
    END,
    MODEL,
    NOTE,
    TOOL,
    USER,
    VERIFY,
    Asked,
    Row,
    check_seal,
    exchange_row,
    fields_of,
    response_in,
)
from nel.episodes.steps import MessageDigests, Step, StepKind, digest_of
from nel.tools.results import ToolResult
from nel.types import JsonObject, Message, SampleKey

BY_STEP: Final = "#"
"""Marks a message that a step made, by the step's number."""
_ROLES: Final[dict[StepKind, int]] = {
    "model": MODEL, "tool": TOOL, "user": USER, "note": NOTE, "verify": VERIFY,
}  # fmt: skip
_KINDS: Final = {role: kind for kind, role in _ROLES.items()}


class StepWriter:
    """Encodes the steps of one attempt, in the order of their numbers."""

    def __init__(self, key: SampleKey, attempt: int, digests: MessageDigests) -> None:
        self._key = key
        self._attempt = attempt
        self._digests = digests
        self._made: dict[str, str] = {}
        """By the digest of a message: the step that made it."""
        self._calls: dict[str, tuple[int, int]] = {}
        """By the digest of a call: the first answer that wrote it, and its position there."""
        self._last: tuple[int, list[str]] | None = None
        """The last model step and the digests of its messages."""
        self._settings = ""
        """Of the last model step, by digest; those of a step that names an earlier one are equal to
        its own unless stored.
        """

    def row(
        self, step: Step, messages: Sequence[Message] = (), settings: JsonObject | None = None
    ) -> tuple[Row, list[Pooled]]:
        """Return the row of a step, and the texts that it adds to the pool by their digests."""
        pool: dict[str, str] = {}
        request_json: dict[str, Any] = {"span": step.span} if step.span else {}
        if step.kind == "tool" and step.digest in self._calls:
            request_json["call"] = self._calls[step.digest]
        elif step.asked:
            request_json["asked"] = step.asked
        if step.kind == "model":
            # Stored where they change, and where a request names no earlier step to take them from.
            digest = digest_of(settings)
            is_new = digest != self._settings
            request_json |= self._messages(step.number, messages, pool)
            if is_new or "of" not in request_json:
                pool[digest] = dumps(settings)
                request_json["settings"] = self._settings = digest
        return self._encode(step, dumps(request_json)), list(pool.items())

    def _encode(self, step: Step, request_text: str) -> Row:
        address = Asked(_ROLES[step.kind], step.number, digest=bytes.fromhex(step.digest))
        wall, result = round(step.wall_seconds, 6), step.result
        if step.response is not None:
            row = exchange_row(
                self._key, address, request_text, step.response, attempt=self._attempt
            )
            return row._replace(wall=wall)
        row = Row(
            *self._key,
            role=address.role,
            attempt=self._attempt,
            number=address.number,
            digest=address.digest,
            wall=wall,
            request=request_text,
        )
        if result is None:
            return row
        fields = {
            "text": result.text,
            "n_cut": result.n_cut or None,
            "whole": result.whole,
            "snapshot": result.snapshot,
            "unsaved": result.unsaved,
        }
        return row._replace(
            fault=result.error,
            seconds=round(float(result.seconds), 6),
            response=dumps({name: value for name, value in fields.items() if value is not None}),
        )

    def note_replay(self, step: Step, messages: Sequence[Message]) -> None:
        """Note a step that is stored already; later ones refer to it."""
        if step.kind == "model":
            self._last = (step.number, [self._digests.of(message) for message in messages])
            self._settings = ""
        self.note_message(step)

    def note_message(self, step: Step) -> None:
        """Note the message that a finished step makes, and the calls in it."""
        message = message_of(step)
        for position, call in enumerate(message.tool_calls if message is not None else ()):
            self._calls.setdefault(digest_of(call_json(call)), (step.number, position))
        if message is not None:
            self._made[self._digests.of(message)] = f"{BY_STEP}{step.number}"

    def references(self, messages: Sequence[Message], pool: dict[str, str]) -> list[str]:
        """Return what names each message; those that no step made are put into the pool."""
        references = []
        for message in messages:
            digest = self._digests.of(message)
            references.append(self._made.get(digest, digest))
            if digest not in self._made:
                pool[digest] = dumps(message_json(message))
        return references

    def _messages(
        self, number: int, messages: Sequence[Message], pool: dict[str, str]
    ) -> dict[str, Any]:
        digests = [self._digests.of(message) for message in messages]
        before, earlier_digests = self._last or (None, [])
        # A conversation grows at its end: what both requests begin with is not named again.
        n_equal = 0
        while (
            n_equal < min(len(earlier_digests), len(digests))
            and earlier_digests[n_equal] == digests[n_equal]
        ):
            n_equal += 1
        self._last = (number, digests)
        added = self.references(messages[n_equal:], pool)
        return {"of": before, "first": n_equal, "add": added} if n_equal else {"add": added}


def end_row(key: SampleKey, attempt: int, reason: str) -> Row:
    """Return the row that ends an attempt which is not continued."""
    return Row(*key, role=END, attempt=attempt, response=dumps(reason))


class StoredAttempts:
    """The stored steps of one sample in one repeat, by attempt."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.steps: dict[int, dict[int, Step]] = {}
        self.requests: dict[int, dict[int, JsonObject]] = {}
        """As they are stored: which messages a model step sent."""
        self.ended: dict[int, str] = {}
        """Why an attempt is not continued."""
        for row in rows:
            check_seal(row)
            if row.role == END:
                self.ended[row.attempt] = loads(row.response or "")
                continue
            steps = self.steps.setdefault(row.attempt, {})
            request_json = loads(row.request or "")
            if "call" in request_json:
                answer, position = request_json["call"]
                if answer not in steps:
                    continue  # it was damaged, and a salvage left it out
                request_json["asked"] = _call_in(steps[answer], position)
            steps[row.number] = _step(row, request_json)
            self.requests.setdefault(row.attempt, {})[row.number] = request_json

    @property
    def last(self) -> int:
        """Return the number of the attempt to continue, or of the next one."""
        # An attempt without a reason why it ended was interrupted, and goes on.
        latest = max([*self.steps, *self.ended], default=0)
        return latest + 1 if latest in self.ended else latest

    def settings_of(self, attempt: int, number: int) -> str:
        """Return the digest of what a model step sent beside its messages."""
        request = self.requests[attempt][number]
        while "settings" not in request:
            request = self.requests[attempt][request["of"]]
        return str(request["settings"])

    def references_of(self, attempt: int, number: int) -> list[str]:
        """Return what names each message that a model step sent."""
        requests = self.requests[attempt]
        chain = [requests[number]]
        while "of" in chain[-1]:
            chain.append(requests[chain[-1]["of"]])
        # From the oldest on, each keeps the beginning of the one before it and adds to that.
        references: list[str] = []
        for request in reversed(chain):
            references = [*references[: request.get("first", 0)], *request["add"]]
        return references


def _call_in(answer: Step, position: int) -> JsonObject:
    assert answer.response is not None  # noqa: S101 - a model step has one
    return call_json(answer.response.message.tool_calls[position])


def message_of(step: Step) -> Message | None:
    """Return the message that a step adds to the conversation; None for a note or a fault."""
    if step.response is not None and step.response.error is None:
        return step.response.message
    if step.result is not None:
        return Message(
            role="tool", content=step.result.text, tool_call_id=str(step.asked.get("id", ""))
        )
    return None


def _step(row: Row, request_json: Mapping[str, Any]) -> Step:
    result = None
    if row.role == TOOL and row.response is not None:
        fields = fields_of(row)
        result = ToolResult(
            text=fields["text"],
            error=row.fault,  # type: ignore[arg-type]
            n_cut=fields.get("n_cut", 0),
            whole=fields.get("whole"),
            snapshot=fields.get("snapshot"),
            unsaved=fields.get("unsaved"),
            seconds=row.seconds or 0.0,
        )
    return Step(
        number=row.number,
        kind=_KINDS[row.role],
        digest=(row.digest or b"").hex(),
        span=request_json.get("span", ""),
        asked=request_json.get("asked", {}),
        response=response_in(row) if row.role == MODEL else None,
        result=result,
        wall_seconds=row.wall or 0.0,
    )
