"""Where an adapter's rows come from: a hub dataset, a URI, a file, or a folder of files by subset.

Rows of several subsets carry the subset's name in a column of its own, `SUBSET`, which records
never see. An id that a row brings is unique within its subset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from nel import plugins
from nel.authoring.registered import source_of
from nel.compat.evalscope.media import as_record
from nel.datasets.fewshot import with_split
from nel.datasets.folder import folder_source
from nel.datasets.source import open_dataset
from nel.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from nel.compat.evalscope.samples import Sample

Adapter: TypeAlias = Any
"""A `DataAdapter`, whose module imports this one."""
SUBSET: Final = "_subset"
PART: Final = "_part"
"""Which of several samples of one record a row stands for."""
ID: Final = "_id"
"""The row's own id with its subset and part, where the id alone names several samples."""
_HUB_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


class Subsets:
    """A function that gives the rows of several sources, each with the name of its subset."""

    def __init__(self, name: str, sources: Mapping[str, str]) -> None:
        """Take the dataset's name, for messages, and a source for each subset."""
        self.__qualname__ = name
        self.sources = dict(sources)

    # Compared to see whether examples would be the questions themselves.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subsets) and other.sources == self.sources

    __hash__ = None  # type: ignore[assignment]

    def __call__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of one subset after the other."""
        for subset, source in self.sources.items():
            for row in open_dataset(source).read():
                yield {**row.data, SUBSET: subset}


def source_for(adapter: Adapter, split: str) -> str | Subsets:
    """Return what an adapter's split is read from.

    Raises:
        ConfigError: The dataset has no such subset or split, as far as its name says.
    """
    subsets = [adapter.default_subset] if adapter.reformat_subset else adapter.subset_list
    location = _place_of(adapter)
    if adapter.split_as_subset:
        sources = {
            subset: source_of_split(location, subset, adapter.default_subset) for subset in subsets
        }
    else:
        sources = {subset: source_of_split(location, split, subset) for subset in subsets}
    if len(sources) == 1:
        return next(iter(sources.values()))
    if len(set(sources.values())) == 1:
        raise ConfigError(
            f"{adapter.name}: {adapter.dataset_id} is one source for {len(sources)} subsets; set"
            " reformat_subset and give samples a subset_key, or name a folder with a file for each"
            " subset"
        )
    return Subsets(adapter.dataset_id, sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a dataset is."""

    name: str
    """Of the benchmark, for messages."""
    dataset: str
    """A name on a hub, a URI, or a file or folder."""
    revision: str | None = None
    home: Path | None = None
    """Where relative paths are looked for before the working directory."""
    uses_modelscope: bool = False

    @property
    def local(self) -> Path | None:
        """Return the file or folder, None where there is none."""
        if plugins.split_uri(self.dataset) is not None:
            return None
        homes = [] if self.home is None else [self.home / self.dataset]
        return next(
            (path for path in (*homes, Path(self.dataset).expanduser()) if path.exists()), None
        )


def _place_of(adapter: Adapter) -> Place:
    return Place(
        name=adapter.name,
        dataset=str(adapter.dataset_id),
        revision=adapter.dataset_revision,
        home=Path(source_of(type(adapter))).parent,
    )


def local_place(adapter: Adapter) -> Path | None:
    """Return the file or folder that an adapter reads, None for a URI or a hub dataset."""
    return _place_of(adapter).local


def source_of_split(location: Place, split: str, subset: str) -> str:
    """Return what one subset of a split is read from.

    Raises:
        ConfigError: There is none.
    """
    dataset = location.dataset
    if plugins.split_uri(dataset) is None:
        # In this order: a file holds every split, a folder has a file for each, and what is
        # neither can only be a name on a hub.
        path = location.local
        if path is not None and path.is_file():
            return str(path.resolve())
        if path is not None and path.is_dir():
            return folder_source(path.resolve(), config=subset, split=split)
        if not _HUB_NAME.fullmatch(dataset):
            raise ConfigError(
                f'{location.name}: dataset_id "{dataset}" is neither a file, a folder, a URI nor'
                " org/name"
            )
        hub = "ms" if location.uses_modelscope else "hf"
        dataset = f"{hub}://{dataset}"
    elif not dataset.lower().startswith(("hf://", "ms://")):
        return dataset
    uri = with_split(dataset, split)
    if location.revision and "revision=" not in uri:
        uri += f"&revision={location.revision}"
    if subset != "default" and "config=" not in uri:
        uri += f"&config={subset}"
    return uri


def own_columns(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row as the dataset has it."""
    return {name: value for name, value in row.items() if name not in (SUBSET, PART, ID)}


def samples_made(adapter: Adapter, row: Mapping[str, object]) -> Sample | list[Sample]:
    """Return what `record_to_sample` makes of a row while `current_subset_name` is its subset."""
    adapter.current_subset_name = (
        "" if adapter.reformat_subset else str(row.get(SUBSET) or adapter.subset_list[0])
    )
    try:
        samples: Sample | list[Sample] = adapter.record_to_sample(as_record(own_columns(row)))
        return samples
    finally:
        adapter.current_subset_name = ""


def subset_of(adapter: Adapter, row: Mapping[str, object], sample: Sample) -> str:
    """Return the subset that a sample belongs to.

    Raises:
        DatasetError: Subsets are made of `subset_key`, and the sample has none.
    """
    if not adapter.reformat_subset:
        return str(row.get(SUBSET) or adapter.subset_list[0])
    if sample.subset_key is None and adapter.subset_list != ["default"]:
        raise DatasetError(
            "the sample has no subset_key, and the benchmark divides its samples by it"
        )
    return sample.subset_key or "default"
