"""SQLite counts outcomes as Python would, goes on where it ended, and takes no second asking for an answer."""

from __future__ import annotations

from pathlib import Path

from nel.engine.store.browsing import BrowsedStore
from nel.engine.store.codec import encode_outcome
from nel.engine.store.log import Log
from nel.engine.store.projections.follow import OutcomeCount, count_verdicts, tally
from nel.engine.store.rows import verdict_row
from nel.types import SECOND_ASKING, ModelFailure, Outcome, Scored, Unscored


def _put(store: Log, idx: int, repeat: int, outcome: str) -> None:
    store.append_at_once([verdict_row((1, idx, repeat), outcome)])


def test_outcomes_are_counted_by_what_they_are(tmp_path: Path) -> None:
    """Rewards add up, failures and causes are apart, a damaged record is one, and the mark leads on."""
    outcomes: list[Outcome] = [Scored(reward=0.5, metrics={})] * 3
    outcomes += [ModelFailure(kind="empty"), Unscored(cause="infra", kind="timeout"), ModelFailure(kind="empty")]
    store = Log(tmp_path / "run.db")
    store.put_benchmark("b", "b", {})
    for idx, outcome in enumerate(outcomes):
        _put(store, idx, 0, encode_outcome(outcome))
        _put(store, idx, SECOND_ASKING, encode_outcome(outcome))
    _put(store, 99, 0, "{damaged")
    with BrowsedStore(tmp_path / "run.db") as snapshot:
        mark, found = tally(snapshot, 0)
        assert tally(snapshot, mark) == (mark, [])
        assert count_verdicts(snapshot) == 7
    store.close()
    assert sorted(found, key=lambda one: (str(one.state), str(one.kind))) == [
        OutcomeCount(1, None, None, None, 1, 0.0),
        OutcomeCount(1, "model_failure", None, "empty", 2, 0.0),
        OutcomeCount(1, "scored", None, None, 3, 1.5),
        OutcomeCount(1, "unscored", "infra", "timeout", 1, 0.0),
    ]
