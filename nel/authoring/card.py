"""What a benchmark says of its origin: paper, licence, citation, official metric. Checks nothing.

A card describes and never decides. What a run computes is in the benchmark's scorer and dataset
alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Where a benchmark comes from and how it is officially measured."""

    paper: str = ""
    """Title and arXiv number, or an address."""
    licence: str = ""
    """Of the data, as its publisher states it: an SPDX name where there is one."""
    citation: str = ""
    """Authors, year, venue."""
    metric: str = ""
    """The official metric, by the name it has in a run's metrics."""
    homepage: str = ""
    """Where the data is published."""
    revision: str = ""
    """The commit of the data that the dataset's URI pins."""
    languages: tuple[str, ...] = ()
    """Of the questions, as ISO 639 codes."""
