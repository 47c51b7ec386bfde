"""The planted faults of faults.toml: where each one goes, what it does to nel, and the tests that cover the place."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One planted fault; the fields are explained in the head of faults.toml."""

    name: str
    says: str
    place: str
    before: str
    after: str
    tests: str

    @property
    def file(self) -> str:
        """Return the path of the changed file."""
        return self.place.partition(":")[0]

    @property
    def function(self) -> str:
        """Return the function or class that is changed, as ``Class.method``; empty for the whole file."""
        return self.place.partition(":")[2]

    @property
    def arguments(self) -> list[str]:
        """Return what pytest is given."""
        return shlex.split(self.tests)

    @property
    def covering_files(self) -> list[str]:
        """Return the files and folders with the tests that cover the place."""
        return [argument for argument in self.arguments if argument.startswith("tests")]


MUTATIONS: Final = tuple(
    Mutation(**row)
    for row in tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))["fault"]
)
