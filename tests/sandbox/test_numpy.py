"""Programs that answer with values of numpy, scipy and pandas, in an image that holds these packages.

nel sandbox build python --packages "numpy scipy pandas"
docker tag nel-sandbox-python:TAG sandbox-numpy
NEL_NUMPY_IMAGE=sandbox-numpy pytest tests/sandbox/test_numpy.py
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

import pytest

from nel.sandbox import Limits, Sandbox, SandboxSettings
from tests.sandbox.test_tasks import grouped, program_of_task

IMAGE: Final = os.environ.get("NEL_NUMPY_IMAGE", "")
PATIENT: Final = Limits(cpu_seconds=20.0, idle_seconds=20.0)
"""To import pandas takes a second of its own."""


@pytest.mark.docker
@pytest.mark.skipif(not IMAGE, reason="NEL_NUMPY_IMAGE names no image with numpy, scipy and pandas")
def test_values_of_numpy_and_pandas_are_judged_by_what_they_hold() -> None:
    """Right programs pass, their wrong twins fail, and no protocol of numpy lets a program lie apart from its tests."""
    found = {}
    with Sandbox(SandboxSettings(images={"python": IMAGE})) as sandbox:
        tasks = grouped("numpy.toml")
        asked = [(task, sandbox.submit(replace(program_of_task(task), limits=PATIENT))) for task in tasks]
        for task, future in asked:
            verdict = future.result()
            if verdict.verdict not in task["verdict"].split("|"):
                found[task["name"]] = verdict.verdict, verdict.mode, verdict.detail
    assert found == {}
