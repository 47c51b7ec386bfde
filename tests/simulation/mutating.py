"""Takes a mechanism out and looks whether the worlds that depend on it notice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.simulation.script import Script, script_of
from tests.simulation.seeds import run_seed

Patch = pytest.MonkeyPatch
Mutate = Callable[[Patch], None]
Suits = Callable[[Script], bool]
_SEEDS_MAX = 12
_SEEDS_SEARCHED = 1000


def see(mutate: Mutate, suits: Suits, named: tuple[str, ...], patch: Patch) -> None:
    """Fail unless one of a handful of worlds breaks what is named once a mechanism is missing.

    Args:
        mutate: Takes it out.
        suits: Says of which worlds a violation is to be expected.
        named: How the violations of what it upholds begin.
        patch: Puts it back.
    """
    seeds = [seed for seed in range(_SEEDS_SEARCHED) if suits(script_of(seed))][:_SEEDS_MAX]
    mutate(patch)
    seen: list[str] = []
    for seed in seeds:
        seen += run_seed(seed)
        if any(line.startswith(named) for line in seen):
            return
    pytest.fail(f"no violation of {' or '.join(named)} in the seeds {seeds}; seen: {seen[:3]}")
