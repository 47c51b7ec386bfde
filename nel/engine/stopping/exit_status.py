"""How a session of a run ended, and the outcome of samples that were never asked because of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from nel.errors import (
    EXIT_SIGINT,
    EXIT_SIGTERM,
    EXIT_STOPPED_EARLY,
    JudgePreflightError,
    PreflightError,
    StoppedEarly,
)
from nel.models.budget import BudgetSpent
from nel.models.pacing import EndpointDown

_EXIT_OF_SIGNAL = {"SIGINT": EXIT_SIGINT, "SIGTERM": EXIT_SIGTERM}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How a session of a run ended."""

    exit_code: int
    reason: str
    """``done``, the name of a signal, or why the run stopped early."""
    endpoint_kind: str | None = None
    """The kind of the endpoint's fault, when that ended the session."""
    cause: Literal["cancelled", "infra", "budget", "judge"] = "cancelled"
    """The cause under which samples that were never asked are counted as unscored."""
    fix: tuple[str, ...] = ()
    """Options of ``nel eval resume`` that correct what stopped the run."""

    def unscored_reason(self) -> dict[str, str]:
        """Return cause, kind and detail of unasked samples, as `nel.types.Unscored` takes them."""
        if self.cause == "judge":
            detail = f"never asked or never judged: {self.reason}"
            return {"cause": "judge", "kind": self.endpoint_kind or "not_run", "detail": detail}
        if self.endpoint_kind is not None:
            detail = f"never asked: {self.reason}"
            return {"cause": "infra", "kind": self.endpoint_kind, "detail": detail}
        kind = "spent" if self.cause == "budget" else "not_run"
        detail = f"never asked; the run ended: {self.reason}"
        return {"cause": self.cause, "kind": kind, "detail": detail}


def exit_status_of(error: PreflightError | StoppedEarly | EndpointDown | BudgetSpent) -> ExitStatus:
    """Return the exit status of a session that an error stopped."""
    if isinstance(error, BudgetSpent):
        return ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=str(error), cause="budget")
    if isinstance(error, EndpointDown):
        return ExitStatus(exit_code=EXIT_STOPPED_EARLY, reason=str(error), endpoint_kind="outage")
    status = ExitStatus(
        exit_code=error.exit_code, reason=str(error), endpoint_kind=error.endpoint_kind
    )
    if isinstance(error, JudgePreflightError):
        status = replace(status, cause="judge")
    if isinstance(error, PreflightError):
        status = replace(status, fix=error.fix)
    return status


def with_last_attempt(status: ExitStatus, trouble: str) -> ExitStatus:
    """Return a status whose reason, if it is an outage, has the result of the last attempt.

    An endpoint that is down may well respond: with 503, with a rate limit, with the login page of a
    network.
    """
    if status.endpoint_kind != "outage":
        return status
    return replace(status, reason=f"{status.reason} ({trouble})")


def exit_status_of_signal(name: str) -> ExitStatus:
    """Return the exit status of a session that a signal stopped."""
    return ExitStatus(exit_code=_EXIT_OF_SIGNAL.get(name, EXIT_STOPPED_EARLY), reason=name)
