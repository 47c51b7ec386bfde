"""Counts what a server was asked and what it answered; keeps digests of bodies, never a body.

The opt-in headers are part of the digest, so that two samples with the same text are two requests.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Final

_TELLING_HEADERS: Final = ("X-Nel-Sample-Id", "X-Nel-Repeat")


class RequestTally:
    """The numbers of ``GET /stats``."""

    def __init__(self) -> None:
        self._status: Counter[int] = Counter()
        self._received: Counter[bytes] = Counter()
        self._answered: Counter[bytes] = Counter()

    def digest(self, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return what stands for one request: its path, opt-in headers and body."""
        digest = hashlib.blake2b(path.encode(), digest_size=16)
        for name in _TELLING_HEADERS:
            digest.update(b"\0" + headers.get(name, "").encode("utf-8", "surrogateescape"))
        digest.update(b"\0" + body)
        return digest.digest()

    def count_request(self, digest: bytes) -> None:
        """Count a completion request that arrived, whatever becomes of it."""
        self._received[digest] += 1

    def count_answer(self, digest: bytes) -> None:
        """Count a completion request that was answered in full, that is, one that would be paid."""
        self._answered[digest] += 1

    def status(self, status: int) -> None:
        """Count an answer by its HTTP status."""
        self._status[status] += 1

    def as_dict(self) -> dict[str, object]:
        """Return the numbers as ``GET /stats`` shows them."""
        return {
            "requests": self._status.total(),
            "status": {str(status): count for status, count in sorted(self._status.items())},
            "completions": _repeats(self._received),
            "answered": _repeats(self._answered),
        }


def _repeats(counts: Counter[bytes]) -> dict[str, int]:
    return {
        "total": counts.total(),
        "distinct": len(counts),
        "max_repeats": max(counts.values(), default=0),
    }
