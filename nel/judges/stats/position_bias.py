"""What the order in which two answers are shown does to a judge's verdict. Pure.

A verdict that changes with the order leans to a seat: the answer shown first wins both times, or once with a tie the
other time, or the second does (Zheng et al. 2023, arXiv 2306.05685). Trap: a judge without a leaning still wavers; only
the seats' shares among the changed verdicts tell a bias from noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from nel.metrics.intervals import LEVEL, wilson_interval

Seat: TypeAlias = Literal["first", "second", "tie"]
_LEANING: Final[dict[Seat, int]] = {"first": 1, "second": -1, "tie": 0}


@dataclass(slots=True)
class SeatOrder:
    """Counts pairs that one judge saw in both orders."""

    n_pairs: int = 0
    n_first: int = 0
    """Whose verdict changed with the order, in favour of the answer shown first."""
    n_second: int = 0

    def add(self, before: Seat, after: Seat) -> None:
        """Count a pair: which seat won in the one order, and which in the other."""
        leaning = _LEANING[before] + _LEANING[after]
        self.n_pairs += 1
        self.n_first += leaning > 0
        self.n_second += leaning < 0

    def as_json(self) -> dict[str, Any]:
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


def _share(part: int, whole: int, reason: str) -> dict[str, Any]:
    found = wilson_interval(part, whole) if whole else None
    return {
        "value": part / whole if whole else None,
        "ci_lower": found.lower if found else None,
        "ci_upper": found.upper if found else None,
        "ci_level": LEVEL,
        "ci_method": found.method if found else "none",
        "reason": None if found else reason,
    }
