"""Opens any dataset source. Chooses by URI scheme through the plugin group ``nel.datasets``; reads nothing
itself.

Trap: a plain path must never need the plugin list, which costs a walk through all installed packages.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from nel import plugins
from nel.datasets.base import Dataset, RawRow
from nel.datasets.callables import open_callable
from nel.datasets.files import open_path
from nel.errors import DatasetError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

__all__ = ["Dataset", "RawRow", "open_dataset"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def open_dataset(
    source: str | Path | Callable[[], Iterable[Mapping[str, Any]]], *, base_dir: Path | None = None
) -> Dataset:
    """Return the dataset that a path, a URI or a function names.

    Args:
        source: A local path, ``scheme://…`` for an installed scheme, or a function that returns rows.
        base_dir: Where relative paths are looked for before the working directory.

    Raises:
        DatasetError: The source cannot be found or opened, or its scheme is not installed.
        MissingExtra: It needs an optional dependency.
        PluginError: The plugin of its scheme is broken or claimed twice.
    """
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        scheme = _SCHEME.match(text) if isinstance(source, str) else None
        if scheme is None:
            return open_path(text, base_dir)
        return _open_uri(text, scheme[1].lower(), base_dir)
    if callable(source):
        return open_callable(source)
    raise DatasetError(f"a dataset is a path, a URI or a function that returns rows, not a {type(source).__name__}")


def _open_uri(uri: str, scheme: str, base_dir: Path | None) -> Dataset:
    installed = sorted({ref.name for ref in plugins.discover("datasets")})
    if scheme not in installed:
        hint = did_you_mean(scheme, installed) or ";"
        if scheme in {"http", "https"}:
            hint = "; download the file and give its path;"
        raise DatasetError(f'{uri}: no reader for "{scheme}://"{hint} installed: {", ".join(installed) or "none"}')
    dataset = plugins.load("datasets", scheme)(uri, base_dir)
    if not isinstance(dataset, Dataset):
        provider = plugins.find("datasets", scheme).provider
        raise DatasetError(
            f'{uri}: the "{scheme}" reader of {provider} returned a {type(dataset).__name__}, not a Dataset'
        )
    return dataset
