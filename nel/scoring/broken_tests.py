"""The list of tasks whose tests are broken or check nothing, as `nel benchmark check` writes it.

A run that is started in the directory where the list was made leaves these tasks unscored, as bad
rows. Which list it read is a part of the run's identity.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

PATH: Final = Path(".nel") / "broken_tests.json"
"""Relative to the working directory."""


def key_of(tests: str | None, prompt: str, entry_point: str) -> str:
    """Return what names a task in the list: a digest of its tests, prompt and entry point."""
    text = json.dumps([tests, prompt, entry_point])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


_OF_RUN: dict[str, str] = {}
"""In a host, which has no list of its own: the run's."""


def take_broken_tests(of_run: Mapping[str, str]) -> None:
    """Use the list of a run elsewhere, in this process and those that it forks."""
    _OF_RUN.clear()
    _OF_RUN.update(of_run)
    broken_tests.cache_clear()


@cache
def broken_tests() -> Mapping[str, str]:
    """Return why tests are of no use, by their keys; read once for each process."""
    if _OF_RUN:
        return _OF_RUN
    try:
        entries = json.loads(PATH.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(entry["reason"]) for key, entry in entries.items()}


def broken_tests_fields(languages: Collection[str]) -> dict[str, object]:
    """Return what a run's identity says of the list, read now; empty without list or programs."""
    broken_tests.cache_clear()
    if not languages or not broken_tests():
        return {}
    text = json.dumps(sorted(broken_tests()))
    return {"scoring.broken_tests": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


def write_broken_tests(benchmark: str, faults: Mapping[str, tuple[str, str]]) -> None:
    """Replace the entries of a benchmark in the list.

    Args:
        faults: Sample and reason, by key.
    """
    try:
        entries = json.loads(PATH.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        entries = {}
    others = {key: entry for key, entry in entries.items() if entry["benchmark"] != benchmark}
    replacements = {
        key: {"benchmark": benchmark, "sample": sample, "reason": reason}
        for key, (sample, reason) in faults.items()
    }
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(
        json.dumps({**others, **replacements}, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    broken_tests.cache_clear()
