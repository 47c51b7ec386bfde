"""The languages that a program can be in; each has a folder under ``sandbox_images``.

A folder has the Dockerfile, ``language.toml`` (how a program is compiled and run), a runner for
function tests and a smoke test. The image's tag is a digest of what it is built of, so that a
change needs a new build.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from nel.errors import ConfigError, did_you_mean

PYTHON: Final = "python"
_SOLUTION, _TESTS, _SECRET = "@SOLUTION@", "@TESTS@", "@SECRET@"


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language, as its folder describes it."""

    name: str
    folder: Path
    title: str
    fences: tuple[str, ...]
    """Tags of Markdown code fences that mean it, besides its name."""
    source: str
    """The name of the file that a program is written to."""
    compile: tuple[str, ...] = ()
    """Empty for an interpreted language."""
    run: tuple[str, ...]
    assertion: str = ""
    """Pattern: in standard error it means that a test failed."""
    syntax_error: str = ""
    """Pattern: in standard error it means that the program does not parse."""
    preamble: str = ""
    """A line that a program's file must have; inserted where a model left it out."""
    memory_mb: int = 512
    tmp_mb: int = 64
    processes: int = 64
    environment: Mapping[str, str] = field(default_factory=dict)
    runner: Mapping[str, str] = field(default_factory=dict)
    """Files that run function tests, by name; empty where the language has none."""

    @property
    def image(self) -> str:
        """The image's tag."""
        return f"nel-sandbox-{self.name}:{_digest(self.folder)}"

    @property
    def has_zygote(self) -> bool:
        """Whether programs are forked from a warm interpreter instead of started."""
        return self.name == PYTHON

    def frame(self, solution: str, tests: str) -> dict[str, str]:
        """Return the files of a runner with a program and its tests inserted.

        The secret is a random name, so that the program cannot know those of the tests.

        Raises:
            ConfigError: The language has no runner for function tests.
        """
        if not self.runner:
            raise ConfigError(
                f"{self.title} has no runner for function tests; give inputs and outputs instead"
            )
        values = {
            _SECRET: f"nel_{secrets.token_hex(8)}",
            _TESTS: tests,
            _SOLUTION: self.complete(solution),
        }
        # In one pass, so that a marker within the program's own text is not replaced.
        markers = re.compile("|".join(values))
        return {
            name: markers.sub(lambda match: values[match[0]], text)
            for name, text in self.runner.items()
        }

    def complete(self, solution: str) -> str:
        """Return a program with the preamble of its language."""
        if not self.preamble or self.preamble in solution:
            return solution
        return f"{self.preamble}\n\n{solution}"


def languages_dir() -> Path:
    """Return the directory that holds a folder for each language."""
    packaged = Path(__file__).parents[1] / "images"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "sandbox_images"


@cache
def languages() -> Mapping[str, Language]:
    """Return all languages by name."""
    folders = sorted(path.parent for path in languages_dir().glob("*/language.toml"))
    return {folder.name: _read(folder) for folder in folders}


def find_language(name: str) -> Language:
    """Return the language of a name or of one of its Markdown tags.

    Raises:
        ConfigError: There is none.
    """
    key = name.strip().lower()
    languages_by_name = languages()
    if key in languages_by_name:
        return languages_by_name[key]
    for language in languages_by_name.values():
        if key in language.fences:
            return language
    hint = did_you_mean(key, languages_by_name) or f"; there are: {', '.join(languages_by_name)}"
    raise ConfigError(f'no language "{name}"{hint}')


def _read(folder: Path) -> Language:
    try:
        table: dict[str, Any] = tomllib.loads(
            (folder / "language.toml").read_text(encoding="utf-8")
        )
        return Language(
            name=folder.name,
            folder=folder,
            fences=tuple(table.pop("fences", ())),
            compile=tuple(table.pop("compile", ())),
            run=tuple(table.pop("run")),
            environment=table.pop("env", {}),
            runner=_runner(folder),
            **table,
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ConfigError(f"{folder / 'language.toml'} is not usable: {error}") from error


def _runner(folder: Path) -> dict[str, str]:
    source = re.compile(r"^runner\.\w+$")
    files = [path for path in folder.iterdir() if source.match(path.name)]
    if (folder / "runner").is_dir():
        files = sorted((folder / "runner").iterdir())
        return {path.name: path.read_text(encoding="utf-8") for path in files}
    if not files:
        return {}
    name = tomllib.loads((folder / "language.toml").read_text(encoding="utf-8"))["source"]
    return {name: files[0].read_text(encoding="utf-8")}


@cache
def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(context_files(folder)):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def context_files(folder: Path) -> list[Path]:
    """Return the files an image is built of."""
    paths = [folder / "Dockerfile", *(folder / "image").rglob("*")]
    return [path for path in paths if path.is_file()]
