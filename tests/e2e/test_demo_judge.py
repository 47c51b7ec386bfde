"""`make demo-judge`: the whole way of a judged number with the embedded endpoints, as the script goes it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from nel.engine.store.schema import connect
from tests.support.processes import at_work_in, nobody_left_in, started, wait_until
from tests.support.runs import read_json

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "demo_judge.py"
ANSWERS = 40


def _served(text: str) -> list[str]:
    """Return the endpoints that commands were shown with."""
    return sorted(set(re.findall(r"http://127\.0\.0\.1:\d+/v1", text)))


def _has_answers(folder: Path) -> bool:
    """Return whether a run in a folder has asked somebody already, and so hears signals."""
    for path in folder.glob("eval_results/*/run.db"):
        with suppress(sqlite3.Error), closing(connect(path, readonly=True)) as store:  # it may be in the making
            return store.execute("SELECT 1 FROM responses").fetchone() is not None
    return False


def test_the_demo_goes_the_whole_way(tmp_path: Path) -> None:
    """A lenient panel reads too high, a few labels put it right, two models are ranked; no server is left behind."""
    command = [sys.executable, str(SCRIPT)]
    with nobody_left_in(tmp_path):
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


def test_ctrl_c_ends_the_demo_in_order(tmp_path: Path) -> None:
    """The run that is under way says how to go on, nothing further is started, and no server is left behind."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    command = [sys.executable, str(SCRIPT)]
    with nobody_left_in(tmp_path), started(command, cwd=tmp_path, start_new_session=True, **pipes) as process:
        wait_until(lambda: list(tmp_path.glob("eval_results/*/run.db")), process)
        process.send_signal(signal.SIGSTOP)  # it starts nothing further, however fast the run is
        wait_until(lambda: _has_answers(tmp_path))
        os.killpg(process.pid, signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        text, _ = process.communicate(timeout=300)
        wait_until(lambda: not at_work_in(tmp_path))
    assert process.returncode == 130, text
    assert text.count("$ nel ") == 1
    assert "Traceback" not in text
    assert len(_served(text)) == 4
