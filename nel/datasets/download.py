"""Gets files over HTTP with the standard library: bounded, with a few attempts, and with a token
that no other host gets to see.
"""

from __future__ import annotations

import http
import urllib.error
import urllib.request
from typing import Any, Final
from urllib.parse import urlsplit

FILE_BYTES_MAX: Final = 4 << 30
_CHUNK_BYTES: Final = 1 << 20
_TIMEOUT_SECONDS: Final = 30.0
_ATTEMPTS: Final = 3


class _KeepTokenHome(urllib.request.HTTPRedirectHandler):
    """Follows redirects, and sends the token to no other host."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        """Return the next request, without the token where its host is another one."""
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            following.remove_header("Authorization")
        return following


def open_url(url: str, token: str | None = None) -> Any:
    """Return the answer to a GET, retried after a fault of the server or of the connection.

    Raises:
        HTTPError: The server refuses, or fails to the last attempt.
        OSError: It cannot be reached.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "nel"})  # noqa: S310 - the user's own hub
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    opener = urllib.request.build_opener(_KeepTokenHome)
    for attempt in range(_ATTEMPTS):
        try:
            return opener.open(request, timeout=_TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            if error.code < http.HTTPStatus.INTERNAL_SERVER_ERROR or attempt == _ATTEMPTS - 1:
                raise
        except OSError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


def read_content(answer: Any) -> bytes | None:
    """Return the body of an answer; None where it has more than `FILE_BYTES_MAX`."""
    content = bytearray()
    while chunk := answer.read(_CHUNK_BYTES):
        content += chunk
        if len(content) > FILE_BYTES_MAX:
            return None
    return bytes(content)
