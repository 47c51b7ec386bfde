"""Whole runs under virtual time: worlds of kills, outages, full disks, judges, caches and tools, and what must hold.

A seed that fails prints its number and the command that runs it alone; put it into `regressions`.
"""

from __future__ import annotations

import pytest

from tests.simulation.judging import FIRST_JUDGED
from tests.simulation.regressions import REGRESSIONS
from tests.simulation.script import script_of
from tests.simulation.seeds import failures, trace_of
from tests.support.tiers import first_rows, representatives

_SEEDS = 200
_CHUNK = 5
_ACTING = 20
_STORM = 60
"""Seeds of the first kind that guard a merge, and a sixth of it of each other kind."""
_A_JUDGED = 222
"""Half a second; most worlds with judges take one or two, some seven."""
_JUDGED = [
    seed
    for seed in range(FIRST_JUDGED, 2 * FIRST_JUDGED)
    if script_of(seed).judging is not None and seed not in (*REGRESSIONS, _A_JUDGED)
][:29]
_VARIED = [
    seed
    for seed in range(2 * FIRST_JUDGED, 3 * FIRST_JUDGED)
    if (script := script_of(seed)).caching is not None or any(session.scoring_only for session in script.sessions)
][:30]


@pytest.mark.parametrize(
    "first",
    first_rows(1, range(0, _SEEDS, _CHUNK), storm=_STORM // _CHUNK),
    ids=lambda first: f"seeds-{first}-{first + _CHUNK - 1}",
)
def test_every_invariant_holds_in_every_world(first: int) -> None:
    """Nothing is lost, paid twice or counted wrongly, and every run ends."""
    assert failures(range(first, first + _CHUNK)) == []


@pytest.mark.parametrize(
    "seed", first_rows(1, [_A_JUDGED, *_JUDGED], storm=_STORM // 6), ids=lambda seed: f"judged-{seed}"
)
def test_every_invariant_holds_where_answers_are_judged(seed: int) -> None:
    """Judges that are down, silent or in doubt cost no answer and no verdict, and delay no other sample."""
    assert failures([seed]) == []


@pytest.mark.parametrize("seed", first_rows(1, _VARIED, storm=_STORM // 6), ids=lambda seed: f"varied-{seed}")
def test_every_invariant_holds_over_a_cache_and_where_answers_are_only_scored(seed: int) -> None:
    """A second run pays for nothing that is known, and scoring again sends nothing and loses nothing."""
    assert failures([seed]) == []


@pytest.mark.parametrize("seed", first_rows(1, range(_ACTING), storm=_STORM // 6), ids=lambda seed: f"acting-{seed}")
def test_every_invariant_holds_where_the_model_acts(seed: int) -> None:
    """What a tool did outside happens once, an episode goes on at its last step, and every request counts once."""
    assert failures([seed], acts=True) == []


@pytest.mark.parametrize(
    "seed", representatives([seed for seed in REGRESSIONS if seed >= _STORM], 973, 1672, 1876, 5163)
)
def test_what_once_failed_holds(seed: int) -> None:
    """A seed that found a fault stays."""
    assert failures([seed]) == []


def test_a_seed_is_one_world() -> None:
    """The same seed sends the same requests at the same times, or a failure could not be looked into."""
    assert trace_of(_A_JUDGED) == trace_of(_A_JUDGED)
