"""EvalScope's adapter classes: nel's, with the attributes, prompts and verdicts that its adapters
count on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from nel.compat.evalscope.base import DefaultDataAdapter as OwnAdapter
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.choices import (
    FEW_SHOT_TEMPLATE,
    MultipleChoiceTemplate,
    Target,
    format_example,
    parse_answers,
    parse_answers_zh,
    prompt,
)
from nel.compat.evalscope.judge_definition import JudgeContext, judge_answer
from nel.compat.evalscope.mathematics import compare_answers
from nel.compat.evalscope.media import MediaReader, with_bytes
from nel.compat.evalscope.messages import TaskState
from nel.compat.evalscope.metrics import METRICS, MetricFunction
from nel.compat.evalscope.own_loads import LoadsItself, own_benchmark, own_steps
from nel.compat.evalscope.samples import ChatMessage, ChatMessageUser, ModelOutput, Sample, Score
from nel.compat.evalscope.samples import TaskState as OwnState
from nel.compat.evalscope.templates import CHINESE
from nel.compat.evalscope.text_metrics import anls
from nel.compat.evalscope.values import HubType
from nel.errors import ConfigError

__all__ = [
    "AudioLanguageAdapter",
    "DefaultDataAdapter",
    "MultiChoiceAdapter",
    "VisionLanguageAdapter",
]

_NOT_CALLED: Final = ("batch_calculate_metrics", "batch_match_score", "llm_match_score")
"""Steps of EvalScope that nel does not run as methods, so that an adapter's own would be
ignored.
"""


def _normal(text: str) -> str:
    return text.strip().lower()


def _accuracy(
    prediction: str,
    reference: str | Sequence[str],
    *,
    allow_inclusion: bool = False,
    numeric: bool = False,
) -> float:
    """Return 1.0 where the prediction is the answer, or one of several."""
    golds = [reference] if isinstance(reference, str) else list(reference)
    if numeric:
        return float(any(compare_answers(prediction, gold).matched for gold in golds))
    answer = _normal(prediction)
    return float(
        bool(answer or not allow_inclusion) and any(answer == _normal(gold) for gold in golds)
    )


def _share_of_letters(prediction: str, reference: str | Sequence[str]) -> float:
    chosen, gold = set(prediction.strip().upper()), set("".join(reference).strip().upper())
    return len(chosen) / len(gold) if gold and chosen <= gold else 0.0


def _math(prediction: str, reference: str | Sequence[str]) -> float:
    golds = [reference] if isinstance(reference, str) else reference
    return float(
        any(compare_answers(prediction, gold, prediction_mode="output").matched for gold in golds)
    )


class DefaultDataAdapter(LoadsItself, OwnAdapter):
    """The adapter of questions with free answers."""

    metrics: ClassVar[Mapping[str, MetricFunction]] = {
        **METRICS,
        "acc": _accuracy,
        "anls": anls,
        "accuracy": _accuracy,
        "exact_match": _accuracy,
        "math_acc": _math,
        "multi_choice_acc": _share_of_letters,
    }
    scoring_policy: ClassVar[str] = "rule_default"
    """``judge_default`` and ``judge_only`` let the run's judge decide where the run says nothing
    else.
    """
    shuffle = False
    seed = 42
    limit = None
    repeats = 1
    force_redownload = False
    dataset_dir = ""
    dataset_hub = HubType.HUGGINGFACE
    use_batch_scoring = False
    save_metadata = True

    def __init_subclass__(cls, **options: Any) -> None:
        """Let what a class declares of its judge decide instead of nel's own question."""
        super().__init_subclass__(**options)
        if "judge_definition" in vars(cls):
            setattr(cls, "llm_match_score", _by_definition)  # noqa: B010 - a function of any adapter

    def __init__(
        self, benchmark_meta: Any = None, task_config: object = None, **options: object
    ) -> None:
        """Take the meta of a run.

        Raises:
            ConfigError: The class overrides a step that nel does not run as a method.
        """
        own = [
            step
            for step in _NOT_CALLED
            if getattr(type(self), step, None)
            not in (getattr(_BASE[0], step, None), _by_definition)
        ]
        definitions = [
            vars(kind)["judge_definition"]
            for kind in type(self).__mro__
            if "judge_definition" in vars(kind)
        ]
        if definitions and "judge_definition" in definitions[-1].__code__.co_names:
            raise ConfigError(
                f"the judge_definition of {type(self).__name__} asks for EvalScope's own, which nel"
                " does not have"
            )
        if own:
            raise ConfigError(
                f"{type(self).__name__} has its own {', '.join(own)}, which nel does not call"
            )
        super().__init__(benchmark_meta=benchmark_meta, task_config=task_config, **options)
        if self.meta.more.get("max_image_bytes"):
            raise ConfigError(
                f"{self.name}: nel sends images as they are; leave out max_image_bytes"
            )
        allowed = self.meta.more.get("allowed_few_shot_nums")
        if self.few_shot_num and (
            self.few_shot_mode == "disabled"
            or (allowed is not None and self.few_shot_num not in allowed)
        ):
            counts = ", ".join(map(str, allowed or [0]))
            raise ConfigError(
                f"{self.name}: few_shot_num is {self.few_shot_num}, and the benchmark takes"
                f" {counts}"
            )
        self._benchmark_meta = self.meta
        self._task_config = task_config
        self.review_timeout = self.meta.more.get("review_timeout")
        self._examples: str | None = None
        self._use_llm_judge = self.scoring_policy in ("judge_default", "judge_only")
        self.shuffle_choices = self.meta.shuffle_choices
        self.aggregation = self.meta.aggregation

    @property
    def pretty_name(self) -> str:
        """Return the benchmark's name in reports."""
        return self.meta.pretty_name or self.name

    @property
    def few_shot_mode(self) -> str:
        """Return ``auto`` where examples are rows; any other mode words its own."""
        return str(self.meta.more.get("few_shot_mode") or "auto")

    @property
    def words_own_examples(self) -> bool:
        """Return whether the adapter has examples in its template, and takes no rows for them."""
        return self.few_shot_num > 0 and self.few_shot_mode != "auto"

    def as_benchmark(self, made: AdaptedBenchmark) -> AdaptedBenchmark:
        """Return the benchmark with the rows of the adapter's own flow, where it has one."""
        return own_benchmark(made) if own_steps(type(self)) else made

    def as_record(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row with the bytes of its pictures and sounds, which nel keeps as base64."""
        return {name: with_bytes(value) for name, value in row.items()}

    def asked_of(self, sample: Sample, subset: str, fewshot: str | None) -> str | list[ChatMessage]:
        """Return what is asked of a sample, by the methods that EvalScope calls for it."""
        self._examples = fewshot
        if isinstance(sample.input, str):
            messages = self.process_sample_str_input(sample, subset)
        else:
            messages = self.process_sample_messages_input(sample, subset)
        only = messages[0] if len(messages) == 1 else None
        return (
            only.content
            if only and only.role == "user" and isinstance(only.content, str)
            else messages
        )

    def process_sample_str_input(self, sample: Sample, subset: str) -> list[ChatMessage]:
        """Return the messages of a sample whose input is text."""
        lead = (
            []
            if self.system_prompt is None
            else [ChatMessage(role="system", content=self.system_prompt)]
        )
        text = self.process_sample_input(sample, subset)
        return [
            *lead,
            *([ChatMessage(role="user", content=text)] if isinstance(text, str) else text),
        ]

    def process_sample_messages_input(self, sample: Sample, subset: str) -> list[ChatMessage]:
        """Return the messages of a sample that has them, a system message in front."""
        messages = (
            [ChatMessage("user", sample.input)]
            if isinstance(sample.input, str)
            else list(sample.input)
        )
        if self.system_prompt is None or any(message.role == "system" for message in messages):
            return messages
        return [ChatMessage(role="system", content=self.system_prompt), *messages]

    def process_sample_input(
        self, sample: Sample, subset: str, fewshot: str | None = None
    ) -> str | list[ChatMessage]:
        """Return a sample's prompt, with its examples where there are any."""
        examples = self._examples if fewshot is None else fewshot
        if examples is None and self.fewshot_dataset:
            examples = self.examples_of(subset)
        if examples is None and not self.words_own_examples:
            return self.format_prompt_template(sample)
        return self.format_fewshot_template(examples or "", sample)

    def format_prompt_template(self, sample: Sample) -> str:
        """Return the prompt of a sample without examples."""
        return (self.prompt_template or "{question}").format(question=sample.input)

    def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
        """Return the prompt of a sample with its examples."""
        template = self.few_shot_prompt_template or FEW_SHOT_TEMPLATE + (
            self.prompt_template or "{question}"
        )
        return template.format(fewshot=fewshot, question=sample.input)

    def run_inference(
        self, model: object, sample: Sample, output_dir: str = "", **options: object
    ) -> OwnState:
        """Return the state of a sample that was asked and answered; its hooks see the messages that
        were sent.
        """
        if isinstance(sample.input, str):
            sample.input = [ChatMessageUser(content=sample.input)]
        return super().run_inference(model, sample, output_dir, **options)

    def _on_inference_end(
        self, model: Any, sample: Sample, model_output: ModelOutput, output_dir: str, **_: Any
    ) -> OwnState:
        """Return the state of an answered sample."""
        state = super()._on_inference_end(model, sample, model_output, output_dir)
        return TaskState(
            model=state.model, sample=sample, messages=state.messages, output=model_output
        )

    def accepted_answers(self, reference: str, task_state: OwnState) -> str | list[str]:
        """Return the right answers: one as text, several as a list, each of which is right."""
        answers = Target(task_state.sample.target)
        if reference != task_state.target:
            return reference
        return answers[0] if len(answers) == 1 else list(answers) or reference

    @contextmanager
    def _temporary_attribute(self, name: str, value: object) -> Iterator[None]:
        before = getattr(self, name, None)
        setattr(self, name, value)
        try:
            yield
        finally:
            setattr(self, name, before)


def _by_definition(
    adapter: Any,
    original_prediction: str,
    filtered_prediction: str,
    reference: str,
    task_state: OwnState,
) -> Score:
    """Return the score that the run's judge gives by the adapter's ``judge_definition``."""
    context = JudgeContext(
        task_state=task_state,
        original_prediction=original_prediction,
        filtered_prediction=filtered_prediction,
        reference=reference,
    )
    return judge_answer(adapter.judge_definition(context), context, adapter.llm_judge)


_BASE: Final[list[type]] = [DefaultDataAdapter]


class MultiChoiceAdapter(DefaultDataAdapter):
    """The adapter of multiple choice."""

    def __init__(self, **options: Any) -> None:
        """Take what `DefaultDataAdapter` takes."""
        super().__init__(**options)
        self.multiple_correct = False
        if self.prompt_template is None:
            self.prompt_template = MultipleChoiceTemplate.SINGLE_ANSWER

    def format_prompt_template(self, sample: Sample) -> str:
        """Return the prompt of a sample without examples."""
        return prompt(sample.input, sample.choices or [], str(self.prompt_template))

    def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
        """Return the prompt of a sample with its examples."""
        template = self.few_shot_prompt_template or FEW_SHOT_TEMPLATE + str(self.prompt_template)
        return prompt(sample.input, sample.choices or [], template, fewshot)

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return question, choices and the right answer."""
        return format_example(sample.input, sample.choices or [], Target(sample.target))

    def extract_answer(self, prediction: str, task_state: OwnState) -> str:
        """Return the letters of a reply, sorted."""
        read: Callable[..., set[str]] = (
            parse_answers_zh if self.prompt_template in CHINESE else parse_answers
        )
        return "".join(
            sorted(read(task_state, multiple_correct=self.multiple_correct, completion=prediction))
        )


class VisionLanguageAdapter(MediaReader, DefaultDataAdapter):
    """The adapter of questions about images."""


class AudioLanguageAdapter(DefaultDataAdapter):
    """The adapter of questions about sounds."""
