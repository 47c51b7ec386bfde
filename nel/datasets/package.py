"""Opens data files that an installed package ships, ``pkg://PACKAGE/path/inside``.

The code of the package is never imported. The name is that of the import package, which may differ
from that of the distribution that pip installs, whose version is recorded.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib import metadata, resources
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from nel.core.distributions import DAMAGE, owners_of
from nel.datasets.formats import Source, dataset_of, suffix_of
from nel.datasets.table_form import split_form
from nel.errors import DatasetError, did_you_mean

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from nel.datasets.base import Dataset

_PACKAGE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_FORM: Final = "the form is pkg://PACKAGE/path/inside.jsonl"


def open_package(uri: str, _base_dir: Path | None) -> Dataset:
    """Open a data file of an installed package.

    Raises:
        DatasetError: The URI is malformed, or the package or the file is missing.
    """
    name, form = split_form(uri)
    package, _, path = name.partition("://")[2].partition("/")
    parts = path.split("/")
    if not _PACKAGE.fullmatch(package) or not path:
        raise DatasetError(f"{uri}: {_FORM}")
    if any(segment in {"", ".", ".."} or "\\" in segment or "\0" in segment for segment in parts):
        raise DatasetError(f"{uri}: the path may not leave the package; {_FORM}")
    suffix_of(path)
    file = _find(_root(package, uri), parts, uri)

    def open_again() -> BinaryIO:
        try:
            return cast(BinaryIO, file.open("rb"))
        except OSError as error:
            raise DatasetError(f"{uri}: cannot be opened: {error.strerror or error}") from error

    source = Source(name=name, open=open_again, form=form)
    return dataset_of(source, uri=uri, revision=_version(package))


def _root(package: str, uri: str) -> Traversable:
    spec = _spec(package)
    if spec is None:
        raise DatasetError(
            f'{uri}: no package "{package}" is installed; install the package that ships the data'
        )
    no_files = f'{uri}: "{package}" is a module without data files; name a package'
    if spec.submodule_search_locations is None:  # newer versions of Python take its folder
        raise DatasetError(no_files)
    try:
        return resources.files(importlib.util.module_from_spec(spec))
    except (TypeError, AttributeError, ImportError, OSError) as error:
        raise DatasetError(no_files) from error


def _spec(package: str) -> ModuleSpec | None:
    locations = None
    spec = None
    name = ""
    for segment in package.split("."):
        name = f"{name}.{segment}" if name else segment
        finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
        specs = (find(name, locations) for find in finders if find is not None)
        spec = next((candidate for candidate in specs if candidate is not None), None)
        if spec is None:
            return None
        locations = spec.submodule_search_locations or []
    return spec


def _find(root: Traversable, parts: list[str], uri: str) -> Traversable:
    here = root
    for depth, segment in enumerate(parts):
        names = sorted(entry.name for entry in here.iterdir()) if here.is_dir() else []
        if segment not in names:
            where = "/".join(parts[:depth]) or "the package"
            hint = did_you_mean(segment, names) or "; check the path and the installed version"
            raise DatasetError(f'{uri}: there is no "{segment}" in {where}{hint}')
        here = here / segment
    if not here.is_file():
        raise DatasetError(f"{uri}: this is a folder; name one file in it")
    return here


def _version(package: str) -> str | None:
    top = package.partition(".")[0]
    owners = owners_of(top)
    name = owners.pop() if len(owners) == 1 else top
    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, *DAMAGE):
        return None
