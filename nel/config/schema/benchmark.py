"""One benchmark of a run: what of it is asked, and how it is scored.

A field that can change an answer must also be named in `nel.config.identity`; else a resume would
mix two settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    model_validator,
)

from nel.config.schema.generation import GenerationConfig
from nel.config.schema.judge import JudgeConfig
from nel.config.schema.strict import NAMED, Flag, Strict


def _as_list(value: object) -> object:
    """Return the list that a text, or nothing, stands for."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


class BenchmarkConfig(Strict):
    """One benchmark of a run."""

    name: str
    """A registered benchmark, or a path: ``./mine.py``, ``./mine.py:name`` or ``./mine.yaml``."""
    dataset: Annotated[
        str | None,
        NAMED,
        Flag("--dataset", "Path or URI that replaces the benchmark's source.", one_benchmark=True),
    ] = None
    """Replaces the benchmark's own source."""
    sample: Annotated[
        int | None,
        Field(ge=1),
        Flag("--sample", "Only N problems, drawn at random from all of them."),
    ] = None
    """Only so many rows, drawn at random: as many of each category as it has of the benchmark. The
    interval is that of the score on the whole benchmark."""
    sample_seed: Annotated[
        int, Field(ge=0), Flag("--sample-seed", "Another seed draws another sample.")
    ] = 0
    """Another seed draws another sample."""
    max_problems: Annotated[
        int | None,
        Field(ge=1),
        Flag("--max-problems", "Only the first N problems; not a sample of all."),
    ] = None
    """Only the first so many rows, as they come; they may all be of one category."""
    repeats: Annotated[
        int,
        Field(ge=1, le=10_000),
        Flag("--repeats", "Answers asked for each problem.", short="-n"),
    ] = 1
    """Answers asked for each problem."""
    repeat_check: Annotated[
        int | None,
        Field(ge=1),
        Flag(
            "--repeat-check",
            "Problems asked twice, to see how often the endpoint differs from itself.",
        ),
    ] = None
    """Problems, drawn at random, that are asked a second time: how often the endpoint differs from
    itself is shown beside the score and never part of it. None: no check."""
    system_prompt: Annotated[
        str | None, Flag("--system-prompt", "Replaces the benchmark's own.")
    ] = None
    """Replaces the benchmark's own, and is sent as it is: braces name no field."""
    prompt: Annotated[
        tuple[Annotated[str, NAMED], ...],
        BeforeValidator(_as_list),
        Flag(
            "--prompt",
            "File with a template that replaces the benchmark's prompt; repeatable.",
            one_benchmark=True,
        ),
    ] = ()
    """A template in the place of the benchmark's own: the path of a text, Markdown or Jinja file,
    or the text itself. It names fields of a row, such as ``{question}``, and is part of the run's
    identity. Of a list, each is asked and scored by itself.
    """
    prompt_name: Annotated[str | None, NAMED] = None
    """Tells one prompt of a benchmark from another, as in ``gsm8k@short``; else its file's name."""
    num_fewshot: Annotated[
        int | None,
        Field(ge=0, le=1000),
        Flag("--num-fewshot", "Solved examples before each problem."),
    ] = None
    """Solved examples before each problem; None: as many as the benchmark says."""
    fewshot_dataset: Annotated[
        str | None,
        NAMED,
        Flag("--fewshot-dataset", "Path or URI of those examples.", one_benchmark=True),
    ] = None
    """Path or URI of the examples, instead of the benchmark's own source."""
    args: dict[str, Any] = {}
    """For an adapter class: changes of its `BenchmarkMeta`, and ``limit``, samples of a subset."""
    response_field: Annotated[
        str | None,
        NAMED,
        Flag(
            "--response-field",
            "Score the answers in this field; no endpoint is called.",
            one_benchmark=True,
        ),
    ] = None
    """Score the answers in this field of the dataset; no endpoint is called."""
    generation: GenerationConfig = GenerationConfig()
    """Laid over the run's generation settings, field by field, and ``extra`` key by key."""
    scorer: Annotated[
        str | None,
        Flag("--scorer", "NAME or NAME:key=value,... instead of the benchmark's own scorer."),
    ] = None
    """An installed scorer, ``NAME`` or ``NAME:key=value,…``, instead of the benchmark's own."""
    rule: Annotated[
        str | None,
        Flag("--rule", "How answers are read: official (the authors' rule) or general (nel's)."),
    ] = None
    """``official``, the rule that the benchmark's authors published, or ``general``, that of
    docs/reference/reading.md; None: the one that the benchmark's page names as its default."""
    answer_form: Annotated[
        str | None,
        Flag(
            "--answer-form",
            "The form that the prompt asks for: 'tag answer', 'json answer', box, ...",
        ),
    ] = None
    """The form that the prompt asks for, which is read first; see docs/reference/reading.md."""
    strict_form: Annotated[
        bool, Flag("--strict-form", "Read no answer in another form than the prompt asks for.")
    ] = False
    """An answer in another form than the declared one does not count."""
    reducers: Annotated[
        tuple[str, ...],
        Flag("--reducer", "Over repeats, beside the mean: pass_at_3, max, vote_at_5; repeatable."),
    ] = ()
    """Statistics over a sample's repeats beside its mean: ``pass_at_k``, ``max``, ``vote_at_5``."""
    metrics: Annotated[
        tuple[str, ...],
        Flag("--metric", "NAME or NAME:key=value,... over all samples; repeatable."),
    ] = ()
    """Further metrics over all samples: ``NAME`` or ``NAME:key=value,key=value``."""
    truncated: Annotated[
        Literal["failure", "score"],
        Flag("--truncated", "failure (counts 0, the default) or score (as it stands)."),
    ] = "failure"
    """A response cut off by its token limit: a failure that counts 0, or scored as it stands."""
    solver: Annotated[
        str | None,
        Flag("--solver", "NAME or NAME:key=value,... that answers each problem, such as react."),
    ] = None
    """An installed solver, ``NAME`` or ``NAME:key=value,…``; None: the benchmark's own."""
    limits: dict[str, float] = {}
    """Of each episode of several steps: ``steps``, ``tokens``, ``cost``, ``work_seconds``,
    ``wall_seconds``, ``tool_seconds``, ``tool_bytes``, ``equal_calls``, ``restarts``; the least of
    benchmark, sample and run holds."""
    max_steps: Annotated[
        int | None, Field(ge=1), Flag("--max-steps", "Answers of the model in one episode.")
    ] = None
    """``limits.steps`` by a flag."""
    judge: JudgeConfig | None = None
    """Replaces the run's judge, field by field."""

    @field_serializer("judge", mode="wrap")
    def _judge_as_given(
        self, judge: JudgeConfig | None, serialize: SerializerFunctionWrapHandler
    ) -> dict[str, Any] | None:
        """Leave out what the run's judge decides, so that it still does when this is read again."""
        if judge is None:
            return None
        fields: dict[str, Any] = serialize(judge)
        return {name: fields[name] for name in fields if name in judge.model_fields_set}

    @model_validator(mode="after")
    def _one_way_of_selecting(self) -> BenchmarkConfig:
        if self.sample is not None and self.max_problems is not None:
            raise ValueError(
                "sample and max_problems are both given; leave one of --sample and --max-problems"
                " out"
            )
        if self.prompt_name is not None and len(self.prompt) != 1:
            raise ValueError("prompt_name names one prompt; give one, or leave prompt_name out")
        return self

    def for_each_prompt(self) -> Iterator[BenchmarkConfig]:
        """Yield the entry once for each of several prompts, else as it is."""
        if len(self.prompt) <= 1:
            yield self
            return
        for number, prompt in enumerate(self.prompt, start=1):
            # The text of a template names a field or has several lines; a path does neither.
            is_text = "{" in prompt or "\n" in prompt
            name = f"prompt-{number}" if is_text else Path(prompt).stem
            yield self.model_copy(update={"prompt": (prompt,), "prompt_name": name})
