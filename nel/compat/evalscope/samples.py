"""The words of an adapter: samples and datasets, the model's answer, and scores. Does no I/O.

They keep EvalScope's names and are mutable, since adapters fill them in. An adapter's `Sample` is
not `nel.types.Sample`; the bridge turns one into the other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final

from nel.compat.evalscope.choices import Choices, Target
from nel.errors import DatasetError

DEFAULT_SUBSET = "default"


@dataclass(slots=True)
class ChatMessage:
    """One message of a chat."""

    role: str
    content: Any
    """Text, or content parts."""
    tool_calls: Any = None
    """Of a recorded answer; not sent."""
    id: str | None = None
    metadata: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """Return the text, of several parts one a line."""
        if isinstance(self.content, str):
            return self.content
        parts = [
            content if isinstance(content, Mapping) else vars(content) for content in self.content
        ]
        return "\n".join(str(item["text"]) for item in parts if item.get("type") == "text")


@dataclass(slots=True)
class ChatMessageUser(ChatMessage):
    """What the user says."""

    role: str = "user"
    content: Any = ""


@dataclass(slots=True)
class ChatMessageSystem(ChatMessage):
    """Instructions for the model."""

    role: str = "system"
    content: Any = ""


@dataclass(slots=True)
class ChatMessageAssistant(ChatMessage):
    """What the model said."""

    role: str = "assistant"
    content: Any = ""


TOOLS_FAULT: Final = (
    "the sample has tools, and an adapter's samples are asked without; @benchmark(tools=...) of nel"
    " offers tools and runs their calls"
)
"""Of the bad row that a sample with tools is."""


@dataclass(slots=True)
class Sample:
    """One problem, as `record_to_sample` makes it."""

    input: str | list[ChatMessage]
    """The question, or the messages of a chat."""
    target: str | list[str] = ""
    """The right answer."""
    choices: list[str] | None = None
    """For multiple choice."""
    subset_key: str | None = None
    """What `reformat_subset` divides by."""
    metadata: dict[str, Any] = field(default_factory=dict)
    tools: list[Any] | None = None
    """Not offered to the model: a sample with tools is a bad row. A `Benchmark` has ``tools=``."""
    id: int | str | None = None
    group_id: int | str | None = None
    """The same for all repeats of one problem."""


@dataclass(slots=True)
class ModelOutput:
    """What the model answered."""

    completion: str = ""
    model: str | None = None
    stop_reason: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    message: Any = None
    """The answer as a message; where it is given alone, its text is the answer."""

    def __post_init__(self) -> None:
        """Fill in the text by the message, or the message by the text."""
        if self.message is None:
            self.message = ChatMessage(role="assistant", content=self.completion)
        self.completion = self.completion or self.message.text

    @classmethod
    def from_content(cls, model: str, content: str, **_: object) -> ModelOutput:
        """Return the output whose text is known."""
        return cls(completion=content, model=model)


@dataclass(slots=True)
class TaskState:
    """One problem with its answer, as hooks and metrics see it."""

    model: str
    sample: Sample
    messages: list[ChatMessage] = field(default_factory=list)
    output: ModelOutput = field(default_factory=ModelOutput)
    completed: bool = True
    sample_id: int | str | None = None
    """None: the sample's."""
    group_id: int | str | None = None
    """The id that all repeats of the problem share; None: the sample's."""
    metadata: dict[str, Any] = None  # type: ignore[assignment]  # filled in below
    """None: the sample's."""

    def __post_init__(self) -> None:
        """Take from the sample what is not given."""
        self.sample_id = self.sample.id if self.sample_id is None else self.sample_id
        self.group_id = self.sample.group_id if self.group_id is None else self.group_id
        self.metadata = self.sample.metadata if self.metadata is None else self.metadata

    @property
    def input(self) -> str | list[ChatMessage]:
        """Return what was asked, the whole prompt."""
        return self.sample.input

    @property
    def input_text(self) -> str:
        """Return what was asked as text."""
        return judged_text(self.sample.input)

    @property
    def choices(self) -> Choices:
        """Return the options of a multiple choice."""
        return Choices(self.sample.choices)

    @property
    def target_reference(self) -> Target:
        """Return the right answers."""
        return Target(self.sample.target)

    @property
    def target(self) -> str:
        """Return the right answers, one a line."""
        return self.target_reference.display

    @target.setter
    def target(self, value: str) -> None:
        self.sample.target = value

    @property
    def user_prompt(self) -> ChatMessage:
        """Return the last message of the user.

        Raises:
            ValueError: There is none.
        """
        message = next((item for item in reversed(self.messages) if item.role == "user"), None)
        if message is None:
            raise ValueError("the sample has no message of the user")
        return message


