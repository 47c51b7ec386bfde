"""The standard streams of the process, prepared before a command runs.

A closed stream is opened on /dev/null: otherwise the next file or socket would get its descriptor,
and receive what is printed. Failed writes to stderr are ignored, so that a message never ends a
run; failed writes to stdout raise `OutputLost`, or BrokenPipeError where the reader is gone.
Characters that the locale cannot encode are escaped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing_extensions import Buffer

_STANDARD: Final = ("stdin", "stdout", "stderr")


class OutputLost(OSError):
    """The output of a command could not be written to stdout."""


class _Stdout(FileIO):
    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputLost(error.errno, error.strerror) from error


class _Stderr(FileIO):
    def write(self, data: Buffer, /) -> int:
        with suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def prepare_streams() -> None:
    """Open the standard streams that are closed, and wrap stdout and stderr."""
    for number, name in enumerate(_STANDARD):
        if getattr(sys, name) is None:
            _open_on_null(number, name)
    for number, name, kind in ((1, "stdout", _Stdout), (2, "stderr", _Stderr)):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper) and stream.fileno() == number:
            stream.flush()
            setattr(sys, name, _wrap(kind(number, "w", closefd=False), stream))


@contextmanager
def stdout_kept() -> Iterator[None]:
    """Redirect to stderr what plugins and benchmarks print: stdout is the command's own output."""
    with redirect_stdout(sys.stderr):
        yield


def discard_stdout() -> None:
    """Send the rest of stdout to /dev/null, so that the interpreter can flush it at its exit."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _open_on_null(number: int, name: str) -> None:
    try:
        os.fstat(number)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        # A copy is inheritable, as a standard stream must be. Where the lowest free descriptor was
        # that of the stream itself, `dup2` does nothing.
        os.dup2(null, number)
        if null == number:
            os.set_inheritable(number, True)
        else:
            os.close(null)
        setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115 - for good
    else:  # another file has its descriptor already
        setattr(sys, name, open(os.devnull, "r" if number == 0 else "w"))  # noqa: SIM115, PTH123 - for good


def _wrap(file: FileIO, stream: TextIOWrapper) -> TextIOWrapper:
    return TextIOWrapper(
        BufferedWriter(file),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
