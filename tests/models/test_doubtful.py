"""What notes which requests the connections have carried: nothing is lost, and little of it is in memory."""

from __future__ import annotations

import resource
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nel.config.schema import EndpointConfig
from nel.models.doubtful import CarriedRequests, SentRequest
from nel.models.transport import Fetched, HttpTransport
from nel.models.transport.base import Carried
from nel.types import Request

N = 6000
"""Requests that fill some 350 KiB."""


class OutOfStep(HttpTransport):
    """A transport that has found two of its connections out of step."""

    unasked = (1, 3)


@pytest.fixture
def transport() -> OutOfStep:
    return OutOfStep(EndpointConfig(url="http://127.0.0.1:9/v1", model="m"), {})


def _note(carried: CarriedRequests, number: int) -> None:
    """Note the response to a request on one of five connections."""
    place = Carried(number % 5, is_first=number < 5)
    sample_id = f"sample-{number}-ä\n\u2028-{'x' * (number % 40)}"
    request = Request(protocol="chat_completions", model="m", sample_id=sample_id, repeat=number % 3)
    carried.note(Fetched(200, {}, b"", 0.1, carried=place), request, "f" * (number % 2))


def _noted(carried: CarriedRequests, transport: OutOfStep) -> list[int]:
    """Return the numbers of the requests in doubt."""
    return [int(asked.sample_id.split("-")[1]) for asked in carried.doubtful(transport) or ()]


IN_DOUBT = [number for number in range(5, N) if number % 5 in OutOfStep.unasked]
"""Those that two of the connections carried after their first response."""


def test_all_requests_of_a_connection_are_found_again(tmp_path: Path, transport: OutOfStep) -> None:
    """Wherever they are, in their order, and with all that names them; the first of each connection is in no doubt."""
    carried = CarriedRequests(tmp_path)
    for number in range(N):
        _note(carried, number)
        if number in (10, 1500, 4000):
            assert _noted(carried, transport) == [one for one in IN_DOUBT if one <= number]
    assert _noted(carried, transport) == IN_DOUBT
    found = carried.doubtful(transport) or []
    assert found[0] == SentRequest("sample-6-ä\n\u2028-xxxxxx", 0, "")
    assert found[1] == SentRequest("sample-8-ä\n\u2028-xxxxxxxx", 2, "")
    carried.close()


def test_memory_does_not_grow_with_the_requests(tmp_path: Path) -> None:
    """What is kept of them is in a file, which has no name: a kill leaves nothing."""
    carried = CarriedRequests(tmp_path)
    tracemalloc.start()
    try:
        for number in range(N):
            _note(carried, number)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 20 * N, "each of them takes some 60 bytes"
    assert not list(tmp_path.iterdir())
    carried.close()


@contextmanager
def _files_end_at(n_bytes: int) -> Iterator[None]:
    """Let no file of this process become larger, as a disk that fills up in the middle of a write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_full_disk_does_not_take_is_kept_in_memory(tmp_path: Path, transport: OutOfStep) -> None:
    """A line that was cut at the end of the disk is whole again; all is written once there is room."""
    carried = CarriedRequests(tmp_path)
    with _files_end_at(100_001):
        for number in range(4000):
            _note(carried, number)
        assert _noted(carried, transport) == [one for one in IN_DOUBT if one < 4000]
    for number in range(4000, N):
        _note(carried, number)
    assert _noted(carried, transport) == IN_DOUBT
    carried.close()
