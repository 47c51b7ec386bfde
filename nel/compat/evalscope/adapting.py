"""Registers adapter classes, and makes a benchmark of one; refuses what cannot be used before
anything is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from nel.authoring.fewshot import FewShot
from nel.authoring.registered import REGISTERED, describes_benchmark, source_of
from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.aggregation import OF_REPEATS, check_aggregation
from nel.compat.evalscope.answer_scoring import AdapterScorer
from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.filters import build_filters
from nel.compat.evalscope.judge_strategies import JudgeUse
from nel.compat.evalscope.loading import source_for
from nel.compat.evalscope.meta import BenchmarkMeta
from nel.compat.evalscope.metrics import named_metrics
from nel.compat.evalscope.own_loads import own_steps
from nel.compat.evalscope.own_rows import OwnLoadBenchmark, rows_of
from nel.compat.evalscope.samples import limit_of
from nel.errors import ConfigError
from nel.prompts import compile_template

_Class = TypeVar("_Class", bound=type)
_SUBSET_FIELD: Final = "subset"
_JUDGING: Final = ("judge_strategy", "judge_args")
_DECIDING: Final = ("metric_list", "filters", "extra_params", "aggregation")
"""Fields of the meta that change scores: they are part of the benchmark's identity."""


def register_benchmark(meta: BenchmarkMeta) -> Callable[[_Class], _Class]:
    """Register the adapter class below under the name its meta gives.

    Raises:
        ConfigError: Another file has registered the name.
    """

    def register(adapter: _Class) -> _Class:
        namesake = REGISTERED.get(meta.name)
        if namesake is not None and source_of(namesake) != source_of(adapter):
            raise ConfigError(
                f'two adapters are called "{meta.name}": {source_of(namesake)} and'
                f" {source_of(adapter)}; rename one"
            )
        meta.data_adapter = adapter
        adapter.benchmark_meta = meta  # type: ignore[attr-defined]
        adapter.described_benchmark = classmethod(adapt)  # type: ignore[attr-defined]
        adapter.description = meta.description or meta.pretty_name or meta.name  # type: ignore[attr-defined]
        REGISTERED[meta.name] = adapter
        return adapter

    return register


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
    judging: dict[str, Any] = {name: changes.pop(name) for name in _JUDGING if name in changes}
    # What is left of the arguments are fields of the meta.
    meta = adapter_class.benchmark_meta.with_changes(changes)  # type: ignore[attr-defined]
    adapter: DefaultDataAdapter = adapter_class(benchmark_meta=meta)
    adapter.judge_use = JudgeUse.of(judging.get("judge_strategy"), judging.get("judge_args"))
    _check(adapter, meta, limit)
    settings = {name: getattr(meta, name) for name in _DECIDING}
    needs_reducer = meta.aggregation in OF_REPEATS
    file = Path(source_of(adapter_class))
    changes |= judging
    if limit is not None:
        changes["limit"] = limit
    loads_itself = bool(own_steps(adapter_class))
    kind = OwnLoadBenchmark if loads_itself else AdaptedBenchmark
    has_own_examples = loads_itself or adapter.words_own_examples
    return kind(
        name=meta.name,
        description=_first_line(meta.description or meta.pretty_name or meta.name),
        dataset=rows_of(adapter) if loads_itself else _source(_questions, adapter),
        prompt=_prompt_template(adapter),
        scorer=AdapterScorer(adapter),
        num_fewshot=0 if has_own_examples else adapter.few_shot_num,
        fewshot=_fewshot(adapter),
        extra={name: value for name, value in settings.items() if value} | judging,
        reducers=(meta.aggregation,) if needs_reducer else (),
        env=tuple(meta.env),
        base_dir=file.parent if file.is_file() else None,
        adapter=adapter,
        arguments=changes,
        limit=limit,
    )


def _fewshot(adapter: DefaultDataAdapter) -> FewShot:
    has_subsets = adapter.reformat_subset or len(adapter.subset_list) > 1
    return FewShot(
        dataset=_source(_examples, adapter),
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
    if not adapter.has_own_rule:
        check_aggregation(meta.aggregation)
    build_filters(meta.filters)
    if limit is not None and meta.more.get("shuffle"):
        raise ConfigError(
            f"{meta.name} shuffles its rows before a limit, which nel does not do; take a part of"
            " them with --sample N"
        )


def _source(read: Callable[[DefaultDataAdapter], Any], adapter: DefaultDataAdapter) -> Any:
    """Return a source, or a function that raises why there is none, since a run may replace it."""
    try:
        return read(adapter)
    except ConfigError as error:
        reason = error

    def refuse() -> Any:
        raise reason

    return refuse


def _questions(adapter: DefaultDataAdapter) -> Any:
    return source_for(adapter, adapter.eval_split)


def _examples(adapter: DefaultDataAdapter) -> Any:
    """Return the source of few-shot examples.

    Raises:
        ConfigError: The source of the examples has no splits.
    """
    split = adapter.train_split
    if split is None:
        raise ConfigError(
            f"{adapter.name} has no train_split; name few-shot examples with --fewshot-dataset PATH"
        )
    source = source_for(adapter, split)
    if split != adapter.eval_split and source == _questions(adapter):
        raise ConfigError(
            f"{adapter.name}: {source} has no splits, so that there are no few-shot examples in"
            " it; name a folder with a file for each split, or give --fewshot-dataset PATH"
        )
    return source


def _prompt_template(adapter: DefaultDataAdapter) -> Any:
    """Return the template; of an adapter that words prompts itself, the question alone."""
    if type(adapter).format_prompt_template is not DefaultDataAdapter.format_prompt_template:
        return compile_template("{question}", name="prompt")
    return compile_template(
        adapter.prompt_template or "{question}", name=f"{adapter.name} prompt_template"
    )
