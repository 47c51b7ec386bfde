"""Runs seeds: a world with its troubles, the same samples without any, and the checks over both."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.simulation.caching import spoil, violations_of_cache
from tests.simulation.checks import violations
from tests.simulation.episodes import violations_of_episodes
from tests.simulation.loop import Deadlock, TooLate
from tests.simulation.script import Script, acting_script_of, script_of
from tests.simulation.world import World

_MEMORY = Path("/dev/shm")  # noqa: S108 - a directory of our own is made in it


def run_seed(seed: int, *, acts: bool = False) -> list[str]:
    """Return what a seed's world broke; nothing when all is well.

    Args:
        acts: The model acts with tools.
    """
    return _run(acting_script_of(seed) if acts else script_of(seed))[0]


def trace_of(seed: int) -> str:
    """Return a digest of everything that a seed's endpoint was sent, and when."""
    return _run(script_of(seed))[1]


def failures(seeds: Iterable[int], *, acts: bool = False) -> list[str]:
    """Return a line for each seed that fails, with the command that runs it alone."""
    lines = []
    for seed in seeds:
        found = run_seed(seed, acts=acts)
        if found:
            again = f"python -m tests.simulation --from {seed} --seeds 1{' --acts' if acts else ''}"
            lines.append(f"seed {seed}: {found[0]} ({again})")
    return lines


def _run(script: Script) -> tuple[list[str], str]:
    with tempfile.TemporaryDirectory(prefix="nel-world-", dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        clean = World(script.clean(), Path(directory) / "clean")
        world = World(script, Path(directory) / "world")
        found = _to_the_end(clean) or _to_the_end(world) or [*clean.violations, *violations(world, clean.run_dir)]
        found += violations_of_episodes(world) if not found else []
        if script.caching is not None and world.cache is not None and not found:
            spoil(world.cache, script.caching)
            again = World(script.again(), Path(directory) / "again", cache=world.cache)
            found = _to_the_end(again) or [*violations(again, clean.run_dir), *violations_of_cache(world, again)]
    trace = "".join(f"{sent.at:.6f} {sent.key} {sent.fate}\n" for endpoint in world.endpoints for sent in endpoint.log)
    return found, hashlib.sha256(trace.encode()).hexdigest()


def _to_the_end(world: World) -> list[str]:
    """Run a world; return why it has no end, nothing where it has one."""
    try:
        world.run()
    except (Deadlock, TooLate) as error:
        world.violations.append(f"liveness: {error} (session {world.endpoint.session})")
    return [line for line in world.violations if line.startswith("liveness")]
