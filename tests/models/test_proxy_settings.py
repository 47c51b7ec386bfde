"""A proxy that is none is named with the variable that holds it; the endpoint's URL is not blamed."""

from __future__ import annotations

import asyncio

import pytest

from nel.config.schema import EndpointConfig
from nel.errors import ConfigError
from nel.models.faults import Fault
from nel.models.transport import transport_for
from nel.models.transport.settings import checked_proxy, proxy_for

URL = "http://endpoint.example/v1"
NONE = ["::::", "http://", "http://:3128", "http://host:port", "http://host:99999", "//", "http://a b:1", "http://[::1"]


@pytest.mark.parametrize("proxy", NONE)
def test_a_proxy_that_is_none_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    """Before anything is sent, and without the value, which may hold a password."""
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ConfigError, match="HTTP_PROXY") as caught:
        proxy_for(URL)
    assert "NO_PROXY" in str(caught.value)
    with pytest.raises(ConfigError, match="HTTP_PROXY"):
        transport_for(EndpointConfig(url=URL, model="m"), {})


def test_another_kind_of_proxy_is_named() -> None:
    """SOCKS is not spoken."""
    with pytest.raises(ConfigError, match="socks5 proxy; only HTTP"):
        checked_proxy("socks5://host:1080", "ALL_PROXY")


@pytest.mark.parametrize(
    ("proxy", "message"),
    [
        ("http://127.0.0.1:1", "the proxy 127.0.0.1:1 takes no connection: "),
        ("http://proxy.invalid:3128", "the proxy proxy.invalid:3128 cannot be found: "),
    ],
)
async def test_a_proxy_that_cannot_be_reached_is_the_cause(proxy: str, message: str) -> None:
    """The fault says so; the endpoint's name is not looked up."""
    endpoint = EndpointConfig(url=URL, model="m", proxy=proxy)
    async with transport_for(endpoint, {}) as transport:
        fault = await transport.fetch("GET", URL, None, {})
    assert isinstance(fault, Fault)
    assert fault.message.startswith(message)
    assert (fault.kind, fault.retryable, fault.never_connected) == ("connection", True, True)


async def test_a_proxy_opens_a_tunnel_to_an_endpoint_with_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for the endpoint's host and port alone, with the user of its URL; what it refuses is its fault."""
    heads: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        url = "https://model.invalid/v1"
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:word@127.0.0.1:{port}")
        async with transport_for(EndpointConfig(url=url, model="m"), {}) as transport:
            fault = await transport.fetch("GET", url, None, {"Authorization": "Bearer k"})
    (head,) = heads
    assert head.startswith(b"CONNECT model.invalid:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjp3b3Jk" in head
    assert b"Bearer" not in head
    assert isinstance(fault, Fault)
    assert fault.message == "the proxy refused the connection: HTTP 407 Proxy Authentication Required"
    assert fault.never_connected
