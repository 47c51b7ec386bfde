"""One HTTP/1.1 connection: one request at a time, responses parsed by llhttp, named deadlines.

States of a connection, and what moves it on:

    idle ──exchange()──> head ──headers complete──> body ──message complete──> idle, or closed
                                                     └─last event of a stream──> draining ──message
                                                     complete──> idle

From each state a deadline, an error or `close` leads to closed. In `draining` the response has been
returned and only the end of its message is outstanding.

A response must never be taken for the response to another request. A connection on which
unsolicited bytes arrive, or on which bytes are left over after a message, is closed and not used
again. A second response that arrives only after the next request was sent looks like the response
to that one; the connection is out of step from then on, and the response to its last request is
found as the unsolicited one. So what it carried after its first response is in doubt.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import Callable, Mapping
from typing import Final, cast

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpResponseParser,
)
from multidict import CIMultiDict

from nel.config.schema import EndpointConfig
from nel.models.faults import ANSWERED
from nel.models.streams import AnswerStream
from nel.models.transport.faults import (
    ConnectionDropped,
    ResponseIncomplete,
    ResponseTooLarge,
    deadline_exceeded,
)
from nel.models.transport.unpacking import unpacker

_INFORMATIONAL: Final = range(100, 200)
_HEAD_BYTES_MAX: Final = 256 * 1024
_DRAINING_SECONDS: Final = 1.0
"""For the end of a message after the last event of its stream."""
_RESPONSE: Final = b"HTTP/"
_TIMED_OUT: Final = (b"HTTP/1.1 408", b"HTTP/1.0 408")
"""What servers may send on an idle connection before they close it: RFC 9110, 15.5.9."""
_CLOCK_SLACK: Final = 0.001
"""An event loop may call a timer this much early."""


class Connection(asyncio.Protocol):
    """One connection. `exchange` may be called again after it has returned, while `is_usable`."""

    def __init__(
        self,
        endpoint: EndpointConfig,
        when_free: Callable[[Connection], None],
        when_unasked: Callable[[Connection], None] = lambda _: None,
        *,
        number: int = 0,
    ) -> None:
        """Prepare the protocol; the event loop attaches the transport in `connection_made`.

        Args:
            endpoint: Has the deadlines and the size limit of each response.
            when_free: Called when a connection whose `exchange` has returned becomes usable again,
                or is lost.
            when_unasked: Called when a response arrives that no request has asked for; the
                connection is closed then.
            number: Names the connection in its pool.
        """
        self._endpoint = endpoint
        self._first_byte_seconds = endpoint.first_byte_seconds
        self._when_free = when_free
        self._when_unasked = when_unasked
        self._poll: select.poll | None = None
        self.number = number
        self.n_carried = 0
        """Its responses so far."""
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = HttpResponseParser(self)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._deadline = 0.0
        self._waits_for = "first_byte_timeout"
        """Fault kind of the deadline: ``first_byte_timeout`` in the head, then ``idle_timeout``."""
        self._ends = 0.0
        self._reply: asyncio.Future[None] | None = None
        """Resolved when the response is complete; None while no `exchange` is running."""
        self._draining = False
        self._began = False
        """Whether any byte has arrived since the request was sent."""
        self._stream: AnswerStream | None = None
        self._unpack: Callable[[bytes], bytes] | None = None
        self._head: list[tuple[str, str]] = []
        """Names and values of headers, as they arrive."""
        self._has_progressed = False
        """Whether what arrived last begins the idle timeout again."""
        self._chunks: list[bytes] = []
        self._size = 0
        """Bytes of the head, then of the decoded body."""
        self._keep = False
        """Whether the last message is complete and allows another request."""
        self.status = 0
        """Of the last response."""
        self.headers: Mapping[str, str] = {}
        self.streamed = False
        self.has_served = False
        """Whether it has carried a response, so that the server may close it while idle."""
        self.idle_since = 0.0

    @property
    def is_usable(self) -> bool:
        """Return whether another request may be sent."""
        return self._keep and self._transport is not None and not self._transport.is_closing()

    def has_unread(self) -> bool:
        """Return whether bytes or the end have arrived that the event loop has yet to read."""
        return self._poll is not None and bool(self._poll.poll(0))

    @property
    def is_draining(self) -> bool:
        """Return whether the response was returned and the end of its message is outstanding."""
        return self._draining

    async def exchange(self, request: bytes, ends: float, stream: AnswerStream | None) -> bytes:
        """Send a request and return the response's body; attributes hold status and headers.

        A cancelled exchange closes the connection, so that the endpoint can stop working on the
        request.

        Args:
            request: Head and body.
            ends: End of the total timeout, on the event loop's clock.
            stream: Is fed the body if the response is a stream of events; the returned body is
                empty then.

        Raises:
            ConnectionDropped: The connection was closed before the first byte of the response.
            ResponseIncomplete: The connection was closed in the middle of the response, or a second
                response followed.
            DeadlineExceeded: A deadline passed.
            ResponseTooLarge: The head or the body is larger than its limit.
            HttpParserError: The response is not HTTP.
            ValueError: The body has a content encoding that was not accepted.
            zlib.error: The body does not match its content encoding.
        """
        if self._reply is not None or self._draining:
            raise RuntimeError("the connection carries another request")
        now = self._loop.time()
        self._began = self._keep = self.streamed = False
        self._stream, self._chunks, self._size = stream, [], 0
        self._waits_for = "first_byte_timeout"
        self._ends = ends
        self._reply = self._loop.create_future()
        self._set_deadline(min(now + self._first_byte_seconds, ends))
        # A server may close a connection as soon as it is made.
        if self._transport is None or self._transport.is_closing():
            self._fail(ConnectionDropped())
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
        """Abort the connection."""
        self._keep = self._draining = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Attach the transport."""
        self._transport = cast(asyncio.Transport, transport)
        opened = transport.get_extra_info("socket")
        # Not `select.select`, which takes no descriptor above 1,023.
        if opened is not None:
            self._poll = select.poll()
            self._poll.register(opened.fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        """Parse data; bytes that belong to no request close the connection."""
        reply = self._reply
        if (reply is None or reply.done()) and not self._draining:
            self.close()
            if data.startswith(_RESPONSE) and not data.startswith(_TIMED_OUT):
                self._when_unasked(self)
            return
        self._began = True
        self._has_progressed = False
        try:
            self._parser.feed_data(data)
        except HttpParserCallbackError as error:
            # llhttp wraps what one of the callbacks below has raised, such as ResponseTooLarge.
            cause = error.__context__
            self._fail(cause if isinstance(cause, Exception) else error)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(error)
        if self._waits_for == "first_byte_timeout":  # the head is still incomplete
            self._size += len(data)
            if self._size > _HEAD_BYTES_MAX:
                self._fail(
                    ResponseTooLarge(
                        f"the head of the response is larger than {_HEAD_BYTES_MAX} bytes"
                    )
                )
        if self._has_progressed and reply is not None and not reply.done():
            self._restart_idle_timeout()

    def eof_received(self) -> bool:
        """Return False: close this side too when the server closes its own."""
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """Resolve or fail the pending response, or report the lost connection to the pool."""
        self._keep = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._transport = None
        del self._parser  # it refers to this object: without the cycle, both are freed at once
        self._draining = False
        if self._reply is None:
            self._when_free(self)
            return
        if self._reply.done():
            return
        if not self._began:
            self._fail(ConnectionDropped())
        elif error is None and self._body_ends_with_connection():
            self._reply.set_result(None)
        else:
            where = "head" if self._waits_for == "first_byte_timeout" else "body"
            self._fail(
                ResponseIncomplete(f"the connection was closed in the middle of the {where}")
            )

    # Called by the parser, from within `data_received`.

    def on_message_begin(self) -> None:
        """Start a head, unless the response was complete already."""
        # Set since `exchange` began: one response is complete, so this is a second.
        if self._keep:
            self._when_unasked(self)
            raise ResponseIncomplete("the endpoint sent a second response to one request")
        self._head = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header."""
        self._head.append((name.decode(), value.decode("utf-8", "surrogateescape")))

    def on_headers_complete(self) -> None:
        """Determine how to read the body, and start the idle timeout."""
        status = self._parser.get_status_code()
        if status in _INFORMATIONAL:  # 100 Continue, 103 Early Hints: the final head follows
            return
        self.status = status
        self.headers = headers = CIMultiDict(self._head)
        encoding = headers.get("Content-Encoding")
        self._unpack = unpacker(encoding, self._endpoint.response_bytes_max) if encoding else None
        if self._stream is not None and status in ANSWERED:
            self.streamed = (
                headers.get("Content-Type", "").lower().startswith(self._stream.content_type)
            )
        self._waits_for = "idle_timeout"
        self._size = 0
        self._has_progressed = True

    def on_body(self, chunk: bytes) -> None:
        """Decode a piece of the body, and collect it or feed it to the stream."""
        if self._draining:
            return
        if self._unpack is not None:
            chunk = self._unpack(chunk)
        self._size += len(chunk)
        if self._size > self._endpoint.response_bytes_max:
            raise ResponseTooLarge(
                f"the response is larger than {self._endpoint.response_bytes_max} bytes"
            )
        if not self.streamed or self._stream is None:
            self._chunks.append(chunk)
            self._has_progressed = True
            return
        # False for comments, which keep a stalled stream alive.
        if self._stream.feed(chunk, time.monotonic()):
            self._has_progressed = True
        if self._stream.is_finished and self._reply is not None and not self._reply.done():
            # The last event is here, so the caller need not wait for the end of the message, which
            # servers send late.
            self._reply.set_result(None)
            if self._stream.is_broken:
                self.close()
                return
            self._draining = True
            self._set_deadline(self._loop.time() + _DRAINING_SECONDS)

    def on_message_complete(self) -> None:
        """Resolve the response, and decide whether the connection may be used again."""
        if self._parser.get_status_code() in _INFORMATIONAL:
            return
        transport = self._transport
        self.has_served = True
        self.idle_since = self._loop.time()
        # A response that came before the whole request was sent leaves the rest of the request on
        # the connection.
        is_sent = transport is not None and not transport.get_write_buffer_size()
        self._keep = self._parser.should_keep_alive() and is_sent
        if self._draining:
            self._finish_draining()
        elif self._reply is not None and not self._reply.done():
            self._reply.set_result(None)

    def _finish_draining(self) -> None:
        """Return the connection to the pool; while `exchange` runs, that is left to its caller."""
        self._draining = False
        if self._reply is None:
            self._when_free(self)

    def _restart_idle_timeout(self) -> None:
        """Move the deadline, at most to the end of the total timeout."""
        self._set_deadline(min(self._loop.time() + self._endpoint.idle_timeout_seconds, self._ends))

    def _set_deadline(self, deadline: float) -> None:
        """Set the deadline. A timer that fires earlier is kept and set again when it fires.

        That saves a cancelled timer for each piece of a body.
        """
        self._deadline = deadline
        if self._timer is not None:
            if self._timer_at <= deadline:
                return
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self._loop.call_at(deadline, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        is_waiting = self._reply is not None and not self._reply.done()
        if not (self._draining or is_waiting):
            return
        now = self._loop.time()
        if now < self._deadline - _CLOCK_SLACK:
            self._set_deadline(self._deadline)
        elif self._draining:
            self.close()
            self._finish_draining()
        elif now >= self._ends - _CLOCK_SLACK:
            self._fail(deadline_exceeded("timeout", self._endpoint.total_timeout_seconds))
        elif self._waits_for == "first_byte_timeout":
            self._fail(deadline_exceeded("first_byte_timeout", self._first_byte_seconds))
        else:
            self._fail(deadline_exceeded("idle_timeout", self._endpoint.idle_timeout_seconds))

    def _fail(self, error: Exception) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)
        self.close()

    def _body_ends_with_connection(self) -> bool:
        """Return whether the response states no length: closing the connection completes it."""
        if self._waits_for == "first_byte_timeout":
            return False
        return "Content-Length" not in self.headers and "Transfer-Encoding" not in self.headers
