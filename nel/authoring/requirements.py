"""What a benchmark needs of pip: read from its decorator, and checked against what is installed.

Installs nothing. The name that pip knows and the name that Python imports differ (``rouge-score``,
``rouge_score``), so the modules of a distribution are taken from its metadata.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nel.errors import ConfigError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_FILE_BYTES_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementCheck:
    """Whether one requirement is met by what is installed."""

    requirement: str
    problem: str | None
    """Why it is not met; None where it is."""
    installed: str | None = None
    """The version that is installed."""


def read_requirements(entries: str | Sequence[str], base_dir: Path | None) -> tuple[str, ...]:
    """Return requirement strings given as a list, as one string, or as the name of a ``.txt`` file.

    Args:
        entries: ``["nltk", "rouge-score>=0.1.2"]``, or ``"requirements.txt"`` with one a line.
        base_dir: Where a relative file name is looked for.

    Raises:
        ConfigError: The file cannot be read, or an entry is not a text.
    """
    if isinstance(entries, str):
        entries = _lines_of(Path(entries), base_dir) if entries.endswith(".txt") else [entries]
    for entry in entries:
        if not isinstance(entry, str) or not entry.strip():
            raise ConfigError(
                f'{entry!r} is not a requirement; write it as pip does, such as "rouge-score>=0.1.2"'
            )
    return tuple(entry.strip() for entry in entries)


def parse_requirement(requirement: str) -> Requirement:
    """Return a requirement string as an object.

    Raises:
        ConfigError: It is none (PEP 508); options and paths of a requirements file are none.
    """
    from packaging.requirements import (  # noqa: PLC0415 - keeps start-up fast
        InvalidRequirement,
        Requirement,
    )

    try:
        return Requirement(requirement)
    except InvalidRequirement as error:
        problem = str(error).split("\n", 1)[0]
        raise ConfigError(
            f'"{requirement}" is not a requirement ({problem}); write a name and versions, such as'
            ' "rouge-score>=0.1.2"'
        ) from error


def check_requirements(requirements: Sequence[str]) -> list[RequirementCheck]:
    """Return for each requirement whether a fitting version is installed and importable.

    Raises:
        ConfigError: One is not a requirement.
    """
    return [_check(requirement) for requirement in requirements]


def _check(text: str) -> RequirementCheck:
    requirement = parse_requirement(text)
    if requirement.marker is not None and not requirement.marker.evaluate():
        return RequirementCheck(requirement=text, problem=None)
    install = f'install it: pip install "{text}"'
    try:
        distribution = metadata.distribution(requirement.name)
    except metadata.PackageNotFoundError:
        return RequirementCheck(
            requirement=text, problem=f"{requirement.name} is not installed; {install}"
        )
    version = distribution.version
    if not requirement.specifier.contains(version, prereleases=True):
        problem = (
            f"{requirement.name} {version} is installed, which does not fit {requirement.specifier};"
            f" {install}"
        )
        return RequirementCheck(requirement=text, problem=problem, installed=version)
    absent = [name for name in _modules_of(distribution) if importlib.util.find_spec(name) is None]
    if not absent:
        return RequirementCheck(requirement=text, problem=None, installed=version)
    problem = f"{requirement.name} {version} is installed, but its module {absent[0]} is not found"
    return RequirementCheck(requirement=text, problem=problem, installed=version)


def _modules_of(distribution: metadata.Distribution) -> list[str]:
    # setuptools writes top_level.txt; of packages of other builders only the files are listed.
    top_level = (distribution.read_text("top_level.txt") or "").split()
    if top_level:
        return [name for name in top_level if name.isidentifier()]
    tops = {
        path.parts[0].removesuffix(".py")
        for path in distribution.files or ()
        if path.suffix == ".py"
    }
    return sorted(name for name in tops if name.isidentifier())


def _lines_of(name: Path, base_dir: Path | None) -> list[str]:
    path = name if base_dir is None else base_dir / name
    try:
        text = path.read_bytes()[: _FILE_BYTES_MAX + 1].decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"the requirements file {name} cannot be read: {why}; check its path"
        ) from error
    if len(text) > _FILE_BYTES_MAX:
        raise ConfigError(f"the requirements file {name} is larger than {_FILE_BYTES_MAX} bytes")
    # A comment after a requirement has a space before it: `name @ https://…#egg=name` has none.
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
