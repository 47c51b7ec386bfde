"""What every adapter is: a meta, the way from a record to a sample, and its benchmark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from nel.authoring.benchmark import Benchmark
from nel.compat.evalscope.judge_strategies import JudgeUse, LlmJudge
from nel.compat.evalscope.loading import local_place
from nel.compat.evalscope.meta import BenchmarkMeta
from nel.compat.evalscope.samples import Sample
from nel.errors import ConfigError

__all__ = ["DataAdapter"]


class DataAdapter(ABC):
    """What every adapter is: a meta, and the way from a record to a sample."""

    benchmark_meta: ClassVar[BenchmarkMeta]
    """Set by `register_benchmark`."""
    described_benchmark: ClassVar[Callable[[Mapping[str, Any] | None], Benchmark]]
    """Returns the benchmark that the class was registered for, with what a run changes; set by
    `register_benchmark`."""

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
        # `dataset_id` is a name on ModelScope; a dataset may have another one on Hugging Face.
        if local_place(self) is None:
            self.dataset_id = meta.hf_dataset_id or meta.dataset_id
            self.dataset_revision = meta.hf_dataset_revision or meta.dataset_revision

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
        if strategy != "auto":
            return strategy
        return "llm" if self._use_llm_judge else "rule"

    @abstractmethod
    def record_to_sample(self, record: dict[str, object]) -> Sample | list[Sample]:
        """Return the sample, or samples, that a record of the dataset describes."""
