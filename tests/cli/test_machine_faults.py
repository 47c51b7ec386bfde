"""Shortages of the machine as one line with the next step."""

from __future__ import annotations

import errno
import sys

import pytest

from nel.__main__ import main
from nel.cli import app
from nel.cli.machine_faults import shortage


def _numpy_without_room() -> ImportError:
    error = ImportError("Error importing numpy")
    error.__cause__ = ImportError("_multiarray_umath.so: failed to map segment from shared object")
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "ulimit -v unlimited"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (OSError(errno.ENFILE, "Too many open files in system"), "fs.file-max"),
        (OSError(errno.ENOSPC, "No space left on device", "runs/run.db"), "no space is left at runs/run.db"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "no space is left;"),
        (_numpy_without_room(), "no more memory"),
    ],
)
def test_a_shortage_has_a_next_step(error: BaseException, said: str) -> None:
    """The line names what is short, what raises it, and how a run goes on."""
    line = shortage(error)
    assert line is not None
    assert said in line
    assert "nel eval resume DIR" in line
    assert "\n" not in line


@pytest.mark.parametrize("error", [OSError("odd"), FileNotFoundError(errno.ENOENT, "no"), RuntimeError("a bug")])
def test_a_bug_stays_one(error: BaseException) -> None:
    """Anything else is not explained away."""
    assert shortage(error) is None


class _Importing:
    """A module that is still being imported when Ctrl-C comes."""

    def __getattr__(self, name: str) -> object:
        raise KeyboardInterrupt


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_ctrl_c_before_the_command_has_begun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and the exit code of an interrupt, while modules are imported and while the command is put together."""
    monkeypatch.setattr(app, "prepare_streams", lambda: None)
    with pytest.raises(SystemExit) as ended:
        app.main(_interrupted)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "nel.cli.app", _Importing())  # type: ignore[arg-type]
    with pytest.raises(SystemExit) as ended_earlier:
        main()
    assert (ended.value.code, ended_earlier.value.code) == (130, 130)
    assert capsys.readouterr().err == "nel: interrupted\n" * 2
