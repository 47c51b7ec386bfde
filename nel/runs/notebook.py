"""The display of a run in a notebook: a progress bar.

Imports IPython only inside one of its kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from nel.engine.progress import Progress
from nel.runs.background import Reporter
from nel.runs.progress_line import progress_line


def reporter(
    live: Mapping[str, Progress], on_progress: Callable[[Mapping[str, Progress]], None] | None
) -> Callable[[], None] | None:
    """Return the reporter of runs' progress; None with neither callback nor notebook.

    Args:
        live: By the name of the endpoint; a single endpoint has an empty name.
        on_progress: Called in place of a notebook's bar.
    """
    if on_progress is not None:
        return Reporter(live, on_progress)
    return Reporter(live, Bar()) if _in_kernel() else None


class Bar:
    """A bar for each run below the cell that called, updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, live: Mapping[str, Progress]) -> None:
        """Show the bars; the first call makes them."""
        from IPython.display import display  # noqa: PLC0415 - a kernel has it

        data = {"text/plain": bar_text(live), "text/html": bar_html(live)}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(data, raw=True)


def bar_text(live: Mapping[str, Progress]) -> str:
    """Return a line for each run."""
    return "\n".join(_line(name, progress) for name, progress in live.items())


def bar_html(live: Mapping[str, Progress]) -> str:
    """Return a bar and a line for each run."""
    return "".join(
        f'<div><progress max="{progress.total or 1}" value="{progress.done}"></progress>'
        f" {escape(_line(name, progress))}</div>"
        for name, progress in live.items()
    )


def _line(name: str, progress: Progress) -> str:
    return f"{name}: {progress_line(progress)}" if name else progress_line(progress)


def _in_kernel() -> bool:
    """Return whether this code runs in a kernel of IPython, which shows more than text."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
