"""Installs an agent once, into a folder of this machine that containers read.

Wheels and packages are unpacked and their scripts are not run, so installing executes nothing of an
agent. Depends on ``pip`` and ``npm`` of this machine, with their own settings of indexes and
certificates.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from nel.core.paths import cache_directory
from nel.environments.agents.program import SETUP
from nel.environments.agents.recipes import Recipe, fill
from nel.tools import ToolsetFault

TARGET: Final = "/nel-agent"
"""Where containers read it."""
_SECONDS: Final = 1_800.0
_TAIL_CHARACTERS: Final = 800
_MARKER: Final = "nel-agent.json"
_PLATFORMS: Final = ("manylinux_2_17", "manylinux2014", "manylinux_2_28", "linux", "any")
_ARCHITECTURES: Final = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}
"""By the kernel's name: npm's."""


@dataclass(frozen=True, kw_only=True)
class AgentInstall:
    """An agent of a run: its recipe and its folder."""

    recipe: Recipe
    folder: Path
    """Of this machine, that it is installed into."""
    faults: list[str] = field(default_factory=list, compare=False)
    """Why it cannot be installed; written by `install`."""

    @classmethod
    def of(cls, recipe: Recipe) -> Self:
        """Return the installation of a recipe, in the user's cache."""
        name = f"{recipe.name}-{recipe.version}-{recipe.install_digest}"
        return cls(recipe=recipe, folder=cache_directory() / "agents" / name)

    def install(self, log: Callable[[str], None]) -> None:
        """Install it if it is not there; what fails is noted, and every episode is unscored by it.

        It is installed beside its folder and renamed, so that a killed installation leaves none.
        """
        self.faults.clear()
        if (self.folder / _MARKER).is_file():
            return
        log(f"installing {self.recipe.name} {self.recipe.version}, once")
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".installing-", dir=self.folder.parent))
        try:
            self._fill(work)
            (work / _MARKER).write_text(json.dumps(self.recipe.as_json()), encoding="utf-8")
            work.chmod(0o755)
            with suppress(OSError):  # another run was faster
                work.rename(self.folder)
        except (OSError, subprocess.SubprocessError) as error:
            output = getattr(error, "stdout", None) or str(error)
            self.faults.append(
                f"{self.recipe.name} {self.recipe.version} cannot be installed:"
                f" {output.strip()[-_TAIL_CHARACTERS:]}"
            )
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def check(self) -> None:
        """Raise ToolsetFault where it could not be installed."""
        if self.faults:
            raise ToolsetFault(SETUP, self.faults[0])

    def _fill(self, folder: Path) -> None:
        values = {"version": self.recipe.version, "arch": architecture()}
        pip = [fill(text, values) for text in self.recipe.pip]
        npm = [fill(text, values) for text in self.recipe.npm]
        if pip:
            _run([*_pip(), *self._pip_options(folder), *pip])
        if npm:
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            _run(["npm", "install", "--prefix", str(folder / "npm"), *options, *npm])

    def _pip_options(self, folder: Path) -> list[str]:
        # For containers: Linux on this machine's processor, whatever system this machine has.
        machine = platform.machine()
        platforms = [
            option
            for name in _PLATFORMS
            for option in ("--platform", name if name == "any" else f"{name}_{machine}")
        ]
        assert self.recipe.python is not None  # noqa: S101 - a recipe with pip has it
        version = ["--python-version", self.recipe.python, "--implementation", "cp"]
        target = ["--target", str(folder / "python"), "--only-binary", ":all:"]
        return ["install", "--quiet", "--no-compile", *target, *version, *platforms]


def architecture() -> str:
    """Return this machine's, as npm names it."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    return [shutil.which("pip3") or shutil.which("pip") or "pip"]


def _run(command: Sequence[str]) -> None:
    """Run a command to its end; raises OSError or SubprocessError."""
    subprocess.run(  # noqa: S603 - the recipe names packages, not commands
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
