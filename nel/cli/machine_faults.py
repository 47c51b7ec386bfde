"""What a shortage of this machine means for a command: no memory, no file, no thread, no space.

Also what it means that code of others ended the process. Prints nothing.
"""

from __future__ import annotations

import errno
import resource
import traceback
from pathlib import Path
from typing import Final

from nel.cli.streams import OutputLost
from nel.core.atomic_files import CONTINUE

_MEMORY: Final = "this process gets no more memory; raise its limit (ulimit -v unlimited), or lower --concurrency"
_THREADS: Final = (
    "this process can start no further thread; raise its limits (ulimit -v unlimited for memory,"
    " ulimit -u for threads)"
)
_TEMPORARY: Final = (
    "no directory for temporary files can be written; set TMPDIR to one with free space"
)
_GONE: Final = (
    "the working directory was deleted; change into one that is there, and repeat the command"
)
_FULL: Final = "no space is left{where}; free some"
_OF_ERRNO: Final = {
    errno.ENFILE: "this machine can open no further file; end other programs, or raise fs.file-max",
    errno.ENOMEM: _MEMORY,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EIO: "reading or writing failed{where} (input/output error); check the disk",
}
_NOT_MAPPED: Final = "failed to map segment"
"""What the loader says of a library for which there is no room."""
_CAUSES_MAX: Final = 10


def shortage(error: BaseException) -> str | None:
    """Return in one line what this machine lacks and what to do; None for any other error."""
    if isinstance(error, OutputLost):
        return (
            f"stdout cannot be written ({error.strerror}); send it elsewhere, and repeat the"
            " command"
        )
    if isinstance(error, MemoryError) or (
        isinstance(error, ImportError) and _NOT_MAPPED in _all_words(error)
    ):
        return _MEMORY + CONTINUE
    if isinstance(error, RuntimeError):
        return _THREADS + CONTINUE if "start new thread" in str(error) else None
    if not isinstance(error, OSError) or error.errno is None:
        return None
    if isinstance(error, FileNotFoundError) and _is_directory_gone():
        return _GONE
    # "No usable temporary directory found in …", as the module tempfile says it.
    if isinstance(error, FileNotFoundError) and "temporary directory" in (error.strerror or ""):
        return _TEMPORARY + CONTINUE
    if error.errno == errno.EMFILE:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return (
            f"this process may open {limit:,} files and needs more; raise that (ulimit -n"
            f" 1024){CONTINUE}"
        )
    text = _OF_ERRNO.get(error.errno)
    where = "" if error.filename is None else f" at {error.filename}"
    return None if text is None else text.format(where=where) + CONTINUE


def _is_directory_gone() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _all_words(error: BaseException) -> str:
    """Return the messages of an error and of its causes: numpy wraps that of the loader, or not."""
    words: list[str] = []
    while error is not None and len(words) < _CAUSES_MAX:
        words.append(str(error))
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return "\n".join(words)


def ended_by_plugin(error: SystemExit) -> str:
    """Return the message about a plugin or benchmark that tried to end the process, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    return (
        f"a plugin or benchmark ended the command with SystemExit({error.code!r}){where}; let it"
        " raise an error instead, or leave it out; a run that had begun continues with nel eval"
        " resume DIR"
    )
