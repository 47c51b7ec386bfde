"""EvalScope's methods that load a benchmark, for adapters that override one of them: their own flow
gives the rows.

`load_dataset` runs once for each reading of the dataset, in the process that reads it; each of its
samples becomes a row with its subset and messages. What the methods write to ``self`` is not there
when answers are scored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.datasets import LocalDataLoader, RemoteDataLoader
from nel.compat.evalscope.loading import local_place
from nel.compat.evalscope.samples import (
    TOOLS_FAULT,
    ChatMessage,
    Dataset,
    DatasetDict,
    Sample,
    check_json,
)
from nel.errors import ConfigError, DatasetError, NelError
from nel.types import Message
from nel.types import Sample as NelSample

_KEYS: Final = ("target", "choices", "metadata", "subset_key")


class LoadsItself:
    """EvalScope's methods of loading, each of which an adapter may override."""

    test_dataset: DatasetDict | None = None
    fewshot_dataset: DatasetDict | None = None

    def load_dataset(self: Any, limit: float | None = None, repeats: int = 1) -> DatasetDict:
        """Return the samples by subset, with their prompts.

        Args:
            limit: So many of each subset, or this share of them.
            repeats: How often each comes.
        """
        self.limit, self.repeats = limit, repeats
        self.test_dataset, self.fewshot_dataset = self.load()
        self._post_process_samples()
        return self.test_dataset  # type: ignore[no-any-return]  # of an adapter

    def load(self: Any) -> tuple[DatasetDict, DatasetDict | None]:
        """Return the samples and the examples, from disk where the dataset is a path."""
        path = local_place(self)
        if path is None:
            return self.load_from_remote()  # type: ignore[no-any-return]
        with self._temporary_attribute("dataset_id", str(path)):
            return self.load_from_disk()  # type: ignore[no-any-return]

    def load_from_remote(self: Any) -> tuple[DatasetDict, DatasetDict | None]:
        """Return the samples and the examples by `RemoteDataLoader`."""
        return _load(self, RemoteDataLoader)

    def load_from_disk(
        self: Any, use_local_loader: bool = False
    ) -> tuple[DatasetDict, DatasetDict | None]:
        """Return the samples and the examples of local files."""
        return _load(self, LocalDataLoader) if use_local_loader else self.load_from_remote()

    def load_subsets(
        self: Any, load_func: Callable[[str], Dataset], is_fewshot: bool = False
    ) -> DatasetDict:
        """Return each subset as a function loads it, or one divided by the samples'
        `subset_key`.
        """
        if self.reformat_subset:
            limit, repeats = (self.few_shot_num, 1) if is_fewshot else (self.limit, self.repeats)
            return DatasetDict.from_dataset(
                load_func(self.default_subset), self.subset_list, limit, repeats
            )
        subsets: dict[str, Dataset] = {}
        for subset in self.subset_list:
            with self._temporary_attribute("current_subset_name", subset):
                subsets[subset] = load_func(subset)
        return DatasetDict(subsets)

    def load_subset(self: Any, subset: str, data_loader: type[RemoteDataLoader]) -> Dataset:
        """Return the samples of a subset."""
        return _subset(self, subset, data_loader, self.eval_split, self.limit, self.repeats)

    def load_fewshot_subset(self: Any, subset: str, data_loader: type[RemoteDataLoader]) -> Dataset:
        """Return the examples of a subset.

        Raises:
            ConfigError: They are to be drawn.
        """
        if self.meta.few_shot_random:
            raise ConfigError(
                f"{self.name} loads its own examples, which nel does not draw; leave out"
                " few_shot_random"
            )
        return _subset(self, subset, data_loader, self.train_split, self.few_shot_num, 1)

    def _should_load_fewshot(self: Any) -> bool:
        return bool(self.few_shot_mode == "auto" and self.few_shot_num > 0)

    def _post_process_samples(self: Any) -> None:
        """Give each sample its messages."""
        for subset, samples in self.test_dataset.items():
            for sample in samples:
                is_text = isinstance(sample.input, str)
                words = (
                    self.process_sample_str_input if is_text else self.process_sample_messages_input
                )
                sample.input = words(sample, subset)

    def examples_of(self: Any, subset: str) -> str | None:
        """Return the examples of a subset as text; without one of this name, those of the first.
        None: there are none.

        Raises:
            DatasetError: There are too few.
        """
        if not self.few_shot_num or not self.fewshot_dataset:
            return None
        examples = self.fewshot_dataset.get(subset)
        examples = next(iter(self.fewshot_dataset.values())) if examples is None else examples
        if len(examples) < self.few_shot_num:
            raise DatasetError(
                f"{self.name}: {self.few_shot_num} examples are asked for, and there are"
                f" {len(examples)}"
            )
        return "\n\n".join(self.sample_to_fewshot(example) for example in examples)


STEPS: Final = (
    "load_dataset", "load", "load_from_remote", "load_from_disk", "load_subsets", "load_subset", "load_fewshot_subset",
    "_post_process_samples",
)  # fmt: skip


