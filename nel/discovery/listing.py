"""Describes installed plugins in a child process, so that a crash or a hang on import affects that
child alone.

One child imports all plugins in turn. If it exits or times out, the plugin it was importing is
reported and a new child continues with the next one. A plugin may write to the file descriptor of
stdout while it is imported, so the child replies on a duplicate that it makes before the first
import.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from typing import Final

from nel.errors import PluginError
from nel.plugins import (
    GROUPS,
    PluginInfo,
    PluginRef,
    cannot_import,
    describe,
    name_note,
    unknown_group,
)

IMPORT_SECONDS: Final = 30.0
"""Longest time that importing one plugin may take in a listing."""
_START_SECONDS: Final = 60.0
"""Longest time until the child is ready to import the first plugin."""
_READY: Final = -1
_CHUNK_BYTES: Final = 65536
_CHILD: Final = (
    "import json, sys; job = json.load(sys.stdin); sys.path[:] = job['path'];"
    " from nel.discovery.listing import reply; reply(job['refs'], job['seconds'])"
)


def describe_all(
    refs: Sequence[PluginRef], *, import_seconds: float = IMPORT_SECONDS
) -> list[PluginInfo]:
    """Return a description of each plugin, or the error that keeps it from working; none is
    imported here.

    Args:
        refs: All plugins of their kinds, so that names that several packages provide are noted;
            entry points of groups that nel does not load carry that as their error.
        import_seconds: Longest time that importing one may take.

    Raises:
        PluginError: The child cannot be started.
    """
    named: dict[tuple[str, str], list[PluginRef]] = defaultdict(list)
    for ref in refs:
        named[ref.kind, ref.name].append(ref)
    loadable = [ref for ref in refs if ref.kind in GROUPS]
    imported = dict(zip(loadable, _import_all(loadable, import_seconds), strict=True))
    return [
        (
            replace(imported[ref], note=name_note(ref, named[ref.kind, ref.name]))
            if ref in imported
            else PluginInfo(ref=ref, description="", error=unknown_group(ref))
        )
        for ref in refs
    ]


def reply(refs: list[dict[str, str]], seconds: float) -> None:
    """Describe plugins in the child: one line of JSON for each on what was stdout. Ends the
    process.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from nel.discovery.extension_points import (  # noqa: PLC0415 - the parent process does not need it
        shape_error,
    )

    print(json.dumps([_READY, "", None]), file=replies, flush=True)
    for number, ref in enumerate(refs):
        signal.alarm(int(seconds) + 2)  # ends a hung child whose parent has died
        info = describe(PluginRef(**ref), shape_error)
        print(json.dumps([number, info.description, info.error]), file=replies, flush=True)
    os._exit(0)


def _import_all(refs: Sequence[PluginRef], seconds: float) -> list[PluginInfo]:
    found: list[PluginInfo] = []
    while len(found) < len(refs):
        rest = refs[len(found) :]
        before = len(found)
        with _child(rest, seconds) as child:
            lines = _Lines(child)
            if lines.read(_READY, _START_SECONDS) is None:
                raise PluginError(
                    "the process that imports plugins did not start:"
                    f" {lines.ending(_START_SECONDS)}"
                )
            for number, ref in enumerate(rest):
                described = lines.read(number, seconds)
                if described is None:
                    found.append(
                        PluginInfo(
                            ref=ref, description="", error=cannot_import(ref, lines.ending(seconds))
                        )
                    )
                    break
                found.append(PluginInfo(ref=ref, description=described[0], error=described[1]))
        assert len(found) > before  # noqa: S101 - each child reports on at least one plugin
    return found


@contextmanager
def _child(refs: Sequence[PluginRef], seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    job = {"path": sys.path, "refs": [asdict(ref) for ref in refs], "seconds": seconds}
    try:
        child = subprocess.Popen(  # noqa: S603 - this interpreter
            [sys.executable, "-P", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise PluginError(f"the process that imports plugins did not start: {error}") from error
    try:
        assert child.stdin is not None  # noqa: S101 - a pipe was requested above
        with suppress(BrokenPipeError), child.stdin:
            child.stdin.write(json.dumps(job).encode())
        yield child
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        assert child.stdout is not None  # noqa: S101
        child.stdout.close()


class _Lines:
    """Reads the lines of a child, each within a time limit."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None  # noqa: S101 - _child requests a pipe
        self._child = child
        self._from = child.stdout.fileno()
        self._rest = b""
        self._ended = False

    def read(self, number: int, seconds: float) -> tuple[str, str | None] | None:
        """Return the description and the error in the line of this number; None at a timeout or the
        child's end.
        """
        deadline = time.monotonic() + seconds
        while True:
            line = self._line(deadline)
            if line is None:
                return None
            with suppress(ValueError):
                fields: object = json.loads(line)
                if isinstance(fields, list) and fields[:1] == [number]:
                    return str(fields[1]), fields[2]

    def ending(self, seconds: float) -> str:
        """Return why there is no further line."""
        if not self._ended:
            return f"it takes longer than {seconds:g} s"
        with suppress(subprocess.TimeoutExpired):
            status = self._child.wait(timeout=1.0)
            how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
            return f"it ends the process {how}"
        return "it closes the pipe that the process replies on"

    def _line(self, deadline: float) -> bytes | None:
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self._from, _CHUNK_BYTES)
            if not chunk:
                self._ended = True
                return None
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line
