"""Takes a mechanism out and looks whether the worlds that depend on it notice."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest

from tests.simulation.script import Script, script_of
from tests.simulation.seeds import run_seed

Patch = pytest.MonkeyPatch
Mutate = Callable[[Patch], None]
Suits = Callable[[Script], bool]
_SEEDS_MAX = 40
_SEEDS_SEARCHED = 3000


def violations(mutate: Mutate, suits: Suits, named: tuple[str, ...], patch: Patch) -> list[str]:
    """Return what the first of a few dozen worlds breaks, of what is named, once a mechanism is missing; else nothing.

    Args:
        mutate: Takes it out.
        suits: Says of which worlds a violation is to be expected.
        named: How the violations of what it upholds begin.
        patch: Puts it back.
    """
    mutate(patch)
    seeds = (seed for seed in range(_SEEDS_SEARCHED) if suits(script_of(seed)))
    for seed in islice(seeds, _SEEDS_MAX):
        found = [line for line in run_seed(seed) if line.startswith(named)]
        if found:
            return found
    return []


def has_moved(mutate: Mutate) -> bool:
    """Return whether a mechanism can no longer be taken out, since it was moved or renamed."""
    with Patch.context() as patch:
        try:
            mutate(patch)
        except AttributeError:
            return True
    return False
