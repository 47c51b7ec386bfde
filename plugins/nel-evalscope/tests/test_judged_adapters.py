"""Adapters of the published EvalScope that ask a judge: the judge's prompts and the scores are EvalScope's.

Each is read as a file, where EvalScope cannot be imported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from comparison import HERE, compared, evaluate, program
from judged_rows import JUDGED, REPLIES, verdict_of
from published_rows import write_data

from tests.support.endpoint import Call, Reply, answer, scripted

pytestmark = pytest.mark.slow
NUMBERED: Final = list(enumerate(one.name for one in JUDGED))
UNSCORED: Final = 3
"""The exit code of a run with samples that have no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """What both tools made of the same rows, replies and judge."""

    theirs: list[dict[str, Any]]
    directories: list[Path]
    """Of nel's results, one for each adapter."""
    asked: set[str]
    """What nel asked the judge."""


def asked_in(call: Call) -> str:
    """Return a judge's prompt; nel puts a system prompt before it, in one message."""
    return "\n\n".join(message["content"] for message in call.body["messages"])


def judge(call: Call, _: int) -> Reply:
    """Reply as a judge."""
    return answer(verdict_of(asked_in(call)))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    """Return what EvalScope and nel ask and score."""
    home = Path(
        pytest.importorskip(
            "evalscope", reason="evalscope is not installed: pip install evalscope"
        ).__file__
    ).parent
    folder = tmp_path_factory.mktemp("judged")
    cases = [
        {"name": one.name, "arguments": {**one.arguments, "local_path": write_data(folder / one.name, one)}}
        for one in JUDGED
    ]  # fmt: skip
    benchmarks = [
        {
            "name": f"{home / 'benchmarks' / one.file}:{one.name}",
            "args": {**case["arguments"], "judge_strategy": "llm"},
        }
        for one, case in zip(JUDGED, cases, strict=True)
    ]
    with scripted(judge, models=["j"]) as endpoint:
        theirs = program(
            "evalscope_itself.py",
            {"cases": cases, "replies": REPLIES, "judge_url": endpoint.url},
            tmp_path_factory.mktemp("theirs"),
        )
    assert [one["error"] for one in theirs if "error" in one] == []
    with scripted(judge, models=["j"]) as endpoint:
        directories = evaluate(
            benchmarks,
            REPLIES,
            tmp_path_factory.mktemp("ours"),
            with_evalscope=False,
            exit_code=UNSCORED,
            judge={"panel": [{"url": endpoint.url, "model": "j"}]},
        )
        asked = {asked_in(call) for call in endpoint.of_samples}
    return Both(theirs=theirs, directories=directories, asked=asked)


def scores(theirs: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return each reply with the score that EvalScope gives it."""
    return [
        pair for sample in theirs["samples"] for pair in zip(REPLIES, sample["scores"], strict=True)
    ]


@pytest.mark.parametrize(("number", "name"), NUMBERED, ids=[name for _, name in NUMBERED])
def test_the_judge_decides_as_with_evalscope(both: Both, number: int, name: str) -> None:
    """The same messages to the model and the same main score, or none by the judge."""
    prompts, replies = compared(both.directories[number], both.theirs[number], REPLIES)
    assert not prompts
    assert not replies - {""}


def test_the_judge_is_asked_what_evalscope_asks(both: Both) -> None:
    """But for empty answers, of which EvalScope asks too."""
    theirs = {
        prompt
        for one in both.theirs
        for reply, score in scores(one)
        if reply
        for prompt in score["asked_judge"]
    }
    assert both.asked == theirs


def test_an_empty_answer_counts_0_and_is_not_judged(both: Both) -> None:
    """As everywhere in nel."""
    for directory in both.directories:
        lines = (directory / "results.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        assert {row["reward"] for row in rows if not row["model_response"]} == {0.0}


def test_the_judge_replies_in_every_way(both: Both) -> None:
    """With and without a verdict, and where EvalScope falls back on a rule."""
    of_replies = [score for one in both.theirs for reply, score in scores(one) if reply]
    assert {score["status"] for score in of_replies} == {"success", "excluded", "degraded"}
    assert {score["main"] for score in of_replies} > {0.0, 0.5, 1.0, None}


def test_the_page_of_differences_says_how_many_are_compared() -> None:
    """The number is that of the table."""
    page = (HERE.parents[2] / "docs/reference/differences.md").read_text("utf-8")
    assert f"{len(JUDGED)} adapters that ask a judge" in page
