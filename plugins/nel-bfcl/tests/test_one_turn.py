"""Rows of one answer: what is asked and the verdicts are BFCL's, but for malformed calls."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("bfcl_eval")
sys.path.insert(0, str(Path(__file__).parents[3]))

from bfcl_eval.constants.enums import Language
from nel_bfcl import multi_turn, one_turn
from nel_bfcl.functions import plain_name
from nel_bfcl.gold import possible_call
from nel_bfcl.official import ast_checkers
from trajectories import calling

from nel import Sample, ScorerInput
from nel.apps.http_server import running
from nel.apps.mock.oracle import read_oracle
from nel.apps.mock.scripted import scripted_app
from nel.types import ToolCall
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results

COMPARED = (
    *(
        "simple_python",
        "simple_java",
        "simple_javascript",
        "multiple",
        "parallel",
        "parallel_multiple",
    ),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
)
OTHERS = ("irrelevance", "live_irrelevance", "live_relevance")
MULTI_TURN = ("base", "miss_func", "miss_param", "long_context")
ODD = (
    "x",
    "",
    1,
    1.5,
    True,
    None,
    [],
    ["a"],
    [[1]],
    {},
    {"a": 1},
    [{"a": 1}],
    "[1, 2]",
    "new int[]{1}",
)


def scored(category: str, row: dict[str, Any], calls: list[tuple[str, Any]]) -> bool:
    """Return the verdict on calls."""
    made = getattr(one_turn, category)
    written = [
        ToolCall(id="", name=name, arguments=value if isinstance(value, str) else json.dumps(value))
        for name, value in calls
    ]
    score = made.scorer(
        ScorerInput(
            response="",
            target=row["target"],
            metadata=row,
            config=dict(made.extra),
            tool_calls=tuple(written),
        )
    )
    return bool(score.value)


def mutated(
    row: dict[str, Any], chance: random.Random
) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Yield calls that are right, and ones with something wrong."""
    calls = [possible_call(item, row["function"]) for item in row["target"]]
    yield calls
    yield calls[1:]
    yield calls[::-1]
    yield [*calls, calls[0]]
    for _ in range(3):
        name, arguments = chance.choice(calls)
        other = {**arguments, chance.choice([*arguments, "other"]): chance.choice(ODD)}
        yield [(name, other) if call == (name, arguments) else call for call in calls]


@pytest.mark.parametrize("category", COMPARED)
def test_verdicts_are_those_of_bfcl(category: str) -> None:
    """BFCL is given the functions with their own names, and told that a model's names have no dots."""
    checkers = ast_checkers()
    checkers.MODEL_CONFIG_MAPPING["any"] = SimpleNamespace(underscore_to_dot=True)
    language = Language(
        category.partition("simple_")[2] if category.startswith("simple_") else "python"
    )
    chance = random.Random(category)  # noqa: S311 - reproducible on purpose
    verdicts = []
    for row in list(one_turn.rows_of(category))[:150]:
        for calls in mutated(row, chance):
            made = [{name: arguments} for name, arguments in calls]
            theirs = checkers.ast_checker(
                row["function"], made, row["target"], language, category, "any"
            )
            assert scored(category, row, calls) == theirs["valid"], (row["id"], calls)
            verdicts.append(theirs["valid"])
    assert set(verdicts) == {True, False}


@pytest.mark.parametrize(
    ("category", "calls", "credited"),
    [
        ("irrelevance", [], True),
        ("irrelevance", [("f", {})], False),
        ("irrelevance", [("f", "{")], False),
        ("irrelevance_official", [], True),
        ("irrelevance_official", [("f", {})], False),
        ("irrelevance_official", [("f", "{")], True),
        ("irrelevance_official", [("f", {}), ("f", "[1]")], True),
        ("live_relevance", [], False),
        ("live_relevance", [("f", {})], True),
        ("live_relevance", [("f", {}), ("f", "{")], False),
        ("simple_python", [("f", "{")], False),
    ],
)
def test_a_malformed_call_is_a_call_unless_the_official_rule_is_chosen(
    category: str, calls: list[tuple[str, Any]], credited: bool
) -> None:
    """BFCL takes an answer whose calls cannot be read for one that calls nothing."""
    (row, *_) = one_turn.rows_of(category.removesuffix("_official"))
    assert scored(category, row, calls) == credited


