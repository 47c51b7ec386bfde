"""The demo model: right answers, wrong answers and faults, all from the seed."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from nel.apps.http_server import running
from nel.apps.mock.demo import DemoAnswerer, DemoOptions, demo_app, load_problems
from nel.apps.mock.request_parsing import Query
from nel.models.echo_probe import EchoSupport, probe_echo
from tests.apps.mock.conftest import Client

PROBLEMS = load_problems()


def ask(options: DemoOptions, text: str, *, seed: int | None = None) -> str:
    """Return what a fresh demo model says."""
    query = Query(protocol="chat", text=text, seed=seed)
    return asyncio.run(DemoAnswerer(options).answer(query)).text


def last_line(text: str) -> str:
    return text.splitlines()[-1]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.answer)
def test_answers_are_right_or_plausibly_wrong(problem: Any) -> None:
    """At accuracy 1 the last line is the right answer, at 0 another one of the same kind."""
    for seed in range(8):
        assert last_line(ask(DemoOptions(accuracy=1, seed=seed), problem.question)) == f"Answer: {problem.answer}"
        wrong = last_line(ask(DemoOptions(accuracy=0, seed=seed), problem.question)).removeprefix("Answer: ")
        assert wrong != problem.answer
        if problem.kind == "arithmetic":
            assert Decimal(wrong.replace(",", "")) != Decimal(problem.answer.replace(",", ""))
        if problem.kind == "choice":
            assert wrong in "ABCDE"[: len(problem.choices)]


async def test_same_options_same_behaviour(client: Client) -> None:
    """Two servers with the same options agree in every status and text, whatever the order of requests."""
    options = DemoOptions(seed=3, rate_limit_rate=0.2, error_rate=0.2, truncation_rate=0.3)
    seen = []
    for order in (PROBLEMS, PROBLEMS[::-1]):
        async with running(demo_app(options)) as url:
            answers = {}
            for problem in order:
                for attempt in range(3):
                    status, body = await client.chat(url, problem.question)
                    answers[problem.question, attempt] = status, body.get("choices") or body["error"]
        seen.append(answers)
    assert seen[0] == seen[1]
    assert {status for status, _ in seen[0].values()} == {200, 429, 500}


async def test_log_likelihoods_can_be_rehearsed(client: Client) -> None:
    """The probe before a run finds the echoed log-probabilities usable, in batches too, whatever the accuracy."""
    for options in (DemoOptions(), DemoOptions(accuracy=0, seed=7)):
        async with running(demo_app(options)) as url:

            async def send(body: dict[str, object], url: str = url) -> object:
                _, answer = await client.post(f"{url}/completions", body)
                return answer

            support = await probe_echo(send, "demo")
        assert isinstance(support, EchoSupport)
        assert support.batched
