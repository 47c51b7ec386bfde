"""Keeps the variables of nel's environment, keys among them, from tools and scorers.

A child process gets the variables listed here and those that its benchmark declares, and no others.
Depends on libc, and for ``/proc`` on Linux.
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
# proc(5) counts them as fields 50 and 51, from 1; what follows the program's name is the third.
_ENVIRONMENT_FIELDS: Final = slice(47, 49)
"""``env_start`` and ``env_end`` of ``/proc/self/stat``, after the name of the program."""


def variables_passed_on(*declared: str) -> dict[str, str]:
    """Return the variables for a process that runs the code of a benchmark."""
    return {
        name: value
        for name, value in os.environ.items()
        if _PASSED_ON.fullmatch(name) or name in declared
    }


def hide_environment() -> None:
    """Overwrite the secrets that every process of this user could read in ``/proc/PID/environ``.

    The kernel shows there the memory in which this process got its environment. `os.putenv` copies
    each variable to other memory first, so the variables themselves stay.
    """
    # Copied first: after the loop below, the texts that libc has of them would be zeros.
    for name, value in os.environ.items():
        if not _PASSED_ON.fullmatch(name):
            os.putenv(name, value)
    for address, variable in _first_variables():
        key, _, text = variable.partition(b"=")
        if text and not _PASSED_ON.fullmatch(key.decode("utf-8", "replace")):
            ctypes.memset(address + len(key) + 1, 0, len(text))


def leave_variables(declared: Collection[str] = ()) -> None:
    """Drop the variables of this process that are neither passed on to children nor declared.

    A forked process has them in memory, so their values are overwritten before they are dropped.
    """
    library = ctypes.CDLL(None)
    # Its address is needed: by default, ctypes would make an int of 32 bits of it.
    library.getenv.restype = ctypes.c_void_p
    for name in os.environ.keys() - variables_passed_on(*declared).keys():
        if address := library.getenv(os.fsencode(name)):
            ctypes.memset(address, 0, len(os.fsencode(os.environ[name])))
        del os.environ[name]


def _first_variables() -> Iterator[tuple[int, bytes]]:
    """Yield address and text of each variable at the start of this process, if the system tells."""
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
        # The name of the program stands in parentheses, and may hold spaces and parentheses.
        fields = text.rpartition(")")[2].split()
        address, end = map(int, fields[_ENVIRONMENT_FIELDS])
        for variable in ctypes.string_at(address, end - address).split(b"\0"):
            yield address, variable
            address += len(variable) + 1
