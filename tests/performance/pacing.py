"""How near a run comes to what an endpoint allows: slow ones, some that refuse by chance, some that take 50 a second.

    python tests/performance/pacing.py [--seconds 60]

"slow" answers after 50 to 150 ms; the ideal is concurrency divided by the mean latency. "limited" answers at once and
refuses what goes over 50 a second (a token bucket that holds 5), with and without a word about its limits; the ideal is
50 a second. "refuses by chance" answers after 50 to 150 ms and refuses a share of all requests whatever their rate; the
ideal is that of the slow one. What counts is the time from the first to the last answer, at the server.

"six seconds" answers each request after six seconds and is asked 6,144 questions, 1,024 at once, beside a loop of
aiohttp that does nothing else: what the wait for the first answer costs, from the first request to the last answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import ClientSession, TCPConnector, web
from measuring import cost_of, nel_run

from tests.support.serving import serve_in_thread

ANSWER = {
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Answer: 42"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 4},
}


@dataclass
class Server:
    """What a server allows, and what it saw."""

    rate: float = float("inf")
    burst: float = 5.0
    latency: float = 0.0
    tells: bool = False
    by_chance: float = 0.0
    is_even: bool = False
    level: float = 5.0
    filled: float = 0.0
    answered: int = 0
    refused: int = 0
    first: float = 0.0
    last: float = 0.0
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        """Answer or refuse."""
        await request.read()
        now = time.monotonic()
        self.first = self.first or now
        if random.random() < self.by_chance:
            self.refused += 1
            return web.json_response({"error": {"message": "overloaded"}}, status=429)
        if self.rate != float("inf"):
            self.level = min(self.burst, self.level + (now - (self.filled or now)) * self.rate)
            self.filled = now
            if self.level < 1:
                self.refused += 1
                return web.json_response({"error": {"message": "slow down"}}, status=429)
            self.level -= 1
        if self.latency:
            await asyncio.sleep(self.latency * (1.0 if self.is_even else random.uniform(0.5, 1.5)))
        self.answered += 1
        self.last = time.monotonic()
        return web.json_response(ANSWER, headers=self._headers())

    def _headers(self) -> dict[str, str]:
        if not self.tells:
            return {}
        names = {"limit": self.rate * 60, "remaining": int(self.level)}
        headers = {f"x-ratelimit-{name}-requests": f"{value:.0f}" for name, value in names.items()}
        return {**headers, "x-ratelimit-reset-requests": f"{(self.burst - self.level) / self.rate:.3f}s"}


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve from a thread of its own."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.answer)
    with serve_in_thread(app) as port:
        server.url = f"http://127.0.0.1:{port}/v1"
        yield server


def run_nel(server: Server, folder: Path, n: int, concurrency: int, *, preflight: bool = False) -> None:
    """Run n samples against a server."""
    dataset = folder / "data.jsonl"
    dataset.write_text("".join(json.dumps({"question": f"What is {i}?", "answer": "#### 42"}) + "\n" for i in range(n)))
    probing = ("-O", f"engine.preflight={str(preflight).lower()}")
    cost_of(nel_run(server.url, dataset, folder / "out", *probing, concurrency=concurrency))


async def ask_all(server: Server, n: int, concurrency: int) -> None:
    """Ask n questions with a loop that does nothing else."""
    body = {"model": "m", "messages": [{"role": "user", "content": "What is 1?"}]}
    places = iter(range(n))

    async def ask(session: ClientSession) -> None:
        for _ in places:
            async with session.post(f"{server.url}/chat/completions", json=body) as response:
                await response.json()

    async with ClientSession(connector=TCPConnector(limit=0)) as session:
        await asyncio.gather(*(ask(session) for _ in range(concurrency)))


def six_seconds(concurrency: int = 1_024, waves: int = 6) -> None:
    """Print what the first request costs at a slow endpoint."""
    took = {}
    for name in ("loop", "nel"):
        server = Server(latency=6.0, is_even=True)
        with tempfile.TemporaryDirectory() as folder, serving(server):
            if name == "nel":
                run_nel(server, Path(folder), waves * concurrency, concurrency, preflight=True)
            else:
                asyncio.run(ask_all(server, waves * concurrency, concurrency))
        took[name] = server.last - server.first
    print(f"six seconds, {concurrency:,} at once: nel {took['nel']:.1f} s, a loop {took['loop']:.1f} s", end=" ")
    print(f"({took['loop'] / took['nel']:.3f} of its throughput)", flush=True)


def main() -> None:
    """Print how near each comes to its ideal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    six_seconds()
    worlds = {
        "slow, concurrency 64": (Server(latency=0.1), 64, 64 / 0.1),
        "refuses 1 % by chance": (Server(latency=0.1, by_chance=0.01), 64, 64 / 0.1),
        "refuses 5 % by chance": (Server(latency=0.1, by_chance=0.05), 64, 64 / 0.1),
        "50/s, says nothing": (Server(rate=50), 32, 50.0),
        "50/s, says so in headers": (Server(rate=50, tells=True), 32, 50.0),
    }
    for name, (server, concurrency, ideal) in worlds.items():
        with tempfile.TemporaryDirectory() as folder, serving(server):
            run_nel(server, Path(folder), int(ideal * seconds), concurrency)
        rate = server.answered / (server.last - server.first)
        share = server.refused / (server.answered + server.refused)
        print(f"{name:26} {rate:7.1f}/s of {ideal:5.0f}/s ({rate / ideal:.1%}), refused {share:.2%}", flush=True)


if __name__ == "__main__":
    main()
