"""The oracle: a benchmark's own gold answers and gold calls, served by the scripted endpoint.

A benchmark with `gold_steps`, which returns turns in the shape of a script's, says itself what a
perfect agent does; for others the target is the answer, or the calls where it lists calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from nel.apps.mock.conversations import MockRequest, text_of
from nel.apps.mock.request_parsing import EndpointFault
from nel.apps.mock.scripts import ScriptedCall, ScriptedTurn, turn_at
from nel.authoring.benchmark import Benchmark
from nel.authoring.smoke import gold_attempts, gold_texts
from nel.config.load import build_config
from nel.engine.planning.plan_samples import Digests, stream_samples
from nel.engine.planning.resolution import make_plans
from nel.engine.store.codec import decode_sample
from nel.types import Message, Sample

_NO_ENDPOINT: Final = {"url": "http://127.0.0.1/v1", "model": "none"}


class Oracle:
    """Answers the samples of a benchmark; see `nel.apps.mock.scripts.Director`."""

    def __init__(self, benchmark: Benchmark, samples: Sequence[Sample]) -> None:
        self._benchmark = benchmark
        self.prompts: dict[tuple[str, ...], list[Sample]] = {}
        self._later: dict[str, tuple[Sample, int]] = {}
        """Samples by the user's later messages, and how many go before each."""
        for sample in samples:
            self.prompts.setdefault(_user_texts(sample), []).append(sample)
            self._later |= {text: (sample, at) for at, text in enumerate(sample.turns, 1)}

    def turn_of(self, request: MockRequest) -> tuple[int, tuple[ScriptedTurn, ...]]:
        """Return the gold step that follows what was answered."""
        texts = request.user_texts
        for length in range(len(texts), 0, -1):
            later_texts = texts[length:]
            samples = self.prompts.get(texts[:length])
            if samples is not None:
                # Samples with one question differ in their tools, or in what is asked later.
                sample = max(
                    samples,
                    key=lambda sample: (
                        _tools(sample) == request.tools,
                        sample.turns[: len(later_texts)] == later_texts,
                    ),
                )
                number = request.n_answers - _n_answers(sample)
                return turn_at(gold_turns(self._benchmark, sample), number)
        if texts and texts[0] in self._later:  # a conversation of its own within the sample
            sample, at = self._later[texts[0]]
            turns = gold_turns(self._benchmark, sample)
            last_steps = [number for number, turn in enumerate(turns, 1) if not turn.calls]
            return turn_at(turns, last_steps[at - 1] + request.n_answers)
        raise EndpointFault(404, "no_sample", "these messages ask no sample of the benchmark")


def read_oracle(name: str) -> Oracle:
    """Return the oracle of a benchmark.

    Raises:
        NelError: The benchmark cannot be found, or its dataset cannot be read.
    """
    entry = {"name": name}
    (plan,) = make_plans(
        build_config({"benchmarks": [entry], "endpoint": _NO_ENDPOINT, "judge": _NO_ENDPOINT})
    )
    places: dict[str, int] = {}
    samples = [
        decode_sample(stored_sample.sample_id, stored_sample.content)
        for stored_sample in stream_samples(plan, Digests(), places.get)
        if stored_sample.content is not None and stored_sample.fault is None
    ]
    return Oracle(plan.benchmark, samples)


def gold_turns(benchmark: Benchmark, sample: Sample) -> tuple[ScriptedTurn, ...]:
    """Return what a perfect model answers, turn by turn."""
    if benchmark.gold_steps is not None:
        return tuple(map(ScriptedTurn.model_validate, benchmark.gold_steps(sample)))
    calls = _calls(sample.target)
    if sample.tools and calls:
        return (ScriptedTurn(calls=calls),)
    responses = (
        attempt.response for attempt in gold_attempts(benchmark, sample) if attempt.reward == 1
    )
    answer = ScriptedTurn(text=next(responses, gold_texts(sample)[0]))
    return (answer,) * (1 + len(sample.turns))


def _calls(target: Any) -> tuple[ScriptedCall, ...]:
    calls = target if isinstance(target, list) else [target]
    if not all(isinstance(call, Mapping) and "name" in call for call in calls):
        return ()
    return tuple(
        ScriptedCall(name=call["name"], arguments=dict(call.get("arguments") or {}))
        for call in calls
    )


def _tools(sample: Sample) -> frozenset[str]:
    return frozenset(str(tool.get("function", tool).get("name")) for tool in sample.tools)


def _messages(sample: Sample) -> Sequence[Message]:
    question = sample.input
    return [Message(role="user", content=question)] if isinstance(question, str) else question


def _user_texts(sample: Sample) -> tuple[str, ...]:
    return tuple(text_of(item) for item in _messages(sample) if item.role == "user")


def _n_answers(sample: Sample) -> int:
    return sum(message.role == "assistant" for message in _messages(sample))
