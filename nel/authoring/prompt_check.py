"""What a prompt must take of a row, for every benchmark and every template of a run: at least one
field, never the gold answer, and a question that is not empty.

A template is checked before anything is sent. Prompts that code makes are compared with each other
instead, since a model that is asked the same of different rows cannot be measured by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.datasets.base import RawRow
from nel.datasets.column_names import question_column
from nel.errors import ConfigError, DatasetError, PromptError, did_you_mean
from nel.prompts import Template, load_template
from nel.types import Sample

_OF_CHOICES: Final = frozenset({"choices", "letters", "choice"})
_EXCERPT_CHARACTERS: Final = 80
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
        raise ConfigError(f"{benchmark.name} scores recorded answers; leave --prompt out")
    if type(benchmark).sample is not Benchmark.sample:
        raise ConfigError(
            f"{benchmark.name} makes its prompts in code, so that no template replaces them; leave"
            " --prompt out, or change its own settings (args)"
        )
    template = load_template(path_or_text)
    values = _first_values(benchmark, rows)
    if values is not None:
        _check(benchmark, template, values)
    return replace(benchmark, prompt=template)


def check_prompt(benchmark: Benchmark, rows: Iterable[RawRow]) -> None:
    """Check that the templates of a benchmark take a field of the row, and not its gold answer.

    Args:
        benchmark: As the run asks it; prompts that code makes are not looked at.
        rows: Of the dataset; read only to say what fields there are.

    Raises:
        ConfigError: They do not.
    """
    if benchmark.response_field is not None or type(benchmark).sample is not Benchmark.sample:
        return
    fields = benchmark.template_fields
    gold = _gold_columns(benchmark)
    # An image tells questions apart, and so do ranked choices where the prompt is fixed.
    if fields - gold or benchmark.images_field or (benchmark.loglikelihood and not fields):
        return
    what = "takes no field of the row, so that every question is the same"
    if fields:
        what = f"takes nothing of the row but the gold answer, {{{min(fields)}}}"
    message = f"the prompt of {benchmark.name} {what}; write {{name}} for one of the fields"
    values = _first_values(benchmark, rows) or {}
    names = ", ".join(sorted(values.keys() - gold))
    if names:
        message += f": {names}"
    raise ConfigError(message)


def question_check(benchmark: Benchmark) -> Callable[[Sample], str | None]:
    """Return the check of the samples of a benchmark: it returns why one asks nothing, such as a
    blank field of its prompt, and None where it asks.
    """
    if benchmark.response_field is not None or benchmark.loglikelihood or benchmark.images_field:
        return lambda _: None
    if type(benchmark).sample is not Benchmark.sample:
        return _empty_prompt
    return partial(_empty_question, *_asked_fields(benchmark.template_fields))


def _empty_prompt(sample: Sample) -> str | None:
    is_blank = isinstance(sample.input, str) and not sample.input.strip()
    return "the prompt is empty" if is_blank and not sample.choices else None


def _empty_question(fields: Sequence[str], question: str | None, sample: Sample) -> str | None:
    row = sample.metadata
    if question is not None and question in row:
        if _is_blank(row[question]):
            return f'the question is empty: the field "{question}"'
        return None
    # No field is the question by its name: then all that the prompt shows must be empty.
    texts = [name for name in fields if name in row]
    if texts and all(_is_blank(row[name]) for name in texts):
        return f"the question is empty: the fields {', '.join(texts)}"
    return None


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _asked_fields(fields: frozenset[str]) -> tuple[tuple[str, ...], str | None]:
    """Return the fields of a prompt in order, and the one that is the question by its name."""
    ordered = tuple(sorted(fields - _OF_CHOICES))
    return ordered, question_column(ordered)


class AskedPrompts:
    """Compares the prompts of samples until two differ."""

    def __init__(self) -> None:
        """Begin with no sample."""
        self._first_prompt: tuple[object, ...] | None = None
        self._first_row: object = None
        self._n_other_rows = 0
        """Samples of rows that differ from the first, as long as their prompts are equal."""
        self.differ = False

    def add(self, sample: Sample, row: object) -> None:
        """Take in a sample, unless two prompts differed already.

        Args:
            sample: As it is asked.
            row: What tells its row from others.
        """
        prompt = (sample.input, sample.turns, sample.choices, sample.continuation)
        if self._first_prompt is None:
            self._first_prompt, self._first_row = prompt, row
        self.differ = prompt != self._first_prompt
        # Equal rows are asked the same, and rightly so.
        self._n_other_rows += row != self._first_row

    def check(self, name: str) -> None:
        """Raise ConfigError where all prompts are equal although rows differ.

        Args:
            name: Of the benchmark.
        """
        if self._n_other_rows and not self.differ:
            question = str(self._first_prompt and self._first_prompt[0])
            excerpt = " ".join(question.split())[:_EXCERPT_CHARACTERS]
            raise ConfigError(
                f"all prompts of {name} are equal although its rows differ: {excerpt!r}; let the"
                " prompt take the field of each row that holds its question"
            )


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


def _gold_columns(benchmark: Benchmark) -> set[str]:
    field = benchmark.target_field
    return set() if field is None else {field.partition(".")[0]}


def _check(benchmark: Benchmark, template: Template, values: dict[str, object]) -> None:
    template_fields = benchmark.prompt.fields
    # What the benchmark's own prompt shows gives nothing away, such as a label to be explained.
    gold = _gold_columns(benchmark) - template_fields
    fields = sorted({*values, *template_fields} - gold)
    has = f"the fields are {', '.join(fields)}"
    if leaked := sorted(template.fields & gold):
        raise ConfigError(
            f'template "{template.name}" would show the model the gold answer, {{{leaked[0]}}};'
            f" {has}"
        )
    # Jinja may ask whether a row has a field, so that only a plain template must find all.
    if template.kind == "format" and (missing := sorted(template.fields - set(fields))):
        hint = did_you_mean(missing[0], fields) or ";"
        raise ConfigError(
            f'template "{template.name}" names {{{missing[0]}}}, which no row of {benchmark.name}'
            f" has{hint} {has}"
        )
    question = _question(benchmark, values)
    if question is not None and question not in template.fields:
        raise ConfigError(
            f'template "{template.name}" leaves out the question of {benchmark.name}, which is'
            f" {{{question}}}; {has}"
        )


def _question(benchmark: Benchmark, values: dict[str, object]) -> str | None:
    """Return the field of a benchmark's question: the one that is it by its name in its own prompt,
    else the longest there.
    """
    fields, field = _asked_fields(benchmark.prompt.fields)
    return field or max(fields, key=lambda name: len(str(values.get(name, ""))), default=None)
