"""Which questions a stop rule left out, the answers that were in flight when it decided included.

Such an answer is in run.db and in no number of the run; it is shown as what was not asked, and can
be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nel.apps.view.recent import Recent
from nel.artifacts.early_stop import counted_questions
from nel.core.strict_json import dumps
from nel.engine.asking.stop_rules import DECISIONS
from nel.engine.store.browsing import BrowsedStore
from nel.types import JsonObject

_CACHED_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The questions of one benchmark that a stop rule left out."""

    counts: bytes = b""
    """By idx: whether a question counts; empty where all do."""

    def __contains__(self, idx: int) -> bool:
        return idx < len(self.counts) and not self.counts[idx]


_recent: Final[Recent[LeftOut]] = Recent(_CACHED_MAX)


def decisions_of(store: BrowsedStore) -> JsonObject:
    """Return what the stop rules of a run have decided, by benchmark."""
    decisions: JsonObject | None = store.meta(DECISIONS)
    return decisions or {}


def left_out(store: BrowsedStore, key: int) -> LeftOut:
    """Return what was left out of a benchmark, cached; nothing while no rule has decided."""
    decisions = decisions_of(store)
    if not decisions:
        return LeftOut()
    slot, plan = next((slot, plan) for number, slot, _, plan in store.benchmarks() if number == key)
    if slot not in decisions or not plan:
        return LeftOut()
    cache_key = dumps(
        [store.meta("run_id"), slot, plan.get("digest"), decisions[slot], store.meta("config")]
    )
    return _recent.of(cache_key, lambda: LeftOut(counted_questions(store, key, slot, plan)))
