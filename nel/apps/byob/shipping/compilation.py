"""Compiles a benchmark file to a plugin package on disk, and installs it.

The order of the steps matters: no file is written before the names are checked and the package has
been loaded and compared with its source.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.apps.byob.shipping.directory import write_directory
from nel.apps.byob.shipping.install import check_benchmark_names, install, installer
from nel.apps.byob.shipping.package import Package, package_of, project_files
from nel.apps.byob.shipping.proof import prove
from nel.apps.byob.shipping.source import read_source
from nel.apps.byob.shipping.wheel import wheel_bytes, wheel_name
from nel.authoring.requirements import RequirementCheck, check_requirements
from nel.errors import ConfigError
from nel.version import DISTRIBUTION

_FOLDER: Final = "byob_packages"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledPackage:
    """The result of a compilation, or of a dry run of one."""

    package: Package
    directory: Path
    """Where the package is written."""
    wheel: Path
    requirements: tuple[RequirementCheck, ...]
    """Of the benchmarks; empty where they were not checked."""
    written: bool
    installed: bool


def compile_file(
    path: Path,
    *,
    output_dir: Path | None = None,
    dry_run: bool = False,
    with_install: bool = True,
    with_requirements: bool = False,
) -> CompiledPackage:
    """Make a plugin package of a benchmark file.

    Args:
        output_dir: The folder that package directories are put into; ``byob_packages`` beside the
            file by default.
        dry_run: Check everything and write nothing.
        with_install: Install the package into the running Python.
        with_requirements: Refuse where a requirement of the benchmarks is not installed.

    Raises:
        PluginError: The file is not a benchmark, cannot be a package, or uses a name that another
            package has.
        ConfigError: A requirement is not valid or not met, or the installation fails.
        OutputError: The directory holds files that nel did not write, or cannot be written.
    """
    source = read_source(path)
    package = package_of(source)
    requirements = _checked_requirements(package) if with_requirements else ()
    directory = (output_dir or source.path.parent / _FOLDER) / package.distribution
    wheel = directory / "dist" / wheel_name(package.distribution, package.version)
    check_benchmark_names(package)
    prove(package, source)
    is_installed = with_install and not dry_run
    if is_installed:
        installer()  # raises where there is no pip, before anything is written
    if not dry_run:
        files = {
            **project_files(package),
            **package.files,
            f"dist/{wheel.name}": wheel_of(package),
        }
        write_directory(directory, files, source=package.source)
    if is_installed:
        install(wheel)
    return CompiledPackage(
        package=package,
        directory=directory,
        wheel=wheel,
        requirements=requirements,
        written=not dry_run,
        installed=is_installed,
    )


def wheel_of(package: Package) -> bytes:
    """Return the wheel of a package."""
    info = {
        "METADATA": package.metadata.encode(),
        "entry_points.txt": package.entry_points_text.encode(),
    }
    return wheel_bytes(package.distribution, package.version, package.files, info)


def _checked_requirements(package: Package) -> tuple[RequirementCheck, ...]:
    requirements = [
        requirement
        for requirement in package.dependencies
        if not requirement.startswith(f"{DISTRIBUTION}>=")
    ]
    checks = tuple(check_requirements(requirements))
    problems = [check.problem for check in checks if check.problem]
    if problems:
        raise ConfigError(f"{package.source}: {'; '.join(problems)}")
    return checks
