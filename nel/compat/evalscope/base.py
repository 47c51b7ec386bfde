"""Adapter classes: a benchmark as a class with a method for each step, named as in EvalScope.

    record_to_sample -> sample_filter -> format_*_template -> inference -> extract_answer ->
    match_score -> reports

The bridge makes a `Benchmark` of one, so that it runs, resumes and is scored as any other. An
adapter is asked in several processes; what a method writes to ``self`` reaches no other one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar

from nel.authoring.benchmark import Benchmark
from nel.compat.evalscope.aggregation import aggregate_subset
from nel.compat.evalscope.filters import build_filters
from nel.compat.evalscope.judge_strategies import RIGHT_ABOVE, JudgeUse, LlmJudge, better_of
from nel.compat.evalscope.loading import (
    local_place,
    rows_of,
    samples_made,
    subset_of,
    uses_modelscope,
)
from nel.compat.evalscope.meta import BenchmarkMeta
from nel.compat.evalscope.metrics import METRICS, MetricFunction, named_metrics
from nel.compat.evalscope.report import Report, make_report
from nel.compat.evalscope.samples import (
    AggScore,
    ChatMessage,
    DatasetDict,
    ModelOutput,
    Sample,
    SampleScore,
    Score,
    TaskState,
)
from nel.errors import ConfigError, ScorerError
from nel.judges.types import Case, Judgement
from nel.prompts import Template, compile_template
from nel.scoring.delegation import ask_judge

FEW_SHOT_TEMPLATE = "Here are some solved examples:\n\n{fewshot}\n\n"
"""Stands before the prompt's own template where a benchmark has none for few-shot."""


@lru_cache(maxsize=64)
def _compile(template: str, name: str) -> Template:
    return compile_template(template, name=name)


