"""Builds the helper of containers for each architecture, and notes the digests of its source and programs.

    python scripts/build_helper.py [--check]

The compiler is that of the package `ziglang` in the version below (80 MB), which is installed into a folder of the
build when it is not there. With --check nothing is written: it fails where a build gives other bytes than those that
are in the repository.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

COMPILER = "ziglang==0.15.2"
FOLDER = Path(__file__).parents[1] / "nel" / "environments" / "helper"
SOURCE = FOLDER / "helper.c"
TARGETS = {"amd64": "x86_64-linux-musl", "arm64": "aarch64-linux-musl"}
FLAGS = ["-static", "-Os", "-s", "-std=c11", "-Wall", "-Wextra", "-Werror"]
FLAGS += ["-ffunction-sections", "-Wl,--gc-sections", "-fno-asynchronous-unwind-tables"]


def python_with_compiler() -> str:
    """Return an interpreter that has the compiler, of an environment in build/."""
    folder = FOLDER.parents[2] / "build" / COMPILER.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        print(f"==> installing {COMPILER}: 80 MB, once")
        venv.create(folder, with_pip=True, clear=True)
        pip = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            COMPILER,
        ]
        subprocess.run(pip, check=True)
        (folder / "installed").touch()
    return str(python)


def build(python: str, target: str) -> bytes:
    """Return the program for a target; the source is named without its folder, so that it is the same everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "helper"
        command = [
            python,
            "-m",
            "ziglang",
            "cc",
            "-target",
            target,
            *FLAGS,
            "-o",
            str(output),
            SOURCE.name,
        ]
        subprocess.run(command, check=True, cwd=SOURCE.parent)
        return output.read_bytes()


def sums_of(files: dict[str, bytes]) -> str:
    """Return the lines of `sha256sum` for these files."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())


def main() -> int:
    """Build, and write or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args().check
    python = python_with_compiler()
    files = {f"helper-{name}": build(python, target) for name, target in TARGETS.items()}
    files = {SOURCE.name: SOURCE.read_bytes(), **files}
    sums = FOLDER / "SHA256SUMS"
    if is_check:
        is_equal = sums.read_text(encoding="ascii") == sums_of(files) and all(
            (FOLDER / name).read_bytes() == data for name, data in files.items()
        )
        print(sums_of(files), end="")
        print(
            "these are the bytes of the repository"
            if is_equal
            else "the repository has other bytes"
        )
        return 0 if is_equal else 1
    for name, data in files.items():
        if name != SOURCE.name:
            (FOLDER / name).write_bytes(data)
        print(f"{name}: {len(data):,} bytes")
    sums.write_text(sums_of(files), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
