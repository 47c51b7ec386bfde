"""Describes installed plugins in a child process, so that what importing one of them does happens to that child alone.

One child imports all, one after the other; where it ends or hangs, the plugin it was at is to blame and another child
goes on with the next. Trap: a plugin may do anything when imported, also write to the file descriptor of stdout, so
the child answers on a duplicate that it makes before the first import.
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
from dataclasses import asdict
from typing import Any, Final

from nel.errors import PluginError
from nel.plugins import PluginInfo, PluginRef, cannot_import, conflict, describe

IMPORT_SECONDS: Final = 30.0
"""Longest time that importing one plugin may take in a listing."""
_START_SECONDS: Final = 60.0
"""Longest time until the child is ready to import the first."""
_READY: Final = -1
_CHUNK_BYTES: Final = 65536
_CHILD: Final = (
    "import json, sys; told = json.load(sys.stdin); sys.path[:] = told['path'];"
    " from nel.listing import answer; answer(told['refs'], told['seconds'])"
)


def describe_all(refs: Sequence[PluginRef], *, import_seconds: float = IMPORT_SECONDS) -> list[PluginInfo]:
    """Return a description of each plugin, or the error that keeps it from working; none is imported here.

    Args:
        refs: All plugins of their kinds, so that a name that two distributions claim is seen.
        import_seconds: Longest time that importing one may take.

    Raises:
        PluginError: The child cannot be started.
    """
    named: dict[tuple[str, str], list[PluginRef]] = defaultdict(list)
    for ref in refs:
        named[ref.kind, ref.name].append(ref)
    alone = [ref for ref in refs if len(named[ref.kind, ref.name]) == 1]
    imported = dict(zip(alone, _import_all(alone, import_seconds), strict=True))
    return [
        imported[ref]
        if ref in imported
        else PluginInfo(ref=ref, description="", error=conflict(named[ref.kind, ref.name]))
        for ref in refs
    ]


def answer(refs: list[dict[str, str]], seconds: float) -> None:
    """Describe plugins, as the child: one line of JSON each on what was stdout; never returns."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from nel.conformance import shape_error  # noqa: PLC0415 - not where the child is started from

    print(json.dumps([_READY, "", None]), file=answers, flush=True)
    for number, ref in enumerate(refs):
        signal.alarm(int(seconds) + 2)  # ends a child that hangs where the process that would end it is gone
        info = describe(PluginRef(**ref), shape_error)
        print(json.dumps([number, info.description, info.error]), file=answers, flush=True)
    os._exit(0)


def _import_all(refs: Sequence[PluginRef], seconds: float) -> list[PluginInfo]:
    found: list[PluginInfo] = []
    while len(found) < len(refs):
        rest = refs[len(found) :]
        before = len(found)
        with _child(rest, seconds) as child:
            lines = _Lines(child)
            if lines.read(_READY, _START_SECONDS) is None:
                raise PluginError(f"the process that imports plugins did not start: {lines.ending(_START_SECONDS)}")
            for number, ref in enumerate(rest):
                told = lines.read(number, seconds)
                if told is None:
                    found.append(PluginInfo(ref=ref, description="", error=cannot_import(ref, lines.ending(seconds))))
                    break
                found.append(PluginInfo(ref=ref, description=told[0], error=told[1]))
        assert len(found) > before  # noqa: S101 - each child settles one plugin at least
    return found


@contextmanager
def _child(refs: Sequence[PluginRef], seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    order = {"path": sys.path, "refs": [asdict(ref) for ref in refs], "seconds": seconds}
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
        assert child.stdin is not None  # noqa: S101 - asked for above
        with suppress(BrokenPipeError), child.stdin:
            child.stdin.write(json.dumps(order).encode())
        yield child
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        assert child.stdout is not None  # noqa: S101
        child.stdout.close()


class _Lines:
    """What a child says, line by line and each within its time."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None  # noqa: S101 - asked for by _child
        self._child = child
        self._from = child.stdout.fileno()
        self._rest = b""
        self._ended = False

    def read(self, number: int, seconds: float) -> tuple[str, str | None] | None:
        """Return the description and the error of the line of a number; None when it does not come in time."""
        deadline = time.monotonic() + seconds
        while True:
            line = self._line(deadline)
            if line is None:
                return None
            with suppress(ValueError):
                told: Any = json.loads(line)
                if isinstance(told, list) and told[:1] == [number]:
                    return str(told[1]), told[2]

    def ending(self, seconds: float) -> str:
        """Return why there is no further line."""
        if not self._ended:
            return f"it takes longer than {seconds:g} s"
        with suppress(subprocess.TimeoutExpired):
            status = self._child.wait(timeout=1.0)
            how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
            return f"it ends the process {how}"
        return "it closes what the process answers with"

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
