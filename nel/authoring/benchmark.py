"""What a benchmark is: where its rows come from, how a row is asked, and how an answer is scored.

Decorated functions, adapter classes and plugin packages all end in a `Benchmark`. It does no I/O of
its own and never sees the endpoint. `sample` must depend on the row alone; whatever else it reads
is not in the run's identity.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from nel.authoring.card import Card
from nel.authoring.fewshot import FewShot, Shot, Shots, as_text, as_turns, join_answer, make_shots
from nel.authoring.problem import (
    Problem,
    label_of,
    limits_in,
    prepared_by,
    read_problem,
    recorded_answer,
    row_id,
)
from nel.datasets.base import RawRow
from nel.datasets.fewshot import prompt_key
from nel.datasets.fields import gold_in, map_fields, read_lists
from nel.datasets.folder import in_place_of
from nel.datasets.images import image_urls, with_images
from nel.errors import ConfigError, DatasetError, PromptError
from nel.prompts import Template
from nel.types import GoldKind, Message, Protocol, Row, Sample, Scorer, ScorerInput, ScorerResult

if TYPE_CHECKING:
    from nel.tools import Tool
    from nel.tools.toolset import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark, ready to be run against any endpoint."""

    places_no_shots: ClassVar[str] = ""
    """Why few-shot examples of a run have no place in it, and what to give instead."""
    name: str
    """``[a-z0-9][a-z0-9_-]*``."""
    description: str
    """One line, shown by ``nel list``."""
    dataset: str | Callable[[], Iterable[Row]]
    """A path, a URI (``hf://``, ``pkg://``) or a callable that returns rows."""
    prompt: Template
    scorer: Scorer
    target_field: str | None = "target"
    """Field of the gold answer; dotted names reach into nested rows. None where rows have none, as
    where a judge or a program decides."""
    system_prompt: Template | None = None
    id_field: str | None = None
    """Field of the row's own id; without one, ids are content hashes."""
    choices: tuple[str, ...] = ()
    """The options of every problem, where they are the same for all."""
    loglikelihood: bool = False
    """Rank the choices by log-likelihood at a completions endpoint instead of asking."""
    target_delimiter: str = ""
    """Stands between a prompt and its answer: a ranked choice, or an example's target."""
    continuation: Template | None = None
    """The choices are contexts, and the log-likelihood of this text after each is asked for
    (winogrande); the prompt then renders each context, with ``{choice}``."""
    preamble: Template | None = None
    """Stands once before examples and prompt, also without examples; rendered from the row."""
    gold_kind: GoldKind | None = None
    """How a gold answer that reads two ways is read; `nel.engine.planning.golds` binds it for the
    whole dataset."""
    judges_by_reference: bool = True
    """False where the run's own template shows its judges no reference; bound with the judges."""
    num_fewshot: int = 0
    """So many solved examples come before each prompt."""
    fewshot: FewShot = field(default_factory=FewShot)
    """Where they come from and how they are shown."""
    shots: Shots | None = None
    """The examples themselves, once `with_shots` has bound them."""
    choices_field: str | None = None
    """Field with the list of options; the prompt can name ``{choices}`` and ``{letters}``."""
    category_field: str | None = None
    """Field that breakdowns use."""
    group_field: str | None = None
    """Field that clusters questions, e.g. a passage id."""
    field_mapping: Mapping[str, str] = field(default_factory=dict)
    """Columns to rename, source to destination."""
    list_fields: Sequence[str] = ()
    """Fields that are lists, which a table has as texts: ``"['Rome', 'Roma']"``."""
    prepare_row: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Pure function from a mapped row to the row that prompt and scorer see."""
    response_field: str | None = None
    """Score the answers in this field; no endpoint is called."""
    turns_field: str | None = None
    """Field with a list of user messages, asked in turn; the prompt renders each as ``{turn}``."""
    scores_conversation: bool = False
    """Score a conversation once, as a whole after its last answer; else each answer by itself."""
    images_field: str | None = None
    """Field with an image or a list of them, after the prompt: files below the dataset's folder,
    data URLs, or addresses, which are passed on. Needs a protocol with messages."""
    images_dir: Path | None = None
    """The dataset's folder; bound when it is opened, and `base_dir` before."""
    protocol: Protocol | None = None
    """None: whatever the endpoint speaks."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Handed to the scorer as ``config``."""
    languages: tuple[str, ...] = ()
    """Of the programs its scorer runs in a sandbox that is checked before the first request."""
    reducers: tuple[str, ...] = ()
    """What to make of repeats beside their mean, where the run names none: ``pass_at_k`` …"""
    judge: Mapping[str, Any] | None = None
    """The judge's endpoint, as its file names it; asked where the run names none."""
    requirements: tuple[str, ...] = ()
    """What its scorer needs of pip, as ``rouge-score>=0.1.2``; a compiled package depends on it."""
    env: tuple[str, ...] = ()
    """Names of environment variables that its scorer and its tools read; their processes get none
    of nel's others but those that say where things are, such as ``PATH`` and ``HOME``."""
    generation: Mapping[str, Any] = field(default_factory=dict)
    """Settings that hold where the run sets none: ``temperature``, ``max_tokens``, ``stop`` …"""
    card: Card | None = None
    """Its origin and official metric, for listings and documentation; a run does not read it."""
    tools: tuple[Tool, ...] = ()
    """What the model may call during an episode."""
    environment: Environment | None = None
    """Makes an object for each episode's tools to act on; its ``@tool`` methods are tools too."""
    solver: str | Callable[..., Awaitable[str | None]] = ""
    """What answers its samples: the name of a solver with its options, or the async function
    itself. Empty: ``react`` where there are tools, else ``generate``."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Of each episode, by the names of `nel.episodes.Limits`."""
    limits_field: str | None = None
    """Field with a sample's own limits."""
    on_limit: Literal["score", "fail"] = "score"
    """What a limit ends is scored as it stands, or is a failure of the model."""
    gold_steps: Callable[[Sample], Sequence[Mapping[str, object]]] | None = None
    """From a sample to what a perfect model answers it, turn by turn, as ``nel endpoint oracle``
    plays it; a run does not read it."""
    hidden_fields: tuple[str, ...] = ()
    """Fields beside that of the gold answer that solvers and tools do not see."""
    base_dir: Path | None = None
    """What relative dataset and template paths are relative to."""

    def __call__(self, sample: ScorerInput) -> ScorerResult | Awaitable[ScorerResult]:
        """Return what the scorer says, so that a decorated scorer can still be called."""
        return self.scorer(sample)

    @property
    def gold_fields(self) -> tuple[str, ...]:
        """Return the fields of a row that solvers and tools do not see."""
        target = () if self.target_field is None else (self.target_field,)
        return (*target, *self.hidden_fields)

    @property
    def has_gold_answers(self) -> bool:
        """Return whether its rows hold an answer that scores 1, which checks of a benchmark try."""
        return self.target_field is not None

    @property
    def template_fields(self) -> frozenset[str]:
        """Return the fields of a row that the templates of its question name."""
        templates = (self.prompt, self.continuation, self.preamble, self.system_prompt)
        return frozenset[str]().union(*(template.fields for template in templates if template))

    def with_arguments(self, arguments: Mapping[str, object]) -> Benchmark:
        """Return the benchmark with arguments of a run, which only adapters take.

        Raises:
            ConfigError: There are any.
        """
        if arguments:
            raise ConfigError(
                f"{self.name} takes no args ({', '.join(arguments)}); only adapter classes do"
            )
        return self

    def source(self, dataset: str | None) -> tuple[str | Callable[[], Iterable[Row]], Path | None]:
        """Return what rows are read from, and the folder where relative paths are looked for first.

        Args:
            dataset: What the run replaces the benchmark's own dataset with.
        """
        if dataset is None:
            return self.dataset, self.base_dir
        return in_place_of(self.dataset, dataset), None

    def arguments_of_folder(self, folder: str) -> Mapping[str, object] | None:
        """Return the arguments that name a folder of data; None where only a file can be read."""
        return None

    def with_judges(self, panel: Mapping[str, str], roles: Mapping[str, str]) -> Self:
        """Return the benchmark for a run with these judges; only one that must know them uses them.

        Args:
            panel: The run's judges, or else the benchmark's own: name to model.
            roles: Further models that the scorer may ask: role to model.
        """
        return self

    def without_limit(self) -> Self:
        """Return the benchmark with all rows, where its arguments leave some out; else itself."""
        return self

    def select(self, rows: Iterable[RawRow]) -> Iterable[RawRow]:
        """Return the rows that are evaluated; all of them here."""
        return rows

    def prepared_fields(self, record: Mapping[str, object]) -> dict[str, object]:
        """Return a raw row with its fields mapped and prepared.

        Raises:
            DatasetError: A mapped column is missing, a list is none, or `prepare_row` failed.
        """
        row = map_fields(record, self.field_mapping) if self.field_mapping else dict(record)
        if self.list_fields:
            row = read_lists(row, self.list_fields)
        return row if self.prepare_row is None else prepared_by(self.prepare_row, row)

    def sample(self, record: Mapping[str, object], *, sample_id: str) -> Sample:
        """Return the sample a raw row describes.

        Raises:
            DatasetError: The target, the choices or the recorded response is missing.
            PromptError: The prompt names a field the row does not have.
        """
        problem = self._problem(record)
        row, values = problem.row, problem.values
        # The first turn is in the values already, as `turn`.
        prompt = self._input(values, self._shots_of(problem))
        later_turns = [self.prompt.render({**values, "turn": turn}) for turn in problem.turns[1:]]
        choices, continuation = problem.choices, None
        if self.continuation is not None:
            choices = self._contexts(problem)
            continuation = self.continuation.render(values)
        return Sample(
            id=sample_id,
            input=self._with_images(row, prompt),
            turns=tuple(later_turns),
            target=self._target(row),
            choices=choices,
            continuation=continuation,
            labels=problem.own_labels,
            gold_kind=self.gold_kind,
            metadata=row,
            subset=label_of(row, self.category_field),
            group=label_of(row, self.group_field),
            recorded_response=self.recorded_in(row),
            limits=None if self.limits_field is None else limits_in(row, self.limits_field),
        )

    def with_images_below(self, folder: Path | None) -> Self:
        """Return the benchmark with the folder that the files of its images are in."""
        if self.images_field is None:
            return self
        return replace(self, images_dir=folder or self.base_dir)

    def _with_images(
        self, row: Mapping[str, object], prompt: str | tuple[Message, ...]
    ) -> str | tuple[Message, ...]:
        if self.images_field is None or self.response_field is not None:
            return prompt
        if self.num_fewshot:
            raise ConfigError(
                f"{self.name} asks about images, which examples cannot show; leave num_fewshot out"
            )
        urls = image_urls(row, self.images_field, self.images_dir or self.base_dir)
        # A row without an image is asked by its text alone.
        return with_images(prompt, urls) if urls else prompt

    def with_shots(
        self, rows: Sequence[RawRow], *, source: str, unit: str = "row", holds_samples: bool = False
    ) -> Self:
        """Return the benchmark with its few-shot examples bound.

        Args:
            rows: What `fewshot` names, in the order of the source.
            source: Its name, for messages.
            unit: What numbers its rows.
            holds_samples: Whether samples come from the same source.

        Raises:
            DatasetError: There are too few, a fixed one is missing, or one has no target.
            PromptError: The prompt names a field that an example does not have.
        """
        examples = []
        for row in rows:
            try:
                examples.append(self._shot(row.data))
            except (DatasetError, PromptError) as error:
                where = f"few-shot example in {source}, {unit} {row.number}"
                raise type(error)(f"{where}: {error}") from error
        shots = make_shots(
            self.fewshot, self.num_fewshot, examples, source=source, holds_samples=holds_samples
        )
        return replace(self, shots=shots)

    def bound_shots(self) -> Shots:
        """Return the few-shot examples; ConfigError where `with_shots` was not called."""
        if self.shots is None:
            raise ConfigError(f"{self.name} has few-shot examples; bind them by with_shots first")
        return self.shots

    def recorded_in(self, row: Mapping[str, object]) -> str | None:
        """Return the answer that a row brings; None where it brings none or the run asks for one.

        Raises:
            DatasetError: The row has no such field.
        """
        return None if self.response_field is None else recorded_answer(row, self.response_field)

    def id_field_of(self, record: Mapping[str, object]) -> str | None:
        """Return the column that names a row; None where its content does."""
        if self.id_field:
            return self.id_field
        return "id" if "id" in record else None

    def is_example(self, record: Mapping[str, object]) -> bool:
        """Return whether a row of the source of examples may be one."""
        return True

    def example_value(self, record: Mapping[str, object]) -> str | None:
        """Return the value that a sample's own must match for a row to be its example.

        Raises:
            DatasetError: The row cannot be prepared.
        """
        return label_of(self.prepared_fields(record), self.fewshot.match_field)

    def template_values(self, record: Mapping[str, object]) -> dict[str, object]:
        """Return what a prompt may name of a raw row.

        Raises:
            DatasetError: The row cannot be prepared, or lacks its choices.
        """
        return self._problem(record).values

    def example_prompt(self, record: Mapping[str, object]) -> str:
        """Return a row's prompt without examples, which identifies a sample among its examples.

        Raises:
            DatasetError: The row cannot be prepared.
            PromptError: The prompt names a field that it does not have.
        """
        return self._prompt_text(self._problem(record))

    def _problem(self, record: Mapping[str, object]) -> Problem:
        return read_problem(
            self.prepared_fields(record),
            choices=self.choices,
            choices_field=self.choices_field,
            turns_field=self.turns_field,
        )

    def _shot(self, record: Mapping[str, object]) -> Shot:
        problem = self._problem(record)
        question, answer = self._question_and_answer(problem)
        if self.fewshot.template is not None:
            text = self.fewshot.template.render({"target": answer, **problem.values})
        elif self.loglikelihood:
            # Exactly as a choice is ranked after its context: no space is added.
            text = question + self.target_delimiter + answer
        else:
            text = join_answer(question, answer, self.target_delimiter)
        return Shot(
            key=prompt_key(self._prompt_text(problem)),
            own_id=row_id(record, self.id_field),
            question=question,
            answer=answer,
            text=text,
            group=label_of(problem.row, self.fewshot.match_field),
        )

    def _question_and_answer(self, problem: Problem) -> tuple[str, str]:
        target = self._target(problem.row)
        shown_by = self.fewshot.target_template or self.fewshot.template
        if target is None and (shown_by is None or "target" in shown_by.fields):
            raise ConfigError(
                f"{self.name} has no gold answer that an example could show; name its field with"
                " target_field, or leave num_fewshot out"
            )
        if self.continuation is not None:
            # The right choice is in the question here, and the same text follows each.
            context = self._contexts(problem)[problem.gold_position(target, self.gold_kind)]
            return context, self.continuation.render(problem.values)
        return self.prompt.render(problem.values), self._shown_answer(problem, target)

    def _shown_answer(self, problem: Problem, target: Any) -> str:
        """Return the answer of an example: as the template has it, as a choice, or the target."""
        if self.fewshot.target_template is not None:
            return self.fewshot.target_template.render({"target": target, **problem.values})
        if problem.choices and self.loglikelihood:
            return problem.choices[problem.gold_position(target, self.gold_kind)]
        if problem.choices and problem.is_position(target):
            # Examples answer as they are asked: by a label, where rows have its position.
            return problem.labels[problem.gold_position(target, self.gold_kind)]
        if isinstance(target, (list, tuple)) and target:
            target = target[0]
        return str(target)

    def _prompt_text(self, problem: Problem) -> str:
        if self.continuation is None:
            return self.prompt.render(problem.values)
        return "\n".join(self._contexts(problem))

    def _shots_of(self, problem: Problem) -> list[Shot]:
        if self.num_fewshot == 0 or self.response_field is not None:
            return []
        group = label_of(problem.row, self.fewshot.match_field)
        return self.bound_shots().of(prompt_key(self._prompt_text(problem)), group)

    def _contexts(self, problem: Problem) -> tuple[str, ...]:
        values, choices = problem.values, problem.choices or ()
        return tuple(self.prompt.render({**values, "choice": choice}) for choice in choices)

    def _input(
        self, values: Mapping[str, object], shots: Sequence[Shot]
    ) -> str | tuple[Message, ...]:
        try:
            question = self._question(values, shots)
            if self.system_prompt is None:
                return question
            system = Message(role="system", content=self.system_prompt.render(values))
        except PromptError:
            if self.response_field is None:
                raise
            return ""  # recorded answers need no prompt
        if isinstance(question, str):
            question = (Message(role="user", content=question),)
        return (system, *question)

    def _question(
        self, values: Mapping[str, object], shots: Sequence[Shot]
    ) -> str | tuple[Message, ...]:
        """Return preamble, examples and prompt; for contexts as choices, all that precedes them."""
        preamble = prompt = ""
        if self.preamble is not None:
            preamble = self.preamble.render(values)
        # With a continuation, the prompt is rendered once for each choice, as a context of it.
        if self.continuation is None:
            prompt = self.prompt.render(values)
        if shots and self.fewshot.prefix is not None:
            preamble += self.fewshot.prefix.render(values)
        if shots and self.fewshot.as_turns:
            return as_turns(shots, prompt, preamble)
        return preamble + as_text(shots, prompt, self.fewshot)

    def _target(self, row: Mapping[str, object]) -> Any:
        return None if self.target_field is None else gold_in(row, self.target_field)
