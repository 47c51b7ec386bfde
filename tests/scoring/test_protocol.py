"""The three ways to write a scorer end in one protocol, with options, metrics and a name of their own."""

from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
from typing import Any

import pytest

from nel.authoring.benchmark import Benchmark
from nel.authoring.scorer_names import find_scorer
from nel.engine.scorers.call import ScoringTask
from nel.engine.scorers.identity import scorer_digest, scorer_name
from nel.errors import ConfigError, PluginError, ScorerError
from nel.prompts import compile_template
from nel.scorers import (
    ModelOutput,
    Score,
    Scorer,
    Target,
    TaskState,
    accuracy,
    exact,
    f1,
    includes,
    match,
    mean,
    multi_scorer,
    score,
    scorer,
    stderr,
)
from nel.scoring.declarations import metrics_of
from nel.scoring.mathematics.answer import math_equal
from nel.scoring.protocol import BuiltScorer, as_scorer, scoring
from nel.scoring.result import outcome_of
from nel.scoring.states import state_of
from nel.types import Message, Outcome, Response, Sample, SampleKey, Scored, ScorerInput, Unscored
from tests.support.scoring import score_all


@scorer
def a_function(sample: ScorerInput) -> dict[str, Any]:
    """Compare, in a function."""
    return {"correct": sample.response == sample.target}


@scorer
async def an_async_function(sample: ScorerInput) -> dict[str, Any]:
    """Compare, in an async function."""
    await asyncio.sleep(0)
    return {"correct": sample.response == sample.target}


@scorer(metrics=[accuracy(), stderr()])
def a_factory(right: str = "C") -> Scorer:
    """Compare, as Inspect's scorers do."""

    async def judge(state: TaskState, target: Target) -> Score:
        await asyncio.sleep(0)
        return Score(value=right if state.output.completion == target.text else "I", answer=state.output.completion)

    return judge  # type: ignore[return-value]


@scorer
def a_sync_factory(right: str = "C"):
    """Compare, in a factory whose inner function is not async."""

    def judge(state: TaskState, target: Target) -> Score:
        return Score(value=right if state.output.completion == target.text else "I")

    return judge


@scorer
def a_factory_of_samples(right: bool = True):
    """Compare, in a factory whose inner function takes the sample."""

    def judge(sample: ScorerInput) -> bool:
        return right and sample.response == sample.target

    return judge


@scorer
class AClass:
    """Compare, in a class."""

    def __init__(self, right: float = 1.0) -> None:
        self.right = right

    def score(self, sample: ScorerInput) -> dict[str, float]:
        """Compare."""
        return {"score": self.right if sample.response == sample.target else 0.0}


@scorer
class AnAsyncClass:
    """Compare, in a class whose method is async and takes a state."""

    async def score(self, state: TaskState, target: Target) -> Score:
        """Compare."""
        await asyncio.sleep(0)
        return Score(value="C" if state.output.completion == target.text else "I")


class _AsyncCall:
    async def __call__(self, state: TaskState, target: Target) -> Score:
        await asyncio.sleep(0)
        return Score(value="C" if state.output.completion == target.text else "I")


@scorer
def a_factory_of_objects():
    """Compare, in an object with an async call."""
    return _AsyncCall()


_KINDS: dict[str, Any] = {
    "function": a_function,
    "async function": an_async_function,
    "factory": a_factory(),
    "sync factory": a_sync_factory(),
    "factory of samples": a_factory_of_samples(),
    "class": AClass(),
    "async class": AnAsyncClass(),
    "object": a_factory_of_objects(),
    "undecorated": lambda sample: {"correct": sample.response == sample.target},
    "partial": functools.partial(lambda sample, *, k: {"score": k * (sample.response == sample.target)}, k=1),
    "built in": match("exact"),
    "several": multi_scorer([match("exact"), exact()], "max"),
    "several async": multi_scorer([match("exact"), a_factory()], "max"),
    "by name": find_scorer("match:location=exact"),
    "math": math_equal,
}
_BUILT = [name for name, built in _KINDS.items() if isinstance(built, BuiltScorer)]


def _benchmark(built: Any, **options: Any) -> Benchmark:
    template = compile_template("{q}", name="prompt")
    return Benchmark(name="b", description="", dataset="x", prompt=template, scorer=built, **options)


