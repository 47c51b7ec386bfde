"""Counts what a run does: bytecodes and calls of nel's functions by stage, and SQLite statements.

Bytecodes are those of frames whose file is nel's, and of what is generated for its classes. They agree within 0.1 %
between runs, on any machine; they depend on the version of Python, and see nothing of time spent in C.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias

import nel

STAGES: Final = ("dataset", "pipeline", "results", "page")
_STARTS: Final = {
    ("engine/pipeline.py", "Pipeline.run"): "pipeline",
    ("runs/evaluation.py", "written_results"): "results",
    ("reports/writers.py", "write_report"): "page",
}
"""The functions with which a stage begins; before the first there is the dataset."""
HOME: Final = Path(nel.__file__).parent
_PREFIX: Final = str(HOME)
_GENERATED: Final = ("<string>", "dataclasses.py", "contextlib.py")
"""Where the methods of nel's classes come from that no file of nel has."""
_WAITS: Final = ("engine/scorers/fork_server.py", "engine/store/writer.py")
"""Where a process waits for others or for the disk: how often it wakes up is a matter of time, not of work."""
_BY_TIME: Final = ("nel-store", "nel-observing", "nel-watch", "nel-progress")
"""Threads that commit what is there, or look at a run every so often: a matter of time too."""
Tracer: TypeAlias = Callable[[FrameType, str, Any], Any]
Function: TypeAlias = tuple[str, str]
"""A file below ``nel/``, and a function in it."""


@dataclass
class Work:
    """What one run did."""

    bytecodes: Counter[tuple[str, Function]] = field(default_factory=Counter)
    """By stage and function."""
    calls: Counter[str] = field(default_factory=Counter)
    """By stage."""
    statements: Counter[str] = field(default_factory=Counter)
    """By their first word."""


class _Counting:
    """Traces all threads; each counts for itself, since threads that add to one number lose some."""

    def __init__(self) -> None:
        self._stage = "dataset"
        self._of_threads: list[Counter[tuple[str, CodeType]]] = []
        self._local = threading.local()
        self._names: dict[CodeType, Function | None] = {}
        self.calls: Counter[str] = Counter()

    def trace(self, frame: FrameType, event: str, argument: Any) -> Tracer | None:
        """Follow a frame of nel by its bytecodes, and no other."""
        name = self._name_of(frame.f_code)
        if name is None or threading.current_thread().name in _BY_TIME:
            return None
        self._stage = _STARTS.get(name, self._stage)
        self.calls[self._stage] += 1
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        counts = self._counts()
        code = frame.f_code

        def count(_: FrameType, event: str, __: Any) -> Tracer:
            if event == "opcode":
                counts[self._stage, code] += 1
            return count

        return count

    def _counts(self) -> Counter[tuple[str, CodeType]]:
        counts = getattr(self._local, "counts", None)
        if counts is None:
            counts = self._local.counts = Counter()
            self._of_threads.append(counts)
        return counts

    def _name_of(self, code: CodeType) -> Function | None:
        if code not in self._names:
            file = code.co_filename
            if file.startswith(_PREFIX):
                name = str(Path(file).relative_to(HOME))
                self._names[code] = None if name in _WAITS else (name, code.co_qualname)
            else:
                is_generated = file.endswith(_GENERATED)
                self._names[code] = (Path(file).name, code.co_qualname) if is_generated else None
        return self._names[code]

    def bytecodes(self) -> Counter[tuple[str, Function]]:
        """Return what all threads counted, by stage and function."""
        total: Counter[tuple[str, Function]] = Counter()
        for counts in self._of_threads:
            for (stage, code), n in counts.items():
                name = self._name_of(code)
                assert name is not None
                total[stage, name] += n
        return total


@contextmanager
def counted() -> Iterator[Work]:
    """Count what nel does until the block ends; the work is whole once it has ended."""
    counting, work = _Counting(), Work()
    connect = sqlite3.connect

    def note(statement: str) -> None:
        work.statements[statement.split(None, 1)[0].upper()] += 1

    def connect_noting(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(note)
        return connection

    sqlite3.connect = connect_noting
    threading.settrace(counting.trace)
    sys.settrace(counting.trace)
    try:
        yield work
    finally:
        sys.settrace(None)
        threading.settrace(None)
        sqlite3.connect = connect
        work.bytecodes, work.calls = counting.bytecodes(), counting.calls
