"""EvalScope's loaders of datasets, over nel's: what an adapter's own `load` calls. Rows are all in
memory.

A row goes through `record_to_sample`; then the limit, the filter and the order of choices hold as
in EvalScope. Rows are never shuffled, since the run's order would then depend on a seed that its
identity does not have.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.compat.evalscope.choice_order import shuffle_choices as shuffle_by_content
from nel.compat.evalscope.loading import Place, source_of_split
from nel.compat.evalscope.media import as_record
from nel.compat.evalscope.samples import Dataset, DatasetDict, Sample, limit_of
from nel.compat.evalscope.values import HubType
from nel.datasets.hub_files import snapshot_of
from nel.datasets.source import open_dataset
from nel.errors import DatasetError
from nel.types import JsonObject

__all__ = [
    "DataLoader",
    "DatasetHub",
    "DictDataLoader",
    "LocalDataLoader",
    "MemoryDataset",
    "RemoteDataLoader",
    "build_dataset_dict_from_record_map",
    "build_dataset_from_records",
    "download_dataset_file",
    "load_local_file_dataset",
    "resolve_snapshot_or_local_path",
]
RecordToSample = Callable[[dict[str, Any]], Any]
MemoryDataset = Dataset


class DataLoader(ABC):
    """Loads one subset of one split."""

    def __init__(
        self,
        data_id_or_path: str = "",
        split: str = "",
        sample_fields: RecordToSample | None = None,
        filter_func: Callable[[Sample], bool] | None = None,
        subset: str = "default",
        version: str | None = None,
        limit: float | None = None,
        data_source: str | None = None,
        shuffle: bool = False,
        shuffle_choices: bool | int | None = None,
        repeats: int = 1,
        **_: object,
    ) -> None:
        """Take what is loaded and what becomes of it.

        Raises:
            DatasetError: Rows are to be shuffled, or records are not made samples by a function.
        """
        if shuffle:
            raise DatasetError(
                "an adapter's own load shuffles its rows, which nel does not do; leave out shuffle"
            )
        if sample_fields is None or not callable(sample_fields):
            raise DatasetError(f"sample_fields is {sample_fields!r:.40}; give record_to_sample")
        self.data_id_or_path, self.split, self.subset = data_id_or_path, split, subset
        self.version, self.data_source = version, data_source
        self.sample_fields, self.filter_func = sample_fields, filter_func
        self.limit, self.shuffle_choices, self.repeats = limit, shuffle_choices, repeats

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """Return the rows as they are."""

    def load(self) -> Dataset:
        """Return the samples.

        Raises:
            DatasetError: They cannot be read.
        """
        records = self.records()
        samples: list[Sample] = []
        for number, record in enumerate(records[: limit_of(self.limit or None, len(records))], 1):
            try:
                made_samples = self.sample_fields(record)
            except Exception as error:
                raise DatasetError(
                    f"{self.data_id_or_path or 'the records'}, row {number}: record_to_sample failed:"
                    f" {type(error).__name__}: {error}"
                ) from error
            samples += made_samples if isinstance(made_samples, list) else [made_samples]
        repeats: list[Sample] = []
        for sample in samples:
            if self.filter_func is None or self.filter_func(sample):
                repeats += [copy.deepcopy(sample) for _ in range(self.repeats)]
        if self.shuffle_choices:
            for sample in repeats:
                shuffle_by_content(sample)
        dataset = Dataset(repeats, Path(self.data_id_or_path).stem, self.data_id_or_path)
        dataset.reindex(group_size=self.repeats)
        return dataset


class RemoteDataLoader(DataLoader):
    """Loads from a hub, or from a local folder with a file for each subset and split."""

    def records(self) -> list[dict[str, Any]]:
        """Return the rows that a name on a hub, a URI or a path names."""
        location = Place(
            name=self.data_id_or_path, dataset=self.data_id_or_path, revision=self.version,
            uses_modelscope=self.data_source == "modelscope",
        )  # fmt: skip
        return [
            as_record(row.data)
            for row in open_dataset(source_of_split(location, self.split, self.subset)).read()
        ]


LocalDataLoader = RemoteDataLoader


@dataclass(frozen=True, slots=True)
class DatasetHub:
    """A dataset on the Hugging Face hub, or a local folder."""

    data_id_or_path: str
    data_source: str | None = None
    revision: str | None = None
    force_redownload: bool = False
    cache_dir: str | None = None

    def load(self, split: str, subset: str = "default") -> list[dict[str, Any]]:
        """Return the rows of a split."""
        loader = RemoteDataLoader(
            self.data_id_or_path, split, dict, subset=subset, version=self.revision,
            data_source=self.data_source,
        )  # fmt: skip
        return loader.records()

    def download_file(self, file_path: str) -> str:
        """Return the path of a file.

        Raises:
            DatasetError: There is none.
        """
        path = Path(self.download_snapshot([file_path])) / file_path
        if not path.is_file():
            raise DatasetError(f"{self.data_id_or_path} has no file {file_path}")
        return str(path.resolve())

    def download_snapshot(self, allow_file_pattern: str | list[str] | None = None) -> str:
        """Return the folder with the files that match.

        Raises:
            DatasetError: It cannot be had.
        """
        if Path(self.data_id_or_path).is_dir():
            return str(Path(self.data_id_or_path).resolve())
        if self.data_source == HubType.MODELSCOPE:
            raise DatasetError(
                f"{self.data_id_or_path}: files are downloaded from Hugging Face alone; download"
                " the dataset and name its folder with args.local_path=FOLDER"
            )
        patterns = (
            [allow_file_pattern] if isinstance(allow_file_pattern, str) else allow_file_pattern
        )
        return str(snapshot_of(self.data_id_or_path, self.revision, patterns or ["*"]))


def resolve_snapshot_or_local_path(
    adapter: Any, allow_file_pattern: str | list[str] | None = None
) -> str:
    """Return the folder of an adapter's dataset."""
    hub = DatasetHub(adapter.dataset_id, adapter.dataset_hub, adapter.dataset_revision)
    return hub.download_snapshot(allow_file_pattern)


