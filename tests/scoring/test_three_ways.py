"""A scorer may be a function, a factory or a class, sync or async; the engine calls them all alike."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import ScoringTask
from nel.engine.scorers.identity import scorer_digest, scorer_name
from nel.errors import ConfigError, ScorerError
from nel.prompts import compile_template
from nel.scorers import Score, Target, TaskState, accuracy, match, pattern, score, scorer
from nel.scoring.protocol import as_scorer, is_async, metrics_of
from nel.types import Response, Sample, Scored, ScorerInput
from tests.support.scoring import score_all


@scorer
def function(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": sample.response == sample.target}


@scorer
async def async_function(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": sample.response == sample.target}


@scorer(metrics=[accuracy()])
def factory(upper: bool = False) -> Any:
    def inner(state: TaskState, target: Target) -> Score:
        text = state.output.completion.upper() if upper else state.output.completion
        return Score(value="C" if text == target.text else "I")

    return inner


@scorer
def async_factory() -> Any:
    async def inner(state: TaskState, target: Target) -> Score:
        return Score(value="C" if state.output.completion == target.text else "I")

    return inner


@scorer
class OfSample:
    def __init__(self, strip: bool = True) -> None:
        self.strip = strip

    def score(self, sample: ScorerInput) -> dict[str, Any]:
        return {"correct": (sample.response.strip() if self.strip else sample.response) == sample.target}


@scorer(name="renamed")
class OfState:
    async def score(self, state: TaskState, target: Target) -> bool:
        return bool(state.output.completion == target.text)


WAYS = [function, async_function, factory, async_factory, OfSample, OfState]


def _item(way: Any, response: str = "a") -> ScoringTask:
    benchmark = Benchmark(
        name="b", description="", dataset="x", prompt=compile_template("{q}", name="prompt"), scorer=as_scorer(way)
    )
    return ScoringTask(1, 0, 0, Sample(id="1", input="q", target="a"), Response(text=response), benchmark)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_every_way_scores_in_the_engine(way: Any) -> None:
    """Right and wrong answers get 1 and 0 whichever way the scorer was written."""
    outcomes = [
        *await score_all([_item(way)], timeout_seconds=120),
        *await score_all([_item(way, "b")], timeout_seconds=120),
    ]
    assert [outcome.reward for outcome in outcomes if isinstance(outcome, Scored)] == [1.0, 0.0]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_async_is_known_before_a_call(way: Any) -> None:
    """The engine puts async scorers on a loop, so it must know them."""
    built = as_scorer(way)
    result = built(ScorerInput(response="a", target="a"))
    assert is_async(built) is inspect.isawaitable(result)
    if inspect.iscoroutine(result):
        result.close()


def test_options_are_bound_and_checked() -> None:
    """Factories and classes take their options; unknown and missing ones are named."""
    assert as_scorer(factory, {"upper": True})(ScorerInput(response="a", target="A")).value == "C"
    assert as_scorer(OfSample, {"strip": False})(ScorerInput(response=" a", target="a")) == {"correct": False}
    with pytest.raises(ConfigError, match='has no option "uper"; did you mean "upper"'):
        as_scorer(factory, {"uper": True})
    with pytest.raises(ConfigError, match="needs pattern"):
        as_scorer(pattern)
    with pytest.raises(ConfigError, match="is built already"):
        as_scorer(match(), {"numeric": True})
    with pytest.raises(ConfigError, match="is no scorer"):
        as_scorer(42)


def test_declared_metrics_and_names_are_kept() -> None:
    """What the decorator was given is there to be read."""
    assert [metric.name for metric in metrics_of(factory())] == ["accuracy"]
    assert metrics_of(function) == ()
    assert OfState().name == "renamed"
    assert repr(factory(upper=True)) == "factory(upper=True)"


def test_wrong_shapes_are_refused_when_they_are_written() -> None:
    """Three arguments, a factory of nothing, a class without score: the error shows the right shape."""
    with pytest.raises(ConfigError, match=r"takes 3 arguments; write def old\(sample: ScorerInput\) -> dict"):

        @scorer
        def old(response: str, target: str, metadata: dict[str, Any]) -> bool:
            return response == target

    @scorer
    def nothing() -> Any:
        return None

    @scorer
    class Empty:
        pass

    with pytest.raises(ConfigError, match="returned a NoneType"):
        nothing()
    with pytest.raises(ConfigError, match=r"must score \(sample\) or \(state, target\)|has no method score"):
        Empty()


def test_the_state_knows_the_sample() -> None:
    """A (state, target) scorer sees prompt, choices, id, row and repeat."""
    seen: list[TaskState] = []

    @scorer
    def looks() -> Any:
        def inner(state: TaskState, target: Target) -> bool:
            seen.append(state)
            return True

        return inner

    sample = Sample(id="7", input="What?", target="x", choices=("x", "y"), metadata={"k": 1})
    looks()(ScorerInput(response="x", target="x", sample=sample, repeat=2, metadata={"k": 1}))
    (state,) = seen
    assert (state.input_text, state.choices, state.sample_id, state.epoch, state.metadata) == (
        "What?", ("x", "y"), "7", 3, {"k": 1},
    )  # fmt: skip


async def test_a_conversation_can_be_scored_before_its_end() -> None:
    """`score()` uses the benchmark's own scorer while a sample is scored, and nothing anywhere else."""
    with pytest.raises(ScorerError, match="score\\(\\) works inside"):
        await score([{"role": "assistant", "content": "a"}])
    depth: list[Any] = []

    @scorer
    async def twice(sample: ScorerInput) -> dict[str, Any]:
        if sample.conversation is None:
            depth.append(await score([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]))
            return {"correct": depth[-1] == [{"correct": True}]}
        return {"correct": sample.response == "a" and sample.target == "a"}

    (outcome,) = await score_all([_item(twice, "whatever")], timeout_seconds=120)
    assert isinstance(outcome, Scored)
    assert outcome.reward == 1.0


def test_identity_is_the_same_in_every_process() -> None:
    """The digest depends on options and source, not on hash seeds or addresses."""
    code = (
        "from nel.authoring.scorer_names import find_scorer\n"
        "from nel.engine.scorers.identity import scorer_digest\n"
        "from nel.benchmarks.mathematics.gsm8k import gsm8k\n"
        "from dataclasses import replace\n"
        "print(scorer_digest(replace(gsm8k, scorer=find_scorer('match:location=any,numeric=true'))))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
    benchmark = _item(match()).benchmark
    other = replace(benchmark, scorer=match(numeric=True))
    assert scorer_digest(benchmark) != scorer_digest(other)
    assert scorer_name(other) == "nel.scoring.configurable:match(numeric=True)"
