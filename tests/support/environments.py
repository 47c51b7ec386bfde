"""A Python environment of its own that sees all that this one has, so that a test can install into it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Environment:
    """A throw-away environment."""

    python: Path

    def run(
        self, *arguments: str, cwd: Path, stdin: str = "", timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Run this environment's Python."""
        env = {**os.environ, "COLUMNS": "200"}
        command = [str(self.python), *arguments]
        return subprocess.run(
            command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
        )

    def nel(self, *arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run nel with this environment's Python, as the installed command does."""
        program = "import sys; sys.argv[0] = 'nel'; from nel.cli.app import main; main()"
        return self.run("-c", program, *arguments, cwd=cwd, stdin=stdin)


def make_environment(folder: Path) -> Environment:
    """Return a new environment on top of the running one; what is installed into it stays in it."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = folder / "lib" / version / "site-packages"
    below = sysconfig.get_path("purelib")
    (site_packages / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n")
    return Environment(python=python)
