"""Two ends that change the containers they both have, by chance, and stay images of each other."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from nel.sandbox.verdict.agent import codec


def refuse(*value: Any) -> Any:
    raise codec.BadValue(str(value))


def draw(rng: random.Random, pool: list[Any], depth: int = 0) -> Any:
    """Return a number, a container of the pool, or a new container that may hold those of the pool."""
    kind = rng.random()
    if pool and kind < 0.35:
        return rng.choice(pool)
    if kind < 0.6 or depth > 2:
        return rng.randrange(5)
    items = [draw(rng, pool, depth + 1) for _ in range(rng.randrange(3))]
    return items if kind < 0.8 else dict(zip("ab", items, strict=False))


def items_of(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, (list, tuple)) else []


def containers_in(value: Any) -> dict[int, Any]:
    """Return the lists and dictionaries of a value by their `id`, in the order of a walk."""
    found: dict[int, Any] = {}
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, (list, dict)):
            if id(item) in found:
                continue
            found[id(item)] = item
        pending += items_of(item)
    return found


def change(rng: random.Random, pool: list[Any]) -> None:
    """Change one container of a pool; no container comes to hold itself."""
    if not pool:
        return
    container = rng.choice(pool)
    value = draw(rng, pool)
    value = 7 if id(container) in containers_in(value) else value
    if isinstance(container, dict):
        container[rng.choice("abc")] = value
    elif container and rng.random() < 0.5:
        container.pop(rng.randrange(len(container)))
    else:
        container.insert(rng.randrange(len(container) + 1), value)
        rng.shuffle(container)


def shape(value: Any) -> str:
    """Return what a value is with its containers by number, so that one in two places shows."""
    numbers = {key: number for number, key in enumerate(containers_in(value))}

    def described(item: Any) -> Any:
        keys = list(item) if isinstance(item, dict) else type(item).__name__
        return [numbers.get(id(item), item if isinstance(item, int) else "t"), keys, [*map(below, items_of(item))]]

    def below(item: Any) -> Any:
        return numbers.get(id(item), item)

    return json.dumps([described(item) for item in [value, *containers_in(value).values()]])


def exchange(rng: random.Random, ends: tuple[codec.Codec, codec.Codec], held: tuple[list[Any], list[Any]]) -> bool:
    """Let the tests ask and the program answer once; return whether both ends hold the same."""
    (tests, program), (mine, theirs) = ends, held
    change(rng, mine)
    values = tuple(draw(rng, mine) for _ in range(2))
    lost = tests.losses()
    arguments = program.unpack(json.loads(json.dumps(tests.pack(values))))
    program.forget(lost)
    same = shape([list(values), mine]) == shape([list(arguments), theirs])
    for here, there in zip(containers_in(values).values(), containers_in(arguments).values(), strict=True):
        if rng.random() < 0.4 and not any(container is here for container in mine):
            mine.append(here)
            theirs.append(there)
    for _ in range(3):
        change(rng, theirs)
    reply = program.pack(None)
    here = there = arguments = None
    lost = program.losses()
    tests.unpack(json.loads(json.dumps(reply)))
    tests.forget(lost)
    return same and shape(mine) == shape(theirs)


@pytest.mark.parametrize("seed", range(20))
def test_both_ends_hold_the_same_containers_whatever_either_changes(seed: int) -> None:
    """Values, aliases and identity: what is one object at one end is one at the other."""
    depths = {"sent_depth": 200, "received_depth": 200}
    ends = tuple(codec.Codec(refuse, refuse, first_number=number, **depths) for number in (0, 1))
    held: tuple[list[Any], list[Any]] = ([], [])
    rng = random.Random(seed)  # noqa: S311 - repeatable
    assert [exchange(rng, ends, held) for _ in range(15)] == [True] * 15


def test_what_one_end_alone_holds_is_forgotten() -> None:
    """Else each question would compare all that ever crossed."""
    tests = codec.Codec(refuse, refuse, first_number=0, sent_depth=200, received_depth=200)
    row = [1]
    tests.pack(([row, [2]], {"a": [3]}))
    assert len(tests.losses()) == 4
    assert tests.losses() == []
    assert tests.pack([row])["now"] == [[10, ["list", [tests.encode(row)], None]]]


def test_arrays_are_one_object_for_both_ends() -> None:
    """An argument that the program changes in place is changed in the tests, with its type and shape."""
    numpy = pytest.importorskip("numpy")
    depths = {"sent_depth": 200, "received_depth": 200}
    tests, program = (codec.Codec(refuse, refuse, first_number=number, **depths) for number in (0, 1))
    mine = numpy.array([[1.5, 2], [3, 4]])
    theirs = program.unpack(json.loads(json.dumps(tests.pack(mine))))
    theirs *= 2
    answer = tests.unpack(json.loads(json.dumps(program.pack((theirs, theirs[0, 0], theirs[:0])))))
    assert mine.tolist() == [[3, 4], [6, 8]]
    assert answer[0] is mine
    assert (type(answer[1]), answer[1]) == (numpy.float64, 3)
    assert answer[2].shape == (0, 2)
