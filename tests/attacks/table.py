"""The attacks by family, and what came of them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.attacks.ids import IDS
from tests.attacks.judged import IN_PROMPTS, OVER_HTTP
from tests.attacks.packages import BESIDE, PACKAGES
from tests.attacks.pages import IN_LEADERBOARDS
from tests.attacks.ports import PORTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Attacks on one thing."""

    what: str
    attacks: Mapping[str, Callable[[Path], None]]
    slow: bool = False


FAMILIES: Final = (
    Family(what="files, names and links that a benchmark puts into its package", attacks=PACKAGES),
    Family(what="damaged and greedy packages beside nel", attacks=BESIDE, slow=True),
    Family(what="graded texts in the prompts of all judges, repeated by the judge", attacks=IN_PROMPTS, slow=True),
    Family(what="judges behind an endpoint that repeat the graded text", attacks=OVER_HTTP, slow=True),
    Family(what="labels, hosts and clients of the metrics port", attacks=PORTS),
    Family(what="every text of a leaderboard", attacks=IN_LEADERBOARDS),
    Family(what="ids of samples", attacks=IDS),
)


def gave_way(family: Family, folder: Path) -> dict[str, str]:
    """Return the attacks that nel did not withstand, with what was raised."""
    found: dict[str, str] = {}
    for number, (name, attack) in enumerate(family.attacks.items()):
        place = folder / str(number)
        place.mkdir()
        try:
            attack(place)
        except Exception:  # noqa: BLE001 - whatever is raised counts as one that gave way
            found[name] = traceback.format_exc()
    return found
