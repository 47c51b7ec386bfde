"""A small leaderboard whose every number can be counted on paper."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nel.apps.leaderboard.pair_results import PairResult, PairResults
from nel.apps.leaderboard.pairing import Forfeit
from nel.apps.leaderboard.standings import StandingsSettings, standings_json


def entries_of(*labels: str) -> list[dict[str, Any]]:
    return [{"label": label, "model": label, "run_id": f"run-{label}", "identity": "sha256:0"} for label in labels]


def judged_by(name: str) -> dict[str, Any]:
    """Return the stored plan of a judging run, as far as a leaderboard reads it."""
    return {"judge": {"panel": [{"name": name, "model": name}]}}


def small() -> PairResults:
    """Return three models on two questions; a and b met three times, once settled by a failure, and once in vain."""
    judged = [
        PairResult(question="q0", left="a", right="b", score=1.0, length=0.5, orders=(1.0, 1.0)),
        PairResult(question="q1", left="b", right="a", score=0.5, length=-0.2, orders=(1.0, 0.0)),
        PairResult(question="q0", left="c", right="a", score=0.0, length=0.1, orders=(0.0, 0.5)),
        PairResult(question="q1", left="c", right="b", score=1.0, length=0.0, orders=(1.0, 1.0)),
    ]
    forfeit = Forfeit(
        question="q1", repeat=0, left="a", right="c", score=0.0, left_failure="truncated", right_failure=None
    )
    left_out = Counter({("b", "c", "b", "infra:timeout"): 1, ("a", "b", "judge", "judge:no_verdict"): 2})
    return PairResults(judged=judged, forfeits=[forfeit], left_out=left_out, plan=judged_by("solomon"))


def board_of(judged: PairResults, *labels: str, **settings: Any) -> dict[str, Any]:
    """Return a whole leaderboard.json."""
    return {
        "format": 1,
        "sdk": "nel 0",
        "run_id": "x",
        "benchmark": {"benchmark": "talk", "dataset.sha256": "0", "prompt.sha256": "0", "system_prompt": None},
        "judge": judged.plan["judge"],
        "scheduling": {"baseline": None, "seed": 0, "n_questions_apart": 0},
        **standings_json(judged, entries_of(*labels), StandingsSettings(**settings)),
    }
