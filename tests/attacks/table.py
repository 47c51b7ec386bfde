"""The attacks by family, and the table of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.attacks.packages import BESIDE, PACKAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Attacks on one thing."""

    what: str
    attacks: Mapping[str, Callable[[Path], None]]


FAMILIES: Final = (
    Family(what="files, names and links that a benchmark puts into its package", attacks=PACKAGES),
    Family(what="damaged and greedy packages beside nel", attacks=BESIDE),
)
