"""The messages between the run and a worker process, and the frames that carry them over a socket.

The worker reads and writes with `multiprocessing.connection`, the run the same frames with asyncio.
A scorer may return an object of any class, so only those of nel and plain ones are unpickled.
"""

from __future__ import annotations

import asyncio
import io
import pickle
import struct
import types
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from nel.engine.scorers.call import Result
from nel.errors import NelError
from nel.types import ScorerInput

FRAME_BYTES_MAX: Final = 1 << 30
_SIZE: Final = struct.Struct("!i")
"""As `multiprocessing.connection` writes it."""
_PLAIN: Final = {
    "builtins": {"complex", "bytearray", "frozenset", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "pathlib": {"PosixPath", "PurePosixPath"},
    "uuid": {"UUID"},
}
"""Classes outside nel that a message may hold, by module; building one runs no code of a scorer."""

Ask: TypeAlias = "Callable[[str, object], object]"
"""Asks the run for e.g. a model's answer and blocks; in async scorers it is an awaitable."""


class FrameError(ValueError):
    """What came over the socket is not a message; something else wrote to it."""


# Messages between the run and a worker. Named tuples, since they pickle faster than dataclasses.


class ScoreRequest(NamedTuple):
    """To the worker: score one answer."""

    number: int
    """Of the scoring; every later message about it has this number."""
    benchmark: int
    inputs: Sequence[ScorerInput]
    seconds: float
    """After which an async scoring is cancelled; the run kills the process of a sync one."""


class ScorerReply(NamedTuple):
    """To the worker: the answer to a question, or the error that takes its place."""

    question: int
    value: object
    error: NelError | None = None


class ScorerQuestion(NamedTuple):
    """To the run: what a scorer asks."""

    question: int
    number: int
    """Of the scoring that asks."""
    what: str
    payload: object


class Finished(NamedTuple):
    """To the run: results by scoring; None for one that took too long."""

    results: list[tuple[int, Result | None]]


async def reply_to(question: int, answering: Awaitable[object]) -> ScorerReply:
    """Return the reply to a question, once what answers it has done so or has failed."""
    try:
        return ScorerReply(question, await answering)
    except NelError as error:
        return ScorerReply(question, None, error)


Order: TypeAlias = "ScoreRequest | ScorerReply"
Message: TypeAlias = "Order | ScorerQuestion | Finished"


def dumps(message: Message) -> bytes:
    """Return a message as the bytes of a frame."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def loads_order(data: bytes) -> Order:
    """Return a message of the run, in a worker."""
    order: Order = pickle.loads(data)  # noqa: S301 - from the run itself
    return order


def encode_frame(message: Message) -> bytes:
    """Return one message as it is sent over a connection."""
    data = dumps(message)
    return _SIZE.pack(len(data)) + data


async def read_frame(reader: asyncio.StreamReader) -> ScorerQuestion | Finished:
    """Return the next message of a worker.

    Raises:
        asyncio.IncompleteReadError: Its process is gone.
        FrameError: It is not a message of the worker.
    """
    (size,) = _SIZE.unpack(await reader.readexactly(_SIZE.size))
    if not 0 <= size <= FRAME_BYTES_MAX:
        raise FrameError("a frame does not begin as one")
    message = unpickle(await reader.readexactly(size))
    if not isinstance(message, (ScorerQuestion, Finished)):
        raise FrameError(f"a worker sent a {type(message).__name__}")
    return message


def unpickle(data: bytes) -> object:
    """Return what a scorer process pickled; only classes of nel and plain ones are built.

    Raises:
        FrameError: It holds something else.
    """
    try:
        message: object = _Unpickler(io.BytesIO(data)).load()
    except Exception as error:
        raise FrameError(f"a frame holds no message: {error}") from error
    return message


class _Unpickler(pickle.Unpickler):
    """Builds only nel's and plain classes; others could run anything in the run's process."""

    _admitted: ClassVar[dict[tuple[str, str], Any]] = {}
    """What was found before; each message has the same few classes."""

    def find_class(
        self, module: str, name: str
    ) -> Any:  # a class or a function, as in the base class
        kind = self._admitted.get((module, name))
        if kind is None:
            kind = self._admitted[module, name] = self._admit(module, name)
        return kind

    def _admit(self, module: str, name: str) -> Any:
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        if module.partition(".")[0] == "nel" and "." not in name:
            kind = super().find_class(module, name)
            is_own = getattr(kind, "__module__", None) == module
            if is_own and (
                isinstance(kind, type)
                or (isinstance(kind, types.FunctionType) and module == "nel.errors")
            ):
                return kind
        raise pickle.UnpicklingError(f"{module}.{name} may not cross")
