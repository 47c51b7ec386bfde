"""Trajectories of a multi-turn row, gold and mutated, and a script for the endpoint that plays them by turn.

A trajectory is a list of turns, each a list of steps, each a list of calls.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING

from tests.support.endpoint import Call, Reply, answer

NamedCall = tuple[str, Any]
Trajectory = list[list[list[NamedCall]]]
Script = Callable[[Call, int], Reply]
STEPS = 20


def gold_trajectory(row: Mapping[str, Any]) -> Trajectory:
    """Return the gold calls of a row, one in a step where the steps of a turn suffice."""
    turns = [
        [named_call(source, row["involved_classes"]) for source in turn] for turn in row["target"]
    ]
    sizes = [-(-len(calls) // STEPS) for calls in turns]
    return [
        [calls[start : start + size] for start in range(0, len(calls), size or 1)]
        for calls, size in zip(turns, sizes, strict=True)
    ]


def named_call(source: str, classes: Sequence[str]) -> NamedCall:
    """Return the name and the arguments of a gold call, some of which it may have by position."""
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    names = _parameters(call.func.id, classes)
    arguments = {
        name: ast.literal_eval(value) for name, value in zip(names, call.args, strict=False)
    }
    return call.func.id, arguments | {
        str(item.arg): ast.literal_eval(item.value) for item in call.keywords
    }


def _parameters(name: str, classes: Sequence[str]) -> list[str]:
    for class_name in classes:
        module = importlib.import_module(CLASS_FILE_PATH_MAPPING[class_name])
        function = getattr(getattr(module, class_name), name, None)
        if function is not None:
            return list(inspect.signature(function).parameters)[1:]
    raise KeyError(name)


def mutated_trajectory(row: Mapping[str, Any], seed: int) -> Trajectory:
    """Return the gold calls of a row with one thing wrong, or different, in one of its turns."""
    chance = random.Random(f"{seed}/{row['id']}")  # noqa: S311 - reproducible on purpose
    turns = gold_trajectory(row)
    number = chance.choice([number for number, steps in enumerate(turns) if steps])
    mutate = chance.choice(MUTATIONS)
    turns[number] = mutate([list(step) for step in turns[number]], chance, turns)
    return turns


def _drop(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    del steps[chance.randrange(len(steps))]
    return steps


def _swap(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    first, second = chance.randrange(len(steps)), chance.randrange(len(steps))
    steps[first], steps[second] = steps[second], steps[first]
    return steps


def _reverse(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    return steps[::-1]


def _duplicate(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    number = chance.randrange(len(steps))
    return [*steps[:number], steps[number], *steps[number:]]


def _alter(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    step = chance.choice(steps)
    name, arguments = step[0]
    if arguments:
        key = chance.choice(sorted(arguments))
        step[0] = (name, {**arguments, key: _altered(arguments[key], chance)})
    return steps


def _altered(value: Any, chance: random.Random) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return chance.choice([value + 1, -value, str(value)])
        case str():
            return chance.choice([value + "x", value.upper(), "", 7])
        case list():
            return chance.choice([value[1:], value + value, None])
    return chance.choice([None, {}])


def _rename_argument(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    step = chance.choice(steps)
    step[0] = (step[0][0], {chance.choice(["other", "not a name", "class"]): 1, **step[0][1]})
    return steps


def _unknown(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    step = chance.choice(steps)
    step[0] = ("no_function_of_these", step[0][1])
    return steps


def _malformed(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    step = chance.choice(steps)
    bad = (step[0][0], chance.choice(['{"folder": ', "[1]", "null", "{folder: 1}"]))
    step.insert(chance.randrange(2), bad)
    return steps


def _merge(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    return [[call for step in steps for call in step]]


def _repeat(
    steps: list[list[NamedCall]], chance: random.Random, _: Trajectory
) -> list[list[NamedCall]]:
    """Repeat a call until the turn has as many steps as BFCL allows, or one more or less."""
    number = chance.randrange(len(steps))
    n_more = chance.choice([STEPS - 1, STEPS, STEPS + 1, STEPS + 5]) - len(steps)
    return [*steps[:number], *[steps[number]] * max(n_more, 0), *steps[number:]]


def _another_turn(
    steps: list[list[NamedCall]], chance: random.Random, turns: Trajectory
) -> list[list[NamedCall]]:
    """Make a call of another turn too, whose function may not be offered yet."""
    others = [step for turn in turns for step in turn]
    steps.insert(chance.randrange(len(steps) + 1), chance.choice(others))
    return steps


MUTATIONS = (
    *(_drop, _swap, _reverse, _duplicate, _alter, _alter, _rename_argument),
    *(_unknown, _malformed, _merge, _repeat, _another_turn),
)


def calling(calls: Iterable[NamedCall], text: str | None = None) -> Reply:
    """Return an answer with calls, each with its arguments by name or as the model wrote them."""
    written = [
        {
            "id": f"call-{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": value if isinstance(value, str) else json.dumps(value),
            },
        }
        for number, (name, value) in enumerate(calls)
    ]
    return answer(text, finish="tool_calls", tool_calls=written)


def playing(trajectories: Iterable[tuple[Mapping[str, Any], Trajectory]]) -> Script:
    """Return a script that plays the trajectories of rows, each known by what the user has asked so far."""
    scripts: dict[tuple[str, ...], list[list[NamedCall]]] = {}
    for row, turns in trajectories:
        for number, steps in enumerate(turns):
            asked = tuple(row["turns"][: number + 1])
            assert scripts.setdefault(asked, steps) == steps, row["id"]

    def script(call: Call, _: int) -> Reply:
        messages = call.body["messages"]
        roles = [message["role"] for message in messages]
        asked = tuple(message["content"] for message in messages if message["role"] == "user")
        number = roles[len(roles) - roles[::-1].index("user") :].count("assistant")
        steps = scripts[asked]
        return calling(steps[number]) if number < len(steps) else answer("Done.")

    return script
