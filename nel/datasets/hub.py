"""Opens datasets of the Hugging Face hub, ``hf://org/name?config=&split=&revision=``, through the
`datasets` library where it is installed, and through `nel.datasets.hub_files` elsewhere.

The revision is resolved to a commit before anything is read, so that a run names exactly what it
read. The libraries read ``HF_HOME``, ``HF_ENDPOINT`` and ``HF_HUB_OFFLINE`` when they are imported,
and nothing here may import them earlier than a dataset is opened.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nel.datasets.base import Dataset, NumberedRow, RawRow, check_rows
from nel.datasets.hub_address import COMMIT, HubAddress, labelled_rows, parse_uri
from nel.datasets.hub_files import open_files
from nel.datasets.in_memory import without_decoding
from nel.datasets.plain import number_of_32_bits, plain_or_problem
from nel.errors import DatasetError

_TIMEOUT_SECONDS: Final = 30.0
_PROBLEM_CHARS_MAX: Final = 400

_EXPLANATIONS: Final = {
    "GatedRepoError": "it is gated; accept its terms on the hub and set HF_TOKEN",
    "RevisionNotFoundError": "it has no such revision",
    "RepositoryNotFoundError": "the hub has no such dataset, or it is private and needs HF_TOKEN",
    "OfflineModeIsEnabled": (
        "offline mode is on (HF_HUB_OFFLINE); pin a cached commit with revision="
    ),
    "LocalEntryNotFoundError": "the hub cannot be reached, and the dataset is not in the cache",
    "TransportError": "the hub cannot be reached; check the network and the proxy",
    "ConnectionError": "the hub cannot be reached; check the network and the proxy",
    "TimeoutError": "the hub did not answer in time",
}
"""What an error of the libraries means, by the name of its class or of a base of it."""


def open_hub(uri: str, _base_dir: Path | None) -> Dataset:
    """Download a dataset of the hub, or find it in the cache, and open it.

    Raises:
        DatasetError: The URI is malformed, or the dataset cannot be had; the message says why.
        MissingExtra: The files have a format that only the `datasets` library reads.
    """
    address = parse_uri(uri)
    try:
        import datasets  # noqa: PLC0415 - heavy and optional
        import huggingface_hub  # noqa: PLC0415 - as above
    except ImportError:
        return open_files(uri, address)
    # Each of five attempts is two lines of warning; what they come to is said once, by the error.
    logging.getLogger("huggingface_hub.utils._http").setLevel(logging.ERROR)
    try:
        commit = _commit(huggingface_hub.HfApi(), address)
        splits = [
            datasets.load_dataset(
                address.repo, config, data_files=address.file, split=address.split, revision=commit
            )
            for config in address.configs or (address.config,)
        ]
    except Exception as error:
        raise DatasetError(
            f"{uri}: {explain(error, _EXPLANATIONS)}; or give a local copy: --dataset PATH"
        ) from error
    for split in splits:
        _check_commit(split, commit, uri)
    parts = [without_decoding(split) for split in splits]

    def read() -> Iterator[RawRow]:
        rows = [_rows(part, uri) for part in parts]
        return check_rows(labelled_rows(rows, address.configs, uri), name=uri, unit="row")

    fingerprint = f"{address.repo} {address.config} {address.split} {commit}"
    return Dataset(uri=uri, revision=commit, unit="row", read=read, fingerprint=fingerprint)


def _commit(api: Any, address: HubAddress) -> str:
    if address.revision is not None and COMMIT.fullmatch(address.revision):
        return address.revision
    info = api.dataset_info(address.repo, revision=address.revision, timeout=_TIMEOUT_SECONDS)
    return str(info.sha)


def _check_commit(rows: Any, commit: str, uri: str) -> None:
    """Refuse what the library gives in place of a commit that it cannot reach."""
    paths = [Path(file["filename"]) for file in rows.cache_files]
    if not all(commit in path.parts for path in paths):
        raise DatasetError(
            f"{uri}: commit {commit} could not be had, and the library offers another version from"
            " its cache or from a folder of that name; go online, or give that copy as a path:"
            " --dataset PATH"
        )


def _rows(rows: Any, uri: str) -> Iterator[NumberedRow]:
    number = 0
    features = (getattr(rows, "features", None) or {}).items()
    of_32_bits = [name for name, feature in features if getattr(feature, "dtype", "") == "float32"]
    try:
        for number, row in enumerate(rows, start=1):
            written = {name: number_of_32_bits(row[name]) for name in of_32_bits}
            yield number, plain_or_problem(row | written)
    except Exception as error:
        raise DatasetError(
            f"{uri}: cannot be read after row {number}: {explain(error, _EXPLANATIONS)}"
        ) from error


def explain(error: Exception, meanings: Mapping[str, str]) -> str:
    """Return what an error of a hub's library means, in one line and without credentials.

    Args:
        error: What was raised; its causes are looked at as well.
        meanings: By the name of a class or of a base of it; the first that fits is taken.
    """
    kinds = [kind.__name__ for link in _chain(error) for kind in type(link).__mro__]
    meaning = next((text for name, text in meanings.items() if name in kinds), None)
    if meaning:
        return meaning
    text = " ".join(str(error).split()) or "no message"
    text = re.sub(r"//[^/@\s]+@", "//***@", text)
    return f"{text[:_PROBLEM_CHARS_MAX]} ({type(error).__name__})"


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
