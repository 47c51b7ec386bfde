"""Requests whose answer may be the response to another request, since their connection was out of step."""

from __future__ import annotations

from dataclasses import dataclass

from nel.models.transport import DirectTransport, SignedTransport, Transport


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a sample, as far as its answer has to be found again."""

    sample_id: str
    repeat: int
    cache_key: str
    """Empty without a cache."""


def doubtful_requests(transport: Transport) -> list[Asked] | None:
    """Return the requests that may have got the response to another one; None where no response came unasked."""
    unasked = transport.unasked if isinstance(transport, DirectTransport | SignedTransport) else ()
    found = [one.request for carried in unasked for one in carried if not one.is_first]
    return [asked for asked in found if isinstance(asked, Asked)] if unasked else None
