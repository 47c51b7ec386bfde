"""Reads datasets of the Hugging Face hub without its libraries: files by HTTP, and nel's readers.

A revision is resolved to a commit, whose files never change: they are kept below ``HF_HOME`` with
the list of them, so that what was read once needs no network. Files that the hub lists with a
SHA-256 are checked. ``HF_ENDPOINT``, ``HF_TOKEN`` and ``HF_HUB_OFFLINE`` mean what they mean to the
libraries.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from nel.core.strict_json import dumps, loads
from nel.datasets.base import Dataset
from nel.datasets.download import FILE_BYTES_MAX, open_url, read_content
from nel.datasets.files import source_at
from nel.datasets.hub_address import COMMIT, HubAddress
from nel.datasets.kept_files import inside, keep, kept_list
from nel.datasets.repository import CARD, parts_of
from nel.datasets.repository_rows import dataset_of_files
from nel.errors import DatasetError

_HUB: Final = "https://huggingface.co"
_LIST_BYTES_MAX: Final = 64 * 1024 * 1024
_TRUE: Final = ("1", "true", "yes", "on")
_MEANINGS: Final = {
    "GatedRepo": "it is gated; accept its terms on the hub and set HF_TOKEN",
    "RevisionNotFound": "it has no such revision",
    "RepoNotFound": "the hub has no such dataset, or it is private and needs HF_TOKEN",
    "EntryNotFound": "a file that the hub lists is not there",
}
"""By the error code that the hub sends in a header."""


def open_files(uri: str, address: HubAddress) -> Dataset:
    """Download the files of a dataset, or find them in the cache, and open them.

    Raises:
        DatasetError: The dataset cannot be had; the message says why.
    """
    repository = _Repository(address, uri)
    files = repository.files()
    name_lists = parts_of(files, lambda: repository.path_of(CARD).open("rb"), address, uri)
    parts = [
        [source_at(repository.path_of(name), f"{uri}: {name}") for name in names]
        for names in name_lists
    ]
    return dataset_of_files(uri, address, repository.commit, parts)


def snapshot_of(repo: str, revision: str | None, patterns: Sequence[str]) -> Path:
    """Return the folder with the files of a dataset that match one of some shell patterns.

    Raises:
        DatasetError: They cannot be had, or there are none.
    """
    address = HubAddress(repo=repo, config=None, split="", revision=revision)
    repository = _Repository(address, f"hf://{repo}")
    names = [
        name
        for name in repository.files()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    if not names:
        raise DatasetError(f"hf://{repo} has no file {' or '.join(patterns)}")
    paths = [repository.path_of(name) for name in names]
    return paths[0].parents[len(PurePosixPath(names[0]).parts) - 1]


class _Repository:
    def __init__(self, address: HubAddress, uri: str) -> None:
        self._address = address
        self._uri = uri
        home = (
            os.environ.get("HF_HOME")
            or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
        )
        self._home = Path(home).expanduser()
        self._kept = self._home / "nel" / address.repo.replace("/", "--")
        self._hub = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
        self._digests: dict[str, str | None] = {}
        """The SHA-256 of each file as the hub lists it; None where it lists none."""
        self.commit = ""
        """Of the revision; empty before `files` found it."""

    def files(self) -> list[str]:
        """Return the paths of all files, from the cache where the commit was read before."""
        revision = self._address.revision or "main"
        digests = kept_list(self._kept / f"{revision}.json") if COMMIT.fullmatch(revision) else None
        if digests is None:
            url = f"{self._hub}/api/datasets/{self._address.repo}/revision/{quote(revision, safe='')}?blobs=true"
            with self._ask(url) as answer:
                self.commit, digests = self._read_list(answer.read(_LIST_BYTES_MAX))
            self._keep(f"{self.commit}.json", dumps(digests).encode())
        else:
            self.commit = revision
        self._digests = digests
        return sorted(digests)

    def path_of(self, name: str) -> Path:
        """Return where a file is kept, downloaded if it was not there."""
        path = self._kept / self.commit / name
        if not path.is_file():
            url = f"{self._hub}/datasets/{self._address.repo}/resolve/{self.commit}/{quote(name)}"
            with self._ask(url) as answer:
                self._keep(f"{self.commit}/{name}", self._check(answer, name))
        return path

    def _check(self, answer: Any, name: str) -> bytes:
        content = read_content(answer)
        if content is None:
            raise self._problem(f"{name} has more than {FILE_BYTES_MAX >> 30} GiB")
        digest = self._digests[name]
        if digest is not None and digest != hashlib.sha256(content).hexdigest():
            raise self._problem(f"{name}: what the hub sends is not what it lists; try again later")
        return content

    def _read_list(self, body: bytes) -> tuple[str, dict[str, str | None]]:
        try:
            document = loads(body)
            digests: dict[str, str | None] = {}
            for sibling in document["siblings"]:
                name = inside(str(sibling["rfilename"]), self._uri)
                digests[name] = (sibling.get("lfs") or {}).get("sha256")
            commit = str(document["sha"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._problem(
                "what the hub answers is not a list of files; try again later"
            ) from error
        if not COMMIT.fullmatch(commit):
            raise self._problem("the hub does not say which commit it has; name it with revision=")
        return commit, digests

    def _keep(self, name: str, content: bytes) -> None:
        keep(self._kept / name, content, uri=self._uri, variable="HF_HOME")

    @contextmanager
    def _ask(self, url: str) -> Iterator[Any]:
        if os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE:
            raise self._problem("offline mode is on (HF_HUB_OFFLINE), and it is not in the cache")
        try:
            with open_url(url, self._token()) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            error.close()
            code = error.headers.get("X-Error-Code", "")
            raise self._problem(
                _MEANINGS.get(code, f"the hub answers HTTP {error.code}")
            ) from error
        except TimeoutError as error:
            raise self._problem("the hub did not answer in time") from error
        except (OSError, http.client.HTTPException) as error:
            raise self._problem(
                "the hub cannot be reached, and the dataset is not in the cache"
            ) from error

    def _token(self) -> str | None:
        token = os.environ.get("HF_TOKEN", "").strip()
        try:
            return token or (self._home / "token").read_text(encoding="utf-8").strip() or None
        except (OSError, UnicodeDecodeError):
            return None

    def _problem(self, what: str) -> DatasetError:
        return DatasetError(f"{self._uri}: {what}; or give a local copy: --dataset PATH")
