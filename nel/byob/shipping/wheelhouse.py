"""Gathers the wheels of nel, a compiled package and all they depend on, for the Python of a container image.

nel itself is never asked of an index, where the name may be somebody else's: its wheel is made of what runs here. Trap:
pip builds a source distribution for the machine it runs on, so for another Python only ready wheels will do.
"""

from __future__ import annotations

import importlib.util
import json
import platform as machine_platform
import re
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from nel.byob.shipping.install import run_tool
from nel.byob.shipping.wheel import wheel_bytes, wheel_name
from nel.errors import ConfigError

_SECONDS: Final = 1800
_GLIBC_MINORS: Final = range(5, 60)


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
        raise ConfigError(f"gathering wheels needs pip in {sys.executable}; add it with python -m ensurepip")
    folder.mkdir(parents=True, exist_ok=True)
    own = own_wheel(folder)
    shutil.copy2(package, folder)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    wanted = ["--find-links", str(folder), str(own), str(package), "pip"]
    if _is_like_here(python):
        command = [*pip, "wheel", "--wheel-dir", str(folder), *wanted]
    else:
        command = [*pip, "download", "--dest", str(folder), "--only-binary", ":all:", *_target(python), *wanted]
    shown = f"Python {python.version[0]}.{python.version[1]} on {python.machine}"
    run_tool(command, what=f"the wheels for {shown} cannot be gathered", seconds=_SECONDS)
    return sorted(folder.glob("*.whl"))


def own_wheel(folder: Path) -> Path:
    """Make a wheel of the nel that runs here.

    Raises:
        ConfigError: It runs from a folder whose build fails, or is not installed.
    """
    try:
        distribution = metadata.distribution("nel")
    except metadata.PackageNotFoundError as error:
        raise ConfigError("nel is not installed here, only run; install it with: python -m pip install .") from error
    source = _source_of(distribution)
    if source is not None:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "wheel"]
        command += ["--no-deps", "--wheel-dir", str(folder), str(source)]
        run_tool(command, what=f"no wheel of nel can be built in {source}", seconds=_SECONDS)
        return next(folder.glob("nel-*.whl"))
    return _repacked(distribution, folder)


def _source_of(distribution: metadata.Distribution) -> Path | None:
    """Return the folder that an editable installation points to."""
    try:
        found = json.loads(distribution.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    editable = isinstance(found.get("dir_info"), dict) and found["dir_info"].get("editable")
    return Path(unquote(urlsplit(found["url"]).path)) if editable else None


def _repacked(distribution: metadata.Distribution, folder: Path) -> Path:
    """Return a wheel made of the files of an installed distribution."""
    files: dict[str, bytes] = {}
    info: dict[str, bytes] = {}
    for path in distribution.files or ():
        top = path.parts[0]
        if top == ".." or path.suffix == ".pyc" or path.is_absolute():
            continue
        if not top.endswith(".dist-info"):
            files[path.as_posix()] = path.read_binary()
        elif path.name in {"METADATA", "entry_points.txt"} or "licenses" in path.parts:
            info["/".join(path.parts[1:])] = path.read_binary()
    wheel = folder / wheel_name("nel", distribution.version)
    wheel.write_bytes(wheel_bytes("nel", distribution.version, files, info))
    return wheel


def _is_like_here(python: BasePython) -> bool:
    """Return whether wheels that fit this Python fit that one: its version, machine and C library, or a newer one."""
    name, version = machine_platform.libc_ver()
    same = python.version == sys.version_info[:2] and python.machine == machine_platform.machine()
    return same and (name or "musl") == python.libc and _minor(python.libc_version) >= _minor(version)


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
    found = re.fullmatch(r"\d+\.(\d+)", version)
    return int(found[1]) if found else 0
