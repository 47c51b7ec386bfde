"""Describes installed plugins in a child process, which alone crashes or hangs with their import.

One child imports all plugins in turn. If it exits or times out, the plugin it was importing is
reported and a new child continues with the next one. A plugin may write to the file descriptor of
stdout while it is imported, so the child replies on a duplicate that it makes before the first
import.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import islice
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
# With the path of this process, so that the child finds the same plugins.
_CHILD: Final = (
    "import json, signal, sys; signal.alarm(60); job = json.load(sys.stdin); sys.path[:] = job['path'];"
    " from nel.discovery.listing import reply; reply(job['refs'], job['seconds'])"
)
"""Has a minute until it is ready to import the first plugin."""


def describe_all(
    refs: Sequence[PluginRef], *, import_seconds: float = IMPORT_SECONDS
) -> list[PluginInfo]:
    """Return a description of each plugin, or the error that keeps it from working.

    Args:
        refs: All plugins of their kinds, so that names that several packages provide are noted;
            entry points of groups that nel does not load carry that as their error.
        import_seconds: Longest time that importing one may take.

    Raises:
        PluginError: The child cannot be started.
    """
    namesakes: dict[tuple[str, str], list[PluginRef]] = defaultdict(list)
    for ref in refs:
        namesakes[ref.kind, ref.name].append(ref)
    loadable = [ref for ref in refs if ref.kind in GROUPS]
    imported = dict(zip(loadable, _import_all(loadable, import_seconds), strict=True))
    plugins = []
    for ref in refs:
        if ref in imported:
            note = name_note(ref, namesakes[ref.kind, ref.name])
            plugins.append(replace(imported[ref], note=note))
        else:  # nel has no such group, so nothing of it is imported
            plugins.append(PluginInfo(ref=ref, description="", error=unknown_group(ref)))
    return plugins


def reply(refs: list[dict[str, str]], seconds: float) -> None:
    """Describe plugins in the child, on what was stdout: a first line, then one of JSON for each.

    Ends the process, by SIGALRM where an import takes too long.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from nel.discovery.extension_points import (  # noqa: PLC0415 - the parent process does not need it
        shape_error,
    )

    print("ready", file=replies, flush=True)
    for ref in refs:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        info = describe(PluginRef(**ref), shape_error)
        print(json.dumps([info.description, info.error]), file=replies, flush=True)
    os._exit(0)


def _import_all(refs: Sequence[PluginRef], seconds: float) -> list[PluginInfo]:
    infos: list[PluginInfo] = []
    while len(infos) < len(refs):
        remaining = refs[len(infos) :]
        lines, ending = _run_child(remaining, seconds)
        if not lines:
            raise PluginError(f"the process that imports plugins did not start: {ending}")
        for ref, line in zip(remaining, lines[1:], strict=False):
            text, error = json.loads(line)
            infos.append(PluginInfo(ref=ref, description=text, error=error))
        # The first line says that the child is ready. With no more lines than plugins it ended in
        # the midst of one, to which it owes a line: the next child begins with the one after it.
        if len(lines) <= len(remaining):
            ref = remaining[len(lines) - 1]
            error = cannot_import(ref, ending)
            infos.append(PluginInfo(ref=ref, description="", error=error))
    return infos


def _run_child(refs: Sequence[PluginRef], seconds: float) -> tuple[list[bytes], str]:
    """Return the lines that a child replied, and how it ended."""
    job = {"path": sys.path, "refs": [asdict(ref) for ref in refs], "seconds": seconds}
    try:
        child = subprocess.Popen(  # noqa: S603 - this interpreter
            # -P: a module in the working directory must not stand in for one of nel.
            [sys.executable, "-P", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return [], str(error)
    assert child.stdin is not None  # noqa: S101 - pipes were requested above
    assert child.stdout is not None  # noqa: S101
    with child.stdout:
        with suppress(BrokenPipeError), child.stdin:
            child.stdin.write(json.dumps(job).encode())
        lines = list(islice(child.stdout, len(refs) + 1))
        # The group, since what a plugin started may hold the pipe open.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    status = child.wait()
    if status == -signal.SIGALRM:
        return lines, f"it takes longer than {seconds:g} s"
    how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    return lines, f"it ends the process {how}"
