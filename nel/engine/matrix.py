"""Runs sessions of several endpoints on one event loop, with one budget, sandbox and stop.

Each endpoint keeps its own run directory, store, gate and scorer process, so that one that is down
or slow ends its own run alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Final

from nel.config.openai_environment import key_variable
from nel.config.redaction import read_secret
from nel.engine.executors.find import opened_executor
from nel.engine.run import open_scorers, open_tools, opened_session
from nel.engine.session import Session
from nel.engine.session_spec import SessionSpec, Shared
from nel.engine.stopping.exit_status import ExitStatus
from nel.engine.stopping.stop_signals import StopSignals
from nel.errors import (
    EXIT_DONE,
    EXIT_SIGINT,
    EXIT_SIGTERM,
    EXIT_STOPPED_EARLY,
    EXIT_UNSCORED,
    EXIT_USAGE,
    ConfigError,
    NelError,
    UsageError,
)
from nel.models.budget import Ledger, Spend

_WORSE: Final = (
    EXIT_DONE,
    EXIT_UNSCORED,
    EXIT_STOPPED_EARLY,
    EXIT_USAGE,
    EXIT_SIGTERM,
    EXIT_SIGINT,
)
"""Exit codes from the best to the worst; any other is worse than all but an interruption."""


class MatrixRefused(UsageError):
    """Endpoints of a matrix cannot be used as configured; nothing was paid for at any."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


def worst(exit_codes: Sequence[int]) -> int:
    """Return the worst of several exit codes: an interruption, then what a user has to correct,
    then what to resume.
    """
    # A code that the list leaves out comes between a usage error and an interruption.
    unlisted = _WORSE.index(EXIT_USAGE) + 0.5
    return max(exit_codes, key=lambda code: _WORSE.index(code) if code in _WORSE else unlisted)


def run_sessions(specs: Mapping[str, SessionSpec]) -> list[ExitStatus]:
    """Do the work of one session of each run, all at once, and return how each ended.

    Args:
        specs: By the names of the endpoints; with one runtime, and with equal budgets and
            sandboxes, which they share.

    Raises:
        MatrixRefused: A key, a URL or a model is wrong.
        NelError: Before anything was sent: a dataset is unusable, a resume is refused, a directory
            is in use.
    """
    _check_keys(specs)
    first = next(iter(specs.values()))
    with ExitStack() as stack:
        # Before any run has a lock, a file or a thread that the forked processes could inherit.
        executor = stack.enter_context(opened_executor(first.config.engine.executor))
        scorers = [stack.enter_context(open_scorers(spec, executor)) for spec in specs.values()]
        tools = [stack.enter_context(open_tools(spec.plans)) for spec in specs.values()]
        sessions: list[Session] = []
        with _refusing_all(sessions):
            for (name, spec), scoring, tool_server in zip(
                specs.items(), scorers, tools, strict=True
            ):
                opened = opened_session(spec, executor=executor, scorers=scoring, tools=tool_server)
                with _name_run(name):
                    sessions.append(stack.enter_context(opened))
        statuses: list[ExitStatus] = []
        shared = _sharing(sessions, first.runtime.signals())
        first.runtime.run(_run_all(shared, list(specs), statuses))
        return statuses


def _check_keys(specs: Mapping[str, SessionSpec]) -> None:
    problems = []
    for name, spec in specs.items():
        endpoint = spec.config.endpoint
        try:
            read_secret(key_variable(endpoint) if endpoint is not None else None)
        except NelError as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise MatrixRefused(problems)


@contextmanager
def _name_run(name: str) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise ConfigError(f"{name}: {error}") from error


@contextmanager
def _refusing_all(sessions: Sequence[Session]) -> Iterator[None]:
    """End the sessions that are open already when the block raises."""
    try:
        yield
    except NelError as error:
        for session in sessions:
            session.refuse(f"another endpoint was refused: {error}")
        raise


def _sharing(sessions: Sequence[Session], signals: StopSignals) -> list[Session]:
    """Return the sessions with one ledger, which knows what all their runs spent before, one
    sandbox and one stop.
    """
    before = Spend()
    for session in sessions:
        before.add(session.spent_before())
    config = sessions[0].spec.config
    ledger = Ledger(config.budget, before=before)
    sandbox = sessions[0].executor.open_sandbox(config.sandbox)
    shared = Shared(ledger=ledger, sandbox=sandbox, signals=signals)
    return [replace(session, shared=shared) for session in sessions]


async def _run_all(
    sessions: Sequence[Session], names: Sequence[str], statuses: list[ExitStatus]
) -> ExitStatus:
    """Run all sessions to their ends, put how each ended into ``statuses``; return the worst."""
    shared = sessions[0].shared
    assert shared is not None  # noqa: S101 - of `_sharing`
    try:
        with _refusing_all(sessions):
            problems = await asyncio.gather(*(session.find_problem() for session in sessions))
            refusals = [
                f"{name}: {problem}"
                for name, problem in zip(names, problems, strict=True)
                if problem is not None
            ]
            if refusals:
                raise MatrixRefused(refusals)
        # The end of one run is not that of the others; a bug of nel is raised once all are over.
        ended = await asyncio.gather(
            *(session.run_beside_others() for session in sessions), return_exceptions=True
        )
    finally:
        await asyncio.to_thread(shared.sandbox.close)
    for status in ended:
        if isinstance(status, BaseException) and not isinstance(status, NelError):
            raise status
    statuses += [_status_of(status) for status in ended]
    code = worst([status.exit_code for status in statuses])
    return next(status for status in statuses if status.exit_code == code)


def _status_of(ended: ExitStatus | BaseException) -> ExitStatus:
    if isinstance(ended, NelError):
        return ExitStatus(exit_code=ended.exit_code, reason=str(ended))
    assert isinstance(ended, ExitStatus)  # noqa: S101 - every other exception was raised
    return ended