class DataAdapter(ABC):
    """What every adapter is: a meta, and the way from a record to a sample."""

    benchmark_meta: ClassVar[BenchmarkMeta]
    """Set by `register_benchmark`."""

    def __init__(
        self, benchmark_meta: BenchmarkMeta | None = None, task_config: object = None, **_: object
    ) -> None:
        """Take the meta of a run, which may differ from the registered one.

        Raises:
            ConfigError: There is none: the class is not registered.
        """
        meta = benchmark_meta or getattr(type(self), "benchmark_meta", None)
        if meta is None:
            raise ConfigError(
                f"{type(self).__name__} has no meta; put @register_benchmark(BenchmarkMeta(...))"
                " above it"
            )
        self.meta: BenchmarkMeta = meta
        self.task_config = task_config
        self.name = meta.name
        self.dataset_id, self.dataset_revision = meta.dataset_id, meta.dataset_revision
        self.subset_list = list(meta.subset_list)
        self.default_subset = meta.default_subset
        self.few_shot_num = meta.few_shot_num
        self.train_split = meta.train_split
        self.eval_split = meta.eval_split or "test"
        self.prompt_template = meta.prompt_template
        self.few_shot_prompt_template = meta.few_shot_prompt_template
        self.system_prompt = meta.system_prompt
        self._metric_list: list[Any] = list(meta.metric_list)
        """Metrics, by name or as ``{name: options}``; the first gives the reward."""
        self.extra_params = {
            key: item.get("value") if isinstance(item, Mapping) else item
            for key, item in meta.extra_params.items()
        }
        self.reformat_subset = False
        """Whether subsets are made of each sample's `subset_key` instead of loaded one by one."""
        self.split_as_subset = False
        """Whether the names of subsets are those of splits."""
        self.category_map: dict[str, str | list[str]] = {}
        """From a subset to its category, or its categories from wide to narrow."""
        self.add_overall_metric = True
        """Whether a report of several subsets has a row over all of them."""
        self.judge_use = JudgeUse()
        """Whether and how a judge is asked; a run may change it."""
        self._use_llm_judge = False
        """Whether the judge decides where the run leaves it to the adapter."""
        self.current_subset_name = ""
        """The subset whose records are being read, where subsets are read one by one."""
        if local_place(self) is None:
            self.dataset_id, self.dataset_revision = meta.source_on(
                uses_modelscope=uses_modelscope(task_config)
            )

    @property
    def metric_list(self) -> list[Any]:
        """Return the metrics, by name or as ``{name: options}``; the first gives the reward.

        A property, since adapters override it as one (general_mcq).
        """
        return self._metric_list

    @metric_list.setter
    def metric_list(self, value: list[Any]) -> None:
        self._metric_list = value

    @property
    def llm_judge(self) -> LlmJudge:
        """Return the run's judge, for an `llm_match_score` with its own prompt and reading."""
        return LlmJudge(self.judge_use.contract)

    @property
    def judge_strategy(self) -> str:
        """Return ``rule``, ``llm`` or ``llm_recall``."""
        strategy = self.judge_use.strategy
        return ("llm" if self._use_llm_judge else "rule") if strategy == "auto" else strategy

    def as_record(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of the dataset as `record_to_sample` reads it."""
        return row

    def as_benchmark(self, benchmark: Any) -> Any:
        """Return the benchmark made of the adapter, changed where another kind is needed."""
        return benchmark

    @classmethod
    def described_benchmark(cls) -> Benchmark:
        """Return the benchmark that the class was registered for.

        Raises:
            ConfigError: It cannot be used as it is registered.
        """
        bridge = import_module("nel.compat.evalscope.bridge")  # which imports this module
        benchmark: Benchmark = bridge.adapt(cls)
        return benchmark

    @abstractmethod
    def record_to_sample(self, record: dict[str, object]) -> Sample | list[Sample]:
        """Return the sample, or samples, that a record of the dataset describes."""


class DefaultDataAdapter(DataAdapter):
    """The adapter of questions with free answers."""

    metrics: ClassVar[Mapping[str, MetricFunction]] = METRICS
    """What `metric_list` can name."""

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

    def format_prompt_template(self, sample: Sample) -> str:
        """Return the prompt of a sample without examples."""
        return self._render(self.prompt_template or "{question}", sample)

    def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
        """Return the prompt of a sample with its examples."""
        template = self.few_shot_prompt_template
        return self._render(
            template or FEW_SHOT_TEMPLATE + (self.prompt_template or "{question}"), sample, fewshot
        )

    def process_sample_input(
        self, sample: Sample, subset: str, fewshot: str | None = None
    ) -> str | list[ChatMessage]:
        """Return messages as they are, or text in its template, after any system message."""
        if isinstance(sample.input, str):
            text = (
                self.format_prompt_template(sample)
                if fewshot is None
                else self.format_fewshot_template(fewshot, sample)
            )
            if self.system_prompt is None:
                return text
            messages = [ChatMessage(role="user", content=text)]
        else:
            messages = list(sample.input)
        if self.system_prompt is None or any(message.role == "system" for message in messages):
            return messages
        return [ChatMessage(role="system", content=self.system_prompt), *messages]

    def asked_of(self, sample: Sample, subset: str, fewshot: str | None) -> str | list[ChatMessage]:
        """Return what is asked of a sample; the bridge calls this."""
        return self.process_sample_input(sample, subset, fewshot)

    def template_values(self, sample: Sample) -> dict[str, object]:
        """Return what templates can name."""
        return {"question": sample.input}

    def _render(self, template: str, sample: Sample, fewshot: str | None = None) -> str:
        values = self.template_values(sample) | ({} if fewshot is None else {"fewshot": fewshot})
        return _compile(template, f"{self.name} prompt_template").render(values)

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
        messages = (
            [ChatMessage(role="user", content=sample.input)]
            if isinstance(sample.input, str)
            else sample.input
        )
        return TaskState(
            model=model.name,
            sample=sample,
            messages=[*messages, model_output.message],
            output=model_output,
        )

    def run_inference(
        self, model: object, sample: Sample, output_dir: str = "", **options: object
    ) -> TaskState:
        """Return the state of a sample that was asked and answered."""
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
        for name, metric, options in named_metrics(self.metric_list, self.metrics):
            try:
                value[name] = float(metric(filtered_prediction, accepted, **options))
            except (TypeError, ValueError, ArithmeticError) as error:
                raise ScorerError(
                    f"the metric {name} failed: {type(error).__name__}: {error}"
                ) from error
        return Score(
            value=value, extracted_prediction=filtered_prediction, prediction=original_prediction
        )

    def accepted_answers(self, reference: str, task_state: TaskState) -> str | list[str]:
        """Return what metrics compare with; where the target is a list, each answer in it is right.

        Args:
            reference: What `match_score` was given; where it is not the sample's target, it is what
                counts.
        """
        target = task_state.sample.target
        return (
            list(target)
            if isinstance(target, list) and reference == task_state.target
            else reference
        )

    def llm_match_score(
        self,
        original_prediction: str,
        filtered_prediction: str,
        reference: str,
        task_state: TaskState,
    ) -> Score:
        """Return the score that the run's judge gives, under the name of the first metric.

        Raises:
            JudgeError: There is no verdict; the sample is unscored, whatever the metrics say.
        """
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

    # Datasets, for inspection

    def load_dataset(self, limit: float | None = None, repeats: int = 1) -> DatasetDict:
        """Return the samples to be evaluated, by subset, as records make them.

        Raises:
            DatasetError: The dataset cannot be read.
        """
        samples = [sample for row in rows_of(self) for sample in self.samples_of(row)]
        names = self.subset_list if self.divides else None
        return DatasetDict.from_dataset(samples, names, limit=limit, repeats=repeats)

    @property
    def divides(self) -> bool:
        """Return whether samples of other subsets than those listed are left out."""
        return self.subset_list != ["default"]

    def samples_of(self, row: Mapping[str, object]) -> Iterable[Sample]:
        """Return the samples of a row that are kept, each with its subset as its key."""
        samples = samples_made(self, row)
        for sample in samples if isinstance(samples, list) else [samples]:
            sample.subset_key = subset_of(self, row, sample)
            if self.sample_filter(sample):
                yield sample
