"""Standard streams that are closed, full or without a reader."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nel.errors import EXIT_STOPPED_EARLY, EXIT_USAGE

WRITES = "from nel.cli.streams import prepare_streams; prepare_streams(); "


def _shell(program: str, redirected: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", f'"$0" "$@" {redirected}', sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def _nel(arguments: str, redirected: str) -> subprocess.CompletedProcess[str]:
    return _shell(f"import sys; from nel.cli.app import main; sys.argv[1:] = {arguments.split()!r}; main()", redirected)


@pytest.mark.parametrize("redirected", [">&- 2>&- <&-", "2>/dev/full"])
def test_a_closed_stream_or_a_full_stderr_ends_no_command(redirected: str) -> None:
    """What cannot be printed is dropped; a wrong option still has its exit code."""
    done = _nel("eval resume /nonexistent --wrong", redirected)
    assert done.returncode == EXIT_USAGE
    assert "Traceback" not in done.stdout + done.stderr


def test_no_file_gets_the_descriptor_of_a_closed_stream() -> None:
    """What is printed does not end up in the next file that is opened."""
    program = WRITES + "import os, sys; print(os.dup(0)); print(os.dup(0), file=sys.stderr); os._exit(os.dup(0))"
    assert _shell(program, ">&- 2>&-").returncode > 2


def test_a_full_stdout_is_one_line_and_an_exit_code() -> None:
    """/dev/full: the command says what happened, and the interpreter adds nothing when it exits."""
    done = _nel("--version", ">/dev/full")
    assert done.returncode == EXIT_STOPPED_EARLY
    assert done.stderr == (
        "nel: stdout cannot be written (No space left on device); send it elsewhere, and repeat the command\n"
    )


def test_a_reader_that_has_gone_is_no_error_to_report() -> None:
    """``| true``: nothing is said, whatever was still to be printed."""
    done = _nel("list", "| true")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