def judged_text(prompt: str | list[ChatMessage]) -> str:
    """Return what was asked as text, each message after its role, as EvalScope's judges see it."""
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(f"**{message.role.capitalize()}**: {message.text}" for message in prompt)


USABLE: Final = ("success", "fallback", "degraded")
"""The states of a score that counts."""


@dataclass(slots=True)
class Score:
    """What the metrics say of one answer."""

    value: dict[str, float] = field(default_factory=dict)
    """By metric."""
    extracted_prediction: str | None = None
    prediction: str | None = None
    explanation: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    main_score_name: str | None = None
    """The metric that becomes the reward; without one the first."""
    status: str = "success"
    """``success``, ``fallback`` or ``degraded``; with any other, the sample is unscored."""

    @property
    def main_name(self) -> str:
        """Return the metric that becomes the reward: `main_score_name`, else the first."""
        name = self.main_score_name
        return name if name in self.value else next(iter(self.value), "")

    @property
    def main_value(self) -> float:
        """Return the value that becomes the reward; KeyError where there is none."""
        return self.value[self.main_name]


@dataclass(slots=True)
class SampleScore:
    """A score with the sample it belongs to."""

    score: Score
    sample_id: int | str | None = None
    group_id: int | str | None = None
    sample_metadata: dict[str, Any] | None = None


@dataclass(slots=True, init=False)
class AggScore:
    """One number over a subset's samples; its parts go by nel's names or by those of the guide.

    >>> AggScore(score=0.5, metric_name="acc") == AggScore(metric="acc", value=0.5, agg_method="mean")
    True
    """

    score: float
    metric_name: str
    aggregation: str
    num: int
    ids: list[int | str | None]
    metadata: dict[str, Any]
    subset: str | None
    dimensions: dict[str, Any]
    """What tells it from others of the same metric, such as the task or level that it is over."""

    def __init__(
        self,
        *,
        score: float = 0.0,
        metric_name: str = "",
        aggregation: str = "mean",
        num: int = 0,
        ids: Iterable[Any] | None = None,
        **more: Any,
    ) -> None:
        """Take the parts.

        Raises:
            TypeError: There is no such name.
        """
        self.score = more.pop("value", score)
        self.metric_name = more.pop("metric", metric_name)
        self.aggregation = more.pop("agg_method", aggregation)
        self.num = more.pop("num_samples", num)
        self.ids = list(ids or ())
        self.metadata = more.pop("metadata", None) or {}
        self.subset = more.pop("subset", None)
        self.dimensions = more.pop("dimensions", None) or {}
        if more:
            raise TypeError(f"AggScore has no {min(more)!r}")

    metric = property(attrgetter("metric_name"))
    value = property(attrgetter("score"))
    num_samples = property(attrgetter("num"))
    agg_method = property(attrgetter("aggregation"))


class Dataset(list[Sample]):
    """The samples of one subset, in memory."""

    def __init__(
        self,
        samples: Iterable[Sample] = (),
        name: str | None = None,
        location: str | None = None,
        shuffled: bool = False,
    ) -> None:
        """Take the samples, the subset's name and where they are from."""
        super().__init__(samples)
        self.name = name or DEFAULT_SUBSET
        self.location, self.shuffled = location, shuffled

    @property
    def samples(self) -> list[Sample]:
        """Return the samples."""
        return self

    def filter(self, keep: Callable[[Sample], bool], name: str | None = None) -> Dataset:
        """Return those that are kept."""
        return Dataset(filter(keep, self), name or self.name, self.location, self.shuffled)

    def reindex(self, group_size: int = 1) -> None:
        """Number the samples from 0, and their groups of adjacent repeats."""
        for index, sample in enumerate(self):
            sample.id, sample.group_id = index, index // group_size


