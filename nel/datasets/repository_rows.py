"""Makes one dataset of the downloaded files of a hub's repository."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from nel.datasets.base import Dataset, NumberedRow, RawRow, check_rows
from nel.datasets.formats import Source, dataset_of, rows_in, with_notes
from nel.datasets.hub_address import HubAddress, labelled_rows


def dataset_of_files(
    uri: str, address: HubAddress, version: str, parts: Sequence[Sequence[Source]]
) -> Dataset:
    """Return the rows of a repository's files, one configuration after another.

    Args:
        uri: For messages.
        address: Of the repository.
        version: The commit of the files, or another name that is unique to their content.
        parts: The files of each configuration.
    """
    fingerprint = (
        f"{address.repo} {address.config} {address.configs} {address.split} {address.file}"
        f" {version}"
    )
    if len(parts) == 1 and len(parts[0]) == 1:
        return replace(dataset_of(parts[0][0], uri=uri, revision=version), fingerprint=fingerprint)

    notes: dict[str, None] = {}
    parts = [[with_notes(source, notes) for source in sources] for sources in parts]

    def read() -> Iterator[RawRow]:
        rows = [_number_rows(sources) for sources in parts]
        return check_rows(labelled_rows(rows, address.configs, uri), name=uri, unit="row")

    return Dataset(
        uri=uri, revision=version, unit="row", read=read, fingerprint=fingerprint, notes=notes
    )


def _number_rows(sources: Iterable[Source]) -> Iterator[NumberedRow]:
    number = 0
    for source in sources:
        for _, row in rows_in(source):
            number += 1
            yield number, row
