"""An executor: scores on this machine, and says at the end how many answers it scored."""

from __future__ import annotations

from collections.abc import Sequence

from nel.engine.executors import LocalExecutor, ScorerPool, ScoringWork
from nel.engine.scorers.call import ScoringTask


class Tally(LocalExecutor):
    """Everything is the local executor's, but for what comes between the run and its scorers."""

    name = "example-tally"

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.n_scored = 0

    def open_scorers(self, work: ScoringWork) -> ScorerPool:
        """Count what is given to the scorers."""
        scorers = super().open_scorers(work)
        put = scorers.put

        def put_and_count(item: ScoringTask) -> None:
            self.n_scored += 1
            put(item)

        scorers.put = put_and_count  # type: ignore[method-assign]
        return scorers

    def notes(self) -> Sequence[str]:
        """Return the count."""
        return [f"{self.n_scored} {self.unit} were scored"]


def tally(unit: str = "answers") -> Tally:
    """Score on this machine, and count the answers."""
    return Tally(unit)