def _run(built: Any, answers: list[str], target: Any = "5") -> list[Outcome]:
    benchmark = _benchmark(built)
    items = [
        ScoringTask(SampleKey(1, idx, 0), Sample(id=str(idx), input="q", target=target), Response(text=text), benchmark)
        for idx, text in enumerate(answers)
    ]
    return asyncio.run(score_all(items, timeout_seconds=120))


@pytest.mark.parametrize("kind", _BUILT)
async def test_every_built_kind_is_awaited_with_a_state_and_a_target(kind: str) -> None:
    """As in Inspect, what a factory or class built is awaited with what was answered and what is right."""
    for answered, reward in (("5", 1.0), ("6", 0.0)):
        result = await _KINDS[kind](TaskState(ModelOutput(answered)), Target("5"))
        assert getattr(outcome_of(result, answered), "reward", 0.0) == reward
        assert await _KINDS[kind](TaskState(ModelOutput(answered)), "5") == result


@pytest.mark.parametrize("kind", ["function", "async function", "factory", "class", "several async"])
def test_every_kind_is_scored_in_a_run(kind: str) -> None:
    """In a benchmark each kind's samples are scored, right and wrong."""
    right, wrong = _run(_KINDS[kind], ["5", "6"])
    assert isinstance(right, Scored), right
    assert right.reward == 1.0
    assert getattr(wrong, "reward", 0.0) == 0.0
    assert not isinstance(wrong, Unscored), wrong


def test_a_scorer_that_gives_none_leaves_the_sample_unscored() -> None:
    """None is no score, from each kind."""

    @scorer
    def nothing():
        async def judge(state: TaskState, target: Target) -> None:
            return None

        return judge

    for built in (nothing(), lambda sample: None, multi_scorer([nothing()], "mode")):
        (outcome,) = _run(built, ["5"])
        assert isinstance(outcome, Unscored)
        assert outcome.cause == "scorer"


def test_a_name_and_metadata_may_be_given() -> None:
    """The decorator's name and further words are kept."""

    @scorer(name="other", metrics=[mean()], level=3)
    def mine():
        return lambda state, target: Score(value="C")

    assert (mine.name, mine().name, mine.metadata) == ("other", "other", {"level": 3})
    assert repr(mine()) == "other()"


def _two(state: Any, target: Any) -> bool:
    return True


def _gives_a_bool() -> bool:
    return True


def _takes_nothing_inside() -> Any:
    return lambda: True


class _NoScore:
    pass


class _ScoreTakesThree:
    def score(self, one: Any, two: Any, three: Any) -> bool:
        return True


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (_two, "takes 2 arguments; write def _two"),
        (_gives_a_bool, "takes no sample and returned a bool; write def _gives_a_bool"),
        (_takes_nothing_inside, r"must score \(sample\) or \(state, target\); it takes \(\)"),
        (_NoScore, "has no method score"),
        (_ScoreTakesThree, r"it takes \(one, two, three\)"),
    ],
)
def test_a_wrong_shape_is_refused_with_the_right_one(written: Any, said: str) -> None:
    """What cannot score is an error that says how to write it, where it is marked or built."""
    with pytest.raises(ConfigError, match=said):
        scorer(written)()


@pytest.mark.parametrize("written", [5, None])
def test_what_is_no_function_is_no_scorer(written: Any) -> None:
    """A value is refused by name of its type."""
    with pytest.raises(ConfigError, match=type(written).__name__):
        as_scorer(written)


def test_undecorated_scorers_are_taken_as_they_are() -> None:
    """A plain function, factory or class after an entry point needs no decorator."""

    class Plain:
        def __init__(self, right: bool = True) -> None:
            self.right = right

        def score(self, sample: ScorerInput) -> bool:
            return self.right

    def plain_factory(right: str = "C"):
        return lambda state, target: Score(value=right)

    sample = ScorerInput(response="x", target="y")
    assert as_scorer(Plain, {"right": False})(sample) is False
    assert as_scorer(plain_factory, {"right": "I"})(sample).value == "I"
    assert as_scorer(lambda sample, *, right=True: right, {"right": False})(sample) is False


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("match:location=any,numeric=true", {"location": "any", "numeric": True}),
        ("match", {}),
        ("includes:ignore_case=no", {"ignore_case": False}),
        ("pattern:pattern='#### (\\d+)'", {"pattern": "#### (\\d+)"}),
        ("pattern:pattern=a=(b)", {"pattern": "a=(b)"}),
    ],
)
def test_options_on_the_command_line(text: str, params: dict[str, Any]) -> None:
    """A name and its options build the scorer."""
    assert find_scorer(text).params == params  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("match:locaton=any", 'no option "locaton"; did you mean "location"'),
        ("match:zzz=1", 'no option "zzz"; it has: location, ignore_case, numeric'),
        ("match:=3", "write options as key=value"),
        ("match:numeric=[", "is not valid YAML"),
        ("match:location=[]", "use begin, end, any, exact"),
        ("answer", "needs pattern; write answer:pattern="),
        ("pattern:pattern=\\d+", "has no group"),
    ],
)
def test_wrong_options_are_refused_with_a_reason(text: str, said: str) -> None:
    """An unknown, missing or bad option is an error before anything is asked."""
    with pytest.raises((ConfigError, PluginError), match=said):
        find_scorer(text)


