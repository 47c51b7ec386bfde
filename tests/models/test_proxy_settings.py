"""A proxy that is none is named with the variable that holds it; the endpoint's URL is not blamed."""

from __future__ import annotations

import aiohttp
import pytest

from nel.config.schema import EndpointConfig
from nel.errors import ConfigError
from nel.models.transport import transport_for
from nel.models.transport.proxied import fault_through_proxy
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
        transport_for(EndpointConfig(url=URL, model="m"), {}, connections=1)


@pytest.mark.parametrize(
    ("proxy", "url"),
    [
        ("host:3128", "http://host:3128"),
        ("http://user:word@host:3128", "http://user:word@host:3128"),
        ("https://proxy.example", "https://proxy.example"),
        ("http://127.0.0.1:3128", "http://127.0.0.1:3128"),
        ("http://[::1]:3128/", "http://[::1]:3128/"),
    ],
)
def test_proxies_that_are_some(proxy: str, url: str) -> None:
    """With or without a scheme, by name or address."""
    assert checked_proxy(proxy, "HTTP_PROXY") == url


def test_another_kind_of_proxy_is_named() -> None:
    """SOCKS is not spoken."""
    with pytest.raises(ConfigError, match="socks5 proxy; only HTTP"):
        checked_proxy("socks5://host:1080", "ALL_PROXY")


def test_a_proxy_that_takes_no_connection_is_the_cause() -> None:
    """The fault says so."""
    key = aiohttp.client_reqrep.ConnectionKey("proxy.example", 3128, False, True, None, None, None)
    fault = fault_through_proxy(aiohttp.ClientProxyConnectionError(key, OSError(111, "refused")))
    assert fault.never_connected
    assert fault.message == "the proxy proxy.example:3128 takes no connection"
