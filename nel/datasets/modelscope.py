"""Opens datasets of the ModelScope hub, ``ms://org/name?config=&split=&revision=``, through its
`modelscope-hub` library and nel's own readers.

The revision is resolved to a commit, every file is checked against the SHA-256 that the hub lists,
and the list is kept, so that a commit that was read once needs no network. The hub names the commit
of a file, but not that of a branch; of an unknown revision it lists no files, with status 200.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from nel.core.strict_json import dumps
from nel.datasets.base import Dataset
from nel.datasets.files import source_at
from nel.datasets.formats import Source
from nel.datasets.hub import explain
from nel.datasets.hub_address import COMMIT, HubAddress, form_of, parse_uri
from nel.datasets.kept_files import inside, keep, kept_list
from nel.datasets.repository import CARD, parts_of
from nel.datasets.repository_rows import dataset_of_files
from nel.errors import DatasetError, MissingExtra

_DEFAULT_REVISION: Final = "master"
_FILES_MAX: Final = 10_000
_KIND: Final = "dataset"

_MEANINGS: Final = {
    "AuthenticationError": "it is private, or the token in MODELSCOPE_API_TOKEN is wrong",
    "PermissionDeniedError": (
        "it is private or gated; get access on the hub and set MODELSCOPE_API_TOKEN"
    ),
    "NotExistError": "the hub has no such dataset, or it is private and needs MODELSCOPE_API_TOKEN",
    "RateLimitError": "the hub refuses so many requests; try again later",
    "ServerError": "the hub has a fault of its own; try again later",
    "FileIntegrityError": "what the hub sends is not what it lists; try again later",
    "RequestTimeoutError": "the hub did not answer in time",
    "ReadTimeout": "the hub did not answer in time",
    "ConnectionError": (
        "the hub cannot be reached; a commit that was read before needs none: revision=COMMIT"
    ),
}
"""What an error of the library means, by the name of its class or of a base of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    size: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    version: str
    """Its commit, or ``sha256:`` and the digest of the list where the hub names no commit."""
    revision: str
    """What the hub is asked for to get these files."""
    files: dict[str, _File]


def open_modelscope(uri: str, _base_dir: Path | None) -> Dataset:
    """Download the files of a dataset of ModelScope, or find them in the cache, and open them.

    Raises:
        DatasetError: The URI is malformed, or the dataset cannot be had; the message says why.
        MissingExtra: The `modelscope-hub` library is not installed.
    """
    address = parse_uri(uri)
    if "/" not in address.repo:
        raise DatasetError(f"{uri}: {form_of(uri)}")
    try:
        hub = _Hub(address, uri)
    except ImportError as error:
        raise MissingExtra(
            f"{uri}: reading from ModelScope needs modelscope-hub; pip install 'modelscope-hub<0.6'"
        ) from error
    try:
        listing = hub.listing()
        path_lists = parts_of(listing.files, lambda: hub.open_card(listing), address, uri)
        parts = [[hub.source(listing, path) for path in paths] for paths in path_lists]
    except DatasetError:
        raise
    except Exception as error:
        raise DatasetError(
            f"{uri}: {explain(error, _MEANINGS)}; or give a local copy: --dataset PATH"
        ) from error
    return dataset_of_files(uri, address, listing.version, parts)