@pytest.mark.parametrize(
    "text",
    [
        "match:numeric=maybe",
        "pattern:pattern=(a),match_all=sometimes",
        "f1:answer_fn=upper",
        "match:location=any,location=end",
    ],
)
def test_a_value_of_the_wrong_type_and_an_option_given_twice_are_refused(text: str) -> None:
    """No word counts as true, no text as a list or a function, and no option silently wins over another."""
    with pytest.raises(ConfigError):
        find_scorer(text)


def test_a_built_scorer_takes_no_options() -> None:
    """Options after building are an error, none are not."""
    built = match()
    assert as_scorer(built) is built
    with pytest.raises(ConfigError, match="built already"):
        as_scorer(built, {"numeric": True})


def test_a_factory_with_a_required_option_says_that_it_is_missing() -> None:
    """The missing option is named, with how to give it; a factory that refuses a value is quoted."""

    @scorer
    def at_least(threshold: float) -> Scorer:
        if threshold < 0:
            raise ValueError("the threshold is negative")
        return lambda state, target: Score(value=threshold)  # type: ignore[return-value]

    with pytest.raises(ConfigError, match=r"needs threshold; write at_least:threshold=\.\.\."):
        as_scorer(at_least)
    with pytest.raises(ConfigError, match="the threshold is negative"):
        as_scorer(at_least, {"threshold": -1})
    assert as_scorer(at_least, {"threshold": 0.5}).params == {"threshold": 0.5}


def _names(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _names(value) for key, value in found.items()}
    return [one.name for one in found]


def test_metrics_of() -> None:
    """Every kind of scorer says which metrics it was declared with."""
    assert _names(metrics_of(match)) == ["accuracy", "stderr"]
    assert _names(metrics_of(match())) == ["accuracy", "stderr"]
    assert _names(metrics_of(find_scorer("f1"))) == ["mean", "stderr"]
    assert _names(metrics_of(functools.partial(match()))) == ["accuracy", "stderr"]
    assert _names(metrics_of(math_equal)) == []
    assert _names(metrics_of(a_function)) == []
    assert _names(metrics_of(a_factory())) == ["accuracy", "stderr"]


def test_metrics_may_be_declared_for_each_key() -> None:
    """A mapping of keys to metrics is kept, of a function, a factory and a class."""
    declared = {"a": [mean()], "b": [accuracy(), stderr()]}
    names = {"a": ["mean"], "b": ["accuracy", "stderr"]}

    @scorer(metrics=declared)
    def function(sample: ScorerInput) -> dict[str, float]:
        return {"a": 1.0, "b": 0.0}

    @scorer(metrics=declared)
    def factory():
        return lambda state, target: Score(value={"a": 1, "b": 0})

    @scorer(metrics=declared)
    class Written:
        def score(self, sample: ScorerInput) -> dict[str, float]:
            return {"a": 1.0, "b": 0.0}

    assert [_names(metrics_of(one)) for one in (function, factory(), Written())] == [names] * 3


async def test_score_outside_says_where_it_works() -> None:
    """Nothing is being scored here."""
    with pytest.raises(ScorerError, match="inside a benchmark"):
        await score([{"role": "assistant", "content": "5"}])


@pytest.mark.parametrize("kind", list(_KINDS))
async def test_score_inside_scores_messages_and_states(kind: str) -> None:
    """The scorer in use judges a conversation that is not over, given as messages or as a state."""
    sample = ScorerInput(response="unfinished", target="5")
    said = [
        {"role": "assistant", "content": "6"},
        {"role": "user", "content": "sure?"},
        {"role": "assistant", "content": "5"},
        {"role": "user", "content": "thanks"},
    ]
    with scoring(_KINDS[kind], sample):
        (of_messages,) = await score(said)
        (of_a_state,) = await score(TaskState(ModelOutput("5")))
        (wrong,) = await score(said[:2])
    assert [getattr(outcome_of(result, "5"), "reward", 0.0) for result in (of_messages, of_a_state, wrong)] == [1, 1, 0]
    with pytest.raises(ScorerError, match="inside a benchmark"):
        await score(said)


