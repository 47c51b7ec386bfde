"""Tasks of Inspect whose samples keep objects that JSON would turn into others, loaded by path."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum, Flag, auto
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, accuracy, choice, match, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, multiple_choice, solver
from pydantic import BaseModel


class Kind(Enum):
    """How a question is asked."""

    CHOICE = auto()
    FREE = auto()


class Unit(Flag):
    """Units that may be combined."""

    METRE = auto()
    SECOND = auto()


@dataclass(frozen=True)
class Range:
    """Numbers that are right."""

    low: int
    high: int

    def holds(self, number: int) -> bool:
        """Return whether a number is right."""
        return self.low <= number <= self.high


class Rubric(BaseModel):
    """Words that are right."""

    words: tuple[str, ...]


class Table:
    """What no JSON is made of."""

    def __repr__(self) -> str:
        return "a table"


OBJECTS: dict[str, tuple[Any, Callable[[Any], bool]]] = {
    "enumeration": (Kind.CHOICE, lambda value: value is Kind.CHOICE),
    "enumeration_in_a_list": ([Kind.FREE], lambda value: value[0] is Kind.FREE),
    "flag": (Unit.METRE | Unit.SECOND, lambda value: Unit.SECOND in value),
    "tuple": ((1, (2, 3)), lambda value: value == (1, (2, 3))),
    "set": ({"red", "green", "blue", "grey"}, lambda value: value >= {"red", "blue"}),
    "frozen_set": (frozenset({3, 1}), lambda value: hash(value) == hash(frozenset({1, 3}))),
    "integer_keys": ({1: "one", 2: "two"}, lambda value: value[2] == "two"),
    "tuple_keys": ({(1, 2): "pair"}, lambda value: value[1, 2] == "pair"),
    "enumeration_keys": ({Kind.FREE: 0.5}, lambda value: value[Kind.FREE] == 0.5),
    "none_inside": ({"unit": None}, lambda value: value["unit"] is None),
    "dataclass": (Range(2, 4), lambda value: value.holds(3)),
    "model": (Rubric(words=("a", "b")), lambda value: value.words == ("a", "b")),
    "date": (date(2024, 2, 28), lambda value: value + timedelta(2) == date(2024, 3, 1)),
    "decimal": (Decimal("0.10"), lambda value: value * 3 == Decimal("0.30")),
    "path": (Path("a/b.txt"), lambda value: value.suffix == ".txt"),
    "bytes": (b"\x41", lambda value: value[0] == 65),
    "nan": (float("nan"), lambda value: value != value),  # noqa: PLR0124 - what NaN is known by
}
"""By name: what a sample keeps, and what only that object is."""


@solver
def asks_by_object() -> Solver:
    """Add to the question whether the object is what it was."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        is_same = OBJECTS[state.metadata["name"]][1](state.metadata["object"])
        state.user_prompt.text += f" {is_same}"
        return await generate(state)

    return solve


@scorer(metrics=[accuracy()])
def scores_by_object() -> Scorer:
    """Count an answer where the object is what it was."""

    async def score(state: TaskState, target: Target) -> Score:
        is_same = OBJECTS[state.metadata["name"]][1](state.metadata["object"])
        is_right = is_same and target.text in state.output.completion
        return Score(value="C" if is_right else "I", metadata={**state.metadata, "table": Table()})

    return score


@task
def objects() -> Task:
    """Ask a question for each kind of object."""
    samples = [
        Sample(input=f"Say {name}.", target=name, metadata={"name": name, "object": value})
        for name, (value, _) in OBJECTS.items()
    ]
    return Task(dataset=samples, solver=asks_by_object(), scorer=scores_by_object())


@solver
def uses_up() -> Solver:
    """Take what it shows out of the metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text += f" {state.metadata['words'].pop()}"
        return await generate(state)

    return solve


@task
def used_up() -> Task:
    """Show words that a solver removes."""
    samples = [
        Sample(input=f"Say {n}:", target=str(n), metadata={"words": ["a", "b"]}) for n in range(3)
    ]
    return Task(dataset=samples, solver=uses_up(), scorer=match())


@solver
def by_kind() -> Solver:
    """Show options where the kind of a sample says so, as bbh does."""
    with_options, without = multiple_choice(), generate()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        chosen = with_options if state.metadata["kind"] == Kind.CHOICE else without
        return await chosen(state, generate)

    return solve


@scorer(metrics=[accuracy()])
def by_the_same_kind() -> Scorer:
    """Read a letter where the kind of a sample says so."""
    letter, text = choice(), match()

    async def score(state: TaskState, target: Target) -> Score | None:
        return await (letter if state.metadata["kind"] == Kind.CHOICE else text)(state, target)

    return score


@task
def kinds(shuffled: bool = False) -> Task:
    """Ask with options and without; shuffled, in another order each time it is loaded."""
    with_options = [
        Sample(
            input=f"Which is {n}?",
            choices=[str(n), "none"],
            target="A",
            metadata={"kind": Kind.CHOICE},
        )
        for n in range(4)
    ]
    without = [
        Sample(input=f"Say {n}.", target=str(n), metadata={"kind": Kind.FREE}) for n in range(4)
    ]
    data = MemoryDataset([*with_options, *without])
    if shuffled:
        data.shuffle()
    return Task(dataset=data, solver=by_kind(), scorer=by_the_same_kind())


@task
def drawn() -> Task:
    """Have another number in each sample each time it is loaded."""
    samples = [
        Sample(input=f"Say {n}.", target=str(n), metadata={"draw": random.random()})  # noqa: S311 - chance is the point
        for n in range(3)
    ]
    return Task(dataset=samples, scorer=match())


@task
def unwritable() -> Task:
    """Keep an object that no record can hold."""
    return Task(
        dataset=[Sample(input="x", target="y", metadata={"plain": 1, "table": Table()})],
        scorer=match(),
    )
