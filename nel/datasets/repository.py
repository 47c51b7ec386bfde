"""Chooses the files of a repository that hold one split of one configuration of a dataset.

Depends on file names and the card alone. The rules are those of the `datasets` library: ``configs``
of the card, else the words in the names of files and folders. Where the names are ambiguous it
raises an error that lists the choices, and never mixes formats or folders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, Final

import yaml

from nel.datasets.formats import WORKBOOKS, suffix_of
from nel.datasets.hub_address import HubAddress
from nel.errors import DatasetError, did_you_mean

_SPLIT_WORDS: Final = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
"""The words for a split in names of files and folders, the most common first."""
CARD: Final = "README.md"
"""The card of a repository; its front matter may declare configurations."""
_CARD_BYTES_MAX: Final = 4 * 1024 * 1024
_ALL_SPLIT_WORDS: Final = frozenset(word for words in _SPLIT_WORDS.values() for word in words)
_METADATA_FILES: Final = frozenset(
    "config.json configuration.json dataset_dict.json dataset_info.json dataset_infos.json"
    " state.json".split()
)
"""Files that describe a dataset and hold no rows."""
_MAP_CACHE: Final = re.compile(r"cache-[0-9a-f]{16}.*\.arrow")
"""Results of `Dataset.map` of the `datasets` library, which it keeps beside the rows."""
_SHARD: Final = re.compile(r"-\d{5}-of-(\d{5})(-[0-9a-f]+)?$")
_FRONT_MATTER: Final = re.compile(r"\s*---[\r\n]+(.*?)[\r\n]+---(?:\r?\n|$)", re.DOTALL)
"""The front matter of a card, by the pattern of the hub's libraries."""
_WORD: Final = re.compile(r"[^\W_]+")
_GLOB: Final = re.compile(
    r"(?P<tree>\*\*/)|(?P<all>\*\*)|(?P<some>\*)|(?P<one>\?)|(?P<set>\[[^\]/]+\])"
)
_REGEX_OF_GLOB: Final = {"tree": "(?:.*/)?", "all": ".*", "some": "[^/]*", "one": "[^/]"}
_DATA_FOLDER: Final = "data"
"""The folder of files in many repositories; its name is neither a configuration nor a split."""
_NAMES_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CardConfig:
    """A configuration as the card of a dataset declares it."""

    name: str
    is_default: bool
    patterns: Mapping[str, tuple[str, ...]]
    """The files of each split; empty where file names decide."""
    folder: str
    """The folder of its files; empty for the whole repository."""


def configs_of(card: str) -> list[CardConfig]:
    """Return the configurations that a card (README.md) declares in its front matter, if any."""
    front_matter = _FRONT_MATTER.match(card.lstrip("\ufeff"))
    if front_matter is None:
        return []
    try:
        content = yaml.safe_load(front_matter[1])
    except yaml.YAMLError:
        return []
    entries = content.get("configs") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        return []
    return [_config(entry) for entry in entries if isinstance(entry, dict)]


def _config(entry: Mapping[str, object]) -> CardConfig:
    folder = str(entry.get("data_dir") or "").strip("/.")
    name = str(entry.get("config_name") or "default")
    return CardConfig(
        name=name,
        is_default=entry.get("default") is True or name == "default",
        patterns=_patterns(entry.get("data_files"), folder),
        folder=folder,
    )


def _patterns(files: object, folder: str) -> dict[str, tuple[str, ...]]:
    # ``data_files`` has three forms: a list of ``{split, path}``; one or several paths, which are
    # of the split train; or a mapping of splits to paths.
    if isinstance(files, list) and all(isinstance(entry, dict) for entry in files):
        files = {str(entry.get("split", "train")): entry.get("path") for entry in files}
    elif isinstance(files, (str, list)):
        files = {"train": files}
    if not isinstance(files, dict):
        return {}
    patterns = {}
    for split, entry in files.items():
        paths = entry if isinstance(entry, list) else [entry]
        patterns[str(split)] = tuple(str(PurePosixPath(folder, str(path))) for path in paths)
    return patterns


def parts_of(
    paths: Collection[str],
    open_card: Callable[[], BinaryIO],
    address: HubAddress,
    uri: str,
    *,
    in_folder: bool = False,
) -> list[list[str]]:
    """Return the files of each configuration that an address names, one list for the default one.

    Args:
        paths: Every file of the repository.
        open_card: Opens its card, which is read only where no file is named.
        address: The configurations and the split, or the file.
        uri: For messages.
        in_folder: See `files_of`.

    Raises:
        DatasetError: See `files_of`.
    """
    card: list[CardConfig] = []
    if address.file is None and CARD in paths:
        with open_card() as file:
            card = configs_of(file.read(_CARD_BYTES_MAX).decode("utf-8", "replace"))
    parts = [
        files_of(paths, card, address, config, uri, in_folder=in_folder)
        for config in address.configs or (address.config,)
    ]
    if in_folder and address.file is None:
        for part in parts:
            _check_all_shards(part, uri)
    return parts