async def test_score_needs_an_answer_and_drops_none() -> None:
    """Without an assistant message there is nothing to score; None is no score."""
    with scoring(lambda sample: None, ScorerInput(response="", target="5")):
        assert await score([{"role": "assistant", "content": "5"}]) == []
        with pytest.raises(ScorerError, match="no assistant message"):
            await score([{"role": "user", "content": "5"}])


def test_score_works_inside_a_scorer_of_a_run() -> None:
    """A scorer may have a part of the conversation scored first."""

    async def careful(sample: ScorerInput) -> dict[str, Any]:
        if sample.response == "draft":
            return {"score": 0.25}
        (of_the_draft,) = await score([{"role": "assistant", "content": "draft"}])
        return {"score": 2 * of_the_draft["score"]}  # type: ignore[index, call-overload]

    (outcome,) = _run(careful, ["final"])
    assert isinstance(outcome, Scored), outcome
    assert outcome.reward == 0.5


def test_a_state_has_what_the_sample_has() -> None:
    """Prompt, choices, id, repeat, metadata and conversation go over; the input text is the last user message."""
    chat = (Message(role="system", content="s"), Message(role="user", content="q"))
    whole = Sample(id="7", input=chat, target=["a", "b"], choices=("x", "y"))
    said = [{"role": "assistant", "content": "r"}]
    state = state_of(
        ScorerInput(response="r", target=["a", "b"], metadata={"k": 1}, conversation=said, sample=whole, repeat=2)
    )
    assert (state.output.completion, state.sample_id, state.epoch) == ("r", "7", 3)
    assert (state.choices, state.metadata, state.messages) == (("x", "y"), {"k": 1}, said)
    assert list(state.target) == ["a", "b"]
    assert state.input_text == state.user_prompt == "q"
    assert state_of(ScorerInput(response="r", target=None)).input_text == ""


_DIGESTS = """
from nel.authoring.benchmark import Benchmark
from nel.authoring.scorer_names import find_scorer
from nel.engine.scorers.identity import scorer_digest
from nel.prompts import compile_template
from nel.scorers import exact, f1, match, multi_scorer
from nel.scoring import any_of, exact_match, numeric_match

def last_word(text):
    return text.split()[-1]

def first(scores):
    return scores[0]

scorers = [
    match("any", numeric=True),
    find_scorer("match:location=any,numeric=true"),
    f1(stop_words=["the", "big", "small"]),
    multi_scorer([match(), exact()], "max"),
    any_of(exact_match, numeric_match),
    find_scorer("math_equal"),
    f1(answer_fn=last_word),
    multi_scorer([match()], first),
]
template = compile_template("{q}", name="prompt")
for scorer in scorers:
    benchmark = Benchmark(name="b", description="", dataset="x", prompt=template, scorer=scorer, extra={"k": 1})
    print(scorer_digest(benchmark))
"""


def test_digests_are_the_same_in_every_process() -> None:
    """A stored verdict is found again by the next process."""
    digests = [
        subprocess.run(
            [sys.executable, "-c", _DIGESTS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert digests[0] == digests[1]


def _digest(built: Any, **extra: Any) -> str:
    return scorer_digest(_benchmark(built, extra=extra))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (match(), match("any")),
        (match(), match(numeric=True)),
        (match(), includes()),
        (f1(answer_fn=str.upper), f1(answer_fn=str.lower)),
        (multi_scorer([match()], "max"), multi_scorer([match()], "mean")),
        (a_factory(), a_factory("P")),
        (a_function, an_async_function),
    ],
    ids=lambda built: getattr(built, "__name__", "") + str(getattr(built, "params", "")),
)
def test_scorers_that_judge_differently_have_different_digests(one: Any, other: Any) -> None:
    """Another scorer or another option never finds the stored verdicts of this one."""
    assert _digest(one) != _digest(other)


def test_the_name_of_a_built_scorer_says_which_it_is() -> None:
    """The module, the name and the options are in it."""
    named = scorer_name(_benchmark(match("any")))
    assert "nel.scoring.configurable" in named
    assert "match" in named
    assert "location='any'" in named
