"""Answers a sample by a solver: attempt after attempt, each continued from its stored steps.

What a fault of the environment, a tool or the solver ends is unscored, never a score. What a limit
ends is verified and scored as it stands.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nel.config.schema import Price
from nel.engine.asking.response_outcomes import verdict_before_scoring
from nel.engine.episodes.attempt import Attempt
from nel.engine.episodes.step_rows import StoredAttempts, end_row
from nel.engine.episodes.tool_server import ToolServer
from nel.engine.planning.plan import Plan
from nel.engine.progress import Progress
from nel.engine.store.log import Log
from nel.engine.store.projections.transcript import transcript
from nel.engine.store.snapshot import Snapshot
from nel.episodes.endings import (
    AttemptOver,
    EndpointLost,
    EnvironmentFault,
    LimitReached,
    ModelFailed,
    SessionOver,
    leave_suspended,
)
from nel.episodes.episode import Episode
from nel.episodes.limits import least, limits_of_row, with_defaults
from nel.episodes.solver_names import BoundSolver
from nel.models.client import Client
from nel.tools import SNAPSHOT
from nel.types import Generation, Json, Message, Response, ResponseError, Sample, SampleKey

SOLVED: Final = "solver"
"""What ended an episode whose solver returned."""
_RESTARTED: Final = frozenset(
    {"tool_died", "tool_hung", "container_died", "container_paused", "engine", SNAPSHOT}
)
"""Faults after which another attempt may fare better."""
_DETAIL_CHARACTERS_MAX: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _AttemptEnd:
    """How an attempt ended that gives an answer."""

    ended_by: str
    answer: str | None = None
    failed: Response | None = None
    """The response by which the model failed."""


class EpisodeRunner:
    """Runs the episodes of one session; so many at once."""

    def __init__(
        self,
        *,
        client: Client,
        store: Log,
        snapshot: Snapshot,
        tools: ToolServer | None,
        price: Price | None,
        episodes: int,
        progress: Progress,
    ) -> None:
        self._client = client
        self._store = store
        self._snapshot = snapshot
        self._tools = tools
        self._price = price
        self._progress = progress
        self._slots = asyncio.Semaphore(episodes)

    async def answer(
        self,
        plan: Plan,
        sample: Sample,
        sample_key: SampleKey,
        messages: Sequence[Message],
        generation: Generation,
    ) -> tuple[bytes | None, Response]:
        """Return the body that was sent last and the response that the episode came to.

        Raises:
            GateClosed, EndpointDown, BudgetSpent: The session ends; a resume goes on from the last
                step.
        """
        async with self._slots:
            limits = with_defaults(least(plan.limits, limits_of_row(sample.limits, "the row")))
            hidden = without_gold(sample, plan.benchmark.gold_fields)
            reasons: list[str] = []
            while len(reasons) <= (limits.restarts or 0):
                attempt = self._next_attempt(plan, hidden, sample_key, generation)
                episode = Episode(
                    hidden,
                    messages,
                    repeat=sample_key.repeat,
                    seed=generation.seed_of(sample_key.repeat),
                    limits=limits,
                    model=plan.model or "",
                    protocol=plan.protocol,
                    has_cache=self._client.cache is not None,
                    generation=generation,
                    backend=attempt,
                    price=self._price,
                )
                # Where a later session goes on from the stored steps, the attempt is not over, and
                # the environment keeps what it needs for that.
                is_over = True
                try:
                    return await self._finish(plan, attempt, episode)
                except AttemptOver as over:
                    reason = over.reason
                    reasons += [reason] if over.is_counted else []
                except EnvironmentFault as fault:
                    if fault.kind not in _RESTARTED or len(reasons) >= (limits.restarts or 0):
                        detail = self._store.redactor.text(fault.detail)[-_DETAIL_CHARACTERS_MAX:]
                        return attempt.body, _unscored_response(fault.kind, detail)
                    reason = str(fault)
                    reasons.append(reason)
                except EndpointLost as lost:
                    is_over = False
                    return lost.body, lost.response
                except BaseException:
                    is_over = False
                    raise
                finally:
                    await attempt.close(is_over=is_over)
                await self._store.append([end_row(sample_key, attempt.number, reason)])
            return None, _unscored_response(
                "restarts", f"no attempt came to its end: {'; '.join(reasons)}"
            )

    def _next_attempt(
        self, plan: Plan, sample: Sample, sample_key: SampleKey, generation: Generation
    ) -> Attempt:
        attempts = StoredAttempts(transcript(self._snapshot, sample_key))
        return Attempt(
            number=attempts.last,
            sample_key=sample_key,
            sample=sample,
            plan=plan,
            generation=generation,
            client=self._client,
            store=self._store,
            tools=self._tools,
            steps=attempts.steps.get(attempts.last, {}),
            progress=self._progress,
        )

    async def _finish(
        self, plan: Plan, attempt: Attempt, episode: Episode
    ) -> tuple[bytes | None, Response]:
        end = await _drive(plan.solver, episode)
        if not episode.accounts.model_calls:
            raise EnvironmentFault("never_asked", "the solver returned without an answer")
        evidence = await episode.verify()
        response = await self._response(plan, attempt, episode, end, evidence)
        return attempt.body, response

    async def _response(
        self,
        plan: Plan,
        attempt: Attempt,
        episode: Episode,
        end: _AttemptEnd,
        evidence: Json,
    ) -> Response:
        response = end.failed or episode.last_response or Response()
        references, pool = attempt.references(episode.messages)
        if pool:
            await self._store.append([], pool)
        text = response.text if end.answer is None else self._store.redactor.text(end.answer)
        fails = end.ended_by.startswith("limit:") and plan.benchmark.on_limit == "fail"
        failure = None
        if fails:
            failure = {"kind": "limit", "detail": f"ended by {end.ended_by}"}
        elif end.failed is not None or _is_answer(episode, text, response):
            failure = _failure_of(response, plan, attempt.sample)
        return Response(
            text=text,
            reasoning=response.reasoning,
            finish_reason=response.finish_reason,
            model=response.model,
            system_fingerprint=response.system_fingerprint,
            fallback=response.fallback,
            episode={
                "solver": plan.solver.name if plan.solver else "",
                "ended_by": end.ended_by,
                "conversation": references,
                "evidence": evidence,
                "failure": failure,
                "fails": fails,
                "tool_calls": episode.accounts.tool_calls,
            },
        )


async def _drive(solver: BoundSolver | None, episode: Episode) -> _AttemptEnd:
    """Run a solver to its end or the episode's; raise an ending that the solver suppressed."""
    assert solver is not None  # noqa: S101 - a plan without one has no episodes
    answer = None
    try:
        await episode.start()
        answer = await _answer_of_stages(solver, episode)
    except BaseException as error:
        if episode.ending is None:
            if isinstance(error, (EnvironmentFault, asyncio.CancelledError, KeyboardInterrupt)):
                raise
            detail = "".join(traceback.format_exception(error))
            raise EnvironmentFault("solver_raised", detail) from error
    ending = episode.ending
    if ending is None:
        return _AttemptEnd(
            ended_by=episode.ended_by or SOLVED, answer=None if answer is None else str(answer)
        )
    if episode.abandoned.is_set() and isinstance(ending, (LimitReached, ModelFailed)):
        detail = f"the solver catches everything, and went on after its episode's end: {ending}"
        raise EnvironmentFault("solver_stuck", detail)
    if isinstance(ending, LimitReached):
        return _AttemptEnd(ended_by=f"limit:{ending.name}")
    if isinstance(ending, SessionOver):
        raise ending.error
    if isinstance(ending, ModelFailed) and ending.response.error is not None:
        kind = ending.response.error.model_failure
        return _AttemptEnd(ended_by=f"model:{kind}", failed=ending.response)
    raise ending