def files_of(
    paths: Iterable[str],
    card: Sequence[CardConfig],
    address: HubAddress,
    config: str | None,
    uri: str,
    *,
    in_folder: bool = False,
) -> list[str]:
    """Return the files to be read, in the order of their names.

    Args:
        paths: Every file of the repository.
        card: The configurations that its card declares.
        address: The split, or the file.
        config: The configuration; None for the default one.
        uri: For messages.
        in_folder: Whether these are files on a disk, which may have any name: a single file then is
            the requested split, and several files of a split must be shards of one.

    Raises:
        DatasetError: There is no such file, configuration or split, or several could be meant; the
            message lists them.
    """
    every_path = sorted(paths)
    if address.file is not None:
        return _matching(every_path, address.file, uri)
    if card:
        card_config = _declared_config(card, config, uri)
        if card_config.patterns:
            return _declared_files(every_path, card_config, address.split, uri)
        # The card names only the folder of the configuration: file names decide within it.
        folder = card_config.folder
        every_path = [path for path in every_path if PurePosixPath(path).is_relative_to(folder)]
        config = None
    data_paths = [path for path in every_path if _holds_rows(path)]
    if not data_paths:
        raise DatasetError(f"{uri}: it has no files of rows that nel reads")
    data_paths = _of_config(data_paths, config, uri)
    split_paths = _of_split(data_paths, address.split)
    if not split_paths and in_folder and _is_one_file(data_paths):
        split_paths = data_paths
    if not split_paths:
        raise DatasetError(_no_split(address.split, _splits_in(data_paths), uri))
    _check_one_kind(split_paths, address.split, uri)
    # A repository may divide a split into files of any names; in a folder they may be two datasets.
    if in_folder:
        _check_one_name(split_paths, address.split, uri)
    return split_paths


def _declared_files(paths: Sequence[str], config: CardConfig, split: str, uri: str) -> list[str]:
    if split not in config.patterns:
        raise DatasetError(_no_split(split, list(config.patterns), uri))
    matches: set[str] = set()
    for pattern in config.patterns[split]:
        matches.update(_matching(paths, pattern, uri))
    return sorted(matches)


def are_one_configuration(paths: Iterable[str]) -> bool:
    """Return whether the names of files of rows differ in nothing but their split."""
    names = set()
    for path in filter(_holds_rows, paths):
        folders = PurePosixPath(path).parts[:-1]
        if not _ALL_SPLIT_WORDS.issuperset(folder for folder in folders if folder != _DATA_FOLDER):
            return False
        words = _WORD.findall(_stem(path))
        names.add(tuple(word for word in words if word not in _ALL_SPLIT_WORDS))
    return len(names) == 1


def is_split(name: str, split: str) -> bool:
    """Return whether a name, such as ``dev`` or ``test[:100]``, means a split.

    >>> is_split("dev", "validation"), is_split("test[:100]", "test"), is_split("train", "test")
    (True, True, False)
    """
    return name.partition("[")[0] in _SPLIT_WORDS.get(split, (split,))


def _is_one_file(paths: Sequence[str]) -> bool:
    """Return whether the files are one file, or its shards, without a word for a split."""
    files = {(str(PurePosixPath(path).parent), _stem(path)) for path in paths}
    return len(files) == 1 and not any(_words(path) & _ALL_SPLIT_WORDS for path in paths)


def _matching(paths: Sequence[str], pattern: str, uri: str) -> list[str]:
    glob = re.compile(_regex(pattern))
    matches = [path for path in paths if path == pattern or glob.fullmatch(path)]
    if not matches:
        what = "no file matches" if _GLOB.search(pattern) else "there is no file"
        hint = did_you_mean(pattern, paths) or f"; it has: {_few(paths)}"
        raise DatasetError(f'{uri}: {what} "{pattern}"{hint}')
    for path in matches:
        suffix_of(f"{uri}: {path}")
    return matches


def _regex(pattern: str) -> str:
    """Return the regular expression of a glob; a set such as ``[a-c]`` is the same in both."""
    regex, end = "", 0
    for match in _GLOB.finditer(pattern):
        regex += re.escape(pattern[end : match.start()])
        regex += _REGEX_OF_GLOB.get(match.lastgroup or "", match[0])
        end = match.end()
    return regex + re.escape(pattern[end:])


def _declared_config(card: Sequence[CardConfig], config: str | None, uri: str) -> CardConfig:
    names = [entry.name for entry in card]
    if config is not None:
        if config not in names:
            hint = did_you_mean(config, names) or ";"
            raise DatasetError(f'{uri}: it has no config "{config}"{hint} available: {_few(names)}')
        return card[names.index(config)]
    default = [entry for entry in card if entry.is_default or len(card) == 1]
    if not default:
        separator = "&" if "?" in uri else "?"
        example = f"{uri}{separator}config={names[0]}"
        raise DatasetError(
            f"{uri}: it has several configs; name one, as in {example}: {_few(names)}"
        )
    return default[0]


def _holds_rows(path: str) -> bool:
    parts = PurePosixPath(path).parts
    if parts[-1] in _METADATA_FILES or _MAP_CACHE.fullmatch(parts[-1]):
        return False
    if any(segment.startswith((".", "__")) for segment in parts):
        return False
    try:
        return suffix_of(path)[0] not in WORKBOOKS
    except DatasetError:
        return False


