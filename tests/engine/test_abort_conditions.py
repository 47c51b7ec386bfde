"""When a run stops because going on is pointless: too many samples lost in a row, or too many answers cut off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nel.config.schema import EngineConfig
from nel.engine.stopping.abort_conditions import EndpointFaultCounter, TruncationProbe
from nel.types import Generation, Response, ResponseError

LOST = ResponseError(kind="server_error", message="HTTP 500", status=500)
REFUSED = ResponseError(kind="auth", message="HTTP 401: no such key (request 17)", status=401)
LIMITED = Generation(max_tokens=64)
WHOLE, CUT_OFF = Response(text="4", finish_reason="stop"), Response(text="4", finish_reason="length")


def lost_until_stopped(counter: EndpointFaultCounter, most: int) -> int | None:
    """Return after how many samples lost in a row the counter stops the run, None if not within so many."""
    return next((number for number in range(1, most + 1) if counter.add(LOST) is not None), None)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"concurrency": 1}, 32), ({"concurrency": 16}, 48), ({"concurrency": 16, "faults_in_a_row_max": 5}, 5)],
)
def test_samples_lost_in_a_row_stop_a_run(settings: dict[str, int], expected: int) -> None:
    """As many as are configured, else three times the concurrency and at least 32."""
    assert lost_until_stopped(EndpointFaultCounter(EngineConfig(**settings), has_answered=True), 100) == expected


def test_an_answer_between_lost_samples_starts_the_count_again() -> None:
    """A failure of the model is an answer too; a request that is refused for its own sake is neither."""
    counter = EndpointFaultCounter(EngineConfig(faults_in_a_row_max=3), has_answered=False)
    assert lost_until_stopped(counter, 2) is None
    assert counter.add(None) is None
    assert counter.add(ResponseError(kind="bad_request", message="HTTP 400", status=400)) is None
    assert lost_until_stopped(counter, 3) == 3


def test_equal_refusals_in_a_row_raise_a_suspicion() -> None:
    """After eight that say the same, numbers aside; an answer or another refusal between them starts again."""
    counter = EndpointFaultCounter(EngineConfig(), has_answered=True)
    other = replace(REFUSED, message="a firewall objects to this text")
    for between in (other, None, ResponseError(kind="context_exceeded", message="", model_failure="context_exceeded")):
        assert [counter.add(REFUSED) for _ in range(7)] == [None] * 7
        assert counter.add(between) is None
    found = [counter.add(replace(REFUSED, message=f"HTTP 401: no such key (request {n})")) for n in range(8)]
    assert [status is not None for status in found] == [False] * 7 + [True]


def test_three_refusals_do_before_the_first_answer() -> None:
    """An endpoint that has answered gets more patience."""
    counter = EndpointFaultCounter(EngineConfig(), has_answered=False)
    assert [counter.add(REFUSED) is None for _ in range(3)] == [True, True, False]
    assert counter.add(None) is None
    assert [counter.add(REFUSED) is None for _ in range(8)] == [True] * 7 + [False]


def test_a_spent_quota_stops_at_once() -> None:
    """It holds for every further sample."""
    counter = EndpointFaultCounter(EngineConfig(), has_answered=True)
    assert counter.add(ResponseError(kind="quota", message="HTTP 402", status=402)) is not None


@pytest.mark.parametrize(("n_cut_off", "stops"), [(4, False), (5, False), (6, True)])
def test_more_truncated_answers_than_allowed_stop_a_run(n_cut_off: int, stops: bool) -> None:
    """Above the allowed share, not at it; looked at once all of the first answers are there."""
    counter = TruncationProbe(EngineConfig(truncation_probe=10, truncation_rate_max=0.5), [1])
    answers = [*[CUT_OFF] * n_cut_off, *[WHOLE] * (10 - n_cut_off)]
    found = [counter.add(1, "b", answer, LIMITED) for answer in answers]
    assert found[:9] == [None] * 9
    assert (found[9] is not None) is stops


def test_only_the_first_answers_of_each_benchmark_are_looked_at() -> None:
    """Later ones stop nothing, a lost one is not an answer, and another benchmark has a count of its own."""
    counter = TruncationProbe(EngineConfig(truncation_probe=2, truncation_rate_max=0.5), [1, 2])
    assert counter.add(1, "a", Response(error=ResponseError(kind="timeout", message="late")), LIMITED) is None
    assert [counter.add(1, "a", answer, LIMITED) for answer in (WHOLE, CUT_OFF, CUT_OFF, CUT_OFF)] == [None] * 4
    assert counter.add(2, "b", CUT_OFF, Generation()) is None
    ending = counter.add(2, "b", CUT_OFF, Generation())
    assert ending is not None
    assert "2 of the first 2 answers of b" in ending.reason
    assert "-O benchmarks.1.truncated=score" in ending.reason
