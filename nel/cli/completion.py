"""Completes the names of plugins in a shell; what cannot be listed completes to nothing."""

from __future__ import annotations

from collections.abc import Callable

from nel import plugins
from nel.errors import NelError

KINDS = {
    "--bench": "benchmarks",
    "--scorer": "scorers",
    "--judge-template": "judges",
    "--metric": "metrics",
    "--reducer": "reducers",
}
"""The kind of plugin that an option names."""


def names_of(*kinds: str) -> Callable[[str], list[str]]:
    """Return what completes the names of plugins of these kinds, or of all kinds without any."""

    def complete(incomplete: str) -> list[str]:
        try:
            names = {ref.name for kind in kinds or plugins.GROUPS for ref in plugins.discover(kind)}
        except NelError:
            return []
        return sorted(name for name in names if name.startswith(incomplete))

    return complete


def kinds_starting(incomplete: str) -> list[str]:
    """Return the kinds of plugins that begin so."""
    return [kind for kind in plugins.GROUPS if kind.startswith(incomplete)]
