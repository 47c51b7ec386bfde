"""Position bias: how a judge's verdict on a pair depends on the order of the answers.

A verdict that changes with the order favours a position: the answer shown first wins both times, or once with a tie the
other time, or the second does (Zheng et al. 2023, arXiv 2306.05685). An unbiased judge's verdicts change too: only the
shares of the positions among the changed verdicts distinguish bias from noise. Depends on `nel.metrics.intervals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypedDict

from nel.metrics.intervals import LEVEL, wilson_interval

Position: TypeAlias = Literal["first", "second", "tie"]
_FAVOURED: Final[dict[Position, int]] = {"first": 1, "second": -1, "tie": 0}


class ShareJson(TypedDict):
    """A share with Wilson's interval, or the reason why it has none."""

    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_level: float
    ci_method: str
    reason: str | None


class PositionBiasJson(TypedDict):
    """Counts of pairs by how their verdict depends on the order, and shares."""

    n_pairs: int
    n_consistent: int
    n_first: int
    n_second: int
    consistency: ShareJson
    first_share: ShareJson


@dataclass(slots=True)
class PositionBiasCounts:
    """Counts pairs that one judge saw in both orders."""

    n_pairs: int = 0
    n_first: int = 0
    """Pairs whose verdict changed with the order, in favour of the answer shown first."""
    n_second: int = 0
    """The same in favour of the answer shown second."""

    def add(self, before: Position, after: Position) -> None:
        """Count a pair, given the position that won in each order."""
        # A judge that prefers one of the answers names opposite positions, which cancel out, as two ties do.
        leaning = _FAVOURED[before] + _FAVOURED[after]
        self.n_pairs += 1
        self.n_first += leaning > 0
        self.n_second += leaning < 0

    def as_json(self) -> PositionBiasJson:
        """Return counts and shares."""
        changed = self.n_first + self.n_second
        consistent = self.n_pairs - changed
        return {
            "n_pairs": self.n_pairs,
            "n_consistent": consistent,
            "n_first": self.n_first,
            "n_second": self.n_second,
            "consistency": _share(consistent, self.n_pairs, "no pair was seen in both orders"),
            "first_share": _share(self.n_first, changed, "no verdict changed with the order"),
        }


def _share(part: int, whole: int, reason: str) -> ShareJson:
    found = wilson_interval(part, whole) if whole else None
    return {
        "value": part / whole if whole else None,
        "ci_lower": found.lower if found else None,
        "ci_upper": found.upper if found else None,
        "ci_level": LEVEL,
        "ci_method": found.method if found else "none",
        "reason": None if found else reason,
    }
