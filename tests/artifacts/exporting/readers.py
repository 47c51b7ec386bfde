"""Runs the tool that an export is for, in a process of its own; skips where it is not installed.

The tools pin versions of many libraries and warn a lot: ``NEL_TEST_READERS`` names a Python that has them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PYTHON = os.environ.get("NEL_TEST_READERS") or sys.executable
SECONDS = 120
QUIET = {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1"}


def read_by(package: str, code: str, *arguments: Path) -> Any:
    """Return the JSON that the code prints as its last line; it imports the package and has paths as sys.argv[1:]."""
    here = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    if subprocess.run([PYTHON, "-c", here], check=False, timeout=SECONDS).returncode:
        pytest.skip(f"{package} is not installed: make test-exports has it")
    done = subprocess.run(
        [PYTHON, "-W", "ignore", "-c", code, *map(str, arguments)],
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().split("\n")[-1])
