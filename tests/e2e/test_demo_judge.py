"""`make demo-judge`: the whole way of a judged number with the embedded endpoints, as the script goes it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.runs import read_json

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "demo_judge.py"
ANSWERS = 40


def _served(text: str) -> list[str]:
    """Return the endpoints that commands were shown with."""
    return sorted(set(re.findall(r"http://127\.0\.0\.1:\d+/v1", text)))


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/models", timeout=5).close()
    except urllib.error.URLError:
        return False
    return True


@pytest.mark.slow
def test_the_demo_goes_the_whole_way(tmp_path: Path) -> None:
    """A lenient panel reads too high, a few labels put it right, two models are ranked; no server is left behind."""
    command = [sys.executable, str(SCRIPT)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False)
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
    served = _served(done.stdout)
    assert len(served) == 5
    assert not any(map(_answers, served))


@pytest.mark.slow
def test_ctrl_c_ends_the_demo_in_order(tmp_path: Path) -> None:
    """The run that is under way says how to go on, nothing further is started, and no server is left behind."""
    command = [sys.executable, str(SCRIPT)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("eval_results/*/run.db")) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        text, _ = process.communicate(timeout=120)
    assert process.returncode == 130, text
    assert text.count("$ nel ") == 1
    assert "Traceback" not in text
    served = _served(text)
    assert len(served) == 4
    assert not any(map(_answers, served))
