"""`run_task`: an evaluation configured as in EvalScope, and reported as its adapters define.

An API key is never accepted, only the name of the variable that holds it, and a model is always
behind an endpoint.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, overload

from pydantic import ConfigDict, Field, ValidationError, field_validator

from nel.artifacts.benchmark_result import BenchmarkResult
from nel.authoring.registered import REGISTERED, source_of
from nel.authoring.registry import find_benchmark
from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.aggregation import aggregate_subset
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.judge_strategies import JudgeContract
from nel.compat.evalscope.meta import BenchmarkMeta
from nel.compat.evalscope.own_aggregates import sample_score
from nel.compat.evalscope.report import Report, make_report, report_table
from nel.compat.evalscope.samples import SampleScore
from nel.config.load import first_problem, read_yaml
from nel.config.schema import Strict
from nel.errors import EXIT_USAGE, ConfigError, UsageError, did_you_mean
from nel.runs.evaluation import evaluate
from nel.runs.result import RunResult
from nel.types import Json, JsonObject

Settings: TypeAlias = dict[str, Json]
"""Settings in the form of EvalScope or of a configuration file; validated where they are used."""

_NO_KEY: Final = (None, "", "EMPTY")
_KEY_REFUSED: Final = (
    "api_key holds a key; give the name of the variable that holds it as api_key_env"
)
_SENT: Final[tuple[str, ...]] = ("temperature", "top_p", "max_tokens", "seed")
_JUDGED: Final = ("llm", "llm_recall")
_CONTRACT: Final = tuple(JudgeContract.__dataclass_fields__)
_JUDGE_ARGS: Final = (
    "api_key",
    "api_key_env",
    "api_url",
    "model_id",
    "generation_config",
    *_CONTRACT,
)


class TaskConfig(Strict):
    """One evaluation: a model and its benchmarks."""

    model_config = ConfigDict(hide_input_in_errors=True)  # api_key may hold a key

    model: str
    """The model's name at the endpoint."""
    api_url: str | None = None
    """The endpoint, such as ``http://127.0.0.1:8000/v1``."""
    api_key: str | None = None
    """Must be empty or ``EMPTY``; see `api_key_env`."""
    api_key_env: str | None = None
    """The name of the variable that holds the key."""
    model_id: str | None = None
    """The model's name in reports; None: `model`."""
    datasets: list[str]
    """Names of registered adapters or installed benchmarks, or paths of benchmark files."""
    dataset_args: dict[str, Settings] = Field(default_factory=dict)
    """By dataset: changes to its `BenchmarkMeta`, and ``local_path``."""
    dataset_hub: Literal["huggingface", "modelscope"] = "huggingface"
    """The hub of plain names ``org/name``."""
    limit: float | int | None = None
    """Of each subset: this many samples, or as a float up to 1 this share."""
    repeats: int = 1
    """Answers requested for each problem."""
    generation_config: Settings = Field(default_factory=dict)
    """``temperature``, ``top_p``, ``max_tokens``, ``stop_seqs`` and ``seed``.

    Anything else is sent unchanged.
    """
    eval_batch_size: int | None = Field(default=None, ge=1)
    """Requests in flight at once."""
    eval_type: Literal["openai_api", "server", "service"] | None = None
    """Each means the endpoint."""
    work_dir: str = "outputs"
    """Folder of the runs."""
    use_cache: str | None = None
    """The directory of a run to continue."""
    ignore_errors: bool = False
    """Whether samples without a score are tolerated; they are counted in any case."""
    judge_strategy: Literal["auto", "rule", "llm", "llm_recall"] = "auto"
    """``rule``: the metrics; ``llm``: the judge; ``llm_recall``: the judge for answers that the
    metrics find wrong;
    ``auto``: as each benchmark says."""
    judge_model_args: Settings = Field(default_factory=dict)
    """The judge: ``api_url``, ``model_id``, ``api_key_env`` and ``generation_config``.

    Its prompt: ``system_prompt`` and ``prompt_template`` (``{question}``, ``{gold}``, ``{pred}``);
    how its reply is parsed: ``score_pattern``, ``score_mapping`` and ``score_type`` (``pattern`` or
    ``numeric``)."""
    judge_worker_num: int | None = Field(default=None, ge=1)
    """Requests to the judge in flight at once; None: as many as the run's own."""
    stream: bool = False
    """Stream the answers."""
    seed: int | None = None
    """Seed of the generation, where `generation_config` has none."""
    debug: bool = False
    """Log each request."""

    @field_validator("api_key")
    @classmethod
    def _no_key(cls, key: str | None) -> str | None:
        if key not in _NO_KEY:
            raise ValueError(_KEY_REFUSED)
        return None

    @field_validator("judge_model_args")
    @classmethod
    def _no_key_of_the_judge(cls, settings: Settings) -> Settings:
        for key in settings:
            if key not in _JUDGE_ARGS:
                raise ValueError(f'unknown key "{key}"{did_you_mean(key, _JUDGE_ARGS) or ""}')
        if settings.get("api_key") not in _NO_KEY:
            raise ValueError(_KEY_REFUSED)
        return {
            key: value for key, value in settings.items() if key != "api_key" and value is not None
        }

    def run_config(self) -> Settings:
        """Return the configuration of the run.

        Raises:
            ConfigError: There is no endpoint, or arguments name an unknown dataset.
        """
        if self.api_url is None:
            raise ConfigError(
                f"no endpoint is named for {self.model}; nel evaluates models behind an endpoint,"
                " so serve it and set api_url, for example http://127.0.0.1:8000/v1"
            )
        self._check_arguments()
        generation = _generation(self.generation_config)
        if self.seed is not None:
            generation.setdefault("seed", self.seed)
        engine: Settings = {}
        if self.eval_batch_size is not None:
            engine["concurrency"] = self.eval_batch_size
        if self.ignore_errors:
            engine["unscored_rate_max"] = 1.0
        return {
            "endpoint": {
                "url": self.api_url,
                "model": self.model,
                "api_key_env": self.api_key_env,
                "stream": self.stream,
            },
            "benchmarks": [self._entry(name) for name in self.datasets],
            "generation": generation,
            **self._judge(),
            "engine": engine,
            "output": {"dir": self.use_cache or self.work_dir},
            "observability": {"log_level": "debug" if self.debug else "info"},
        }

    def _judge(self) -> Settings:
        """Return the configuration of the run's judge; empty where there is none.

        Raises:
            ConfigError: The strategy needs a judge, or its configuration is incomplete.
        """
        settings = self.judge_model_args
        if "api_url" not in settings and "model_id" not in settings:
            if self.judge_strategy in _JUDGED:
                raise ConfigError(
                    f'judge_strategy "{self.judge_strategy}" needs a judge; give'
                    ' judge_model_args={"api_url": …, "model_id": …, "api_key_env": the name of a'
                    " variable}"
                )
            return {}
        if "api_url" not in settings or "model_id" not in settings:
            raise ConfigError("judge_model_args needs both api_url and model_id")
        judge = {
            "url": settings["api_url"],
            "model": settings["model_id"],
            "api_key_env": settings.get("api_key_env"),
            "concurrency": self.judge_worker_num,
        }
        if "generation_config" in settings:
            judge["generation"] = _generation(settings["generation_config"])
        return {"judge": judge}

    def arguments_of(self, name: str) -> Settings:
        """Return the arguments of a dataset, by its name in `datasets` or by that of its benchmark.

        Raises:
            ConfigError: They are given by both names.
        """
        if not self.dataset_args:
            return {}
        names = self.dataset_args.keys() & {name, _benchmark_name(name)}
        if len(names) > 1:
            raise ConfigError(
                f"dataset_args names {_benchmark_name(name)} twice: as {' and as '.join(sorted(names))}"
            )
        return dict(self.dataset_args[names.pop()]) if names else {}

    def _check_arguments(self) -> None:
        """Raise ConfigError where arguments are of no dataset."""
        names = self.dataset_args.keys() - self.datasets
        if names:  # finding benchmarks imports them
            names -= set(map(_benchmark_name, self.datasets))
        if names:
            raise ConfigError(
                f"dataset_args names {', '.join(sorted(names))}, which datasets does not"
            )

    def _entry(self, name: str) -> Settings:
        arguments = self.arguments_of(name)
        if self.limit is not None:
            arguments["limit"] = self.limit
        full_name = _full_name(name)
        registered = find_benchmark(full_name)
        entry: Settings = {"name": full_name, "repeats": self.repeats}
        if isinstance(registered, AdaptedBenchmark):
            meta = registered.adapter.meta
            dataset = str(
                arguments.get("local_path") or arguments.get("dataset_id") or meta.dataset_id
            )
            # Another hub is a change of dataset_id, which drops the commit; here it is the same data.
            if self.dataset_hub == "modelscope" and _is_plain(dataset):
                arguments["dataset_id"] = f"ms://{dataset}"
                if dataset == meta.dataset_id and meta.dataset_revision:
                    arguments.setdefault("dataset_revision", meta.dataset_revision)
            if self.judge_strategy != "auto":
                arguments["judge_strategy"] = self.judge_strategy
            contract = {
                key: value for key, value in self.judge_model_args.items() if key in _CONTRACT
            }
            if contract:
                arguments["judge_args"] = contract
            return {**entry, "args": arguments}
        if isinstance(self.limit, float):
            raise ConfigError(
                f"{name} is not an adapter class; give it a limit in samples, such as 10"
            )
        if self.judge_strategy in _JUDGED:
            raise ConfigError(
                f"{name} is not an adapter class, so that its own scorer decides whether a judge is"
                " used; remove judge_strategy"
            )
        local, limit = arguments.pop("local_path", None), arguments.pop("limit", None)
        return {**entry, "dataset": local, "max_problems": limit, "args": arguments}


