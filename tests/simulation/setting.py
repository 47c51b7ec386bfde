"""What a world is made of apart from its faults: its benchmark, its configuration, and how little room it has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nel.authoring.benchmark import Benchmark
from nel.config.schema import RunConfig
from nel.engine import run, scoring_stage
from nel.engine.judging import endpoints
from nel.engine.planning.plan import Plan
from nel.engine.planning.resolution import _plan
from nel.judges.types import Case
from nel.prompts import load_template
from nel.scoring.delegation import needs_judge
from nel.scoring.text import exact_match
from nel.types import ScorerInput
from tests.simulation.acting import Account, LastingAccount, act, tools_with
from tests.simulation.endpoint import FIRST_BYTE_SECONDS, MAX_TOKENS, PRICE_INPUT, PRICE_OUTPUT
from tests.simulation.judge_endpoint import PREDECESSOR, JudgeEndpoint
from tests.simulation.judging import POINTS, Judging, judges_named
from tests.simulation.script import Script
from tests.simulation.tools import SimulatedTools

_SCORER_SECONDS = 20.0
_NARROW_SCORING, _NARROW_RETRY_SLOTS = 4, 1
_CRAMMED_SLOTS = 6
"""For each judge; half of them are its own."""


def simulated_answer(given: ScorerInput, *, upside_down: bool = False) -> dict[str, Any]:
    """Score an answer; some samples make this scorer raise.

    Args:
        upside_down: Be another scorer, to which what is right is wrong.
    """
    if given.metadata["kind"] == "raises":
        raise ValueError("the scorer does not like this sample")
    if given.metadata.get("way") == "handed":
        case = Case(judges=tuple(given.metadata["judges"]), template=given.metadata["template"])
        asked = {"judge_case": case, "length": len(given.response)}
        return {**needs_judge(given), **asked}
    is_right = given.response == given.target
    if "balance" in given.metadata:
        is_right = is_right and given.evidence["balance"] == given.metadata["balance"]
        upside_down = upside_down and given.metadata["kind"] in ("right", "wrong")
    return {"correct": is_right != upside_down, "length": len(given.response)}


def plan_of(script: Script, config: RunConfig, effects: list[str], *, is_rescored: bool = False) -> Plan:
    """Return the plan of the world's only benchmark.

    Args:
        effects: What the tools of its episodes do for good.
        is_rescored: Another scorer scores than the first.
    """

    def rows() -> Iterator[dict[str, Any]]:
        for number, kind in enumerate(script.kinds):
            row: dict[str, Any]
            turns = [f"sample {number}, turn {turn}" for turn in range(3 if kind == "turns" else 1)]
            row = {"id": f"s{number}", "turns": turns, "target": f"t{number}", "kind": kind, "part": f"p{number % 2}"}
            judging, acting = script.judging, script.acting
            if acting is not None:
                del row["turns"]
                row |= {"question": f"sample {number}", "balance": acting.balance(number)}
                row |= {"n_turns": acting.moves[number].count(())}
            yield {**row, **({} if judging is None else _judged_row(judging, number))}

    scorer: Any = partial(simulated_answer, upside_down=True) if is_rescored else simulated_answer
    acting = script.acting
    asked: dict[str, Any] = {"prompt": load_template("{turn}"), "turns_field": "turns"}
    if acting is not None:
        environment = Account if acting.resume == "replay" else LastingAccount
        asked = {"prompt": load_template("{question}"), "tools": tools_with(effects), "environment": environment}
        asked |= {"solver": act}
    benchmark = Benchmark(
        name="simulated",
        description="Samples of a world.",
        dataset=lambda: list(rows()),
        scorer=exact_match if script.scorers == "own" else scorer,
        category_field="part",
        **asked,
    )
    return _plan(config, config.benchmarks[0], benchmark, "simulated", False)


def _judged_row(judging: Judging, number: int) -> dict[str, Any]:
    """Return what a row says of its judging; a template asks about some of it."""
    rubric = [{"criterion": f"criterion {one} of sample {number}", "points": POINTS[one]} for one in range(len(POINTS))]
    return {
        "way": judging.ways[number],
        "judges": judges_named(judging),
        "template": judging.template,
        **({"rubric": rubric} if judging.template == "rubric" else {}),
        **({"baseline": f"baseline of sample {number}"} if judging.template == "pairwise" else {}),
    }


def config_of(
    script: Script,
    concurrency: int,
    cap: tuple[str, float] | None,
    *,
    cache: Path | None = None,
    by_predecessor: bool = False,
) -> RunConfig:
    """Return the configuration of a session.

    Args:
        script: Of the world.
        concurrency: Of the model.
        cap: Name and value of a budget.
        cache: Where answers are kept for other runs.
        by_predecessor: The judge judges whose place another one takes later.
    """
    prices = {"m": {"input": PRICE_INPUT, "output": PRICE_OUTPUT}}
    if script.judging is not None and not script.judging.itself:
        judges = {"input": JudgeEndpoint.prices[0], "output": JudgeEndpoint.prices[1]}
        names = ("judge", PREDECESSOR) if script.judging.replaced_at else ("judge",)
        prices |= {f"{name}-{member}": judges for name in names for member in range(script.judging.size)}
    budget = {} if cap is None else {cap[0]: int(cap[1]) if cap[0] != "max_cost" else cap[1]}
    endpoint = {
        "url": "http://simulated/v1",
        "model": "m",
        "send_sample_id": True,
        "first_byte_timeout_seconds": FIRST_BYTE_SECONDS,
        "outage_seconds_max": script.outage_seconds_max,
    }
    engine = {
        "concurrency": concurrency,
        "drain_seconds": script.drain_seconds,
        "scorer_timeout_seconds": _SCORER_SECONDS,
    }
    return RunConfig.model_validate(
        {
            "endpoint": endpoint,
            "benchmarks": [{"name": "simulated", "repeats": script.repeats}],
            "generation": {"max_tokens": MAX_TOKENS, "seed": script.stream_seed},
            "engine": engine,
            "budget": {**budget, "prices": prices},
            "cache": {"dir": None if cache is None else str(cache)},
        }
        | judge_config_of(script, PREDECESSOR if by_predecessor else "judge")
    )


def judge_config_of(script: Script, name: str) -> dict[str, Any]:
    """Return the part of a configuration that says who judges."""
    judging = script.judging
    if judging is None or judging.itself:
        return {}
    panel = [
        {
            "url": f"http://{name}-{member}/v1",
            "model": f"{name}-{member}",
            "send_sample_id": True,
            "first_byte_timeout_seconds": FIRST_BYTE_SECONDS,
            "outage_seconds_max": judging.outage_seconds_max,
            "concurrency": judging.concurrency,
            "generation": {"max_tokens": MAX_TOKENS, "seed": 5},
        }
        for member in range(judging.size)
    ]
    return {"judge": {"panel": panel, "quorum": judging.quorum, "repeats": judging.repeats, "reasks": judging.reasks}}


@contextmanager
def narrowed(script: Script, tools: SimulatedTools | None) -> Iterator[None]:
    """Make the room of a session as small for a world's few samples as it is for the many of a run.

    Args:
        script: Of the world.
        tools: Take the place of the process that forks tools.
    """
    with ExitStack() as patches:
        patches.enter_context(patch.object(run, "open_tools", lambda _: nullcontext(tools)))
        if script.judging is not None and script.judging.narrow:
            patches.enter_context(patch.object(scoring_stage, "_SCORING_BACKLOG", _NARROW_SCORING))
            patches.enter_context(patch.object(endpoints, "_RETRY_SLOTS", _NARROW_RETRY_SLOTS))
        if script.judging is not None and script.judging.thronged and script.judging.crammed:
            for module in (endpoints, scoring_stage):
                patches.enter_context(patch.object(module, "SLOTS", _CRAMMED_SLOTS * script.judging.size))
            room = _CRAMMED_SLOTS * script.judging.size // 2
            patches.enter_context(patch.object(endpoints, "SLOTS_WITHOUT_JUDGE", room))
        yield
