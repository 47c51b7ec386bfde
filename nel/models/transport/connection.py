"""One HTTP/1.1 connection: one request at a time, its answer parsed by llhttp, each deadline named.

Trap: an answer must never be taken for another request's. A connection on which anything came that was not asked for,
or anything was left over, is closed and not used again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser
from multidict import CIMultiDict

from nel.models.streams import EventStream
from nel.models.transport.faults import BrokenOff, HungUp, ResponseTooLarge, too_late
from nel.models.transport.unpacking import unpacker

_OK: Final = 200
_INFORMATIONAL: Final = range(100, 200)
_HEAD_BYTES_MAX: Final = 256 * 1024
_DRAINING_SECONDS: Final = 1.0
"""For the end of a message after the end of its stream of events."""
_CLOCK_SLACK: Final = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one answer may take."""

    first_byte_seconds: float
    idle_seconds: float
    total_seconds: float
    body_bytes_max: int


class Connection(asyncio.Protocol):
    """One connection; `exchange` may be called again once it has returned, while `is_usable`."""

    def __init__(self, limits: Limits, when_free: Callable[[Connection], None]) -> None:
        """Prepare the protocol for a transport.

        Args:
            limits: Of each answer.
            when_free: Called with a connection that nobody waits on when it has become usable again, or was lost.
        """
        self._limits = limits
        self._when_free = when_free
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._parser: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._deadline = 0.0
        self._waits_for = "first_byte_timeout"
        self._ends = 0.0
        self._reply: asyncio.Future[None] | None = None
        self._draining = False
        self._began = False
        self._stream: EventStream | None = None
        self._unpack: Callable[[bytes], bytes] | None = None
        self._raw_headers: list[tuple[bytes, bytes]] = []
        self._chunks: list[bytes] = []
        self._size = 0
        self._keep = False
        self.status = 0
        """Of the last answer."""
        self.headers: Mapping[str, str] = {}
        self.streamed = False
        self.has_served = False
        """Whether it has carried an answer, and may have been closed by the other side since."""
        self.idle_since = 0.0

    @property
    def is_usable(self) -> bool:
        """Return whether another request may be sent."""
        return self._keep and self._transport is not None and not self._transport.is_closing()

    @property
    def is_draining(self) -> bool:
        """Return whether the answer was returned and the end of its message is still to come."""
        return self._draining

    async def exchange(self, request: bytes, ends: float, stream: EventStream | None) -> bytes:
        """Send a request and return the body of its answer; what else it says is in the attributes.

        Args:
            request: Head and body.
            ends: When all time allowed is over, on the event loop's clock.
            stream: Is fed the body where events are sent; the body returned is empty then.

        Raises:
            HungUp: The connection ended before an answer began.
            BrokenOff: It ended in the middle of one.
            TooLate: A deadline passed.
            ResponseTooLarge: The body is larger than the limit.
            HttpParserError: This is not HTTP.
            ValueError: The body has an encoding that was not asked for.
            zlib.error: It is not what its encoding says.
        """
        if self._reply is not None or self._draining:
            raise RuntimeError("the connection carries another request")
        limits, now = self._limits, self._loop.time()
        self._began = self._keep = self.streamed = False
        self._stream, self._chunks, self._size = stream, [], 0
        self._waits_for = "first_byte_timeout"
        self._ends = ends
        self._reply = self._loop.create_future()
        self._arm(min(now + limits.first_byte_seconds, ends))
        if self._transport is None or self._transport.is_closing():
            self._fail(HungUp())
        else:
            self._transport.write(request)
        try:
            await self._reply
        except BaseException:
            self.close()
            raise
        finally:
            self._reply = None
        chunks = self._chunks
        self._chunks = []
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def close(self) -> None:
        """Drop the connection at once."""
        self._keep = self._draining = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = transport
        self._parser = HttpResponseParser(self)

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        reply = self._reply
        if (reply is None or reply.done()) and not self._draining:
            self.close()  # nobody asked for this
            return
        self._began = True
        try:
            self._parser.feed_data(data)
        except HttpParserCallbackError as error:
            cause = error.__context__
            self._fail(cause if isinstance(cause, Exception) else error)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(error)
        if self._waits_for == "first_byte_timeout":
            self._size += len(data)
            if self._size > _HEAD_BYTES_MAX:
                self._fail(ResponseTooLarge(f"the head of the response is larger than {_HEAD_BYTES_MAX} bytes"))

    def eof_received(self) -> bool:
        """Close with the other side."""
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """Tell whoever waits."""
        self._keep = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._transport = None
        self._parser = None
        self._draining = False
        if self._reply is None:
            self._when_free(self)
            return
        if self._reply.done():
            return
        if not self._began:
            self._fail(HungUp())
        elif error is None and self._ends_with_connection():
            self._reply.set_result(None)
        else:
            where = "its head" if self._waits_for == "first_byte_timeout" else "its body"
            self._fail(BrokenOff(f"the connection was closed in the middle of {where}"))

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Start a head."""
        if self._keep:
            raise BrokenOff("more came than was asked for")
        self._raw_headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        self._raw_headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Learn what the body will be."""
        status = self._parser.get_status_code()
        if status in _INFORMATIONAL:
            return
        self.status = status
        self.headers = headers = CIMultiDict(
            [(name.decode(), value.decode("utf-8", "surrogateescape")) for name, value in self._raw_headers]
        )
        self._unpack = unpacker(headers.get("Content-Encoding", ""), self._limits.body_bytes_max)
        if self._stream is not None and status == _OK:
            self.streamed = headers.get("Content-Type", "").lower().startswith("text/event-stream")
        self._waits_for = "idle_timeout"
        self._size = 0
        self._heard()

    def on_body(self, chunk: bytes) -> None:
        """Take a piece of the body."""
        if self._draining:
            return
        if self._unpack is not None:
            chunk = self._unpack(chunk)
        self._size += len(chunk)
        if self._size > self._limits.body_bytes_max:
            raise ResponseTooLarge(f"the response is larger than {self._limits.body_bytes_max} bytes")
        if not self.streamed or self._stream is None:
            self._chunks.append(chunk)
            self._heard()
            return
        if self._stream.feed(chunk, time.monotonic()):
            self._heard()
        if self._stream.is_finished and self._reply is not None and not self._reply.done():
            self._reply.set_result(None)
            if self._stream.is_broken:
                self.close()  # an endpoint need not finish what is of no use
                return
            self._draining = True
            self._arm(self._loop.time() + _DRAINING_SECONDS)

    def on_message_complete(self) -> None:
        """Hand the answer over, and say whether the connection may be used again."""
        if self._parser.get_status_code() in _INFORMATIONAL:
            return
        self.has_served = True
        self.idle_since = self._loop.time()
        self._keep = self._parser.should_keep_alive() and not self._transport.get_write_buffer_size()
        if self._draining:
            self._drained()
        elif self._reply is not None and not self._reply.done():
            self._reply.set_result(None)

    def _drained(self) -> None:
        """Offer the connection again, unless its answer is still to be taken: whoever takes it gives it back then."""
        self._draining = False
        if self._reply is None:
            self._when_free(self)

    def _heard(self) -> None:
        """Move the deadline on, up to the end of all time allowed."""
        self._arm(min(self._loop.time() + self._limits.idle_seconds, self._ends))

    def _arm(self, deadline: float) -> None:
        """Set the deadline. The timer is left where it rings too early: it is set anew when it does."""
        self._deadline = deadline
        if self._timer is not None:
            if self._timer_at <= deadline:
                return
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self._loop.call_at(deadline, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._draining:
            if self._loop.time() >= self._deadline - _CLOCK_SLACK:
                self.close()
                self._drained()
            else:
                self._arm(self._deadline)
            return
        if self._reply is None or self._reply.done():
            return
        now = self._loop.time()
        if now < self._deadline - _CLOCK_SLACK:
            self._arm(self._deadline)
            return
        limits = self._limits
        if now >= self._ends - _CLOCK_SLACK:
            self._fail(too_late("timeout", limits.total_seconds))
        elif self._waits_for == "first_byte_timeout":
            self._fail(too_late("first_byte_timeout", limits.first_byte_seconds))
        else:
            self._fail(too_late("idle_timeout", limits.idle_seconds))

    def _fail(self, error: Exception) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)
        self.close()

    def _ends_with_connection(self) -> bool:
        """Return whether the answer under way says no length, so that its end is the connection's."""
        if self._waits_for == "first_byte_timeout":
            return False
        return "Content-Length" not in self.headers and "Transfer-Encoding" not in self.headers
