"""`make demo-decide`: three models, a comparison and two decisions with the embedded endpoints, as it is run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import at_work_in, nothing_left_in, wait_until
from tests.support.runs import read_json

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "demo_decide.py"


def test_the_demo_decides_on_two_candidates(tmp_path: Path) -> None:
    """The weaker model is worse and NO-GO, the stronger one better and GO; no server is left."""
    with nothing_left_in(tmp_path):
        command = [sys.executable, str(SCRIPT)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=800, check=False)
        wait_until(lambda: not at_work_in(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "quickstart: WORSE" in done.stdout
    assert "quickstart: BETTER" in done.stdout
    decisions = {path.parent.name.split("-")[-1]: read_json(path) for path in tmp_path.glob("*/*/decision.json")}
    assert {name: one["decision"] for name, one in decisions.items()} == {"weaker": "NO-GO", "stronger": "GO"}
    shown = [Path(line.strip().partition(":")[0]) for line in done.stdout.split("what to look at")[1].splitlines()[1:]]
    assert all((tmp_path / path).is_file() for path in shown)