@overload
def run_task(  # type: ignore[overload-overlap]  # a text is a path, not a sequence of them
    task_cfg: TaskConfig | JsonObject | str | Path,
) -> dict[str, Report]: ...
@overload
def run_task(
    task_cfg: Sequence[TaskConfig | JsonObject | str | Path],
) -> list[dict[str, Report]]: ...
def run_task(
    task_cfg: TaskConfig | JsonObject | str | Path | Sequence[TaskConfig | JsonObject | str | Path],
) -> dict[str, Report] | list[dict[str, Report]]:
    """Run an evaluation and return a `Report` for each dataset by name; for a list of
    configurations, a list of these.

    ``print(report)`` prints the table of one report, `report_table` that of several.

    Args:
        task_cfg: A configuration, a mapping of its fields, or the path of a YAML or JSON file with
            them.

    Raises:
        NelError: The configuration, a benchmark or its dataset is unusable, or the key or the model
            is wrong.
    """
    if isinstance(task_cfg, Sequence) and not isinstance(task_cfg, str):
        return [run_task(config) for config in task_cfg]
    config = _task_config(task_cfg)
    result = evaluate(config.run_config(), resume=config.use_cache is not None)
    if result.ending.exit_code == EXIT_USAGE:
        raise UsageError(f"{result.ending.reason}; fix it, then: {result.resume_command}")
    names = dict(zip((item.slot for item in result.benchmarks), config.datasets, strict=False))
    reports = {}
    for item in result.benchmarks:
        name = names.get(item.slot, item.slot)
        reports[name] = _report(config, name, item, result)
    return reports


