"""`nel limiter serve` over a real socket, and runs that share it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from nel.apps.http_server import running
from nel.apps.limiter.app import limiter_app
from nel.models.limiter.messages import BadMessage, LimiterRefused, LimiterUnreachable, decode, encode
from nel.models.limiter.shared_gate import SharedGate
from nel.models.limiter.websocket import connector
from nel.models.pacing import Pace
from nel.models.rate_limit_headers import Quota
from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, sums

PACE = Pace(concurrency_max=4)


def _gate(url: str, *, token: str | None = None) -> SharedGate:
    connect = connector(url, token)
    return SharedGate(PACE, endpoint="e", connect=connect, parts=None, own_max=4, jitter=lambda: 0.5)


async def test_requests_are_granted_over_a_socket() -> None:
    """Two runs share four permits; what one gives back, the other gets; health names the endpoint."""
    async with running(limiter_app("secret", settle_seconds=0.0)) as base_url:
        url = base_url.removesuffix("/v1")
        one, other = _gate(url, token="secret"), _gate(url, token="secret")
        await one.open()
        await other.open()
        held = [await one.acquire(str(number)) for number in range(4)]
        waiting = asyncio.create_task(other.acquire("mine"))
        quota = {"requests": Quota(limit=60.0, remaining=50.0, reset_seconds=None)}
        one.record_success(held[0], tokens=None, quotas=quota)
        one.release(held[0])
        permit = await waiting
        other.record_refusal(permit, 0.01)
        other.record_failure(permit, of_connection=False)
        other.record_answer()
        async with (
            aiohttp.ClientSession(headers={"Authorization": "Bearer secret"}) as session,
            session.get(f"{url}/health") as response,
        ):
            (endpoint,) = (await response.json())["endpoints"]
        assert (endpoint["endpoint"], endpoint["clients"]) == ("e", 2)
        await one.aclose()
        await other.aclose()


async def test_who_has_no_token_is_refused() -> None:
    """A wrong token, a page of a browser and what is no hello get no seat, and the reply says why."""
    async with running(limiter_app("secret", settle_seconds=0.0)) as base_url:
        url = base_url.removesuffix("/v1")
        with pytest.raises(LimiterRefused, match="limiter-token-env"):
            await _gate(url, token="other").open()
        headers = {"Authorization": "Bearer secret"}
        async with aiohttp.ClientSession(headers=headers) as session:
            async with session.get(f"{url}/v1/join", headers={"Origin": "http://evil.example"}) as response:
                assert response.status == 403
            async with session.ws_connect(f"{url}/v1/join") as socket:
                await socket.send_bytes(encode([["hello", {"protocol": 99}]]))
                told = decode((await socket.receive()).data)
                assert told[0][0] == "refuse"
                assert "install the same nel" in str(told[0][1])
    with pytest.raises(LimiterUnreachable):
        await _gate(url).open()


@pytest.mark.parametrize(
    "frame", [b"no json", b"{}", b"[1]", b"[[]]"], ids=["text", "object", "no message", "empty message"]
)
def test_frames_that_are_none_are_refused(frame: bytes) -> None:
    """What is no list of messages is a BadMessage."""
    with pytest.raises(BadMessage):
        decode(frame)


def _arguments(endpoint: str, limiter: str, shard: str) -> list[str]:
    return [
        *("eval", "run", "--bench", "gsm8k", "--dataset", "rows.jsonl", "--model-url", endpoint, "--model-id", "m"),
        *("--shard", shard, "--output-dir", f"out-{shard[0]}", "--limiter", limiter, "--concurrency", "40"),
        *("-O", "endpoint.requests_per_minute=3000", "-O", "engine.preflight=false"),
    ]  # fmt: skip


def test_a_limiter_that_is_not_there_is_said(tmp_path: Path) -> None:
    """A run that is not a shard ends with one line and asks nothing; more shards than requests in flight do, too."""
    sums(tmp_path / "rows.jsonl", 2)
    with scripted(lambda call, number: answer("#### 0")) as endpoint:
        arguments = _arguments(endpoint.url, "http://127.0.0.1:9", "1/2")
        whole = [one for one in arguments if one not in ("--shard", "1/2")]
        ended = nel(*whole, cwd=tmp_path)
        assert ended.returncode == 2
        assert "nel: the limiter at http://127.0.0.1:9 cannot be reached" in ended.stderr
        ended = nel(*arguments, "-O", "engine.concurrency=1", cwd=tmp_path)
        assert ended.returncode == 2
        assert "2 shards cannot share 1 requests in flight" in ended.stderr
        assert endpoint.calls == []
