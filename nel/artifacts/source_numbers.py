"""Names under which an imported run keeps the numbers by which the tools of its source pair
results.
"""

from __future__ import annotations

from typing import Final

NUMBERS_ARE_IDS: Final = "imported.numbers_are_ids"
"""A field of the identity, true or not there: the samples' ids are those numbers."""
POSITION: Final = "nemo.problem_idx"
"""In the metadata of a sample with an id of its own: its number, where that is not its place in the
imported run.
"""
