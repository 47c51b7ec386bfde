"""Adapter classes: a benchmark as a class with a method for each step, by EvalScope's names.

    record_to_sample -> sample_filter -> format_*_template -> inference -> extract_answer ->
    match_score -> reports

Files that were written for EvalScope and those that import `nel.benchmarks` have the same class.
`adapt` makes a `Benchmark` of one, so that it runs, resumes and is scored as any other. An adapter
is asked in several processes; what a method writes to ``self`` reaches no other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from nel.compat.evalscope.aggregation import MEANS_OF_ONE, aggregate_subset
from nel.compat.evalscope.choices import Target
from nel.compat.evalscope.data_adapter import DataAdapter
from nel.compat.evalscope.filters import build_filters
from nel.compat.evalscope.judge_definition import JudgeContext, judge_answer
from nel.compat.evalscope.judge_strategies import RIGHT_ABOVE, better_of
from nel.compat.evalscope.metrics import named_metrics
from nel.compat.evalscope.own_loads import LoadsItself
from nel.compat.evalscope.report import Report, make_report
from nel.compat.evalscope.samples import (
    AggScore,
    ChatMessage,
    ChatMessageUser,
    ModelOutput,
    Sample,
    SampleScore,
    Score,
    TaskState,
)
from nel.compat.evalscope.templates import FEW_SHOT_TEMPLATE
from nel.compat.evalscope.values import HubType
from nel.errors import ConfigError, PromptError, ScorerError
from nel.judges.types import Case, Judgement
from nel.scoring.delegation import ask_judge

__all__ = ["DataAdapter", "DefaultDataAdapter"]

_NOT_CALLED: Final = ("batch_calculate_metrics", "batch_match_score")
"""Steps of EvalScope that nel does not run, so that an adapter's would be ignored."""


