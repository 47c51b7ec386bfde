"""Gathers the wheels of nel, a compiled package and all they depend on, for the Python of a
container image.

pip fetches wheels for that Python from its index. nel itself is never asked of an index, where
another project may have the name: its wheel is made of the files that run here.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import nel.sandbox.isolation.languages
from nel.apps.byob.shipping.install import run_tool
from nel.apps.byob.shipping.wheel import wheel_bytes, wheel_name
from nel.errors import ConfigError
from nel.version import DISTRIBUTION

_SECONDS: Final = 1800
_GLIBC_MINORS: Final = range(5, 60)
_IMAGES: Final = "nel/sandbox/images"


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


def gather(package: Path, python: BasePython, folder: Path) -> list[Path]:
    """Return the wheels that install a compiled package with no index, pip's own among them.

    Args:
        package: The wheel of the package.
        folder: Where the wheels are put; made if it is not there.

    Raises:
        ConfigError: There is no pip here, or a dependency has no wheel for that Python.
    """
    if importlib.util.find_spec("pip") is None:
        raise ConfigError(
            f"gathering wheels needs pip in {sys.executable}; add it with python -m ensurepip"
        )
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(package, folder)
    _download([str(own_wheel(folder)), str(package), "pip"], python, folder)
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
    info = {
        path.name: path.read_binary()
        for path in distribution.files or ()
        if path.parts[0].endswith(".dist-info")
        and path.name in ("METADATA", "entry_points.txt", "LICENSE")
    }
    name = distribution.metadata["Name"]
    wheel = folder / wheel_name(name, distribution.version)
    wheel.write_bytes(wheel_bytes(name, distribution.version, files, info))
    return wheel


def _download(wanted: list[str], python: BasePython, folder: Path) -> None:
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
        "download",
    ]
    flags = [
        "--dest",
        str(folder),
        "--find-links",
        str(folder),
        "--only-binary",
        ":all:",
        *_target(python),
    ]
    version_text = f"Python {python.version[0]}.{python.version[1]} on {python.machine}"
    what = f"the wheels for {version_text} cannot be gathered"
    run_tool([*pip, *flags, *wanted], what=what, seconds=_SECONDS)


def _target(python: BasePython) -> list[str]:
    """Return the flags that make pip choose wheels for that Python."""
    digits = f"{python.version[0]}{python.version[1]}"
    flags = ["--python-version", digits, "--implementation", "cp"]
    for abi in (f"cp{digits}", "abi3", "none"):
        flags += ["--abi", abi]
    if python.libc == "musl":
        tags = ["musllinux_1_1", "musllinux_1_2"]
    else:
        newest = _minor(python.libc_version)
        tags = [f"manylinux_2_{minor}" for minor in _GLIBC_MINORS if minor <= newest]
        tags += ["manylinux2014", "manylinux2010", "manylinux1"]
    for tag in [*tags, "linux"]:
        flags += ["--platform", f"{tag}_{python.machine}"]
    return flags


def _minor(version: str) -> int:
    match = re.fullmatch(r"\d+\.(\d+)", version)
    return int(match[1]) if match else 0