def download_dataset_file(
    data_id_or_path: str,
    file_path: str,
    data_source: str | None = None,
    revision: str | None = None,
    **_: object,
) -> str:
    """Return the path of a file of a dataset."""
    return DatasetHub(data_id_or_path, data_source, revision).download_file(file_path)


class DictDataLoader(DataLoader):
    """Takes rows that are there."""

    def __init__(self, dict_list: Sequence[JsonObject], **options: Any) -> None:
        """Take the rows, and what `DataLoader` takes."""
        super().__init__(**options)
        self.dict_list = list(dict_list)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return [dict(record) for record in self.dict_list]


def build_dataset_from_records(
    records: Iterable[JsonObject],
    sample_fields: RecordToSample,
    *,
    name: str,
    location: str | None = None,
    **options: Any,
) -> Dataset:
    """Return the samples of records.

    Args:
        records: The rows.
        sample_fields: Makes a sample of one.
        name: Of the subset.
        location: Where the rows are from.
        options: As `DataLoader` takes them.

    Raises:
        DatasetError: They are to be shuffled.
    """
    dataset = DictDataLoader(list(records), sample_fields=sample_fields, **options).load()
    dataset.name, dataset.location = name, location
    return dataset


def build_dataset_dict_from_record_map(
    record_map: Mapping[str, Iterable[JsonObject]],
    sample_fields: RecordToSample,
    **options: Any,
) -> DatasetDict:
    """Return the samples of records by subset; see `build_dataset_from_records`."""
    return DatasetDict(
        {
            name: build_dataset_from_records(records, sample_fields, name=name, **options)
            for name, records in record_map.items()
        }
    )


def load_local_file_dataset(
    adapter: object,
    dataset_path: str,
    subset: str,
    split: str,
    sample_fields: RecordToSample,
    **options: Any,
) -> Dataset:
    """Return the samples of a local file, or of one in a folder."""
    return RemoteDataLoader(dataset_path, split, sample_fields, subset=subset, **options).load()
