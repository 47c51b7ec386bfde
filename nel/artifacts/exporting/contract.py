"""What an exporter returns.

Imports nothing else of nel, so that `nel.discovery.extension_points` can name it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The files that an exporter wrote, and what they do not say."""

    files: Sequence[Path]
    """At least one, all below the output directory that was given."""
    notes: Sequence[str] = ()
    """One sentence each: what the format has no place for, and how to take what is missing."""
