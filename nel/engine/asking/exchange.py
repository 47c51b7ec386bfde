"""Stored or sent: each exchange with a model of a run comes here, be it for a sample, an earlier turn,
a ranked choice, a step of an episode, a scorer or a judge.

An answer is a row of the log before the permit of its request is released, so that a resume never
pays for it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from nel.engine.store.rows import Row, response_in
from nel.errors import EndpointError
from nel.models.client import Keep
from nel.models.payloads import Parse
from nel.types import Request, Response

Complete: TypeAlias = Callable[..., Awaitable[Response]]
"""Asks a model and returns its answer once it is kept, as `nel.models.client.Client.complete`."""
MayReuse: TypeAlias = Callable[[Row, Response], Awaitable[bool]]
"""Returns whether a stored answer is taken."""


class Sent(NamedTuple):
    """One request as it is sent."""

    request: Request
    body: bytes
    call: str = ""
    """Tells apart the requests that one (sample, repeat) makes."""


async def exchange(
    complete: Complete | None,
    sent: Sent,
    keep: Keep,
    *,
    stored_row: Row | None = None,
    may_reuse: MayReuse | None = None,
    parse: Parse | None = None,
    remembers: bool = True,
) -> Response:
    """Return the stored answer to a request, or send it and have its answer kept before it counts.

    Args:
        complete: Asks the model; None where only what is stored can be used.
        sent: The request.
        keep: Stores the answer, while the permit of the request is held.
        stored_row: That of an answer to the same request.
        may_reuse: Decides about a stored answer; each is taken when not given.
        parse: Reads the payload, as for `Client.complete`.
        remembers: Put the answer into the cache, as for `Client.complete`.

    Raises:
        EndpointError: There is no model to ask.
        GateClosed, EndpointDown, BudgetSpent: As `Client.complete`.
    """
    if stored_row is not None:
        response = response_in(stored_row)
        if may_reuse is None or await may_reuse(stored_row, response):
            return response
    if complete is None:
        raise EndpointError("there is no endpoint in this session to ask")
    return await complete(
        sent.request, sent.body, keep=keep, call=sent.call, parse=parse, remembers=remembers
    )
