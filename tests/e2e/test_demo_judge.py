"""`make demo-judge`: the whole way of a judged number with the embedded endpoints, as the script goes it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import at_work_in, nothing_left_in, wait_until
from tests.support.runs import read_json

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "demo_judge.py"
ANSWERS = 40


def _served(text: str) -> list[str]:
    """Return the endpoints that commands were shown with."""
    return sorted(set(re.findall(r"http://127\.0\.0\.1:\d+/v1", text)))


def test_the_demo_goes_the_whole_way(tmp_path: Path) -> None:
    """A lenient panel reads too high, a few labels put it right, two models are ranked; no server is left."""
    command = [sys.executable, str(SCRIPT)]
    with nothing_left_in(tmp_path):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=800, check=False)
        wait_until(lambda: not at_work_in(tmp_path))
    assert done.returncode == 0, done.stderr
    (run,) = tmp_path.glob("eval_results/*-judged-demo")
    metrics = read_json(run / "quickstart" / "metrics.json")["judging"]
    truth = 30 / ANSWERS
    raw, corrected = metrics["corrected"]["raw"]["value"], metrics["corrected"]["ppi"]["value"]
    assert raw > truth + 0.1
    assert abs(corrected - truth) < (raw - truth) / 2
    assert f"the truth, which only a demo knows: {truth:.3f} (30 of {ANSWERS}" in done.stdout
    assert "nel judge leaderboard" in done.stdout
    shown = [Path(line.strip().partition(":")[0]) for line in done.stdout.split("what to look at")[1].splitlines()[1:]]
    assert [path.name for path in shown] == ["report.html", "leaderboard.html"]
    assert all((tmp_path / path).is_file() for path in shown)
    assert len(_served(done.stdout)) == 5
