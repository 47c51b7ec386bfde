"""Opens any dataset source; its URI scheme chooses a reader of the plugin group ``nel.datasets``.

A path must not need the list of plugins, which costs a walk through all installed packages.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nel import plugins
from nel.datasets.base import Dataset, RawRow
from nel.datasets.callables import open_callable
from nel.datasets.files import folder_at, open_path
from nel.datasets.folder import open_folder, own_copy
from nel.errors import DatasetError, NelError, PluginError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

__all__ = ["Dataset", "RawRow", "open_dataset"]


def open_dataset(
    source: str | Path | Callable[[], Iterable[Mapping[str, object]]],
    *,
    base_dir: Path | None = None,
) -> Dataset:
    """Return the dataset that a path, a URI or a function names.

    Args:
        source: A local path, ``scheme://…`` or ``package:scheme://…`` for an installed scheme, or a
            function that returns rows.
        base_dir: Where relative paths are looked for before the working directory.

    Raises:
        DatasetError: The source cannot be found or opened, or its scheme is not installed.
        MissingExtra: It needs an optional dependency.
        PluginError: The plugin of its scheme is broken, or several packages provide it.
    """
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        text = own_copy(text) or text
        parts = plugins.split_uri(text) if isinstance(source, str) else None
        if parts is not None:
            return _open_uri(*parts, base_dir)
        folder = folder_at(text, base_dir)
        return open_path(text, base_dir) if folder is None else open_folder(text, folder)
    if callable(source):
        return open_callable(source)
    raise DatasetError(
        f"a dataset is a path, a URI or a function that returns rows, not a {type(source).__name__}"
    )


def _open_uri(name: str, uri: str, base_dir: Path | None) -> Dataset:
    package, _, scheme = name.rpartition(":")
    installed = sorted({ref.name for ref in plugins.discover("datasets")})
    if scheme not in installed and not package:
        hint = did_you_mean(scheme, installed) or ";"
        raise DatasetError(
            f'{uri}: no reader for "{scheme}://"{hint} installed: {", ".join(installed) or "none"}'
        )
    ref = plugins.find("datasets", name)
    reader = plugins.load_ref(ref)
    what = f'{uri}: the "{scheme}" reader of {ref.provider}'
    try:
        dataset: object = reader(uri, base_dir)
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{what} failed: {type(error).__name__}: {error}") from error
    if not isinstance(dataset, Dataset):
        raise DatasetError(f"{what} returned a {type(dataset).__name__}, not a Dataset")
    return dataset
