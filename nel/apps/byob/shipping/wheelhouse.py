"""Gathers the wheels of nel, a compiled package and all they need, for the Python of an image.

An image with the Python that runs here gets what is installed here, version for version, without
the network; one with another Python gets ready wheels from pip's index. nel itself is never asked
of an index, where another project may have the name. A wheel that is made of installed files may
hold compiled ones, so it is for this kind of machine only.
"""

from __future__ import annotations

import importlib.util
import json
import platform as machine_platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import nel.sandbox.isolation.languages
from nel.apps.byob.shipping.install import run_tool
from nel.apps.byob.shipping.wheel import wheel_bytes, wheel_name
from nel.authoring.requirements import parse_requirement
from nel.errors import ConfigError
from nel.version import DISTRIBUTION

_SECONDS: Final = 1800
_GLIBC_MINORS: Final = range(5, 60)
_IMAGES: Final = "nel/sandbox/images"
_PIP: Final = (
    sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class BasePython:
    """The Python that the wheels are for."""

    version: tuple[int, int]
    machine: str
    """As the system says it: ``x86_64``, ``aarch64``."""
    libc: str
    """``glibc`` or ``musl``."""
    libc_version: str
    """Empty where it is not known."""


def gather(
    package: Path, dependencies: tuple[str, ...], python: BasePython, folder: Path
) -> list[Path]:
    """Return the wheels that install a compiled package with no index, pip's own among them.

    Args:
        package: The wheel of the package.
        dependencies: What it depends on, as requirement strings.
        folder: Where the wheels are put; made if it is not there.

    Raises:
        ConfigError: There is no pip here, or a dependency is not installed or has no wheel for that
            Python.
    """
    if importlib.util.find_spec("pip") is None:
        raise ConfigError(
            f"gathering wheels needs pip in {sys.executable}; add it with python -m ensurepip"
        )
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(package, folder)
    nel_wheel = own_wheel(folder)
    if is_like_here(python):
        for distribution in _needed_distributions([*dependencies, "pip"]):
            if distribution.metadata["Name"] != DISTRIBUTION:
                _wheel_of(distribution, folder)
    else:
        _download([str(nel_wheel), str(package), "pip"], python, folder)
    return sorted(folder.glob("*.whl"))


def own_wheel(folder: Path) -> Path:
    """Make a wheel of the nel that runs here, installed from a wheel or from its source alike.

    Raises:
        ConfigError: It is run without being installed.
    """
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError as error:
        raise ConfigError(
            "nel is not installed here, only run; install it with: python -m pip install ."
        ) from error
    files: dict[str, bytes] = {}
    images = next(iter(nel.sandbox.isolation.languages.languages().values())).folder.parent
    for root, inside in ((Path(nel.__path__[0]), "nel"), (images, _IMAGES)):
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files[f"{inside}/{path.relative_to(root).as_posix()}"] = path.read_bytes()
    return _write_wheel(distribution, files, folder)


def wheel_of_installed(distribution: metadata.Distribution, folder: Path) -> Path:
    """Make a wheel of the files of an installed distribution."""
    files = {
        path.as_posix(): path.read_binary()
        for path in distribution.files or ()
        if path.suffix != ".pyc"
        and not path.parts[0].endswith(".dist-info")
        and ".." not in path.parts  # scripts, which stand beside site-packages
    }
    return _write_wheel(distribution, files, folder)


def _write_wheel(
    distribution: metadata.Distribution, files: dict[str, bytes], folder: Path
) -> Path:
    name = distribution.metadata["Name"]
    texts = {
        file_name: distribution.read_text(file_name)
        for file_name in ("METADATA", "entry_points.txt")
    }
    info = {file_name: text.encode() for file_name, text in texts.items() if text}
    info |= {
        "/".join(path.parts[1:]): path.read_binary()
        for path in distribution.files or ()
        if path.parts[0].endswith(".dist-info")
        and ("licenses" in path.parts or "LICENSE" in path.name)
    }
    wheel = folder / wheel_name(name, distribution.version)
    wheel.write_bytes(wheel_bytes(name, distribution.version, files, info))
    return wheel


def _needed_distributions(requirements: list[str]) -> Iterator[metadata.Distribution]:
    """Yield the installed distributions that requirements lead to, each once.

    Raises:
        ConfigError: One is not installed.
    """
    requests = [(requirement, "the benchmark") for requirement in requirements]
    visited: set[tuple[str, str]] = set()  # distributions, each with an extra or without any
    while requests:
        text, owner = requests.pop()
        requirement = parse_requirement(text)
        try:
            distribution = metadata.distribution(requirement.name)
        except metadata.PackageNotFoundError as error:
            raise ConfigError(
                f"{requirement.name}, which {owner} needs, is not installed here; install it: pip"
                f' install "{text}"'
            ) from error
        name = distribution.metadata["Name"]
        if (name, "") not in visited:
            yield distribution
        # A requirement without extras still brings those of the plain distribution ("").
        for extra in {"", *requirement.extras}:
            if (name, extra) in visited:
                continue
            visited.add((name, extra))
            for entry in distribution.requires or ():
                marker = parse_requirement(entry).marker
                if marker is None or marker.evaluate({"extra": extra}):
                    requests.append((entry.partition(";")[0].strip(), name))


def _wheel_of(distribution: metadata.Distribution, folder: Path) -> None:
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        command = [*_PIP, "wheel", "--no-deps", "--wheel-dir", str(folder), origin["url"]]
        name = distribution.metadata["Name"]
        run_tool(command, what=f"no wheel of {name} can be built", seconds=_SECONDS)
    else:
        wheel_of_installed(distribution, folder)


def _download(requirements: list[str], python: BasePython, folder: Path) -> None:
    folders = ["--dest", str(folder), "--find-links", str(folder)]
    command = [*_PIP, "download", *folders, "--only-binary", ":all:", *_target(python)]
    version_text = f"Python {python.version[0]}.{python.version[1]} on {python.machine}"
    what = f"the wheels for {version_text} cannot be gathered"
    run_tool([*command, *requirements], what=what, seconds=_SECONDS)


def is_like_here(python: BasePython) -> bool:
    """Return whether wheels that fit this Python fit that one; its C library may be newer."""
    libc, version = machine_platform.libc_ver()
    return (
        python.version == sys.version_info[:2]
        and python.machine == machine_platform.machine()
        and python.libc == (libc or "musl")
        and _minor(python.libc_version) >= _minor(version)
    )


def _target(python: BasePython) -> list[str]:
    """Return the flags that make pip choose wheels for that Python."""
    digits = f"{python.version[0]}{python.version[1]}"
    flags = ["--python-version", digits, "--implementation", "cp"]
    # Compiled for this Python, compiled for this and all later ones, and not compiled.
    for abi in (f"cp{digits}", "abi3", "none"):
        flags += ["--abi", abi]
    if python.libc == "musl":
        tags = ["musllinux_1_1", "musllinux_1_2"]
    else:
        # A wheel for an older glibc runs on a newer one, so each version up to it is asked for.
        newest = _minor(python.libc_version)
        tags = [f"manylinux_2_{minor}" for minor in _GLIBC_MINORS if minor <= newest]
        tags += ["manylinux2014", "manylinux2010", "manylinux1"]
    for tag in [*tags, "linux"]:
        flags += ["--platform", f"{tag}_{python.machine}"]
    return flags


def _minor(version: str) -> int:
    match = re.fullmatch(r"\d+\.(\d+)", version)
    return int(match[1]) if match else 0
