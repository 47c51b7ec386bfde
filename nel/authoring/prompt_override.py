"""The template that a run puts in the place of a benchmark's own: checked against the first row
before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.datasets.base import RawRow
from nel.errors import ConfigError, DatasetError, PromptError, did_you_mean
from nel.prompts import Template, load_template

_QUESTION: Final = "question"
_OF_CHOICES: Final = frozenset({"choices", "letters", "choice"})
_ROWS_MAX: Final = 100
"""Rows that are tried for the first that the benchmark can prepare."""


def with_prompt(benchmark: Benchmark, path_or_text: str, rows: Iterable[RawRow]) -> Benchmark:
    """Return a benchmark that asks by another template.

    Args:
        path_or_text: As `nel.prompts.load_template` takes it.
        rows: Of the dataset; the first usable one shows what fields there are.

    Raises:
        PromptError: The file is missing, or the template cannot be parsed.
        ConfigError: The benchmark asks nothing by a template, or the template names an unknown
            field or the gold answer, or leaves out the question.
    """
    if benchmark.response_field is not None:
        raise ConfigError(f"{benchmark.name} scores recorded answers; leave --prompt away")
    if type(benchmark).sample is not Benchmark.sample:
        raise ConfigError(
            f"{benchmark.name} makes its prompts in code, so that no template replaces them; leave"
            " --prompt away, or change its own settings (args)"
        )
    template = load_template(path_or_text)
    values = _first_values(benchmark, rows)
    if values is not None:
        _check(benchmark, template, values)
    return replace(benchmark, prompt=template)


def _first_values(benchmark: Benchmark, rows: Iterable[RawRow]) -> dict[str, object] | None:
    """Return what a template may name of the first usable row; None where none is."""
    for row in islice(rows, _ROWS_MAX):
        try:
            values = benchmark.template_values(row.data)
            benchmark.prompt.render({"choice": "", **values})
        except (DatasetError, PromptError):
            continue
        return values
    return None


def _check(benchmark: Benchmark, template: Template, values: dict[str, object]) -> None:
    own = benchmark.prompt.fields
    gold = {benchmark.target_field.partition(".")[0]} - own
    known = sorted({*values, *own} - gold)
    has = f"the fields are {', '.join(known)}"
    if leaked := sorted(template.fields & gold):
        raise ConfigError(
            f'template "{template.name}" would show the model the gold answer, {{{leaked[0]}}};'
            f" {has}"
        )
    if template.kind == "format" and (unknown := sorted(template.fields - set(known))):
        hint = did_you_mean(unknown[0], known) or ";"
        raise ConfigError(
            f'template "{template.name}" names {{{unknown[0]}}}, which no row of {benchmark.name}'
            f" has{hint} {has}"
        )
    question = _question(benchmark, values)
    if question is not None and question not in template.fields:
        raise ConfigError(
            f'template "{template.name}" leaves out the question of {benchmark.name}, which is'
            f" {{{question}}}; {has}"
        )


def _question(benchmark: Benchmark, values: dict[str, object]) -> str | None:
    """Return the field of a benchmark's question: the one of that name in its own prompt, else the
    longest there.
    """
    own = benchmark.prompt.fields - _OF_CHOICES
    if _QUESTION in own:
        return _QUESTION
    return max(sorted(own), key=lambda name: len(str(values.get(name, ""))), default=None)
