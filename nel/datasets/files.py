"""Opens local files as datasets: finds them, or says clearly that they are not there.

A run reads its dataset more than once, so a file that changes in between would mix two datasets
under one name; each reading checks that the file is still the one that was opened.
"""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import unquote

from nel.datasets.formats import Source, dataset_of, suffix_of
from nel.datasets.table_form import split_form, split_options
from nel.errors import DatasetError, did_you_mean

if TYPE_CHECKING:
    from nel.datasets.base import Dataset

_NAMES_MAX: Final = 1000
"""How many names of a folder are compared with a misspelt one."""


def open_file(uri: str, base_dir: Path | None) -> Dataset:
    """Open a ``file://`` URI.

    Raises:
        DatasetError: The URI names another machine, or the file is missing or unusable.
    """
    host, slash, path = uri.partition("://")[2].partition("/")
    if host not in {"", "localhost"} or not slash:
        raise DatasetError(
            f"{uri}: a file URI has the form file:///folder/name.jsonl; for a relative path leave"
            " out file://"
        )
    return open_path(unquote(slash + path), base_dir, uri=uri)


def open_path(path: str, base_dir: Path | None, *, uri: str | None = None) -> Dataset:
    """Open a local file, looked for below ``base_dir`` first and in the working directory after.

    Raises:
        DatasetError: It is missing, empty, not a regular file, or of an unknown format.
    """
    if not path.strip() or "\0" in path:
        raise DatasetError(f"{path!r} is not a name for a dataset file; give a path or a URI")
    name, form = split_form(path)
    local = _find(name, base_dir)
    suffix_of(name)
    source = replace(source_at(local, name, title=uri or name), form=form)
    return replace(dataset_of(source, uri=uri or path), folder=local.parent)


def source_at(path: Path, name: str, *, title: str | None = None) -> Source:
    """Return the file at a path, which must stay as it is now.

    Args:
        path: Where it is.
        name: What its rows are said to be of; it ends in the file's suffix.
        title: What messages call the file itself; None: the name.

    Raises:
        DatasetError: It is missing, empty or not a regular file.
    """
    title = title or name
    before = _usable(path, title)

    def open_again() -> BinaryIO:
        try:
            file = path.open("rb")
        except OSError as error:
            raise DatasetError(f"{title}: cannot be opened: {error.strerror}") from error
        if _identity(os.fstat(file.fileno())) != before:
            file.close()
            raise DatasetError(f"{title}: the file changed since it was opened; start a new run")
        return file

    _, size, modified = before
    # Programs set the date of a file back, and its size may stay; when that was done, they cannot.
    stamp = f"{size} bytes of {modified}, {path.stat().st_ctime_ns}"
    return Source(name=name, open=open_again, stamp=stamp)


def folder_at(path: str, base_dir: Path | None) -> Path | None:
    """Return the folder that an address of local rows names, None where it names something else.

    Args:
        path: As the user gave it, with options after it.
        base_dir: Where it is looked for before the working directory.
    """
    name = split_options(path)[0]
    if not name.strip() or "\0" in name:
        return None
    return next((folder for folder in _candidates(name, base_dir) if folder.is_dir()), None)


def _candidates(path: str, base_dir: Path | None) -> list[Path]:
    local = Path(path).expanduser()
    return [local] if base_dir is None or local.is_absolute() else [base_dir / local, local]


def _find(path: str, base_dir: Path | None) -> Path:
    candidates = _candidates(path, base_dir)
    for candidate in candidates:
        if os.path.lexists(candidate):
            return candidate
    raise DatasetError(_missing(path, candidates))


def _missing(path: str, candidates: list[Path]) -> str:
    looked = " and ".join(dict.fromkeys(str(candidate) for candidate in candidates))
    folders = [candidate.parent for candidate in candidates if candidate.parent.is_dir()]
    names = [name for folder in folders for name in names_in(folder)]
    hint = did_you_mean(candidates[0].name, names) or "; check the path"
    if not folders:
        hint = "; there is no such folder"
    return f"dataset file {path} does not exist (looked at {looked}){hint}"


def names_in(folder: Path) -> list[str]:
    """Return the first names in a folder, or none if it cannot be listed."""
    try:
        return sorted(entry.name for entry in islice(folder.iterdir(), _NAMES_MAX))
    except OSError:
        return []


def _usable(path: Path, name: str) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise DatasetError(f"{name}: cannot be opened: {error.strerror}") from error
    if stat.S_ISDIR(status.st_mode):
        raise DatasetError(f"{name}: this is a folder; name one file in it")
    if not stat.S_ISREG(status.st_mode):
        raise DatasetError(
            f"{name}: not a regular file; a dataset is read more than once, so save it as a file"
        )
    if status.st_size == 0:
        raise DatasetError(f"{name}: the file is empty")
    return _identity(status)


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return (status.st_ino, status.st_size, status.st_mtime_ns)
