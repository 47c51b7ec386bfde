"""Opens datasets of the Hugging Face hub, ``hf://org/name?config=&split=&revision=``, through the `datasets` library.

The revision is resolved to a commit before anything is read, so that a run names exactly what it read. The
libraries read ``HF_HOME``, ``HF_ENDPOINT`` and ``HF_HUB_OFFLINE`` when they are imported, and nothing
here may import them earlier than a dataset is opened.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from nel.datasets.base import Dataset, RawRow, checked
from nel.datasets.parquet import plain_or_problem
from nel.errors import DatasetError, MissingExtra, did_you_mean

_PARTS_MAX: Final = 4
_PARAMETERS: Final = ("config", "configs", "file", "split", "revision")
_CONFIG_FIELD: Final = "config"
_PART: Final = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
"""A commit in full; any shorter name may mean another one tomorrow."""
_TIMEOUT_SECONDS: Final = 30.0
_PROBLEM_CHARS_MAX: Final = 400

_EXPLANATIONS: Final = {
    "GatedRepoError": "it is gated; accept its terms on the hub and set HF_TOKEN",
    "RevisionNotFoundError": "it has no such revision",
    "RepositoryNotFoundError": "the hub has no such dataset, or it is private and needs HF_TOKEN",
    "OfflineModeIsEnabled": "offline mode is on (HF_HUB_OFFLINE); pin a cached commit with revision=",
    "LocalEntryNotFoundError": "the hub cannot be reached, and the dataset is not in the cache",
    "TransportError": "the hub cannot be reached",
    "ConnectionError": "the hub cannot be reached",
    "TimeoutError": "the hub did not answer in time",
}
"""What an error of the libraries means, by the name of its class or of a base of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAddress:
    """What the URI of a hub names."""

    repo: str
    config: str | None
    split: str
    revision: str | None
    configs: tuple[str, ...] = ()
    """Several configurations, read one after the other; each row then says its own in ``config``."""
    file: str | None = None
    """One file of the repository, or a pattern with ``*``; nothing else is downloaded, and its split is ``train``."""


def open_hub(uri: str, _base_dir: Path | None) -> Dataset:
    """Download a dataset of the hub, or find it in the cache, and open it.

    Raises:
        DatasetError: The URI is malformed, or the dataset cannot be had; the message says why.
        MissingExtra: The `datasets` library is not installed.
    """
    address = parse_uri(uri)
    try:
        import datasets  # noqa: PLC0415 - heavy and optional
        import huggingface_hub  # noqa: PLC0415 - as above
    except ImportError as error:
        raise MissingExtra(f"{uri}: reading from the hub needs datasets; pip install 'nel[hf]'") from error
    try:
        commit = _commit(huggingface_hub.HfApi(), address)
        loaded = [
            datasets.load_dataset(address.repo, config, data_files=address.file, split=address.split, revision=commit)
            for config in address.configs or (address.config,)
        ]
    except Exception as error:
        raise DatasetError(f"{uri}: {explained(error, _EXPLANATIONS)}; or give a local copy: --dataset PATH") from error
    for part in loaded:
        _check_commit(part, commit, uri)
    parts = [_undecoded(part) for part in loaded]

    def read() -> Iterator[RawRow]:
        rows = [_rows(part, uri) for part in parts]
        return checked(labelled_rows(rows, address.configs, uri), name=uri, unit="row")

    fingerprint = f"{address.repo} {address.config} {address.split} {commit}"
    return Dataset(uri=uri, revision=commit, unit="row", read=read, fingerprint=fingerprint)


def parse_uri(uri: str) -> HubAddress:
    """Return what the URI of a hub names; ``hf://org/name/config/split`` is understood too.

    Raises:
        DatasetError: It is malformed, or has a parameter that is unknown or given twice.
    """
    path, _, query = uri.partition("://")[2].partition("?")
    form = form_of(uri)
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if len(parts) > _PARTS_MAX or not all(map(_PART.fullmatch, parts[:2])):
        raise DatasetError(f"{uri}: {form}")
    if parts[0] == "datasets" and len(parts) > 1:
        raise DatasetError(f"{uri}: leave out datasets/; {form}")
    given = dict(zip(("config", "split"), parts[2:], strict=False))
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in _PARAMETERS:
            hint = did_you_mean(name, _PARAMETERS) or ";"
            raise DatasetError(f'{uri}: unknown parameter "{name}"{hint} known: {", ".join(_PARAMETERS)}')
        if name in given:
            raise DatasetError(f"{uri}: {name} is given twice")
        if value:
            given[name] = value
    if "config" in given and "configs" in given:
        raise DatasetError(f"{uri}: give config or configs, not both")
    if "file" in given and {"config", "configs"} & given.keys():
        raise DatasetError(f"{uri}: a file is named by its path, without a config")
    return HubAddress(
        repo="/".join(parts[:2]),
        config=given.get("config"),
        split=given.get("split", "train" if "file" in given else "test"),
        revision=given.get("revision"),
        configs=tuple(given["configs"].split(",")) if "configs" in given else (),
        file=given.get("file"),
    )


def form_of(uri: str) -> str:
    """Return what a URI of this hub looks like, for messages."""
    return f"the form is {uri.partition('://')[0]}://org/name?config=NAME&split=test&revision=COMMIT"


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
            f"{uri}: commit {commit} could not be had, and the library offers another version from its cache "
            "or from a folder of that name; go online, or give that copy as a path: --dataset PATH"
        )


def _undecoded(rows: Any) -> object:
    """Return the dataset with images and sounds left as bytes, so that no decoder is needed."""
    features = _undecoded_feature(dict(rows.features))
    return rows if features == dict(rows.features) else rows.cast(type(rows.features)(features))


def _undecoded_feature(feature: object) -> object:
    if isinstance(feature, Mapping):
        return {name: _undecoded_feature(inner) for name, inner in feature.items()}
    if isinstance(feature, list):
        return [_undecoded_feature(inner) for inner in feature]
    if not dataclasses.is_dataclass(feature) or isinstance(feature, type):
        return feature
    if getattr(feature, "decode", False) is True and type(feature).__name__ != "Json":
        return dataclasses.replace(feature, decode=False)
    if hasattr(feature, "feature"):
        return dataclasses.replace(feature, feature=_undecoded_feature(feature.feature))
    return feature


def _rows(rows: Any, uri: str) -> Iterator[tuple[int, dict[str, object] | str]]:
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            yield number, plain_or_problem(row)
    except Exception as error:
        raise DatasetError(f"{uri}: cannot be read after row {number}: {explained(error, _EXPLANATIONS)}") from error


def labelled_rows(
    parts: Iterable[Iterable[tuple[int, dict[str, object] | str]]], configs: Sequence[str], uri: str
) -> Iterator[tuple[int, dict[str, object] | str]]:
    """Yield the numbered rows of several configurations one after the other, each with its own in ``config``.

    Args:
        parts: The rows of each configuration, counted from 1.
        configs: Their names; none where there is a single part, whose rows stay as they are.
        uri: For messages.

    Raises:
        DatasetError: The rows have such a column already.
    """
    before = 0
    for part, config in zip(parts, configs or (None,), strict=True):
        number = 0
        for number, row in part:
            if config is None or isinstance(row, str):
                yield before + number, row
            elif _CONFIG_FIELD in row:
                raise DatasetError(
                    f'{uri}: its rows have a column "{_CONFIG_FIELD}" of their own; read one config only'
                )
            else:
                yield before + number, {**row, _CONFIG_FIELD: config}
        before += number


def explained(error: Exception, meanings: Mapping[str, str]) -> str:
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