async def _answer_of_stages(solver: BoundSolver, episode: Episode) -> str | None:
    """Return the solver's answer to the last stage of a task; most tasks have one."""
    while True:
        answer = None
        try:
            answer = await _answer_of(solver, episode)
        except LimitReached:
            if episode.ending is None:
                raise
        if not await episode.next_stage():
            return answer


async def _answer_of(solver: BoundSolver, episode: Episode) -> str | None:
    task = asyncio.ensure_future(_solve(solver, episode))
    abandoned = asyncio.ensure_future(episode.abandoned.wait())
    try:
        await asyncio.wait({task, abandoned}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError as error:
        # The session ends. A solver may catch the cancellation and ask again: then its episode
        # abandons it, and it is left behind suspended.
        episode.ending = episode.ending or SessionOver(error)
        task.cancel()
        await asyncio.wait({task, abandoned}, return_when=asyncio.FIRST_COMPLETED)
        raise
    finally:
        abandoned.cancel()
        if not task.done():
            leave_suspended(task)
    if task.cancelled():
        raise EnvironmentFault("solver_raised", "the solver cancelled its own task")
    return await task if task.done() else None


async def _solve(solver: BoundSolver, episode: Episode) -> str | None:
    """Return the solver's answer; `sys.exit` in it does not end the run."""
    try:
        return await solver.solve(episode.sample, episode)
    except SystemExit as error:
        raise EnvironmentFault("solver_raised", f"the solver called sys.exit({error})") from error


def _is_answer(episode: Episode, text: str, response: Response) -> bool:
    """Return whether the final answer is the last one of the model: not another text, nor one whose
    calls were run, which lacks no text.
    """
    is_acted_on = bool(episode.messages) and episode.messages[-1].role == "tool"
    return not is_acted_on and text.strip() == response.text.strip()


def _failure_of(response: Response, plan: Plan, sample: Sample) -> dict[str, str] | None:
    """Return how the model's last answer failed; None where it did not."""
    failure = verdict_before_scoring(response, truncated=plan.config.truncated, sample=sample)
    return None if failure is None else {"kind": failure.kind, "detail": failure.detail}


def without_gold(sample: Sample, fields: Sequence[str]) -> Sample:
    """Return a sample as solvers and tools see it: without its gold answer, in any field.

    Args:
        sample: The sample.
        fields: Names of the gold fields of its row; dotted names reach into nested rows.
    """
    metadata: dict[str, Any] = dict(sample.metadata)
    for name in fields:
        metadata = _without(metadata, name.split("."))
    return replace(sample, target=None, metadata=metadata, recorded_response=None)


def _without(row: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    head, *tail = path
    if head not in row:
        return row
    if tail and isinstance(row[head], dict):
        return {**row, head: _without(row[head], tail)}
    return {name: value for name, value in row.items() if name != head}


def _unscored_response(kind: str, detail: str) -> Response:
    return Response(error=ResponseError(kind=kind, message=detail, cause="environment"))