class DefaultDataAdapter(LoadsItself, DataAdapter):
    """The adapter of questions with free answers."""

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

    def __init__(
        self, benchmark_meta: Any = None, task_config: object = None, **options: object
    ) -> None:
        """Take the meta of a run.

        Raises:
            ConfigError: The class overrides a step that nel does not run, or the meta asks for what
                nel does not do.
        """
        _refuse_uncalled_steps(type(self))
        super().__init__(benchmark_meta=benchmark_meta, task_config=task_config, **options)
        self._refuse_settings()
        self._benchmark_meta = self.meta
        self._task_config = task_config
        self.review_timeout = self.meta.more.get("review_timeout")
        self._examples: str | None = None
        self._use_llm_judge = self.scoring_policy in ("judge_default", "judge_only")
        self.shuffle_choices = self.meta.shuffle_choices
        self.aggregation = self.meta.aggregation

    def _refuse_settings(self) -> None:
        if self.meta.more.get("max_image_bytes"):
            raise ConfigError(
                f"{self.name}: nel sends images as they are; leave out max_image_bytes"
            )
        counts = self.meta.more.get("allowed_few_shot_nums")
        if self.few_shot_mode == "disabled":
            counts = [0]
        if self.few_shot_num and counts is not None and self.few_shot_num not in counts:
            raise ConfigError(
                f"{self.name}: few_shot_num is {self.few_shot_num}, and the benchmark takes"
                f" {', '.join(map(str, counts))}"
            )

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

    @property
    def has_own_aggregates(self) -> bool:
        """Return whether the adapter aggregates its scores by something other than their mean."""
        return self.has_own_rule or self.meta.aggregation not in MEANS_OF_ONE

    @property
    def has_own_rule(self) -> bool:
        """Return whether the adapter aggregates its scores by a method of its own."""
        return type(self).aggregate_scores is not DefaultDataAdapter.aggregate_scores

    # From a record to a prompt

    def sample_filter(self, sample: Sample) -> bool:
        """Return whether a sample is kept."""
        return True

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a sample as a solved example.

        Raises:
            NotImplementedError: The benchmark has few-shot examples and does not say how they look.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has few-shot examples and no sample_to_fewshot"
        )

    def messages_of(
        self, sample: Sample, subset: str, fewshot: str | None = None
    ) -> list[ChatMessage]:
        """Return the messages of a sample, whose input is text or messages, a system message in
        front.

        Args:
            sample: Is not changed.
            subset: Of the sample.
            fewshot: Its examples, where the run chose them.
        """
        messages = [ChatMessage("user", sample.input)]
        if isinstance(sample.input, str):
            # `process_sample_input`, which adapters override, is not given the examples.
            self._examples = fewshot
            messages[0].content = self.process_sample_input(sample, subset)
        else:
            messages = list(sample.input)
        if self.system_prompt is None or any(message.role == "system" for message in messages):
            return messages
        return [ChatMessage("system", self.system_prompt), *messages]

    def process_sample_input(self, sample: Sample, subset: str) -> str:
        """Return a sample's prompt, with its examples where there are any."""
        examples = self._examples
        if examples is None and self.fewshot_dataset:
            examples = self.examples_of(subset)
        if examples is None and not self.words_own_examples:
            return self.format_prompt_template(sample)
        return self.format_fewshot_template(examples or "", sample)

    def format_prompt_template(self, sample: Sample) -> str:
        """Return the prompt of a sample without examples."""
        return self._fill(self.prompt_template or "{question}", question=sample.input)

    def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
        """Return the prompt of a sample with its examples."""
        template = self.few_shot_prompt_template or FEW_SHOT_TEMPLATE + (
            self.prompt_template or "{question}"
        )
        return self._fill(template, fewshot=fewshot, question=sample.input)

    def _fill(self, template: str, **values: object) -> str:
        try:
            return template.format(**values)
        except (KeyError, IndexError, ValueError) as error:
            raise PromptError(
                f"{self.name} prompt_template: {type(error).__name__}: {error}; it may name"
                f" {', '.join(values)}"
            ) from error

    # Inference

    def _on_inference_start(self, model: object, sample: Sample) -> None:
        """Do what precedes the inference of a sample."""

    def _on_inference(self, model: Any, sample: Sample) -> ModelOutput:
        """Return the model's answer: `model.generate(input)` as often as is needed."""
        output: ModelOutput = model.generate(sample.input)
        return output

    def _on_inference_end(
        self, model: Any, sample: Sample, model_output: ModelOutput, output_dir: str, **_: Any
    ) -> TaskState:
        """Return the state of an answered sample."""
        content = sample.input
        messages = [ChatMessageUser(content=content)] if isinstance(content, str) else content
        return TaskState(
            model=model.name,
            sample=sample,
            messages=[*messages, model_output.message],
            output=model_output,
        )

    def run_inference(
        self, model: object, sample: Sample, output_dir: str = "", **options: object
    ) -> TaskState:
        """Return the state of a sample that was asked and answered; its hooks see the messages that
        were sent.
        """
        if isinstance(sample.input, str):
            sample.input = [ChatMessageUser(content=sample.input)]
        self._on_inference_start(model, sample)
        output = self._on_inference(model, sample)
        return self._on_inference_end(model, sample, output, output_dir, **options)

    # Scoring

    def extract_answer(self, prediction: str, task_state: TaskState) -> str:
        """Return the answer that a prediction comes to."""
        return prediction

    def filter_prediction(self, prediction: str, task_state: TaskState) -> str:
        """Return what is left of a prediction after the filters and `extract_answer`."""
        for apply in build_filters(self.meta.filters):
            prediction = apply(prediction)
        return self.extract_answer(prediction, task_state)

    def match_score(
        self,
        original_prediction: str,
        filtered_prediction: str,
        reference: str,
        task_state: TaskState,
    ) -> Score:
        """Return the score of a prediction by every metric of the list.

        Raises:
            ScorerError: A metric failed, which says nothing of the model.
        """
        value: dict[str, float] = {}
        accepted = self.accepted_answers(reference, task_state)
        for name, metric, options in named_metrics(self.metric_list):
            try:
                value[name] = float(metric(filtered_prediction, accepted, **options))
            except (TypeError, ValueError, ArithmeticError) as error:
                raise ScorerError(
                    f"the metric {name} failed: {type(error).__name__}: {error}"
                ) from error
        return Score(
            value=value,
            extracted_prediction=filtered_prediction,
            prediction=original_prediction,
            main_score_name=next(iter(value)),
        )

    def accepted_answers(self, reference: str, task_state: TaskState) -> str | list[str]:
        """Return what metrics compare with; where the target is a list, each answer in it is right.

        Args:
            reference: What `match_score` was given; where it is not the sample's target, it is what
                counts.
        """
        # An adapter's own `match_score` may hand a reference of its making to `super()`.
        answers = Target(task_state.sample.target)
        if reference != task_state.target:
            return reference
        return answers[0] if len(answers) == 1 else list(answers) or reference

    def llm_match_score(
        self,
        original_prediction: str,
        filtered_prediction: str,
        reference: str,
        task_state: TaskState,
    ) -> Score:
        """Return the score that the run's judge gives: by the adapter's ``judge_definition``, else
        under the name of the first metric.

        Raises:
            JudgeError: There is no verdict; the sample is unscored, whatever the metrics say.
        """
        define = getattr(self, "judge_definition", None)
        if define is not None:
            context = JudgeContext(
                task_state=task_state,
                original_prediction=original_prediction,
                filtered_prediction=filtered_prediction,
                reference=reference,
            )
            return judge_answer(define(context), context, self.llm_judge)
        case = self.judge_case(original_prediction, filtered_prediction, reference, task_state)
        judgement: Judgement = ask_judge(None, case)
        entry = self.metric_list[0] if self.metric_list else "acc"
        name = str(next(iter(entry)) if isinstance(entry, Mapping) else entry)
        return Score(
            value={name: judgement.grade.score},
            extracted_prediction=filtered_prediction,
            prediction=original_prediction,
            explanation=judgement.grade.explanation or None,
            metadata={"source": "llm_judge", "judge_grade": judgement.grade.label},
            main_score_name=name,
        )

    def judge_case(
        self,
        original_prediction: str,
        filtered_prediction: str,
        reference: str,
        task_state: TaskState,
    ) -> Case:
        """Return what the judge is asked about an answer; override it for another template."""
        accepted = self.accepted_answers(reference, task_state)
        reference_text = accepted if isinstance(accepted, str) else " or ".join(accepted)
        return self.judge_use.contract.case(original_prediction, reference_text)

    def _score(self, prediction: str, filtered: str, task_state: TaskState) -> Score:
        answer = (prediction, filtered, task_state.target, task_state)
        if self.judge_strategy == "llm":
            return self.llm_match_score(*answer)
        score = self.match_score(*answer)
        # llm_recall: the judge is asked only about what the rule does not find right.
        if self.judge_strategy == "rule" or score.main_value > RIGHT_ABOVE:
            return score
        return better_of(score, self.llm_match_score(*answer))

    def calculate_metrics(self, task_state: TaskState) -> SampleScore:
        """Return the score of an answered sample."""
        prediction = task_state.output.completion
        filtered = self.filter_prediction(prediction, task_state)
        score = self._score(prediction, filtered, task_state)
        return SampleScore(
            score=score,
            sample_id=task_state.sample_id,
            group_id=task_state.group_id,
            sample_metadata=task_state.metadata,
        )

    def aggregate_scores(self, sample_scores: Sequence[SampleScore]) -> list[AggScore]:
        """Return what the benchmark's aggregation makes of the scores of a subset."""
        return aggregate_subset(self.meta.aggregation, sample_scores)

    # Reports

    def generate_report(
        self, scores: Mapping[str, Sequence[AggScore]], model_name: str, output_dir: str = ""
    ) -> Report:
        """Return the report of a benchmark from its scores by subset."""
        report = self._on_generate_report(scores, model_name)
        self._on_generate_report_end(report, output_dir)
        return report

    def _on_generate_report(
        self, scores: Mapping[str, Sequence[AggScore]], model_name: str
    ) -> Report:
        """Return the report of a benchmark."""
        return make_report(
            self.meta, scores, model_name, self.category_map, overall=self.add_overall_metric
        )

    def _on_generate_report_end(self, report: Report, output_dir: str, **_: object) -> None:
        """Do what follows a report."""

    @contextmanager
    def _temporary_attribute(self, name: str, value: object) -> Iterator[None]:
        own_value = getattr(self, name, None)
        setattr(self, name, value)
        try:
            yield
        finally:
            setattr(self, name, own_value)


def _refuse_uncalled_steps(adapter: type) -> None:
    """Raise ConfigError where a class overrides a step, or asks for one, that nel does not have."""
    steps = [step for step in _NOT_CALLED if hasattr(adapter, step)]
    if steps:
        raise ConfigError(
            f"{adapter.__name__} has its own {', '.join(steps)}, which nel does not call"
        )
    definitions = [
        vars(kind)["judge_definition"]
        for kind in adapter.__mro__
        if "judge_definition" in vars(kind)
    ]
    # The last is that of the furthest ancestor: what it calls by its own name is EvalScope's.
    if definitions and "judge_definition" in definitions[-1].__code__.co_names:
        raise ConfigError(
            f"the judge_definition of {adapter.__name__} asks for EvalScope's own, which nel does"
            " not have"
        )
