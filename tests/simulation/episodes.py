"""What must hold of worlds whose model acts: effects happen once, steps follow each other, totals are those served."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from nel.engine.store.rows import END, MODEL, TOOL
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from tests.simulation.acting import Acting, texts_sent
from tests.simulation.endpoint import Sent, usage_of
from tests.simulation.world import World
from tests.support.runs import read_json, read_lines


def violations_of_episodes(world: World) -> list[str]:
    """Return every way in which a finished world of episodes broke what must hold of them."""
    acting = world.script.acting
    if acting is None:
        return []
    folder = world.run_dir / "simulated"
    lines = read_lines(folder / "results.jsonl")
    return [*_of_effects(world, acting, lines), *_of_steps(world), *_of_totals(world)]


def _of_effects(world: World, acting: Acting, lines: list[dict[str, Any]]) -> Iterator[str]:
    """What cannot be undone happens once an attempt, but for a call that a kill interrupted: at most once."""
    done = Counter(world.effects)
    for idx, same in groupby(lines, key=lambda line: line["problem_idx"]):
        repeats = list(same)
        attempts = [line["timing"]["episode"]["attempts"] for line in repeats if line["timing"].get("episode")]
        interrupted = sum(line["episode"]["tool_errors"].get("interrupted", 0) for line in repeats if line["episode"])
        is_whole = all(line["outcome"]["state"] == "scored" for line in repeats)
        for text in texts_sent(acting.moves[idx], idx):
            if done[text] > sum(attempts):
                yield f"effects: {text} was sent {done[text]} times in {attempts} attempts"
            if is_whole and done[text] < len(repeats) - interrupted:
                yield f"effects: {text} was sent {done[text]} times for {len(repeats)} repeats"


def _of_steps(world: World) -> Iterator[str]:
    """The steps of an attempt follow each other without a gap; each call has at most one result."""
    with Snapshot(world.run_dir / FILE_NAME) as snapshot:
        query = "SELECT idx, repeat, attempt, role, number, response FROM steps WHERE role > 1 ORDER BY seq"
        rows = snapshot._connection.execute(query).fetchall()
    attempts: dict[tuple[int, int, int], list[tuple[int, int, str | None]]] = defaultdict(list)
    for idx, repeat, attempt, role, number, response in rows:
        attempts[idx, repeat, attempt].append((role, number, response))
    for place, steps in attempts.items():
        numbers = {number for role, number, _ in steps if role != END}
        if numbers != set(range(len(numbers))):
            yield f"steps: {place} has the steps {sorted(numbers)}"
        finished = Counter(number for role, number, response in steps if role in (MODEL, TOOL) and response is not None)
        if max(finished.values(), default=0) > 1:
            yield f"steps: {place} has two ends of one step"
        if sum(role == END for role, *_ in steps) > 1:
            yield f"steps: {place} was ended twice"


def _of_totals(world: World) -> Iterator[str]:
    """Tokens are those that the endpoint served, but for answers that a kill or a full disk kept from the disk."""
    stats = read_json(world.run_dir / "simulated" / "runtime_stats.json")
    stored = world.steps_on_disk()
    answers = [sent for sent in world.endpoint.log if sent.answered and sent.sample % 7]
    for name in ("prompt", "completion"):
        most = sum(_tokens(sent, name) for sent in answers)
        least = sum({sent.place: _tokens(sent, name) for sent in answers if sent.place in stored}.values())
        counted = stats["tokens"][name] or 0
        if not least <= counted <= most:
            yield f"totals: {counted} {name} tokens are counted, and {least} to {most} were served"
    reported = stats["requests"]["completed"] + stats["requests"]["failed"]
    if len(stored) > reported:
        yield f"totals: {reported} requests are counted, and {len(stored)} have an answer on disk"


def _tokens(sent: Sent, name: str) -> int:
    return usage_of(sent)[f"{name}_tokens"]
