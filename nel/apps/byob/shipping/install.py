"""Installs a compiled package into the running Python, and knows which ones are installed.

Nothing is installed that would take another package's benchmark name. An environment made by uv has
no pip, so both ways are looked for, and a missing one is reported before anything is written.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from nel import plugins
from nel.apps.byob.shipping.package import KEYWORD, Package
from nel.core.distributions import field_of, readable_distributions
from nel.errors import ConfigError, PluginError

_INSTALL_SECONDS: Final = 1800
_SHOWN_LINES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPackage:
    """A compiled package that is installed here."""

    distribution: str
    version: str
    summary: str
    benchmarks: tuple[str, ...]


def installed_packages() -> list[InstalledPackage]:
    """Return the compiled packages of this environment, by name."""
    importlib.invalidate_caches()  # another process may have installed one since the last look
    packages: dict[str, InstalledPackage] = {}
    for distribution in readable_distributions():
        if field_of(distribution, "Keywords") == KEYWORD:
            name = distribution.metadata["Name"]
            packages.setdefault(name, _installed_package(distribution, name))
    return [packages[name] for name in sorted(packages)]


def check_benchmark_names(package: Package, *, among: str | None = None) -> None:
    """See that no other package provides one of the benchmarks.

    Args:
        among: Look at this distribution alone.

    Raises:
        PluginError: One does; the message names both.
    """
    importlib.invalidate_caches()
    for name in package.entry_points:
        for rival in plugins.discover("benchmarks"):
            if (
                rival.name == name
                and rival.distribution != package.distribution
                and among in (None, rival.distribution)
            ):
                raise PluginError(
                    f'the benchmark "{name}" of {package.source} has the name of one of'
                    f" {rival.provider} ({rival.target}); rename it in {package.source}, or"
                    f" uninstall {rival.distribution}"
                )


def installer() -> list[str]:
    """Return the command that installs into the running Python.

    Raises:
        ConfigError: There is neither pip nor uv.
    """
    if importlib.util.find_spec("pip") is not None:
        options = ["--quiet", "--disable-pip-version-check", "--no-input"]
        return [sys.executable, "-m", "pip", "install", *options]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise ConfigError(
        f"this Python has no pip and there is no uv ({sys.executable}); add one with python -m"
        " ensurepip, or compile with --no-install"
    )


def install(wheel: Path) -> None:
    """Install a wheel and what it depends on.

    Raises:
        ConfigError: There is no installer, or it failed; the message has the end of what it said.
    """
    command = [*installer(), str(wheel)]
    run_tool(command, what=f"{wheel.name} cannot be installed", seconds=_INSTALL_SECONDS)
    importlib.invalidate_caches()


def uninstall_command(distribution: str) -> str:
    """Return what takes a package away again."""
    tool = "uv pip" if importlib.util.find_spec("pip") is None else "python -m pip"
    return f"{tool} uninstall {distribution}"


def run_tool(command: list[str], *, what: str, seconds: int) -> str:
    """Run a command to its end and return its standard output.

    Raises:
        ConfigError: It failed or took too long; the message starts with ``what``.
    """
    try:
        process = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ConfigError(
            f"{what}: {Path(command[0]).name} took longer than {seconds} s"
        ) from error
    except OSError as error:
        raise ConfigError(f"{what}: {command[0]} cannot be run: {error.strerror}") from error
    if process.returncode:
        output = "\n".join((process.stderr or process.stdout).strip().splitlines()[-_SHOWN_LINES:])
        raise ConfigError(f"{what}:\n{output}")
    return process.stdout


def _installed_package(distribution: metadata.Distribution, name: str) -> InstalledPackage:
    benchmarks = distribution.entry_points.select(group="nel.benchmarks")
    return InstalledPackage(
        distribution=name,
        version=distribution.version,
        summary=field_of(distribution, "Summary") or "",
        benchmarks=tuple(sorted(entry.name for entry in benchmarks)),
    )
