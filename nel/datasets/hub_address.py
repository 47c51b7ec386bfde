"""What the URI of a hub names, and the rows of several configurations as one. Does no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nel.core.addresses import split_address
from nel.datasets.base import NumberedRow
from nel.errors import DatasetError

_PARTS_MAX: Final = 4
_PARAMETERS: Final = ("config", "configs", "file", "split", "revision")
_CONFIG_FIELD: Final = "config"
_PART: Final = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
"""A commit in full; any shorter name may mean another one tomorrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAddress:
    """What the URI of a hub names."""

    repo: str
    config: str | None
    split: str
    revision: str | None
    configs: tuple[str, ...] = ()
    """Several configurations, read one after the other; each row names its own in ``config``."""
    file: str | None = None
    """The only file to download, or a pattern with ``*``; its split is ``train``."""


def parse_uri(uri: str) -> HubAddress:
    """Return what the URI of a hub names; ``hf://org/name/config/split`` is understood too.

    Raises:
        DatasetError: It is malformed, or has a parameter that is unknown or given twice.
    """
    path, of_query = split_address(uri, _PARAMETERS, error=DatasetError)
    form = form_of(uri)
    parts = path.strip("/").split("/")
    if len(parts) > _PARTS_MAX or not all(map(_PART.fullmatch, parts[:2])):
        raise DatasetError(f"{uri}: {form}")
    if parts[0] == "datasets" and len(parts) > 1:
        raise DatasetError(f"{uri}: leave out datasets/; {form}")
    if ".." in of_query.get("revision", ""):  # which git has in no name
        raise DatasetError(f"{uri}: a revision is a branch, a tag or a commit")
    of_path = dict(zip(("config", "split"), parts[2:], strict=False))
    return address_of("/".join(parts[:2]), uri, of_query, of_path)


def address_of(
    repo: str, uri: str, options: Mapping[str, str], of_path: Mapping[str, str] | None = None
) -> HubAddress:
    """Return the address of a repository, or of a folder that is read like one.

    Args:
        repo: The repository or the folder.
        uri: For messages.
        options: The parameters of its query.
        of_path: Those that its path gives.

    Raises:
        DatasetError: One is given twice, or two exclude each other.
    """
    parameters = _parameters(uri, dict(of_path or {}), dict(options))
    default_split = "train" if "file" in parameters else "test"
    configs: tuple[str, ...] = ()
    if "configs" in parameters:
        configs = tuple(parameters["configs"].split(","))
    return HubAddress(
        repo=repo,
        config=parameters.get("config"),
        split=parameters.get("split", default_split),
        revision=parameters.get("revision"),
        configs=configs,
        file=parameters.get("file"),
    )


def _parameters(uri: str, of_path: dict[str, str], of_query: dict[str, str]) -> dict[str, str]:
    """Return the parameters of a URI's path and query that say something."""
    for name in of_path:
        if name in of_query:
            raise DatasetError(f"{uri}: {name} is given twice")
    # ``?config=`` says as little as no config.
    parameters = of_path | {name: value for name, value in of_query.items() if value}
    if "config" in parameters and "configs" in parameters:
        raise DatasetError(f"{uri}: give config or configs, not both")
    if "file" in parameters and {"config", "configs"} & parameters.keys():
        raise DatasetError(f"{uri}: a file is named by its path, without a config")
    return parameters


def form_of(uri: str) -> str:
    """Return what a URI of this hub looks like, for messages."""
    return (
        f"the form is {uri.partition('://')[0]}://org/name?config=NAME&split=test&revision=COMMIT"
    )


def labelled_rows(
    parts: Iterable[Iterable[NumberedRow]], configs: Sequence[str], uri: str
) -> Iterator[NumberedRow]:
    """Yield the rows of one configuration after the other, numbered, each with its ``config``.

    Args:
        parts: The rows of each configuration, counted from 1.
        configs: Their names; none where there is a single part, whose rows stay as they are.
        uri: For messages.

    Raises:
        DatasetError: The rows have such a column already.
    """
    before = 0
    for rows, config in zip(parts, configs or (None,), strict=True):
        number = 0
        for number, row in rows:
            if config is None or isinstance(row, str):
                yield before + number, row
            elif _CONFIG_FIELD in row:
                raise DatasetError(
                    f'{uri}: its rows have a column "{_CONFIG_FIELD}" of their own; read one config'
                    " only"
                )
            else:
                yield before + number, {**row, _CONFIG_FIELD: config}
        before += number
