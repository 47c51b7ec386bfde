"""Names under which imported runs keep the numbers by which their source's tools pair results."""

from __future__ import annotations

from typing import Final

NUMBERS_ARE_IDS: Final = "imported.numbers_are_ids"
"""A field of the identity, true or not there: the samples' ids are those numbers."""
POSITION: Final = "nemo.problem_idx"
"""In the metadata of a sample with its own id: its number, unless that is its place in the run."""
