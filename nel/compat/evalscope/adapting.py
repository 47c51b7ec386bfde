"""Makes a benchmark of an adapter class; refuses what cannot be used before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nel.authoring.fewshot import FewShot
from nel.authoring.registered import describes_benchmark, source_of
from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.aggregation import AGGREGATIONS, check_aggregation
from nel.compat.evalscope.answer_scoring import AdapterScorer
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.filters import build_filters
from nel.compat.evalscope.judge_strategies import JudgeUse
from nel.compat.evalscope.loading import source_for
from nel.compat.evalscope.meta import BenchmarkMeta
from nel.compat.evalscope.metrics import named_metrics
from nel.compat.evalscope.own_loads import own_steps
from nel.compat.evalscope.own_rows import own_benchmark
from nel.compat.evalscope.samples import limit_of
from nel.errors import ConfigError
from nel.prompts import compile_template

_SUBSET_FIELD: Final = "subset"


def adapt(adapter_class: type, arguments: Mapping[str, Any] | None = None) -> AdaptedBenchmark:
    """Return the benchmark that a registered adapter class describes.

    Args:
        adapter_class: Has been registered with `register_benchmark`.
        arguments: Changes of its meta; ``limit``, so many samples of each subset;
            ``judge_strategy`` and ``judge_args``, see
            `nel.compat.evalscope.judge_strategies`.

    Raises:
        ConfigError: It is not an adapter, or an argument, a metric or a filter is unknown.
    """
    if not describes_benchmark(adapter_class):
        raise ConfigError(
            f"{getattr(adapter_class, '__name__', adapter_class)} is not a registered adapter class"
        )
    changes = dict(arguments or {})
    limit = changes.pop("limit", None)
    limit_of(limit, 1)
    judging = {
        name: changes.pop(name) for name in ("judge_strategy", "judge_args") if name in changes
    }
    meta = adapter_class.benchmark_meta.with_changes(changes)  # type: ignore[attr-defined]
    adapter: DefaultDataAdapter = adapter_class(benchmark_meta=meta)
    adapter.judge_use = JudgeUse.of(judging.get("judge_strategy"), judging.get("judge_args"))
    _check(adapter, meta, limit)
    home = Path(source_of(adapter_class))
    deciding = ("metric_list", "filters", "extra_params", "aggregation")
    benchmark = AdaptedBenchmark(
        name=meta.name,
        description=_first_line(meta.description or meta.pretty_name or meta.name),
        dataset=_source(adapter, adapter.eval_split),
        prompt=_shown_prompt(adapter),
        scorer=AdapterScorer(adapter),
        num_fewshot=0 if adapter.words_own_examples else adapter.few_shot_num,
        fewshot=_fewshot(adapter),
        extra={name: getattr(meta, name) for name in deciding if getattr(meta, name)} | judging,
        reducers=(meta.aggregation,) if meta.aggregation in AGGREGATIONS[2:] else (),
        env=tuple(meta.env),
        base_dir=home.parent if home.is_file() else None,
        adapter=adapter,
        arguments=changes | judging | ({} if limit is None else {"limit": limit}),
        limit=limit,
    )
    return own_benchmark(benchmark) if own_steps(adapter_class) else benchmark


def _fewshot(adapter: DefaultDataAdapter) -> FewShot:
    has_subsets = adapter.reformat_subset or len(adapter.subset_list) > 1
    return FewShot(
        dataset=_source(adapter, adapter.train_split, holds_examples=True),
        sampler="seeded" if adapter.meta.few_shot_random else "first",
        match_field=_SUBSET_FIELD if has_subsets else None,
    )


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0].rstrip(".")


def _check(adapter: DefaultDataAdapter, meta: BenchmarkMeta, limit: object) -> None:
    """Refuse metrics, filters, aggregations and limits that cannot be used."""
    if (
        type(adapter).match_score is DefaultDataAdapter.match_score
        and adapter.judge_strategy != "llm"
    ):
        named_metrics(adapter.metric_list)
    if not adapter.has_own_aggregates:
        check_aggregation(meta.aggregation)
    build_filters(meta.filters)
    if limit is not None and meta.more.get("shuffle"):
        raise ConfigError(
            f"{meta.name} shuffles its rows before a limit, which nel does not do; take a part of"
            " them with --sample N"
        )


def _source(adapter: DefaultDataAdapter, split: str | None, *, holds_examples: bool = False) -> Any:
    """Return a split's source, or a function that says why there is none: a run may replace it."""
    try:
        if split is None:
            raise ConfigError(
                f"{adapter.name} has no train_split; name few-shot examples with --fewshot-dataset"
                " PATH"
            )
        source = source_for(adapter, split)
        if (
            holds_examples
            and source == source_for(adapter, adapter.eval_split)
            and split != adapter.eval_split
        ):
            raise ConfigError(
                f"{adapter.name}: {source} has no splits, so that there are no few-shot examples in"
                " it; name a folder with a file for each split, or give --fewshot-dataset PATH"
            )
    except ConfigError as error:
        reason = error

        def refuse() -> Any:
            raise reason

        return refuse
    return source


def _shown_prompt(adapter: DefaultDataAdapter) -> Any:
    if type(adapter).format_prompt_template is not DefaultDataAdapter.format_prompt_template:
        return compile_template("{question}", name="prompt")
    return compile_template(
        adapter.prompt_template or "{question}", name=f"{adapter.name} prompt_template"
    )
