"""Each question to the log is answered by its index: a run of a million rows is not read for one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nel.engine.store.browsing import BrowsedStore
from nel.engine.store.log import Log
from nel.engine.store.projections.follow import count_verdicts, follow, taken_back, tally
from nel.engine.store.projections.pending import Pending
from nel.engine.store.projections.replies import exchanges, has_reply, replies, reply
from nel.engine.store.projections.results import results
from nel.engine.store.projections.spend import spend
from nel.engine.store.projections.transcript import transcript
from nel.engine.store.rows import JUDGE, RESEND, SCORER, Asked, answer_row, exchange_row, verdict_row
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.types import Response

KEY = (1, 0, 0)
JUDGED = Asked(JUDGE, 0, "strict", b"0" * 16)
QUESTIONS: dict[str, Callable[[BrowsedStore], object]] = {
    "results": lambda log: list(results(log, 1, 2)),
    "pending": lambda log: list(Pending(log).samples(1, 2)),
    "pending count": lambda log: Pending(log).count_pending(1, 2),
    "one pending": lambda log: list(Pending(log).samples_of(1, 0, 2)),
    "answered": lambda log: Pending(log).n_answered(1, 2),
    "has answers": lambda log: Pending(log).has_answers(),
    "has an answer": lambda log: Pending(log).has_answer(1),
    "has outcomes": lambda log: Pending(log).has_outcomes(1),
    "unscored": lambda log: list(Pending(log).unscored_answers(1, upto=5)),
    "request": lambda log: log.request(*KEY),
    "reply": lambda log: reply(log, KEY, JUDGED),
    "has a reply": lambda log: has_reply(log, 1, "strict"),
    "exchanges": lambda log: list(exchanges(log, 1)),
    "steps": lambda log: transcript(log, KEY),
    "calls": lambda log: replies(log, KEY, 9),
    "spend": lambda log: spend(log._connection, 1),
    "tally": lambda log: tally(log, 1),
    "follow": lambda log: follow(log, 1, 9),
    "taken back": taken_back,
    "outcomes": count_verdicts,
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Log]:
    with closing(Log(tmp_path / "run.db")) as store:
        store.put_benchmark("b", "b", {"repeats": 2})
        store.samples_of(1).add(iter(StoredSample(idx, f"s{idx}", idx + 1, "{}", None) for idx in range(4)))
        store.begin_session()
        yield store


def _statements(log: Snapshot | Log, ask: Callable[[], object]) -> list[str]:
    """Return what is executed, with its values, while something is asked."""
    executed: list[str] = []
    log._connection.set_trace_callback(executed.append)
    ask()
    log._connection.set_trace_callback(None)
    return executed


def _scans(log: Snapshot | Log, statements: Iterable[str]) -> list[str]:
    """Return the steps of their plans in which a whole table or index of the log is read."""
    plans = [
        row[3]
        for statement in statements
        if " steps" in statement and not statement.startswith("--")
        for row in log._connection.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]
    assert plans
    return [
        plan for plan in plans if plan.startswith("SCAN") and "CONSTANT ROW" not in plan and "json_each" not in plan
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_reads_what_its_index_says(store: Log, tmp_path: Path, question: str) -> None:
    """No projection reads the whole log, empty or not."""
    store.append_at_once([answer_row((1, 0, 0), "{}", Response(attempts=1)), verdict_row((1, 0, 0), "{}")])
    with BrowsedStore(tmp_path / "run.db") as log:
        assert _scans(log, _statements(log, lambda: QUESTIONS[question](log))) == []


def test_what_is_taken_back_is_found_by_its_index(store: Log) -> None:
    """A resume and a second look at a sample change rows, and read no others."""
    store.append_at_once([verdict_row((1, 0, 0), "{}", RESEND)])

    def take_back() -> None:
        store.void(1, keep_unanswered=True)
        store.void(1)
        store.doubt("s1", 0, "{}", again=RESEND)
        store.begin_round(1)

    assert _scans(store, _statements(store, take_back)) == []


async def test_the_round_is_known_before_the_writers_thread_starts(store: Log) -> None:
    """The connection is the thread's then: a verdict that looked its round up would read in a transaction of the thread."""
    store.begin_round(1)
    store.start_writer()
    executed: list[str] = []
    store._connection.set_trace_callback(executed.append)
    rows = [
        verdict_row((1, 0, 0), "{}"),
        exchange_row(KEY, Asked(SCORER, 0, None, b"1" * 16), "{}", Response(attempts=1)),
    ]
    await asyncio.gather(*(store.append([row]) for row in rows))
    await store.stop_writer()
    store._connection.set_trace_callback(None)
    assert [statement for statement in executed if "SELECT" in statement] == []
    assert store._connection.execute("SELECT attempt FROM steps WHERE role = 1").fetchall() == [(1,)]
