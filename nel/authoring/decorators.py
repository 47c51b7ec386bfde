"""`@benchmark`: a scorer becomes a benchmark.

The decorated name is a `Benchmark` afterwards, no longer a function; its scorer is `.scorer`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from nel.authoring.benchmark import Benchmark
from nel.authoring.card import Card
from nel.authoring.fewshot import FewShot, Sampler
from nel.authoring.multi_turn import with_strategy
from nel.authoring.preparing import SeededBenchmark, SeedResult, row_function
from nel.authoring.requirements import read_requirements
from nel.core.plugin_names import NAME_PATTERN
from nel.core.texts import first_paragraph, slug
from nel.datasets.fewshot import ExampleSource
from nel.datasets.in_memory import RowsInMemory, rows_of
from nel.errors import ConfigError, did_you_mean
from nel.prompts import Template, load_template
from nel.reading.asked import parse_asked_form
from nel.scoring.protocol import as_scorer
from nel.types import Protocol, Row, Sample, Scorer

if TYPE_CHECKING:
    from nel.tools import Tool
    from nel.tools.toolset import Environment

_LOGLIKELIHOOD = "completions_logprob"
_PROTOCOLS: Mapping[str, Protocol | None] = {
    "any": None,
    "chat": "chat",
    "completions": "completions",
    _LOGLIKELIHOOD: "completions",
}


class FewShotOptions(TypedDict, total=False):
    """The parameters of `benchmark` about solved examples before the prompt."""

    num_fewshot: int
    """So many examples; ``--num-fewshot`` replaces it."""
    fewshot_dataset: ExampleSource
    """A path (relative to the benchmark's file), a URI, a callable or a list of rows.

    Without it examples are the benchmark's own rows.
    """
    fewshot_split: str
    """The split of a hub dataset that holds them, such as ``train``."""
    fewshot_sampler: Sampler
    """``first`` (the default), ``fixed`` or ``seeded``: drawn for each sample by its content."""
    fewshot_ids: Sequence[str | int]
    """For ``fixed``: own ids as text, positions from 0 as numbers."""
    fewshot_seed: int
    """For ``seeded``; 42."""
    fewshot_match_field: str
    """Only examples that have the sample's value in this field, such as the subject."""
    fewshot_template: str
    """Renders a whole example with ``{target}``, in place of the prompt and the target after it."""
    fewshot_target_template: str
    """Renders the answer of an example, instead of the target alone."""
    fewshot_prefix: str
    """What stands before the first example, where there is one."""
    fewshot_separator: str
    """Between examples, and before the prompt; an empty line."""
    fewshot_as_turns: bool
    """Show examples as turns of a chat instead of in one prompt."""


class BenchmarkOptions(FewShotOptions, total=False):
    """The parameters of `benchmark` that are fields of `Benchmark`, which documents them."""

    target_field: str | None
    response_field: str | None
    id_field: str | None
    choices_field: str | None
    list_fields: Sequence[str]
    target_delimiter: str
    category_field: str | None
    group_field: str | None
    turns_field: str | None
    images_field: str | None
    judge: Mapping[str, Any] | None
    card: Card | None
    environment: Environment | None
    solver: str | Callable[..., Awaitable[str | None]]
    limits_field: str | None
    on_limit: Literal["score", "fail"]
    gold_steps: Callable[[Sample], Sequence[Mapping[str, object]]] | None


def benchmark(
    *,
    name: str,
    dataset: str | Path | Callable[[], Iterable[Row]] | RowsInMemory,
    prompt: str = "",
    description: str | None = None,
    endpoint_type: str = "any",
    system_prompt: str | None = None,
    preamble: str | None = None,
    field_mapping: Mapping[str, str] | None = None,
    choices: Sequence[str] = (),
    continuation: str | None = None,
    prepare_row: Callable[..., dict[str, object]] | None = None,
    seed_fn: Callable[..., SeedResult] | None = None,
    answer_form: str | None = None,
    extra: Mapping[str, object] | None = None,
    sandbox: str | Sequence[str] = (),
    reducers: Sequence[str] = (),
    requirements: str | Sequence[str] = (),
    env: str | Sequence[str] = (),
    tools: Sequence[Tool] = (),
    limits: Mapping[str, float] | None = None,
    hidden_fields: Sequence[str] = (),
    **options: Unpack[BenchmarkOptions],
) -> Callable[[Scorer], Benchmark]:
    """Turn the scorer below into a benchmark, with the fields of `Benchmark` and `FewShotOptions`.

    Args:
        name: What ``--bench`` calls it; spaces and capitals are folded to ``a-z0-9_-``.
        dataset: A path (relative to the file that defines the benchmark), a URI, a callable
            returning rows, or the rows: a DataFrame or a list of mappings.
        prompt: A template with ``{field}`` placeholders, Jinja2, or the name of a template file.
        endpoint_type: ``any``, ``chat``, ``completions``, or ``completions_logprob`` to rank
            choices by log-likelihood.
        prepare_row: From a row, or ``(row, idx)`` or ``(row, idx, rng)``, to the row that is used;
            see `row_function`.
        seed_fn: From a row, or ``(row, idx)``, to the whole problem; instead of a prompt.
        answer_form: The form of answer that the prompt asks for, such as ``tag answer``; see
            `nel.reading.asked`.
        env: Environment variables that scorer and tools read, by name.
        tools: Functions with ``@tool`` that the model may call; see docs/tutorials/tools.md.
        limits: Of an episode, such as ``{"steps": 20}``.
        sandbox: The language, or languages, of the programs that the scorer runs; checked before
            the first request.

    Raises:
        ConfigError: The requirements, the name or the endpoint type is none, or a template
            (`PromptError`) is unusable.
    """
    plain_name = _plain_name(name)
    has_choices = bool(choices) or options.get("choices_field") is not None
    _check_endpoint_type(
        plain_name,
        endpoint_type,
        has_choices=has_choices,
        has_continuation=continuation is not None,
    )
    _check_options(plain_name, options, endpoint_type)
    environment = options.get("environment")
    has_tools = bool(tools or environment)
    fields: dict[str, object] = {
        **_benchmark_fields(options),
        "dataset": _source_of(dataset),
        "choices": tuple(choices),
        "loglikelihood": endpoint_type == _LOGLIKELIHOOD,
        "field_mapping": dict(field_mapping or {}),
        "prepare_row": None if prepare_row is None else row_function(prepare_row, "prepare_row"),
        "protocol": _protocol_of(endpoint_type, options, has_tools=has_tools),
        "extra": _scorer_config(extra, options.get("judge"), answer_form),
        "reducers": tuple(reducers),
        "tools": _check_tools(tools, environment),
        "limits": dict(limits or {}),
        "hidden_fields": tuple(hidden_fields),
        "env": _names(env),
        "languages": _names(sandbox),
    }
    texts = {
        "prompt": prompt,
        "system_prompt": system_prompt,
        "preamble": preamble,
        "continuation": continuation,
    }
    # Templates and requirements may be files beside the benchmark's own, whose folder only the
    # decorated function tells.
    return partial(
        _decorate, plain_name, description, fields, texts, options, requirements, seed_fn
    )


def _benchmark_fields(options: BenchmarkOptions) -> dict[str, object]:
    """Return the options that are fields of `Benchmark`; those of its examples are not."""
    return {
        name: value for name, value in options.items() if name not in FewShotOptions.__annotations__
    }


def _protocol_of(
    endpoint_type: str, options: BenchmarkOptions, *, has_tools: bool
) -> Protocol | None:
    """Return the protocol that a benchmark is asked over; None where each will do."""
    asks_by_messages = ("turns_field", "images_field", "fewshot_as_turns")
    if has_tools or any(map(options.get, asks_by_messages)):
        return "chat"
    return _PROTOCOLS[endpoint_type]


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _source_of(dataset: str | Path | Callable[[], Iterable[Row]] | RowsInMemory) -> object:
    rows_in_memory = rows_of(dataset, "dataset")
    if rows_in_memory is None:
        return str(dataset) if isinstance(dataset, Path) else dataset
    # Not a lambda: the name of the function is what reports call the dataset.

    def rows() -> list[dict[str, object]]:
        return rows_in_memory

    return rows


def _decorate(
    name: str,
    description: str | None,
    fields: Mapping[str, Any],
    texts: Mapping[str, str | None],
    options: FewShotOptions,
    requirements: str | Sequence[str],
    seed_fn: Callable[..., SeedResult] | None,
    function: Scorer,
) -> Benchmark:
    fields, texts = with_strategy(name, fields, texts)
    base_dir = _home_of(function)
    factory: Callable[..., Benchmark] = Benchmark
    if seed_fn is not None:
        factory = partial(SeededBenchmark, seed=row_function(seed_fn, "seed_fn"))
        texts = {**texts, "prompt": texts["prompt"] or "made by seed_fn"}
    templates: dict[str, Any] = {
        role: _template(text, base_dir, role) for role, text in texts.items()
    }
    return factory(
        name=name,
        description=description or first_paragraph(function.__doc__ or "") or name,
        scorer=as_scorer(function),
        num_fewshot=options.get("num_fewshot", 0),
        fewshot=_fewshot(options, base_dir),
        requirements=read_requirements(requirements, base_dir),
        base_dir=base_dir,
        **fields,
        **templates,
    )


def _fewshot(options: FewShotOptions, base_dir: Path | None) -> FewShot:
    fields: dict[str, Any] = {
        name.removeprefix("fewshot_"): value
        for name, value in options.items()
        if name in FewShotOptions.__annotations__ and name != "num_fewshot"
    }
    for name in ("template", "target_template", "prefix"):
        fields[name] = _template(fields.get(name), base_dir, f"fewshot_{name}")
    if "ids" in fields:
        fields["ids"] = tuple(fields["ids"])
    return FewShot(**fields)


def _template(text: Any, base_dir: Path | None, role: str) -> Template | None:
    if text in (None, "") and role != "prompt":
        return None
    return load_template(text, base_dir=base_dir, name=role)


def _check_options(name: str, options: BenchmarkOptions, endpoint_type: str) -> None:
    names = [*BenchmarkOptions.__annotations__, *inspect.signature(benchmark).parameters]
    for option in options:
        if option not in BenchmarkOptions.__annotations__:
            hint = did_you_mean(option, names) or "; what a scorer needs goes into extra={...}"
            raise ConfigError(f'"{name}": @benchmark has no parameter "{option}"{hint}')
    n = options.get("num_fewshot", 0)
    if not isinstance(n, int) or n < 0:
        raise ConfigError(f'"{name}": num_fewshot is {n!r}; give a whole number from 0')
    if options.get("fewshot_as_turns") and endpoint_type not in ("any", "chat"):
        raise ConfigError(
            f'"{name}": examples as turns need a chat endpoint, and endpoint_type is'
            f' "{endpoint_type}"'
        )


def _scorer_config(
    extra: Mapping[str, object] | None, judge: Mapping[str, object] | None, answer_form: str | None
) -> dict[str, object]:
    """Return what the scorer gets as ``config``.

    Raises:
        ConfigError: The form of answer is none.
    """
    config = dict(extra or {})
    if judge is not None:
        config["judge"] = dict(judge)
    if answer_form is not None:
        config["answer_form"] = answer_form
    if "answer_form" in config:
        parse_asked_form(str(config["answer_form"]))
    return config


def _check_tools(tools: Sequence[Tool], environment: Environment | None) -> tuple[Tool, ...]:
    if not (tools or environment):
        return ()
    from nel.tools.toolset import checked_tools  # noqa: PLC0415 - few benchmarks have tools

    return checked_tools(tools, environment)


def _plain_name(name: str) -> str:
    plain_name = slug(name)
    if not NAME_PATTERN.fullmatch(plain_name):
        raise ConfigError(f"{name!r} is not a name for a benchmark; use letters, digits, - and _")
    return plain_name


def _check_endpoint_type(
    name: str, endpoint_type: str, *, has_choices: bool, has_continuation: bool
) -> None:
    if endpoint_type not in _PROTOCOLS:
        raise ConfigError(
            f'endpoint_type "{endpoint_type}" is unknown; use {", ".join(_PROTOCOLS)}'
        )
    if endpoint_type == _LOGLIKELIHOOD and not has_choices:
        raise ConfigError(
            f'"{name}" ranks choices by log-likelihood and has none; give choices= or'
            " choices_field="
        )
    if has_continuation and endpoint_type != _LOGLIKELIHOOD:
        raise ConfigError(
            f'"{name}": continuation= is for log-likelihoods; set endpoint_type="{_LOGLIKELIHOOD}"'
        )


def _home_of(function: Scorer) -> Path | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    # Of a function that was typed into an interpreter, the name of the file is "<stdin>".
    path = Path(code.co_filename) if code else None
    return path.parent if path and path.exists() else None