class DatasetDict(dict[str, Dataset]):
    """Subsets by name, in the order in which they were given."""

    def __init__(self, datasets: Mapping[str, Dataset] | None = None) -> None:
        """Take the subsets."""
        super().__init__(datasets or {})

    @property
    def datasets(self) -> dict[str, Dataset]:
        """Return the subsets as they are."""
        return self

    @classmethod
    def from_dataset(
        cls,
        dataset: Iterable[Sample],
        subset_list: Sequence[str] | None = None,
        limit: float | None = None,
        repeats: int = 1,
    ) -> DatasetDict:
        """Divide samples into subsets by their `subset_key`.

        Args:
            dataset: The samples; one without a key belongs to ``default``.
            subset_list: The subsets that are kept, in this order; one that has no samples is empty.
                None: all.
            limit: For each subset: so many samples, or as a float below or equal to 1 this share of
                them.
            repeats: How often each sample comes, one copy after the other.

        Raises:
            DatasetError: The limit or the repeats cannot be meant.

        >>> samples = [Sample(input=text, subset_key=text[0]) for text in ("a1", "b1", "a2")]
        >>> divided = DatasetDict.from_dataset(samples, repeats=2)
        >>> {name: [sample.input for sample in part] for name, part in divided.items()}
        {'a': ['a1', 'a1', 'a2', 'a2'], 'b': ['b1', 'b1']}
        """
        if repeats < 1:
            raise DatasetError(f"repeats is {repeats}; give a whole number from 1")
        parts: dict[str, list[Sample]] = {name: [] for name in subset_list or ()}
        for sample in dataset:
            name = sample.subset_key or DEFAULT_SUBSET
            if subset_list is None:
                parts.setdefault(name, [])
            if name in parts:
                parts[name].append(sample)
        datasets: dict[str, Dataset] = {}
        for name, samples in parts.items():
            limited = samples[: limit_of(limit, len(samples))]
            datasets[name] = Dataset(
                (copy.deepcopy(sample) for sample in limited for _ in range(repeats)), name=name
            )
            datasets[name].reindex(group_size=repeats)
        return cls(datasets)


def limit_of(limit: float | None, size: int) -> int | None:
    """Return how many of ``size`` samples a limit allows; a float is a share, 1.0 all of them.

    Raises:
        DatasetError: The limit is negative, or a float above 1.

    >>> limit_of(10, 500), limit_of(0.25, 10), limit_of(1.0, 10), limit_of(None, 10)
    (10, 2, 10, None)
    """
    if limit is None:
        return None
    if isinstance(limit, bool) or limit <= 0 or (isinstance(limit, float) and limit > 1):
        raise DatasetError(
            f"limit is {limit!r}; give a whole number from 1, or a share such as 0.1"
        )
    return int(size * limit) if isinstance(limit, float) else limit  # rounded down, as there


def check_json(value: object, where: str = "metadata") -> None:
    """Raise an error where a value that a sample keeps would reach its scorer as another one.

    Raises:
        DatasetError: It is an object that JSON gives back as another, such as a tuple or a dict
            with numbers as keys.

    >>> check_json({"unit": ["m", 1.5, None]})
    >>> check_json({"range": (1, 2)})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    nel.errors.DatasetError: metadata.range is a tuple; a sample is scored from JSON, so keep ...
    """
    items: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        items = value.items()
        for key in value:
            if not isinstance(key, str):
                raise DatasetError(
                    f"{where} has the key {key!r}; a sample is scored from JSON, whose keys are"
                    " texts"
                )
    elif isinstance(value, list):
        items = enumerate(value)
    elif value is not None and not isinstance(value, str | int | float):
        raise DatasetError(
            f"{where} is a {type(value).__name__}; a sample is scored from JSON, so keep a list or"
            " a dict"
        )
    for key, item in items:
        check_json(item, f"{where}.{key}")
