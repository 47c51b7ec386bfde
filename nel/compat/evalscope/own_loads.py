"""EvalScope's methods that load a benchmark, for adapters that override one of them: their own flow
gives the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from nel.compat.evalscope.datasets import RemoteDataLoader
from nel.compat.evalscope.loading import local_place
from nel.compat.evalscope.samples import Dataset, DatasetDict
from nel.errors import ConfigError, DatasetError


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
        subsets = self.load_subsets(partial(self.load_subset, data_loader=RemoteDataLoader))
        if not self._should_load_fewshot():
            return subsets, None
        load = partial(self.load_fewshot_subset, data_loader=RemoteDataLoader)
        return subsets, self.load_subsets(load, is_fewshot=True)

    def load_from_disk(
        self: Any, use_local_loader: bool = False
    ) -> tuple[DatasetDict, DatasetDict | None]:
        """Return the samples and the examples of local files."""
        return self.load_from_remote()  # type: ignore[no-any-return]  # of an adapter

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
                sample.input = self.messages_of(sample, subset)

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


def _subset(
    adapter: Any,
    subset: str,
    loader: type[RemoteDataLoader],
    split: str,
    limit: float | None,
    repeats: int,
) -> Dataset:
    if adapter.split_as_subset:
        split, subset = subset, adapter.default_subset
    if adapter.reformat_subset:
        # `DatasetDict.from_dataset` divides the samples, then limits and repeats each subset.
        limit, repeats = None, 1
    return loader(
        data_id_or_path=adapter.dataset_id,
        split=split,
        subset=subset,
        sample_fields=adapter.record_to_sample,
        filter_func=adapter.sample_filter,
        limit=limit,
        repeats=repeats,
        shuffle=bool(adapter.meta.more.get("shuffle")),
        shuffle_choices=adapter.shuffle_choices,
        data_source=adapter.dataset_hub,
        version=adapter.dataset_revision,
    ).load()