def run(
    tmp_path: Path, name: str, n: int, answers: dict[str, Reply]
) -> tuple[list[dict[str, Any]], list[Call]]:
    """Run the first rows against an endpoint that answers each question; return lines and requests."""

    def script(call: Call, _: int) -> Reply:
        return answers.get(call.body["messages"][-1]["content"], answer("No function fits."))

    with scripted(script) as endpoint:
        done = nel(
            *(
                "eval",
                "run",
                "--bench",
                name,
                "--model-url",
                endpoint.url,
                "--model-id",
                "m",
                "-o",
                "out",
            ),
            *("--max-problems", str(n)),
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    return read_results(only_run(tmp_path / "out"), name), endpoint.calls


@pytest.mark.parametrize("category", ["parallel", "live_multiple"])
def test_possible_calls_pass_in_a_run(tmp_path: Path, category: str) -> None:
    """The endpoint is offered the row's functions, and its calls are scored."""
    rows = list(one_turn.rows_of(category))[:6]
    answers = {
        row["question"][0][-1]["content"]: calling(
            possible_call(item, row["function"]) for item in row["target"]
        )
        for row in rows
    }
    lines, calls = run(tmp_path, f"bfcl_{category}", 6, answers)
    assert [line["reward"] for line in lines] == [1.0] * 6
    offered = {plain_name(function["name"]) for function in rows[0]["function"]}
    assert offered in [{tool["function"]["name"] for tool in call.body["tools"]} for call in calls]


def test_an_answer_without_a_call_passes_where_no_function_fits(tmp_path: Path) -> None:
    """The endpoint is offered functions, and text is the right answer."""
    lines, calls = run(tmp_path, "bfcl_irrelevance", 3, {})
    assert [line["reward"] for line in lines] == [1.0] * 3
    assert all(call.body["tools"] for call in calls)


@pytest.mark.parametrize(
    "category", [*COMPARED, *OTHERS, *(f"multi_turn_{name}" for name in MULTI_TURN)]
)
def test_rows_and_tools_are_those_that_bfcl_offers(category: str) -> None:
    """Every row of a category has the questions and, as BFCL's handler of OpenAI's models makes them, the tools."""
    official_run = pytest.importorskip("official_run")
    theirs = official_run.offered_by_turn(category)
    if category.startswith("multi_turn_"):
        rows = list(multi_turn.rows_of(category.removeprefix("multi_turn_")))
        ours = {row["id"]: multi_turn.tools_by_turn(row) for row in rows}
    else:
        rows = list(one_turn.rows_of(category))
        ours = {row["id"]: {0: list(one_turn.request_of(row).tools)} for row in rows}
    assert ours == theirs


UNSOLVED = {
    "simple_java": 3,
    "live_simple": 2,
    "live_multiple": 2,
}
"""Rows of which BFCL's checker refuses every call that their possible answers name."""


@pytest.mark.parametrize("category", COMPARED)
def test_the_gold_steps_of_every_row_are_right(category: str) -> None:
    """Values of Java and JavaScript are written as texts, and an argument that may be left out is there where the
    function takes it.
    """
    made, rows = getattr(one_turn, category), list(one_turn.rows_of(category))
    n_right = 0
    for row in rows:
        tools = tuple(one_turn.request_of(row).tools)
        sample = Sample(id=row["id"], input="", target=row["target"], metadata=row, tools=tools)
        (step,) = made.gold_steps(sample)
        n_right += scored(
            category, row, [(call["name"], call["arguments"]) for call in step["calls"]]
        )
    assert n_right == len(rows) - UNSOLVED.get(category, 0)


async def test_the_oracle_plays_the_gold_calls(tmp_path: Path) -> None:
    """Also of two rows with one question, which offer other functions."""
    oracle = read_oracle("bfcl_multiple")
    assert any(len(samples) > 1 for samples in oracle.prompts.values())
    async with running(scripted_app(oracle)) as url:
        done = await asyncio.to_thread(
            nel,
            *("eval", "run", "--bench", "bfcl_multiple", "--model-url", url),
            *("--model-id", "scripted", "-o", "out"),
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    lines = read_results(only_run(tmp_path / "out"), "bfcl_multiple")
    assert [line["reward"] for line in lines] == [1.0] * 200
