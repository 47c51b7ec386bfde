"""What tests do without a program, asked of the container at most once for each task."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from nel.errors import DatasetError
from nel.sandbox import verdict as verdicts
from nel.sandbox.task import Task
from nel.sandbox.types import Limits, VerdictName

_KEPT_MAX: Final = 4096
_FAULTS: Final[Mapping[VerdictName, str]] = {
    "timeout": "the tests run or wait for longer than a program may, without any program",
    "out_of_memory": "the tests use up the memory, without any program",
    "output_limit": "the tests print more than the output limit, without any program",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What tests did without a program."""

    cannot_cross: str = ""
    """What of the tests' own they pass to the program that has no plain form."""
    broken: str = ""
    """How they fail by themselves."""
    breach: VerdictName | None = None
    """The limit that they meet by themselves."""

    def raise_for(self, breach: tuple[VerdictName, str] | None) -> None:
        """Raise where the tests, not the program, are at fault.

        Args:
            breach: The limit that was met with the program; another one than the tests' is the program's doing.

        Raises:
            DatasetError: They are.
        """
        if self.broken:
            raise DatasetError(self.broken)
        if breach is not None and self.breach == breach[0]:
            raise DatasetError(_FAULTS[breach[0]])


class Rehearsals:
    """Rehearsals by task, for all workers of a sandbox."""

    def __init__(self) -> None:
        """Know none yet."""
        self._known: OrderedDict[tuple[object, ...], Rehearsal] = OrderedDict()
        self._idle: OrderedDict[tuple[object, ...], bool] = OrderedDict()
        """Whether tests pass whatever the program answers."""
        self._faults: OrderedDict[tuple[object, ...], str] = OrderedDict()
        """What is wrong with tests in other languages than Python."""
        self._lock = Lock()

    def of(
        self, task: Task, limits: Limits, ask: Callable[[dict[str, Any]], Mapping[str, Any]], *, shares_process: bool
    ) -> Rehearsal:
        """Return what the tests of a task do without a program.

        Raises:
            SandboxError: The machinery failed.
        """
        key = (task.tests, task.prompt, task.entry_point, shares_process, limits.model_dump_json())
        with self._lock:
            known = self._known.get(key)
        if known is None:
            reply = ask({"do": "rehearse", "how": "rehearse", "task": task.payload(shares_process=shares_process)})
            known = _read(reply["run"], limits)
            with self._lock:
                self._known[key] = known
                while len(self._known) > _KEPT_MAX:
                    self._known.popitem(last=False)
        return known

    def fault_of(self, key: tuple[object, ...], find: Callable[[], str]) -> str:
        """Return what is wrong with tests, which is found at most once for each key; empty where nothing is.

        Raises:
            SandboxError: The machinery failed.
        """
        with self._lock:
            known = self._faults.get(key)
        if known is None:
            known = find()
            with self._lock:
                self._faults[key] = known
                while len(self._faults) > _KEPT_MAX:
                    self._faults.popitem(last=False)
        return known

    def check_nothing(
        self, task: Task, ask: Callable[[dict[str, Any]], Mapping[str, Any]], *, shares_process: bool
    ) -> bool:
        """Return whether the tests of a task pass each of some programs that are wrong on purpose.

        Raises:
            SandboxError: The machinery failed.
        """
        key = (task.tests, task.prompt, task.entry_point, shares_process)
        with self._lock:
            known = self._idle.get(key)
        if known is None:
            job = {"do": "rehearse", "how": "control", "task": task.payload(shares_process=shares_process)}
            run = ask(job)["run"]
            said = run["tests"]
            known = run["reason"] is None and isinstance(said, Mapping) and said.get("passed_by_all") is True
            with self._lock:
                self._idle[key] = known
                while len(self._idle) > _KEPT_MAX:
                    self._idle.popitem(last=False)
        return known


def _read(run: Mapping[str, Any], limits: Limits) -> Rehearsal:
    breach = verdicts.breach_of({**run, "ending": run["tests_ending"]}, limits.cpu_seconds)
    if breach is not None and breach[0] in _FAULTS:
        return Rehearsal(breach=breach[0])
    said = run["tests"]
    if not isinstance(said, Mapping):
        return Rehearsal(broken="the tests end their own process")
    return Rehearsal(broken=str(said.get("broken") or ""), cannot_cross=str(said.get("cannot_cross") or ""))
