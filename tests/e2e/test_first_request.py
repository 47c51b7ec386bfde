"""What a run has imported when it sends its first request, and at its end: each module is time that the user waits."""

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
    "nel.compat.evalscope.bridge", "nel.authoring.yaml_benchmark", "nel.judges.parsing",
    "nel.judges.registry",
)  # fmt: skip
"""Packages that the first request does not need."""
OF_NEL_MAX = 288
"""Modules of nel at the first request: some more than there are, so that a new module is not a failure."""
OF_NEL_MAX_AT_THE_END = 337
"""Modules of nel that a run with rules alone imports until its report is written."""


def imported(text: str) -> list[str]:
    """Return the modules in what ``python -X importtime`` prints, each once, in order."""
    return list(dict.fromkeys(re.findall(r"import time:[ 0-9]+\|[ 0-9]+\| +(\S+)", text)))


def run(tmp_path: Path, url: str, printed: Path, *options: str) -> None:
    """Run nel in a process that prints what it imports to a file."""
    with printed.open("w") as stderr:
        done = subprocess.run(
            [
                sys.executable, "-X", "importtime", "-m", "nel", "eval", "run", *options,
                "--model-url", url, "--model-id", "m", "-o", str(tmp_path / "out"),
            ],
            stderr=stderr, stdout=subprocess.PIPE, env={**os.environ, "PYTHONSAFEPATH": "1"}, check=False,
        )  # fmt: skip
    assert done.returncode == 0, printed.read_text(encoding="utf-8")[-2000:]


def test_a_run_imports_modules_when_it_needs_them(tmp_path: Path) -> None:
    """Statistics, artifacts, reports and the tools after them when the answers are there; judges, sandboxes and what
    exports runs not at all in a run with rules alone.
    """
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"question": f"{i}?", "answer": "#### 42"}) + "\n" for i in range(3)))
    printed = tmp_path / "stderr"
    by_then: list[str] = []

    def script(call: Call, number: int) -> Reply:
        if not by_then:
            by_then.extend(imported(printed.read_text(encoding="utf-8")))
        return answer("42")

    with scripted(script, models=["m"]) as endpoint:
        run(tmp_path, endpoint.url, printed, "--bench", "gsm8k", "--dataset", str(rows))
    needless = [name for name in by_then if name.startswith(tuple(f"{one}." for one in LATER)) or name in LATER]
    assert needless == []
    rooms = Counter(".".join(name.split(".")[:2]) for name in by_then if name.startswith("nel."))
    assert "nel.models" in rooms  # the list is what it should be
    assert rooms.total() <= OF_NEL_MAX, rooms.most_common()
    by_the_end = imported(printed.read_text(encoding="utf-8"))
    assert "numpy" not in by_the_end  # one answer a question, each right or wrong, needs no arrays
    of_nel = [name for name in by_the_end if name.split(".")[0] == "nel"]
    assert any(name.startswith("nel.reports.page") for name in of_nel)
    assert len(of_nel) <= OF_NEL_MAX_AT_THE_END, Counter(".".join(name.split(".")[:2]) for name in of_nel)
