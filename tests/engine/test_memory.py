"""A run keeps nothing of a sample that is done: its memory grows with the concurrency, not with the dataset."""

from __future__ import annotations

import gc
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.engine.progress import Progress
from tests.support.endpoint import answer
from tests.support.runs import run_config, write_jsonl

EARLY = range(400, 600, 50)
LATE = range(800, 1000, 50)
"""Samples at which the memory is read: after what is made once, and before the end."""
N = 960
PATIENCE_SECONDS = 60
PLAIN = """
from nel import benchmark, scorer
@benchmark(name="mine", dataset="data.jsonl", prompt="{question}", target_field="answer")
@scorer
def mine(sample):
    return {"correct": True}
"""
EVERYTHING = """
from nel import benchmark, needs_judge, scorer
@benchmark(name="mine", dataset="data.jsonl", prompt="{turn}", target_field="answer", turns_field="turns")
@scorer
def mine(sample):
    sample.model_call_fn(f"Are you sure of {sample.response}?", max_tokens=5)
    return needs_judge(sample, template="binary_qa")
"""


class Quiet:
    """Answers the requests of samples one at a time, some of them only once all samples before are done.

    At those moments nothing else is under way, and the number of memory blocks that Python holds is noted.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._n_asked = 0
        self.blocks: dict[int, int] = {}

    def reply(self, body: dict[str, Any]) -> bytes:
        """Return the reply to a request, and note the memory before some samples."""
        if body["model"] == "m" and len(body["messages"]) == 1 and body.get("max_tokens") != 5:
            self._n_asked += 1
            if self._n_asked in (*EARLY, *LATE):
                self._note()
        text = "GRADE: C" if body["model"] == "judge" else "42"
        return json.dumps(answer(text).body).encode()

    def _note(self) -> None:
        ends = time.monotonic() + PATIENCE_SECONDS
        while self._progress.scored < self._n_asked - 1 and time.monotonic() < ends:
            time.sleep(0.002)
        if self._progress.scored == self._n_asked - 1:
            gc.collect()
            self.blocks[self._n_asked] = sys.getallocatedblocks()

    def fewest(self, samples: range) -> int:
        """Return the fewest blocks at some samples: those that have not just read a page of the dataset."""
        return min(self.blocks[number] for number in samples)


@contextmanager
def serving(reply: Callable[[dict[str, Any]], bytes]) -> Iterator[str]:
    """Serve replies to POST requests, each connection in a thread of its own; nothing is kept of a request."""

    def serve(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as requests, suppress(ConnectionError):
            while line := requests.readline():
                length = 0
                while (header := requests.readline().lower()) != b"\r\n":
                    if header.startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                if line.startswith(b"POST"):
                    body = reply(json.loads(requests.read(length)))
                else:
                    body = b'{"data":[{"id":"m"},{"id":"judge"}]}'
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        listening.shutdown(socket.SHUT_RDWR)
        accepting.join(PATIENCE_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("bench", [PLAIN, EVERYTHING], ids=["plain", "everything"])
def test_nothing_is_kept_of_a_sample_that_is_done(tmp_path: Path, bench: str) -> None:
    """Four hundred samples later there are as many blocks of memory, but for fewer than one for two samples."""
    rows = ({"question": f"Is {n} even?", "turns": [f"Is {n} even?", f"Is {n} odd?"], "answer": "x"} for n in range(N))
    write_jsonl(tmp_path / "data.jsonl", rows)
    (tmp_path / "bench.py").write_text(bench)
    progress = Progress()
    quiet = Quiet(progress)
    with serving(quiet.reply) as url:
        config: dict[str, Any] = run_config(
            url,
            [{"name": str(tmp_path / "bench.py")}],
            tmp_path / "out",
            engine={"concurrency": 1},
            generation={"temperature": 0.0},
        )
        if bench == EVERYTHING:
            config["cache"] = {"dir": str(tmp_path / "cache")}
            config["judge"] = {"panel": [{"url": url, "model": "judge"}]}
        result = nel.evaluate(config, progress=progress)
    assert result.benchmarks[0].accounting["n_scored"] == N
    grown = quiet.fewest(LATE) - quiet.fewest(EARLY)
    assert grown < (LATE.start - EARLY.start) // 2
