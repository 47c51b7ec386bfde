"""What a hostile image can make nel hold and wait for, without an engine."""

from __future__ import annotations

import socket
import struct
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress

import pytest

from nel.sandbox.isolation.container import Container
from nel.sandbox.isolation.stream import EngineStream

MEGABYTE = 1 << 20


@pytest.fixture
def ends() -> Iterator[tuple[Container, socket.socket]]:
    ours, theirs = socket.socketpair()
    container = Container.__new__(Container)
    container._stream = EngineStream(ours)
    with ours, theirs:
        yield container, theirs


def flood(end: socket.socket, kind: int, frames: int, data: bytes) -> None:
    with suppress(OSError):
        for _ in range(frames):
            end.sendall(struct.pack(">BxxxL", kind, len(data)) + data)


@pytest.mark.parametrize("size", [60 * MEGABYTE, 0xFFFFFFFF])
def test_a_large_answer_is_refused_before_it_is_read(ends: tuple[Container, socket.socket], size: int) -> None:
    """A supervisor's answer is small; its frame costs no more than what is read of it."""
    container, theirs = ends
    data = struct.pack(">I", size) + b"x" * (60 * MEGABYTE)
    sender = threading.Thread(target=flood, args=(theirs, 1, 1, data), daemon=True)
    sender.start()
    tracemalloc.start()
    with pytest.raises(ValueError, match="an answer of"):
        container._receive(time.monotonic() + 60)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * MEGABYTE


def test_a_flood_of_standard_error_is_given_up(ends: tuple[Container, socket.socket]) -> None:
    """It would go on until the deadline of the job, which is minutes away."""
    container, theirs = ends
    sender = threading.Thread(target=flood, args=(theirs, 2, 4096, b"e" * 65536), daemon=True)
    sender.start()
    with pytest.raises(ValueError, match="floods standard error"):
        container._receive(time.monotonic() + 60)
