"""A directory that is being made has a hidden name, and what a killed process left of it goes with the next call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nel.artifacts.exporting.writers import export_run
from nel.core.atomic_files import write_file
from nel.core.paths import final_directory, make_work_directory
from nel.errors import StoppedEarly
from tests.support.viewed_run import build_viewed_run


def pid_of_the_dead() -> int:
    """Return the number of a process that has ended and was waited for."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_leftovers_of_this_place_and_of_dead_processes_go(tmp_path: Path) -> None:
    """Another place's, and those of a running process, stay; files and directories go alike."""
    dead, running = pid_of_the_dead(), os.getppid()
    (tmp_path / f".out.{dead}-1.tmp" / "deep").mkdir(parents=True)
    (tmp_path / f".out.{dead}.tmp").mkdir()
    (tmp_path / f".other.{dead}-1.tmp").mkdir()
    (tmp_path / f".out.{running}-1.tmp").mkdir()
    (tmp_path / f".out.{os.getpid()}-0.tmp").mkdir()
    work = make_work_directory(tmp_path / "out")
    second = make_work_directory(tmp_path / "out")
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(
        [f".out.{dead}.tmp", f".other.{dead}-1.tmp", f".out.{running}-1.tmp", work.name, second.name]
    )
    assert final_directory(work) == tmp_path / "out"
    assert final_directory(tmp_path / "plain") == tmp_path / "plain"


KILLED = """
import os, signal, sys
from pathlib import Path
import nel.artifacts.exporting.writers as writers
Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
writers.export_run("csv", Path(sys.argv[1]), Path(sys.argv[2]))
"""


def test_an_export_that_was_killed_leaves_nothing_after_the_next(tmp_path: Path) -> None:
    """SIGKILL before the rename leaves a hidden directory, which the next export of that name removes."""
    run_dir, output = build_viewed_run(tmp_path / "run", n=3, is_complete=True), tmp_path / "out"
    killed = subprocess.run([sys.executable, "-c", KILLED, run_dir, output], check=False)
    assert killed.returncode == -9
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".out.")]
    export_run("csv", run_dir, output)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "run"]


def test_a_file_of_no_run_is_not_said_to_be_one_of_a_run(tmp_path: Path) -> None:
    """A picture or a list of baselines that cannot be written is written by the same command again."""
    with pytest.raises(StoppedEarly, match=r"curve\.svg: No such file.*; then repeat the command, or continue a run"):
        write_file(tmp_path / "none" / "curve.svg", [b"<svg/>"])