def own_steps(adapter: type) -> list[str]:
    """Return the methods of loading that an adapter class overrides."""
    return [step for step in STEPS if getattr(adapter, step) is not getattr(LoadsItself, step)]


def _load(adapter: Any, loader: type[RemoteDataLoader]) -> tuple[DatasetDict, DatasetDict | None]:
    subsets = adapter.load_subsets(partial(adapter.load_subset, data_loader=loader))
    if not adapter._should_load_fewshot():  # noqa: SLF001 - EvalScope's name
        return subsets, None
    return subsets, adapter.load_subsets(
        partial(adapter.load_fewshot_subset, data_loader=loader), is_fewshot=True
    )


def _subset(
    adapter: Any,
    subset: str,
    loader: type[RemoteDataLoader],
    split: str,
    limit: float | None,
    repeats: int,
) -> Dataset:
    by_split = adapter.split_as_subset
    whole = adapter.reformat_subset
    return loader(
        data_id_or_path=adapter.dataset_id,
        split=subset if by_split else split,
        subset=adapter.default_subset if by_split else subset,
        sample_fields=adapter.record_to_sample,
        filter_func=adapter.sample_filter,
        limit=None if whole else limit,
        repeats=1 if whole else repeats,
        shuffle=bool(adapter.meta.more.get("shuffle")),
        shuffle_choices=adapter.shuffle_choices,
        data_source=adapter.dataset_hub,
        version=adapter.dataset_revision,
    ).load()


class OwnRows:
    """A function that gives the samples of an adapter's own flow as rows, for messages under the
    adapter's name.
    """

    def __init__(self, adapter: Any) -> None:
        """Take the adapter."""
        self.adapter = adapter
        self.__module__ = "adapter"
        self.__qualname__ = f"{type(adapter).__name__}.load_dataset"

    def __call__(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each sample.

        Raises:
            DatasetError: They cannot be loaded.
        """
        try:
            subsets = self.adapter.load_dataset()
        except NelError:
            raise
        except Exception as error:
            raise DatasetError(
                f"{self.__qualname__} failed: {type(error).__name__}: {error}"
            ) from error
        for subset, samples in subsets.items():
            for sample in samples:
                yield _row(subset, sample)


def _row(subset: str, sample: Sample) -> dict[str, Any]:
    if sample.tools:
        return {"subset": subset, "fault": TOOLS_FAULT}
    asked = sample.input if isinstance(sample.input, list) else [ChatMessage("user", sample.input)]
    try:
        check_json(sample.metadata)
        messages = [
            {"role": message.role, "content": _content(message.content)} for message in asked
        ]
    except Exception as error:  # noqa: BLE001 - of this sample alone: its row says so
        return {"subset": subset, "fault": f"{type(error).__name__}: {error}"}
    return {
        "subset": subset,
        "messages": messages,
        **{name: getattr(sample, name) for name in _KEYS},
    }


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [dict(item) if isinstance(item, Mapping) else item.as_part() for item in content]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLoadBenchmark(AdaptedBenchmark):
    """A benchmark whose adapter loads its samples by methods of its own."""

    places_no_shots: ClassVar[str] = (
        "it loads its own examples; instead of --num-fewshot give args.few_shot_num"
    )

    def _chosen_samples(self, raw: Mapping[str, Any]) -> list[tuple[int | None, str]]:
        """Return the subset of a row, which is one sample."""
        return [(None, str(raw.get("subset")))]

    def sample(self, raw: Mapping[str, Any], *, sample_id: str) -> NelSample:
        """Return the sample of a row that `OwnRows` gave.

        Raises:
            DatasetError: Its messages could not be made, or the row is none of those.
        """
        if "fault" in raw:
            raise DatasetError(str(raw["fault"]))
        if "messages" not in raw:
            raise DatasetError(
                f"{self.name} loads its own rows; name its data with args.local_path=FOLDER"
            )
        messages = raw["messages"]
        only = messages[0] if len(messages) == 1 else None
        is_text = only is not None and only["role"] == "user" and isinstance(only["content"], str)
        return NelSample(
            id=sample_id,
            input=(
                only["content"]
                if only is not None and is_text
                else tuple(map(message_of, messages))
            ),
            target=raw["target"],
            choices=None if raw["choices"] is None else tuple(map(str, raw["choices"])),
            metadata=raw["metadata"] or {},
            subset=str(raw["subset"]),
            recorded_response=self.recorded_in(raw["metadata"] or {}),
        )

    def example_value(self, raw: Mapping[str, Any]) -> str | None:
        """Return the subset that a row belongs to."""
        return str(raw.get("subset"))


def own_benchmark(made: AdaptedBenchmark) -> OwnLoadBenchmark:
    """Return a benchmark with the rows of its adapter's own flow."""
    parts = {item.name: getattr(made, item.name) for item in dataclasses.fields(made) if item.init}
    return OwnLoadBenchmark(**{**parts, "dataset": OwnRows(made.adapter), "num_fewshot": 0})


def message_of(described: Mapping[str, Any]) -> Message:
    """Return the message that a row holds as role and content."""
    content = described["content"]
    return Message(
        role=described["role"], content=content if isinstance(content, str) else tuple(content)
    )
