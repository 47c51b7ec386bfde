"""Scores an answer by an adapter's hooks and metrics.

The engine asks the model, and only then, in the scorer's process, are the inference hooks run; a
hook that generates the sample's own input gets the answer that is there, and any other input is
asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.filters import INVALID
from nel.compat.evalscope.metrics import named_metrics
from nel.compat.evalscope.own_aggregates import OwnAggregates
from nel.compat.evalscope.proceedings import proceedings
from nel.compat.evalscope.samples import USABLE, ChatMessage, ModelOutput, Sample
from nel.core.reward_keys import with_headline
from nel.errors import ConfigError, ScorerError
from nel.scoring.golds import texts_in
from nel.types import Score, ScorerInput

if TYPE_CHECKING:
    from nel.sandbox import ProgramVerdict


class AnsweredModel:
    """The model as an adapter's hooks see it."""

    def __init__(self, prompt: Any, response: str, ask: Any, name: str = "model") -> None:
        """Take what was asked, what was answered, and a function that asks further."""
        self.name = name
        self._asked = _as_messages(prompt)
        self._response = response
        self._ask = ask

    def generate(self, input: Any, **options: Any) -> ModelOutput:  # noqa: A002 - EvalScope's name
        """Return the answer to an input: the one that is there, or a further one.

        Raises:
            ConfigError: Tools are asked for, or the session has no model.
        """
        if options.get("tools"):
            raise ConfigError("an adapter's hooks ask the model without tools; generate without")
        messages = _as_messages(input)
        if messages == self._asked:
            return ModelOutput(completion=self._response, model=self.name)
        if self._ask is None:
            raise ConfigError("this session has no model to ask")
        return ModelOutput(completion=self._ask(messages), model=self.name)


class AdapterScorer:
    """Calls an adapter's hooks and metrics for one answer."""

    def __init__(self, adapter: DefaultDataAdapter) -> None:
        """Take the adapter."""
        self.adapter = adapter
        self.name = type(adapter).__name__
        self.params: dict[str, Any] = {}
        self.needs_sandbox = bool(getattr(adapter, "needs_sandbox", False))
        self.asks_judge = adapter.judge_strategy != "rule"
        self.metrics = (OwnAggregates(adapter),) if adapter.has_own_aggregates else ()
        self.__module__ = type(adapter).__module__  # whose source decides the verdict

    def takes_gold(self, sample: ScorerInput, **_: object) -> None:
        """Take the gold answer as each metric and the judge would.

        Raises:
            DatasetError: One of them can decide nothing by it; an adapter's own `match_score` takes
                what it likes.
        """
        # Only steps that are not overridden are nel's, which know what they can compare with.
        kind, strategy = type(self.adapter), self.adapter.judge_strategy
        has_own = hasattr(kind, "judge_definition")
        if (
            strategy != "rule"
            and not has_own
            and kind.llm_match_score is DefaultDataAdapter.llm_match_score
        ):
            texts_in(sample.target)
        if strategy != "llm" and kind.match_score is DefaultDataAdapter.match_score:
            for entry in named_metrics(self.adapter.metric_list):
                takes_gold = getattr(entry[1], "takes_gold", None)
                if takes_gold is not None:
                    takes_gold(sample)

    def __call__(self, sample: ScorerInput) -> Score:
        """Return the adapter's numbers, the main one first, and what it extracted; numbers in its
        metadata are not metrics.
        """
        prompt = "" if sample.sample is None else sample.sample.input
        model = AnsweredModel(prompt, sample.response or "", sample.model_call_fn)
        with proceedings() as events:
            state = self.adapter.run_inference(model, _own_sample(sample))
            score = self.adapter.calculate_metrics(state).score
        if score is None:
            raise ScorerError(f"{self.name} gave no score: its match_score returned None")
        if getattr(score.status, "value", score.status) not in USABLE:  # an enumeration, or a text
            raise ScorerError(f"{self.name} gave no score: {score.explanation or score.status}")
        if not score.value:
            raise ScorerError(f"{self.name} gave no number; match_score must return at least one")
        main = score.main_name
        numbers = with_headline(score.value, main)
        extracted = score.extracted_prediction
        metadata = dict(score.metadata)
        answer = None
        if extracted in ("", INVALID, None):
            metadata["parsed"] = False
        else:
            answer = str(extracted)
        if events.verdict is not None:
            metadata |= _verdict(events.verdict, is_right=numbers[main] > 0)
        return Score(value=numbers, answer=answer, explanation=score.explanation, metadata=metadata)


def _verdict(verdict: ProgramVerdict, *, is_right: bool) -> dict[str, str]:
    """Return how the verdict on a program was reached, for warnings that stand beside the score.

    The adapter decides whether the answer is right: it may find a program wrong that ran to its
    end, by what it printed.
    """
    # A wrong answer of a program that ended well is the adapter's finding, so its detail is not
    # the sandbox's.
    failure, detail = verdict.verdict, verdict.detail
    if failure in ("passed", "wrong"):
        failure, detail = "wrong", ""
    return {"mode": verdict.mode, "verdict": "passed" if is_right else failure, "detail": detail}


def _own_sample(scorer_input: ScorerInput) -> Sample:
    """Return the sample that is scored in EvalScope's form."""
    target = scorer_input.target
    metadata = {
        name: value for name, value in scorer_input.metadata.items() if not name.startswith("_")
    }
    own_sample = Sample(
        input="", target=target if isinstance(target, list) else str(target), metadata=metadata
    )
    sample = scorer_input.sample
    if sample is None:
        return own_sample
    own_sample.input = (
        sample.input
        if isinstance(sample.input, str)
        else [ChatMessage(message.role, message.content) for message in sample.input]
    )
    if sample.choices is not None:
        own_sample.choices = list(sample.choices)
    own_sample.subset_key = sample.subset
    own_sample.id = own_sample.group_id = sample.id
    return own_sample


def _as_messages(prompt: Any) -> list[dict[str, object]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    messages: list[dict[str, object]] = []
    for message in prompt:
        if isinstance(message, Mapping):
            messages.append({"role": message["role"], "content": message["content"]})
        else:
            messages.append({"role": message.role, "content": message.content})
    return messages