def _task_config(config: TaskConfig | JsonObject | str | Path) -> TaskConfig:
    if isinstance(config, TaskConfig):
        return config
    if isinstance(config, (str, Path)):
        config = read_yaml(Path(config))
    try:
        return TaskConfig.model_validate(dict(config))
    except ValidationError as error:
        raise ConfigError(f"TaskConfig: {first_problem(error)}") from error


def _generation(config: JsonObject) -> Settings:
    """Return EvalScope's generation settings by nel's names; others go unchanged into ``extra``."""
    settings = dict(config)
    generation: Settings = {key: settings.pop(key) for key in _SENT if key in settings}
    if "stop_seqs" in settings:
        generation["stop"] = settings.pop("stop_seqs")
    return {**generation, "extra": settings}


def _full_name(name: str) -> str:
    """Return the name by which a process that resumes the run finds an adapter of this one."""
    adapter = REGISTERED.get(name)
    if adapter is None or ":" in name or name.endswith(".py"):
        return name
    source = source_of(adapter)
    return f"{source}:{name}" if source.endswith(".py") else name


def _benchmark_name(name: str) -> str:
    """Return the name of the benchmark that an entry of `datasets` names, as by a file."""
    return find_benchmark(_full_name(name)).name


def _is_plain(dataset: str) -> bool:
    return "://" not in dataset and dataset.count("/") == 1 and not Path(dataset).exists()


