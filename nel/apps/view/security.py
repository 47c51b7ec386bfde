"""Who may read the app, and what a page may do. Depends on aiohttp's server.

The first address carries a token; it is exchanged for a cookie that scripts cannot read and that
other sites cannot send, and a redirect takes it out of the address. Host is checked against
rebinding of names, Origin against requests of other sites. Each answer forbids its page every
script, style, image and connection but the app's own.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from nel.apps.http_server import LOOPBACK, host_of, is_named

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Server": "nel",
}
_ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, never bound
TOKEN: Final = "token"  # noqa: S105 - the name of a parameter
_TICKET_BYTES: Final = 24

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True, kw_only=True)
class Access:
    """Which clients may read."""

    token: str | None = field(repr=False)
    """None: every client that reaches the port is admitted, since a proxy in front decides."""
    hosts: frozenset[str]
    """Names by which the server may be addressed, in lower case and without a port."""
    base_path: str = ""
    """Empty, or a path that begins with a slash and does not end in one."""
    is_read_only: bool = False
    """Whether notes are refused."""
    _tickets: set[str] = field(default_factory=set, repr=False)

    def ticket(self) -> str | None:
        """Return a token that is good once: other users may read a browser's command line."""
        if self.token is None:
            return None
        ticket = secrets.token_urlsafe(_TICKET_BYTES)
        self._tickets.add(ticket)
        return ticket

    @property
    def cookie(self) -> str:
        """Return the value of the cookie, from which the token cannot be computed."""
        return hmac.new((self.token or "").encode(), b"nel view cookie", hashlib.sha256).hexdigest()

    @property
    def cookie_name(self) -> str:
        """Return the name of the cookie, another one for each server: ports share their cookies."""
        return f"nel-view-{hashlib.sha256(self.cookie.encode()).hexdigest()[:8]}"

    def admits(self, token: str) -> bool:
        """Return whether a token is the right one; a ticket is used up by that."""
        if self.token is not None and _equals(token, self.token):
            return True
        ticket = next((candidate for candidate in self._tickets if _equals(token, candidate)), None)
        if ticket is not None:
            self._tickets.discard(ticket)
        return ticket is not None


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(_TICKET_BYTES)


def hosts_of(host: str, allowed: Iterable[str]) -> frozenset[str]:
    """Return the names by which a server that listens on an address may be addressed.

    Args:
        host: The address that it listens on.
        allowed: Further names.
    """
    names = {*LOOPBACK, *allowed}
    if host not in _ANY_ADDRESS:
        names.add(host)
    return frozenset(name.lower().strip("[]") for name in names)


@web.middleware
async def check_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a request by another name than the server's: another site may have rebound its own."""
    name = host_of(request.headers.get("Host"))
    if not is_named(name, request.app[ACCESS].hosts):
        raise web.HTTPMisdirectedRequest(
            text=f"this server is not {name}; start it with --allowed-host {name}"
        )
    return await handler(request)


@web.middleware
async def check_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what changes something unless a page of this server asks for it."""
    if request.method not in ("GET", "HEAD"):
        access = request.app[ACCESS]
        origin = request.headers.get("Origin", "")
        parts = urlsplit(origin) if origin.startswith(("http://", "https://")) else None
        host = host_of(request.headers.get("Host"))
        same_site = request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
        same_host = parts is not None and host_of(parts.netloc) == host
        same_port = parts is not None and parts.netloc == request.headers.get("Host")
        # A proxy may listen on another port; on this machine another port is another program.
        if not (same_site and same_host and (same_port or host not in LOOPBACK)):
            raise web.HTTPForbidden(text="this was not asked for by a page of this server")
        if access.is_read_only:
            raise web.HTTPForbidden(text="this server was started with --read-only")
    return await handler(request)


@web.middleware
async def check_token(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Exchange the token of the first address for a cookie; refuse requests with neither."""
    access = request.app[ACCESS]
    if access.token is None or request.path.startswith(f"{access.base_path}/static/"):
        return await handler(request)
    token = request.query.get(TOKEN)
    if token is not None and request.method == "GET" and access.admits(token):
        return _exchange_token(request, access)
    if _equals(request.cookies.get(access.cookie_name, ""), access.cookie):
        return await handler(request)
    raise web.HTTPUnauthorized(text="open the address that nel view printed; it holds the token")


def _exchange_token(request: web.Request, access: Access) -> web.Response:
    """Return a redirect to the same address without its token, with the cookie."""
    target = request.rel_url.without_query_params(TOKEN)
    # One slash in front: a path that begins with two would be an address of another server.
    location = "/" + str(target).lstrip("/\\")
    response = web.Response(status=303, headers={"Location": location})
    response.set_cookie(
        access.cookie_name,
        access.cookie,
        path=access.base_path or "/",
        httponly=True,
        samesite="Strict",
        secure=request.headers.get("X-Forwarded-Proto") == "https",
    )
    return response


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Put the policy on every answer."""
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Cache-Control", "no-store")


def _equals(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), secret.encode())


ACCESS: Final = web.AppKey("nel_view_access", Access)
