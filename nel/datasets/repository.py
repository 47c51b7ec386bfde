"""Chooses the files of a repository that hold one split of one configuration of a dataset.

Depends on file names and the card alone. The rules are those of the `datasets` library: what the
card says in ``configs``, else the words in the names of files and folders. Where names leave open
what belongs together, it asks, and never mixes formats or folders.
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
"""What a split is called in names, the likeliest first."""
CARD: Final = "README.md"
"""Of a repository; it may say in its front matter what its configurations are."""
_CARD_BYTES_MAX: Final = 4 * 1024 * 1024
_KNOWN_WORDS: Final = frozenset(word for words in _SPLIT_WORDS.values() for word in words)
_ABOUT: Final = frozenset(
    "config.json configuration.json dataset_dict.json dataset_info.json dataset_infos.json"
    " state.json".split()
)
"""Files that describe a dataset and hold no rows."""
_MAPPED: Final = re.compile(r"cache-[0-9a-f]{16}.*\.arrow")
"""What `Dataset.map` of the `datasets` library keeps beside the rows it was made of."""
_SHARD: Final = re.compile(r"-\d{5}-of-(\d{5})(-[0-9a-f]+)?$")
_FRONT_MATTER: Final = re.compile(r"\s*---[\r\n]+(.*?)[\r\n]+---(?:\r?\n|$)", re.DOTALL)
"""Of a card, as the libraries of the hub find it."""
_WORD: Final = re.compile(r"[^\W_]+")
_GLOB: Final = re.compile(
    r"(?P<tree>\*\*/)|(?P<all>\*\*)|(?P<some>\*)|(?P<one>\?)|(?P<set>\[[^\]/]+\])"
)
_GLOB_MEANS: Final = {"tree": "(?:.*/)?", "all": ".*", "some": "[^/]*", "one": "[^/]"}
_DATA_FOLDER: Final = "data"
"""Where many repositories have their files; it says nothing of them."""
_NAMES_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CardConfig:
    """A configuration as the card of a dataset declares it."""

    name: str
    is_default: bool
    patterns: Mapping[str, tuple[str, ...]]
    """The files of each split; empty where only their names tell."""
    folder: str
    """Where its files are; empty for the whole repository."""


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
    # ``data_files`` is a list of ``{split, path}``, paths of the split train, or split to paths.
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
        open_card: Opens its card, which is only read where it may decide.
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
        card: What its card declares.
        address: The split, or the file.
        config: The configuration; None for the default one.
        uri: For messages.
        in_folder: Whether these are files on a disk, which may have any name: a single file is the
            split that is asked for, and several files of a split are shards of one.

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
    if in_folder:
        _check_one_name(split_paths, address.split, uri)
    return split_paths


def _declared_files(paths: Sequence[str], config: CardConfig, split: str, uri: str) -> list[str]:
    """Return the files of a split as the card declares them."""
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
        if not _KNOWN_WORDS.union([_DATA_FOLDER]).issuperset(folders):
            return False
        names.add(tuple(word for word in _WORD.findall(_stem(path)) if word not in _KNOWN_WORDS))
    return len(names) == 1


def is_split(name: str, split: str) -> bool:
    """Return whether the name of a split, or of a part of it (``test[:100]``), means this one.

    >>> is_split("dev", "validation"), is_split("test[:100]", "test"), is_split("train", "test")
    (True, True, False)
    """
    return name.partition("[")[0] in _SPLIT_WORDS.get(split, (split,))


def _is_one_file(paths: Sequence[str]) -> bool:
    """Return whether the files of rows are one file, or its shards, that no word calls a split."""
    files = {(str(PurePosixPath(path).parent), _stem(path)) for path in paths}
    return len(files) == 1 and not any(_words(path) & _KNOWN_WORDS for path in paths)


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
    """Return the regular expression of a pattern with ``*``; a set ``[a-c]`` is one in both."""
    regex, end = "", 0
    for match in _GLOB.finditer(pattern):
        regex += re.escape(pattern[end : match.start()])
        regex += _GLOB_MEANS.get(match.lastgroup or "", match[0])
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
    if parts[-1] in _ABOUT or _MAPPED.fullmatch(parts[-1]):
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
    # The folder that has its name, else files that begin with it, else the file that has it.
    prefixes = f"{config}_", f"{config}-"
    matches = [path for path in paths if config in PurePosixPath(path).parts[:-1]]
    matches = matches or [path for path in paths if _stem(path).startswith(prefixes)]
    matches = matches or [path for path in paths if _stem(path) == config]
    if not matches and config != "default":
        folders: set[str] = set()
        for path in paths:
            folders.update(PurePosixPath(path).parts[:-1])
        folders -= _KNOWN_WORDS
        hint = did_you_mean(config, folders) or ";"
        names = f"folders: {_few(sorted(folders))}" if folders else f"files: {_few(paths)}"
        raise DatasetError(f'{uri}: it has no config "{config}"{hint} its {names}')
    return matches or list(paths)


def _of_split(paths: Sequence[str], split: str) -> list[str]:
    # A name that is a word of the split decides before one that holds the word, and the likeliest
    # word before the others: "test.jsonl" is the split test where "test_eval.jsonl" stands beside.
    words = _SPLIT_WORDS.get(split, (split,))
    for labels in (_names, _words):
        for word in words:
            matches = [path for path in paths if word in labels(path)]
            if matches:
                return matches
    # Files whose names tell no split are the training split, as the datasets library has it.
    if split == "train" and _splits_in(paths) == ["train"]:
        return list(paths)
    return []


def _names(path: str) -> tuple[str, ...]:
    """Return what a file is called, or where nothing there says the split, its folders."""
    stem = _stem(path)
    if stem in _KNOWN_WORDS or _KNOWN_WORDS & set(_WORD.findall(stem.lower())):
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
    known_words: set[str] = set()
    sharded: set[str] = set()
    for path in paths:
        words = _words(path) & _KNOWN_WORDS
        known_words |= words
        # Shards that no word calls a split are one that has their name.
        if not words and f"{_stem(path)}-" in path:
            sharded.add(_stem(path))
    splits = [split for split, words in _SPLIT_WORDS.items() if not known_words.isdisjoint(words)]
    splits += sorted(sharded)
    if paths and not splits:
        return ["train"]
    return splits


def _check_all_shards(paths: Sequence[str], uri: str) -> None:
    """Refuse files of which a download left some out, by the number of shards in their names."""
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
    listed = ", ".join(names[:_NAMES_MAX])
    n_more = len(names) - _NAMES_MAX
    return f"{listed} and {n_more} more" if n_more > 0 else listed
