"""Packs the messages between a run and a host that scores answers or runs programs for it.

A packet is a list of messages, empty where a host only says that it is there. The first one in each
direction is JSON, so that two versions of nel understand it; the others are pickled, and only
classes of nel and plain ones are built of what a host sends.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping, Sequence
from typing import IO, Any, BinaryIO, Final, Literal, NamedTuple, TypeAlias

from nel.core.strict_json import dumps_bytes, loads
from nel.engine.scorers.call import Result
from nel.engine.scorers.channel import FRAME_BYTES_MAX, FrameError, ScorerReply, unpickle
from nel.sandbox import Program, ProgramVerdict
from nel.types import Response, Sample

HostKind: TypeAlias = 'Literal["scoring", "sandbox"]'
_LENGTH: Final = struct.Struct("<I")


class ScoreAnswer(NamedTuple):
    """To a host: score one answer."""

    number: int
    benchmark: int
    repeat: int
    sample: Sample
    response: Response
    conversation: tuple[dict[str, object], ...]


class RunProgram(NamedTuple):
    """To a host: run one program."""

    number: int
    program: Program


class ScorerQuestion(NamedTuple):
    """To the run: what a scorer asks."""

    question: int
    number: int
    attempt: int
    """How often the host has restarted this scoring."""
    what: str
    payload: object


class Finished(NamedTuple):
    """To the run: results by scoring."""

    results: list[tuple[int, Result]]
    seconds: float
    """That the slowest of them was with the host."""
    is_dry: bool
    """Whether the host has nothing left to compute."""


class Ran(NamedTuple):
    """To the run: the verdict on a program, or the `nel.errors.NelError` that takes its place."""

    number: int
    value: ProgramVerdict | Exception


ToHost: TypeAlias = "ScoreAnswer | RunProgram | ScorerReply"
ToRun: TypeAlias = "ScorerQuestion | Finished | Ran"


def pack_json(message: Mapping[str, Any]) -> bytes:
    """Return the first packet of either side."""
    return dumps_bytes(dict(message))


def unpack_json(packet: bytes) -> dict[str, Any]:
    """Return the first message of the other side.

    Raises:
        FrameError: It is none.
    """
    try:
        message = loads(packet.decode())
    except ValueError as error:
        raise FrameError(f"a first packet is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise FrameError("a first packet is not a JSON object")
    return message


def pack(messages: Sequence[ToHost | ToRun]) -> bytes:
    """Return messages as a packet."""
    return pickle.dumps(list(messages), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packet: bytes) -> list[ToRun]:
    """Return the messages of a host.

    Raises:
        FrameError: Something else wrote to the connection.
    """
    messages = unpickle(packet)
    if not isinstance(messages, list) or not all(
        isinstance(message, (ScorerQuestion, Finished, Ran)) for message in messages
    ):
        raise FrameError("a host sent something that is not a message")
    return messages


def unpack_from_run(packet: bytes) -> list[ToHost]:
    """Return the messages of the run, in a host."""
    messages: list[ToHost] = pickle.loads(packet)  # noqa: S301 - from the run itself
    return messages


def frame_of(packet: bytes) -> bytes:
    """Return a packet with its length before it, as `read_packet` reads it."""
    return _LENGTH.pack(len(packet)) + packet


def write_packet(stream: BinaryIO, packet: bytes) -> None:
    """Write a packet to a pipe."""
    stream.write(frame_of(packet))
    stream.flush()


def read_packet(stream: IO[bytes]) -> bytes | None:
    """Return the next packet of a pipe; None at its end.

    Raises:
        FrameError: Something else was written to it.
    """
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(header)
    if size > FRAME_BYTES_MAX:
        raise FrameError("a packet does not begin as one")
    data = stream.read(size)
    return data if len(data) == size else None
