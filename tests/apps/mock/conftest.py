"""An HTTP client of its own for each test; the servers are the real ones, over loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest


class Client:
    """Sends requests to one session and reads the answers."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def chat(self, base_url: str, text: str, *, headers: dict[str, str] | None = None, **body: Any) -> Any:
        """Return (status, JSON) of a chat with one user message."""
        message = {"role": "user", "content": text}
        return await self.post(f"{base_url}/chat/completions", {"messages": [message], **body}, headers)

    async def complete(self, base_url: str, prompt: Any, **body: Any) -> Any:
        """Return (status, JSON) of a completions request."""
        return await self.post(f"{base_url}/completions", {"prompt": prompt, **body}, None)

    async def post(self, url: str, body: Any, headers: dict[str, str] | None = None) -> Any:
        """Return (status, JSON) of a POST."""
        async with self.session.post(url, json={"model": "demo", **body}, headers=headers) as response:
            return response.status, await response.json()

    async def get(self, url: str, headers: dict[str, str] | None = None) -> Any:
        """Return (status, JSON) of a GET."""
        async with self.session.get(url, headers=headers) as response:
            return response.status, await response.json()

    async def events(self, url: str, body: dict[str, Any]) -> list[Any]:
        """Return the events of a stream; ``[DONE]`` stays text."""
        async with self.session.post(url, json={"model": "demo", "stream": True, **body}) as response:
            assert response.status == 200
            assert response.content_type == "text/event-stream"
            blocks = (await response.text()).split("\n\n")
        assert blocks.pop() == ""
        data = [block.removeprefix("data: ") for block in blocks]
        return [item if item == "[DONE]" else json.loads(item) for item in data]


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(session)
