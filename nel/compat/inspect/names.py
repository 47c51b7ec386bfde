"""Modules of Inspect, and where nel has their names. Imports none of them."""

from __future__ import annotations

from typing import Final

from nel.authoring.lent_names import LentNames

NAMES: Final = LentNames(
    homes={"inspect_ai": (), "inspect_ai.scorer": ("nel.scorers",)},
    instead="a task of Inspect runs with Inspect and nel-inspect installed, as"
    " --bench inspect:///FILE.py@TASK",
)
