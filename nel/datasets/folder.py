"""Reads a folder as a dataset: a download of a hub, a dataset saved by `datasets`, or files.

`nel.datasets.repository` decides which files hold a split, as for a repository on a hub. With
``--dataset FOLDER`` a folder replaces a dataset of a hub: `in_place_of` passes on the configuration
and the split of the address that it replaces.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlencode

from nel.config.user_settings import DATA_VARIABLE
from nel.datasets.base import Dataset
from nel.datasets.files import folder_at, source_at
from nel.datasets.hub_address import address_of, parse_uri
from nel.datasets.repository import CARD, are_one_configuration, is_split, parts_of
from nel.datasets.repository_rows import dataset_of_files
from nel.datasets.table_form import parse_form, split_options
from nel.errors import DatasetError

_FILES_MAX: Final = 100_000
_HUBS: Final = ("hf://", "ms://")
_OPTIONS: Final = ("config", "configs", "split", "file")
"""Options that select files; the others describe the form of tables."""
_SAVED_SPLITS: Final = "dataset_dict.json"
"""Written by `DatasetDict.save_to_disk`, for one configuration with a folder for each split."""
_SAVED_STATE: Final = "state.json"
"""Written by `Dataset.save_to_disk`; it may name the split."""


def in_place_of(replaced: object, dataset: str) -> str:
    """Return the address of a dataset that replaces another one.

    A folder without options gets the configuration and the split of the replaced address of a hub.
    Any other address is returned as it is.

    >>> in_place_of("hf://openai/gsm8k?config=main&split=test", "rows.jsonl")
    'rows.jsonl'
    """
    folder = folder_at(dataset, None)
    if folder is None or split_options(dataset)[1]:
        return dataset
    if not isinstance(replaced, str) or not replaced.lower().startswith(_HUBS):
        return dataset
    address = parse_uri(replaced)
    return folder_source(
        folder,
        config=address.config,
        configs=",".join(address.configs),
        file=address.file,
        split=None if address.file else address.split,
    )


def own_copy(uri: str) -> str | None:
    """Return the address of the user's copy of a hub's dataset: ``ORG/NAME`` in ``NEL_DATA``."""
    home = os.environ.get(DATA_VARIABLE, "").strip()
    if not home or not uri.lower().startswith(_HUBS):
        return None
    folder = Path(home).expanduser() / parse_uri(uri).repo
    return in_place_of(uri, str(folder)) if folder.is_dir() else None


def folder_source(folder: Path, **options: str | None) -> str:
    """Return the address of the files of a configuration and a split in a folder.

    Args:
        folder: A folder that exists.
        **options: See `open_folder`. The configuration is left out where the folder has only one.
    """
    if (folder / _SAVED_SPLITS).is_file() or are_one_configuration(_paths(folder, str(folder))):
        options = {**options, "config": None, "configs": None}
    query = {name: value for name, value in options.items() if value}
    return f"{folder}?{urlencode(query, safe='/*,')}" if query else str(folder)


def open_folder(path: str, folder: Path) -> Dataset:
    """Open the files of a folder that hold one split.

    Args:
        path: As the user gave it, with options after it: ``config``, ``configs``, ``split`` and
            ``file`` as in the address of a hub, and those of tables.
        folder: The folder at that path.

    Raises:
        DatasetError: It has no such split or configuration, or the choice is ambiguous; the message
            lists the choices.
    """
    title, options = split_options(path)
    selection, table_options = {}, {}
    for name, value in options.items():
        if name in _OPTIONS:
            selection[name] = value
        else:
            table_options[name] = value
    address = address_of(title, path, selection)
    form = parse_form(path, table_options)
    root = _snapshot(folder.resolve(), path)
    paths = _paths(root, path)
    if address.file is None:
        _check_saved_split(root, address.split, path)
    parts, files, parents = [], [], set()
    for names in parts_of(paths, lambda: (root / CARD).open("rb"), address, path, in_folder=True):
        sources = []
        for name in names:
            source = source_at(root / name, f"{title}/{name}")
            sources.append(replace(source, form=form))
            files.append(f"{source.name} {source.stamp}")
            parents.add((root / name).parent)
        parts.append(sources)
    return replace(
        dataset_of_files(path, address, "", parts),
        revision=None,
        # Without the split, so that a file that is read for two splits has one fingerprint.
        fingerprint=" ".join([*address.configs, *files]),
        folder=parents.pop() if len(parents) == 1 else root,
    )


def _check_saved_split(root: Path, split: str, path: str) -> None:
    """Refuse a saved split that is not the requested one."""
    try:
        state = json.loads((root / _SAVED_STATE).read_bytes())
    except (OSError, ValueError):
        return
    name = state.get("_split") if isinstance(state, dict) else None
    if isinstance(name, str) and not is_split(name, split):
        raise DatasetError(
            f'{path}: it is the split "{name}" of a dataset, saved by the datasets library, and not'
            f' "{split}"; to read it nevertheless, name it with file=*.arrow'
        )


def _snapshot(folder: Path, path: str) -> Path:
    snapshots = folder / "snapshots"
    if not folder.name.startswith("datasets--") or not snapshots.is_dir():
        return folder
    commits = sorted(entry.name for entry in snapshots.iterdir() if entry.is_dir())
    if len(commits) == 1:
        return snapshots / commits[0]
    raise DatasetError(
        f"{path}: the cache has {len(commits)} versions of this dataset; name the folder of one:"
        f" {', '.join(str(snapshots / commit) for commit in commits[:3]) or 'none is there'}"
    )


def _paths(root: Path, path: str) -> list[str]:
    """Return every file below a folder that is not hidden, as a repository lists its files."""
    paths: list[str] = []
    for file in _walk(root):
        paths.append(str(PurePosixPath(file.relative_to(root))))
        if len(paths) > _FILES_MAX:
            raise DatasetError(
                f"{path}: it has more than {_FILES_MAX:,} files; name the folder of one dataset"
            )
    return sorted(paths)


def _walk(root: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in names if not name.startswith("."))