def _of_config(paths: Sequence[str], config: str | None, uri: str) -> list[str]:
    if config is None:
        return list(paths)
    # In order: a folder of this name, files whose names begin with it, a file of this name.
    prefixes = f"{config}_", f"{config}-"
    matches = [path for path in paths if config in PurePosixPath(path).parts[:-1]]
    matches = matches or [path for path in paths if _stem(path).startswith(prefixes)]
    matches = matches or [path for path in paths if _stem(path) == config]
    if not matches and config != "default":
        folders: set[str] = set()
        for path in paths:
            folders.update(PurePosixPath(path).parts[:-1])
        folders -= _ALL_SPLIT_WORDS
        hint = did_you_mean(config, folders) or ";"
        names = f"folders: {_few(sorted(folders))}" if folders else f"files: {_few(paths)}"
        raise DatasetError(f'{uri}: it has no config "{config}"{hint} its {names}')
    return matches or list(paths)


def _of_split(paths: Sequence[str], split: str) -> list[str]:
    # A name that equals a word of the split precedes one that contains it, and a common word
    # precedes a rare one: "test.jsonl" is the split test, even beside "test_eval.jsonl".
    words = _SPLIT_WORDS.get(split, (split,))
    for labels in (_names, _words):
        for word in words:
            matches = [path for path in paths if word in labels(path)]
            if matches:
                return matches
    # Files without a word for a split are the training split, as in the `datasets` library.
    if split == "train" and _splits_in(paths) == ["train"]:
        return list(paths)
    return []


def _names(path: str) -> tuple[str, ...]:
    """Return the name of a file, and those of its folders unless the name has a split's word."""
    stem = _stem(path)
    if stem in _ALL_SPLIT_WORDS or _ALL_SPLIT_WORDS & set(_WORD.findall(stem.lower())):
        return (stem,)
    return (stem, *PurePosixPath(path).parts[:-1])


def _words(path: str) -> set[str]:
    return {word for name in _names(path) for word in _WORD.findall(name.lower())}


def _stem(path: str) -> str:
    return _SHARD.sub("", _bare_name(path))


def _bare_name(path: str) -> str:
    name = PurePosixPath(path).name
    suffix, gzipped = suffix_of(name)
    return name[: -len(suffix + (".gz" if gzipped else ""))]


def _splits_in(paths: Sequence[str]) -> list[str]:
    split_words: set[str] = set()
    shard_names: set[str] = set()
    for path in paths:
        words = _words(path) & _ALL_SPLIT_WORDS
        split_words |= words
        # Shards without a word for a split are a split of their name.
        if not words and f"{_stem(path)}-" in path:
            shard_names.add(_stem(path))
    splits = [split for split, words in _SPLIT_WORDS.items() if not split_words.isdisjoint(words)]
    splits += sorted(shard_names)
    if paths and not splits:
        return ["train"]
    return splits


def _check_all_shards(paths: Sequence[str], uri: str) -> None:
    """Refuse an incomplete download: shards are named ``-00000-of-00002``, with their number."""
    counts: Counter[tuple[PurePosixPath, int]] = Counter()
    for path in paths:
        match = _SHARD.search(_bare_name(path))
        if match:
            counts[PurePosixPath(path).parent / _stem(path), int(match[1])] += 1
    for (name, n_shards), n_found in counts.items():
        if n_found < n_shards:
            raise DatasetError(
                f"{uri}: it has {n_found} of the {n_shards} shards of {name}; download the others,"
                f" or name the files that are to be read with file={name}-*"
            )


def _check_one_kind(paths: Sequence[str], split: str, uri: str) -> None:
    folders = sorted({str(PurePosixPath(path).parent) for path in paths})
    suffixes = sorted({suffix_of(path)[0] for path in paths})
    if len(folders) > 1:
        raise DatasetError(
            f'{uri}: its split "{split}" has files in several folders ({_few(folders)}); '
            "name one with config=, or the files with file="
        )
    if len(suffixes) > 1:
        raise DatasetError(
            f'{uri}: its split "{split}" has files of several formats ({", ".join(suffixes)}),'
            f" which may hold the same rows; name them with file=, such as file={paths[0]}"
        )


def _check_one_name(paths: Sequence[str], split: str, uri: str) -> None:
    stems = sorted({_stem(path) for path in paths})
    if len(stems) > 1:
        raise DatasetError(
            f'{uri}: several files may be its split "{split}" ({_few(stems)}); name one with config='
            f" or file=, such as file={paths[0]}"
        )


def _no_split(split: str, splits: Sequence[str], uri: str) -> str:
    return f'{uri}: it has no split "{split}"; it has: {_few(splits)}; a file is named with file='


def _few(names: Sequence[str]) -> str:
    if not names:
        return "none"
    text = ", ".join(names[:_NAMES_MAX])
    n_more = len(names) - _NAMES_MAX
    return f"{text} and {n_more} more" if n_more > 0 else text