class _Hub:
    def __init__(self, address: HubAddress, uri: str) -> None:
        import modelscope_hub  # noqa: PLC0415 - heavy and optional

        if "MODELSCOPE_LOG_LEVEL" not in os.environ:
            # nel says itself what went wrong.
            logging.getLogger("modelscope_hub").setLevel(logging.CRITICAL)
        config = modelscope_hub.HubConfig()
        self._api: Any = modelscope_hub.HubApi(config)
        self._address = address
        self._uri = uri
        self._folder = config.cache_dir / "nel"
        """Apart from the library's own files, whose older layout mixes versions."""
        self._lists = self._folder / "lists" / address.repo.replace("/", "--")

    def listing(self) -> _Listing:
        """Return the files at the revision: from the cache for a commit that was read before."""
        revision = self._address.revision or _DEFAULT_REVISION
        is_commit = COMMIT.fullmatch(revision) is not None
        if is_commit and (listing := self._stored_list(revision)):
            return listing
        entries = self._entries(revision)
        if not entries:
            raise DatasetError(
                f'{self._uri}: it has no files at revision "{revision}"; see the hub for its'
                " revisions"
            )
        files = self._files(entries)
        commit = revision if is_commit else self._commit(entries, files)
        if commit is None:
            return _Listing(version=f"sha256:{_digest(files)}", revision=revision, files=files)
        self._keep(commit, files)
        return _Listing(version=commit, revision=commit, files=files)

    def open_card(self, listing: _Listing) -> BinaryIO:
        """Return the card, open to be read."""
        return self._download(listing, CARD).open("rb")

    def source(self, listing: _Listing, path: str) -> Source:
        """Return one file, downloaded unless it is in the cache and is what the hub lists."""
        return source_at(self._download(listing, path), f"{self._uri}: {path}")

    def _download(self, listing: _Listing, path: str) -> Path:
        file = listing.files[path]
        path_on_disk: Path = self._api.download_file(
            self._address.repo,
            _KIND,
            path,
            revision=listing.revision,
            cache_dir=self._folder,
            force=file.sha256 is None and not COMMIT.fullmatch(listing.revision),
            expected_sha256=file.sha256,
            file_size=file.size,
        )
        return path_on_disk

    def _entries(self, revision: str) -> list[dict[str, object]]:
        entries: list[dict[str, Any]] = []
        for _, page, error in self._api.legacy.iter_dataset_file_pages(
            self._address.repo, revision
        ):
            if error is not None and error.__cause__ is None and isinstance(error, ConnectionError):
                raise DatasetError(
                    f"{self._uri}: what the hub answers is not a list of files; try again later"
                )
            if error is not None:
                raise error
            entries += [entry for entry in page if entry.get("Type") != "tree"]
            if len(entries) > _FILES_MAX:
                raise DatasetError(
                    f"{self._uri}: it has more than {_FILES_MAX:,} files; give a copy: --dataset"
                    " PATH"
                )
        return entries

    def _files(self, entries: Iterable[dict[str, Any]]) -> dict[str, _File]:
        files = {}
        for entry in entries:
            size = entry.get("Size")
            files[inside(str(entry.get("Path") or ""), self._uri)] = _File(
                size=size if isinstance(size, int) and size > 0 else None,
                sha256=entry.get("Sha256") or None,
            )
        return dict(sorted(files.items()))

    def _commit(self, entries: Sequence[dict[str, Any]], files: dict[str, _File]) -> str | None:
        """Return the commit that changed a file last, if it has these very files."""
        commits = [
            (entry.get("CommittedDate") or 0, str(entry["Revision"]))
            for entry in entries
            if COMMIT.fullmatch(str(entry.get("Revision")))
        ]
        if not commits:
            return None
        _, commit = max(commits)
        return commit if self._files(self._entries(commit)) == files else None

    def _stored_list(self, commit: str) -> _Listing | None:
        entries = kept_list(self._lists / f"{commit}.json")
        if entries is None:
            return None
        files = {name: _File(size=size, sha256=sha256) for name, (size, sha256) in entries.items()}
        return _Listing(version=commit, revision=commit, files=files)

    def _keep(self, commit: str, files: dict[str, _File]) -> None:
        content = dumps({path: [file.size, file.sha256] for path, file in files.items()}).encode()
        path = self._lists / f"{commit}.json"
        keep(path, content, uri=self._uri, variable="MODELSCOPE_CACHE")


def _digest(files: dict[str, _File]) -> str:
    lines = "".join(f"{path}\0{file.size}\0{file.sha256}\n" for path, file in files.items())
    return hashlib.sha256(lines.encode()).hexdigest()
