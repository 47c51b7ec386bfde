"""Scores an answer by an adapter's hooks and metrics.

The engine asks the model, and only then, in the scorer's process, are the inference hooks run; a
hook that generates the sample's own input gets the answer that is there, and any other input is
asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.filters import INVALID
from nel.compat.evalscope.metrics import named_metrics
from nel.compat.evalscope.own_aggregates import OwnAggregates
from nel.compat.evalscope.proceedings import Proceedings, proceedings
from nel.compat.evalscope.samples import USABLE, ChatMessage, ModelOutput, Sample
from nel.core.reward_keys import with_headline
from nel.errors import ConfigError, ScorerError
from nel.scoring.golds import texts_in
from nel.types import Score, ScorerInput


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
        kind, strategy = type(self.adapter), self.adapter.judge_strategy
        has_own = hasattr(kind, "judge_definition")
        if (
            strategy != "rule"
            and not has_own
            and kind.llm_match_score is DefaultDataAdapter.llm_match_score
        ):
            texts_in(sample.target)
        if strategy != "llm" and kind.match_score is DefaultDataAdapter.match_score:
            for metric in named_metrics(self.adapter.metric_list):
                getattr(metric[1], "takes_gold", lambda _: None)(sample)

    def __call__(self, sample: ScorerInput) -> Score:
        """Return the adapter's numbers, the main one first, and what it extracted; numbers in its
        metadata are not metrics.
        """
        prompt = "" if sample.sample is None else sample.sample.input
        with proceedings() as noted:
            state = self.adapter.run_inference(
                AnsweredModel(prompt, sample.response or "", sample.model_call_fn),
                _own_sample(sample),
            )
            score = self.adapter.calculate_metrics(state).score
        if score is None:
            raise ScorerError(f"{self.name} gave no score: its match_score returned None")
        if getattr(score.status, "value", score.status) not in USABLE:
            raise ScorerError(f"{self.name} gave no score: {score.explanation or score.status}")
        if not score.value:
            raise ScorerError(f"{self.name} gave no number; match_score must return at least one")
        main = score.main_name
        numbers = with_headline(score.value, main)
        extracted = score.extracted_prediction
        has_answer = extracted not in ("", INVALID, None)
        return Score(
            value=numbers,
            answer=str(extracted) if has_answer else None,
            explanation=score.explanation,
            metadata={
                **score.metadata,
                **({} if has_answer else {"parsed": False}),
                **_verdict(noted, is_right=numbers[main] > 0),
            },
        )


def _verdict(noted: Proceedings, *, is_right: bool) -> dict[str, str]:
    """Return how the verdict on a program was reached, for warnings that stand beside the score."""
    if noted.verdict is None:
        return {}
    name = noted.verdict.verdict
    failure = "wrong" if name == "passed" else name
    return {
        "mode": noted.verdict.mode,
        "verdict": "passed" if is_right else failure,
        "detail": "" if name in ("passed", "wrong") else noted.verdict.detail,
    }


def _own_sample(scorer_input: ScorerInput) -> Sample:
    sample = scorer_input.sample
    choices = None if sample is None or sample.choices is None else list(sample.choices)
    prompt = "" if sample is None else sample.input
    return Sample(
        input=(
            prompt
            if isinstance(prompt, str)
            else [ChatMessage(message.role, message.content) for message in prompt]
        ),
        target=scorer_input.target
        if isinstance(scorer_input.target, list)
        else str(scorer_input.target),
        choices=choices,
        subset_key=None if sample is None else sample.subset,
        metadata={
            name: value for name, value in scorer_input.metadata.items() if not name.startswith("_")
        },
        id=None if sample is None else sample.id,
        group_id=None if sample is None else sample.id,
    )


def _as_messages(prompt: Any) -> list[dict[str, object]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    entries = [
        message
        if isinstance(message, Mapping)
        else {"role": message.role, "content": message.content}
        for message in prompt
    ]
    return [{"role": message["role"], "content": message["content"]} for message in entries]
