"""`@benchmark`: a scorer becomes a benchmark. Knows no run and opens no dataset.

Trap: the decorated name is a `Benchmark` afterwards, no longer a function; its scorer is `.scorer`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nel.benchmarks.base import Benchmark
from nel.byob.requirements import read_requirements
from nel.errors import ConfigError
from nel.prompts import load_template
from nel.scoring.protocol import as_scorer
from nel.types import Protocol, Row, Scorer

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_LOGLIKELIHOOD = "completions_logprob"
_PROTOCOLS: Mapping[str, Protocol | None] = {
    "any": None,
    "chat": "chat",
    "completions": "completions",
    _LOGLIKELIHOOD: "completions",
}


def benchmark(
    *,
    name: str,
    dataset: str | Path | Callable[[], Iterable[Row]],
    prompt: str,
    target_field: str = "target",
    description: str | None = None,
    endpoint_type: str = "any",
    system_prompt: str | None = None,
    field_mapping: Mapping[str, str] | None = None,
    response_field: str | None = None,
    id_field: str | None = None,
    choices: Sequence[str] = (),
    choices_field: str | None = None,
    target_delimiter: str = "",
    category_field: str | None = None,
    group_field: str | None = None,
    turns_field: str | None = None,
    prepare_row: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    extra: Mapping[str, Any] | None = None,
    sandbox: str | Sequence[str] = (),
    reducers: Sequence[str] = (),
    requirements: str | Sequence[str] = (),
) -> Callable[[Scorer], Benchmark]:
    """Turn the scorer below into a benchmark; what is not listed here is a field of `Benchmark`.

    Args:
        name: What ``--bench`` calls it; spaces and capitals are folded to ``a-z0-9_-``.
        dataset: A path (relative to the file that defines the benchmark), a URI or a callable returning rows.
        prompt: A template with ``{field}`` placeholders, Jinja2, or the name of a template file.
        endpoint_type: ``any``, ``chat``, ``completions``, or ``completions_logprob`` to rank choices by log-likelihood.
        turns_field: A list of user messages, asked one after the other as ``{turn}``; the scorer sees each answer.
        sandbox: The language, or languages, of the programs that the scorer runs; checked before the first request.
        requirements: What the scorer needs of pip, as strings or the name of a requirements.txt.

    Raises:
        ConfigError: The requirements, the name or the endpoint type is none, or a template (`PromptError`) is unusable.
    """
    plain = _plain_name(name, endpoint_type, has_choices=bool(choices) or choices_field is not None)

    def decorate(function: Scorer) -> Benchmark:
        base_dir = _home_of(function)
        return Benchmark(
            name=plain,
            description=description or _first_line(function) or plain,
            dataset=str(dataset) if isinstance(dataset, Path) else dataset,
            prompt=load_template(prompt, base_dir=base_dir),
            scorer=as_scorer(function),
            target_field=target_field,
            system_prompt=None if system_prompt is None else load_template(system_prompt, base_dir=base_dir),
            id_field=id_field,
            choices=tuple(choices),
            choices_field=choices_field,
            loglikelihood=endpoint_type == _LOGLIKELIHOOD,
            target_delimiter=target_delimiter,
            category_field=category_field,
            group_field=group_field,
            field_mapping=dict(field_mapping or {}),
            turns_field=turns_field,
            prepare_row=prepare_row,
            response_field=response_field,
            protocol="chat" if turns_field else _PROTOCOLS[endpoint_type],
            extra=dict(extra or {}),
            reducers=tuple(reducers),
            languages=(sandbox,) if isinstance(sandbox, str) else tuple(sandbox),
            requirements=read_requirements(requirements, base_dir),
            base_dir=base_dir,
        )

    return decorate


def _plain_name(name: str, endpoint_type: str, *, has_choices: bool) -> str:
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.strip().lower()).strip("-")
    if not _NAME.fullmatch(plain):
        raise ConfigError(f"{name!r} is no name for a benchmark; use letters, digits, - and _")
    if endpoint_type not in _PROTOCOLS:
        raise ConfigError(f'endpoint_type "{endpoint_type}" is unknown; use {", ".join(_PROTOCOLS)}')
    if endpoint_type == _LOGLIKELIHOOD and not has_choices:
        raise ConfigError(f'"{name}" ranks choices by log-likelihood and has none; give choices= or choices_field=')
    return plain


def _home_of(function: Scorer) -> Path | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    path = Path(code.co_filename) if code else None
    return path.parent if path and path.exists() else None


def _first_line(function: Scorer) -> str:
    return (function.__doc__ or "").strip().split("\n", 1)[0].rstrip(".")