def _report(config: TaskConfig, name: str, item: BenchmarkResult, result: RunResult) -> Report:
    scores: dict[str, list[Settings]] = {}
    unscored: Counter[str] = Counter()
    with (item.directory / "results.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["reward"] is None:
                unscored[row["outcome"]["cause"]] += 1
            else:
                scores.setdefault(str(row["metadata"].get("category") or "default"), []).append(row)
    report = _scores_report(config, name, scores, item)
    report.unscored = dict(unscored)
    report.exit_code = result.exit_code
    report.run_dir = str(result.run_dir)
    report.ended = result.ending.reason if result.ending.exit_code else None
    return report


def _scores_report(
    config: TaskConfig, name: str, scores: dict[str, list[Settings]], item: BenchmarkResult
) -> Report:
    model_name = config.model_id or config.model
    registered = find_benchmark(_full_name(name))
    if not isinstance(registered, AdaptedBenchmark):
        meta = BenchmarkMeta(
            name=registered.name,
            dataset_id=str(registered.dataset),
            description=registered.description,
        )
        means = {}
        for subset, rows in sorted(scores.items()):
            means[subset] = aggregate_subset("mean", _sample_scores(rows, ["reward"], None))
        return make_report(meta, means, model_name, {})
    adapter = registered.with_arguments(config.arguments_of(name)).adapter
    # Subsets come in the adapter's order, and what it did not list after them.
    names: list[str] = []
    for entry in adapter.metric_list:
        names += entry if isinstance(entry, dict) else [entry]
    subsets = [subset for subset in adapter.subset_list if subset in scores]
    subsets += sorted(set(scores) - set(subsets))
    by_subset = {}
    for subset in subsets:
        sample_scores = _sample_scores(scores[subset], names, adapter)
        by_subset[subset] = adapter.aggregate_scores(sample_scores)
    return adapter.generate_report(by_subset, model_name, str(item.directory))


def _sample_scores(
    rows: Sequence[JsonObject], names: Sequence[str], adapter: DefaultDataAdapter | None
) -> list[SampleScore]:
    """Return the rows' scores; a model failure without metrics counts 0 in all of them.

    Where the adapter aggregates by a rule of its own, which may read details, it scores such an
    answer as an empty one.
    """
    metric_names = [name for row in rows for name in row["scoring_details"].get("metrics", ())]
    zeros = dict.fromkeys(dict.fromkeys(metric_names) or names, 0.0)
    has_own = adapter is not None and adapter.has_own_aggregates
    scores: list[SampleScore] = []
    for row in rows:
        details = dict(row["scoring_details"])
        numbers = details.pop("metrics", None) or {}
        scores.append(
            sample_score(
                adapter,
                numbers=numbers if has_own else numbers or zeros,
                details=details,
                extracted=row["extracted_answer"],
                response=row["model_response"],
                target=row["expected_answer"],
                sample_id=row["sample_id"],
                metadata=row["metadata"],
            )
        )
    return scores


__all__ = ["TaskConfig", "report_table", "run_task"]
