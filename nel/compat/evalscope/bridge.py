"""Makes a `Benchmark` of an adapter class, so that it runs, resumes and is scored as any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot import Shot, make_shots
from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.choice_order import shuffle_choices
from nel.compat.evalscope.loading import (
    ID,
    PART,
    own_columns,
    samples_made,
    subset_of,
)
from nel.compat.evalscope.samples import (
    TOOLS_FAULT,
    ChatMessage,
    Sample,
    check_json,
    limit_of,
)
from nel.datasets.base import RawRow
from nel.datasets.fewshot import prompt_key
from nel.errors import ConfigError, DatasetError, PromptError
from nel.types import JsonObject, Message
from nel.types import Sample as NelSample


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptedBenchmark(Benchmark):
    """A benchmark that an adapter class describes."""

    adapter: DefaultDataAdapter
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the run changes of its meta."""
    limit: float | None = None
    """So many samples of each subset, or this share of them."""

    def with_arguments(self, arguments: Mapping[str, Any]) -> AdaptedBenchmark:
        """Return the benchmark with its meta changed.

        Raises:
            ConfigError: A key is unknown, or a value cannot be meant.
        """
        changes = {**self.arguments, **arguments}
        return type(self.adapter).described_benchmark(changes)  # type: ignore[return-value]  # it is adapted

    def arguments_of_folder(self, folder: str) -> Mapping[str, object]:
        """Return the argument that names the folder, with a file for each subset and split."""
        return {"dataset_id": folder}

    def without_limit(self) -> Self:
        """Return the benchmark with all samples of each subset."""
        return self if self.limit is None else replace(self, limit=None)

    def select(self, rows: Iterable[RawRow]) -> Iterator[RawRow]:
        """Yield a row for each sample that is kept; a bad row passes."""
        sizes: Counter[str] = Counter()
        if isinstance(self.limit, float):
            # A share is of all samples of a subset, which are counted first.
            rows = list(rows)
            for row in rows:
                sizes.update(subset for _, subset in self._chosen_samples(row.data) or ())
        counts: Counter[str] = Counter()
        for row in rows:
            samples = self._chosen_samples(row.data)
            if samples is None:  # a bad row is one sample that has a fault, and no limit drops it
                yield row
                continue
            for number, subset in samples:
                n_max = limit_of(self.limit, sizes[subset])
                if n_max is None or counts[subset] < n_max:
                    counts[subset] += 1
                    marks = self._marks(row.data, number, subset)
                    yield replace(row, data={**row.data, **marks}) if marks else row

    def _marks(self, record: JsonObject, number: int | None, subset: str) -> dict[str, Any]:
        """Return what distinguishes a sample from others of its row, and from rows of other subsets
        with the same id.
        """
        marks: dict[str, Any] = {} if number is None else {PART: number}
        record_id = record.get("id")
        has_subsets = self.adapter.reformat_subset or len(self.adapter.subset_list) > 1
        if isinstance(record_id, str | int) and (marks or has_subsets):
            marks[ID] = "/".join([subset, str(record_id), *map(str, marks.values())])
        return marks

    def id_field_of(self, record: JsonObject) -> str | None:
        """Return the column that names a row; None where its content does."""
        return ID if ID in record and self.id_field is None else Benchmark.id_field_of(self, record)

    def sample(self, record: JsonObject, *, sample_id: str) -> NelSample:
        """Return the sample that the adapter makes of a raw row.

        Raises:
            DatasetError: `record_to_sample` failed, or returned no sample, or one with tools.
            PromptError: A template names what a sample does not have.
        """
        sample = self._make(record)
        check_json(sample.metadata)
        sample.id, subset = sample_id, sample.subset_key or ""
        if self.adapter.meta.shuffle_choices:
            shuffle_choices(sample)
        choices = sample.choices
        return NelSample(
            id=sample_id,
            input=self._prompt(sample, subset),
            target=sample.target,
            choices=None if choices is None else tuple(map(str, choices)),
            gold_kind=self.gold_kind,
            metadata=sample.metadata,
            subset=subset,
            recorded_response=self.recorded_in(record),
        )

    def _prompt(self, sample: Sample, subset: str) -> str | tuple[Message, ...]:
        fewshot = None
        if self.num_fewshot:
            fewshot = self._examples(sample, subset)
        try:
            return prompt_of(sent_messages(self.adapter.messages_of(sample, subset, fewshot)))
        except (PromptError, DatasetError):
            raise
        except (Exception, SystemExit) as error:
            raise DatasetError(
                f"the prompt cannot be made: {type(error).__name__}: {error}"
            ) from error

    def _examples(self, sample: Sample, subset: str) -> str | None:
        """Return the few-shot examples of a sample; None for recorded responses, which need none.

        Raises:
            ConfigError: `with_shots` was not called.
        """
        if self.shots is None and self.response_field is not None:
            return None
        group = subset if self.fewshot.match_field else None
        shots = self.bound_shots().of(prompt_key(_question_of(sample)), group)
        return self.fewshot.separator.join(shot.text for shot in shots)

    def with_shots(
        self, rows: Sequence[RawRow], *, source: str, unit: str = "row", holds_samples: bool = False
    ) -> Self:
        """Return the benchmark with its few-shot examples bound; `sample_to_fewshot` words each.

        Raises:
            DatasetError: There are too few, or one cannot be made.
        """
        shots = []
        for row in rows:
            try:
                sample = self._make(row.data)
                text = self.adapter.sample_to_fewshot(sample)
            except DatasetError as error:
                raise DatasetError(
                    f"few-shot example in {source}, {unit} {row.number}: {error}"
                ) from error
            except NotImplementedError as error:
                raise ConfigError(str(error)) from error
            group = sample.subset_key if self.fewshot.match_field else None
            key = prompt_key(_question_of(sample))
            shots.append(Shot(key=key, own_id=None, question="", answer="", text=text, group=group))
        pool = make_shots(
            self.fewshot, self.num_fewshot, shots, source=source, holds_samples=holds_samples
        )
        return replace(self, shots=pool)

    def is_example(self, record: JsonObject) -> bool:
        """Return whether the adapter's filter keeps a row.

        One that makes no sample is kept here, and refused when its example is worded.
        """
        try:
            return self.adapter.sample_filter(self._make(record))
        except Exception:  # noqa: BLE001 - the adapter's own; said of the row when its example is made
            return True

    def example_value(self, record: JsonObject) -> str | None:
        """Return the subset that a row belongs to.

        Raises:
            DatasetError: It makes no sample.
        """
        return self._make(record).subset_key

    def example_prompt(self, record: JsonObject) -> str:
        """Return the input and the choices of a row's sample, of which its prompt is made.

        Raises:
            DatasetError: It makes no sample.
        """
        return _question_of(self._make(record))

    def _make(self, record: JsonObject) -> Sample:
        try:
            samples = samples_made(self.adapter, record)
        except KeyError as error:
            raise DatasetError(
                f"the row has no field {error}; it has: {', '.join(sorted(own_columns(record)))}"
            ) from error
        except (Exception, SystemExit) as error:
            raise DatasetError(
                f"record_to_sample failed: {type(error).__name__}: {error}"
            ) from error
        # Of several samples of a record, `select` made a row for each, with its number.
        sample = samples[record.get(PART, 0)] if isinstance(samples, list) and samples else samples
        if not isinstance(sample, Sample):
            raise DatasetError(
                f"record_to_sample returned a {type(sample).__name__}; it must return a Sample"
            )
        if sample.tools:
            raise DatasetError(TOOLS_FAULT)
        sample.subset_key = subset_of(self.adapter, record, sample)
        return sample

    def _chosen_samples(self, record: JsonObject) -> list[tuple[int | None, str]] | None:
        """Return number and subset of each kept sample of a row; None where making them fails."""
        try:
            result = samples_made(self.adapter, record)
            samples: list[tuple[int | None, Sample]]
            samples = [*enumerate(result)] if isinstance(result, list) else [(None, result)]
            names = [(n, sample, subset_of(self.adapter, record, sample)) for n, sample in samples]
            return [
                (number, subset)
                for number, sample, subset in names
                if self._is_in_list(subset) and self.adapter.sample_filter(sample)
            ]
        except Exception:  # noqa: BLE001 - the adapter's own; said of the row when its sample is made
            return None

    def _is_in_list(self, subset: str) -> bool:
        """Return whether a subset is evaluated: ``default`` alone in the list stands for all."""
        subset_list = self.adapter.subset_list
        divides = self.adapter.reformat_subset and subset_list != ["default"]
        return not divides or subset in subset_list


def _question_of(sample: Sample) -> str:
    if isinstance(sample.input, str):
        texts = [sample.input]
    else:
        texts = [f"{message.role}: {message.content}" for message in sample.input]
    return "\n".join([*texts, *sorted(map(str, sample.choices or ()))])


def sent_messages(messages: Sequence[ChatMessage]) -> tuple[Message, ...]:
    """Return an adapter's messages as they are sent."""
    return tuple(
        Message(role=message.role, content=_content(message.content)) for message in messages
    )


def prompt_of(messages: tuple[Message, ...]) -> str | tuple[Message, ...]:
    """Return messages as a sample has them: a lone text of the user without its message."""
    if len(messages) == 1 and messages[0].role == "user" and isinstance(messages[0].content, str):
        return messages[0].content
    return messages


def _content(content: Any) -> str | tuple[dict[str, Any], ...]:
    if isinstance(content, str):
        return content
    return tuple(dict(item) if isinstance(item, Mapping) else item.as_part() for item in content)
