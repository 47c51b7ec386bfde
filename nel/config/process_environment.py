"""What the environment of nel may hold that no tool and no scorer sees, and how it is kept from
them.

Keys are given to nel as variables, so a child process gets the variables listed here and those that
its benchmark declares, and no others. Depends on libc, and for ``/proc`` on Linux.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PASSED_ON: Final = re.compile(
    r"""
      PATH | HOME | USER | LOGNAME | SHELL | TERM | LANG | LANGUAGE | LC_\w+ | TZ
    | TMPDIR | TEMP | TMP | XDG_(?:CACHE|CONFIG|DATA)_HOME
    | PYTHON\w+ | VIRTUAL_ENV | CONDA_PREFIX | LD_LIBRARY_PATH
    | \w+_NUM_THREADS | CUDA_VISIBLE_DEVICES | TOKENIZERS_PARALLELISM
    | SSL_CERT_(?:FILE|DIR) | REQUESTS_CA_BUNDLE | NLTK_DATA
    | HF_HOME | (?:HF|TRANSFORMERS)\w*_(?:CACHE|OFFLINE)
    """,
    re.VERBOSE,
)
"""Variables that say where things are and how to compute, never who may do something."""
_ENVIRONMENT_FIELDS: Final = slice(47, 49)
"""``env_start`` and ``env_end`` of ``/proc/self/stat``, after the name of the program."""


def variables_passed_on(*declared: str) -> dict[str, str]:
    """Return the variables that a process is started with which runs the code of a benchmark."""
    return {
        name: value
        for name, value in os.environ.items()
        if _PASSED_ON.fullmatch(name) or name in declared
    }


def hide_environment() -> None:
    """Overwrite what ``/proc/PID/environ`` shows of this process, for every process of its user;
    the variables themselves stay.

    The kernel shows the memory in which the process was given its environment. Each variable is
    copied elsewhere before it is overwritten there.
    """
    for name, value in os.environ.items():
        if not _PASSED_ON.fullmatch(name):
            os.putenv(name, value)
    for first, variable in _given_variables():
        given, _, text = variable.partition(b"=")
        if text and not _PASSED_ON.fullmatch(given.decode("utf-8", "replace")):
            ctypes.memset(first + len(given) + 1, 0, len(text))


def leave_variables(declared: Collection[str] = ()) -> None:
    """Drop the variables of this process that are neither passed on to children nor declared.

    A forked process has them in memory, so their values are overwritten before they are dropped.
    """
    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_void_p
    for name in os.environ.keys() - variables_passed_on(*declared).keys():
        if at := library.getenv(os.fsencode(name)):
            ctypes.memset(at, 0, len(os.fsencode(os.environ[name])))
        del os.environ[name]


def _given_variables() -> Iterator[tuple[int, bytes]]:
    """Yield address and text of each variable that this process was started with; nothing where the
    system does not tell.
    """
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
        begins, ends = map(int, fields.rpartition(")")[2].split()[_ENVIRONMENT_FIELDS])
        for variable in ctypes.string_at(begins, ends - begins).split(b"\0"):
            yield begins, variable
            begins += len(variable) + 1
