"""What a run has imported when it sends its first request: each further module is time that the user waits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.support.endpoint import Call, Reply, answer, scripted

LATER = (
    "aiohttp", "docker", "jinja2", "numpy", "rich", "scipy", "nel.artifacts", "nel.comparison", "nel.decide",
    "nel.artifacts.exporting", "nel.reports.page", "nel.apps.leaderboard", "nel.apps.mock", "nel.sandbox",
    "nel.authoring.adapters.bridge", "nel.authoring.yaml_benchmark", "nel.judges.parsing",
    "nel.judges.registry",
)  # fmt: skip
"""Packages that the first request does not need."""
OF_NEL_MAX = 400
"""Modules of nel: some more than there are, so that a new module is no failure and a whole new room is."""


def imported(text: str) -> list[str]:
    """Return the modules in what ``python -X importtime`` prints, each once, in order."""
    return list(dict.fromkeys(re.findall(r"import time:[ 0-9]+\|[ 0-9]+\| +(\S+)", text)))


def test_the_first_request_waits_for_no_module_that_it_does_not_need(tmp_path: Path) -> None:
    """Statistics, artifacts, reports and the tools after them are imported when the answers are there."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"question": f"{i}?", "answer": f"#### {i}"}) + "\n" for i in range(3)))
    printed = tmp_path / "stderr"
    by_then: list[str] = []

    def script(call: Call, number: int) -> Reply:
        if not by_then:
            by_then.extend(imported(printed.read_text(encoding="utf-8")))
        return answer("42")

    with scripted(script, models=["m"]) as endpoint, printed.open("w") as stderr:
        done = subprocess.run(
            [
                sys.executable, "-X", "importtime", "-m", "nel", "eval", "run", "--bench", "gsm8k",
                "--dataset", str(rows),
                "--model-url", endpoint.url, "--model-id", "m", "-o", str(tmp_path / "out"), "--json",
            ],
            stderr=stderr, stdout=subprocess.PIPE, env={**os.environ, "PYTHONSAFEPATH": "1"}, check=False,
        )  # fmt: skip
    assert done.returncode == 0, printed.read_text(encoding="utf-8")[-2000:]
    needless = [name for name in by_then if name.startswith(tuple(f"{one}." for one in LATER)) or name in LATER]
    assert needless == []
    rooms = Counter(".".join(name.split(".")[:2]) for name in by_then if name.startswith("nel."))
    assert "nel.models" in rooms  # the list is what it should be
    assert rooms.total() <= OF_NEL_MAX, rooms.most_common()
