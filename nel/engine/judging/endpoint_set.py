"""The endpoints of a run's judges: which are down, stalled or disabled, and who waits for them.

An endpoint that is *down* or *stalled* may recover: its samples are parked. One that is *disabled*
refuses for a lasting reason, and is not asked again in this session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from nel.config.schema import EndpointConfig, JudgeConfig, ModelConfig
from nel.core.strict_json import dumps_bytes
from nel.engine.judging.endpoints import JudgeEndpoint, parked_error, share_slots
from nel.errors import JudgeError, JudgePreflightError, PreflightError, StoppedEarly
from nel.models.client import Client
from nel.models.faults import Fault
from nel.models.pacing import EndpointDown, GateClosed
from nel.models.preflight import JUDGE_FLAGS, check_endpoint, raise_if_hopeless
from nel.types import Request, Response

_POLL_SECONDS: Final = 0.1
_FATAL_KINDS: Final = frozenset({"auth", "not_found", "tls"})


class JudgeEndpoints:
    """The endpoints of all judges of a run."""

    def __init__(
        self, judge_endpoints: Mapping[str, JudgeEndpoint], panels: Sequence[JudgeConfig]
    ) -> None:
        """Share the slots among the endpoints; see `nel.engine.judging.judges.Judges`."""
        self._judge_endpoints = judge_endpoints
        self._panels = panels
        self._waits_for_stalled = False
        share_slots(judge_endpoints.values())

    async def watch(self) -> None:
        """Park the samples that wait for a judge that is down or stalled; runs until cancelled."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            for endpoint in self._judge_endpoints.values():
                if self._parks(endpoint):
                    endpoint.slots.reject_waiters()

    def _parks(self, endpoint: JudgeEndpoint) -> bool:
        """Return whether samples for an endpoint are parked instead of waiting for a slot."""
        return endpoint.is_down or (endpoint.is_stalled and not self._waits_for_stalled)

    def wait_for_stalled(self) -> None:
        """Let samples wait for stalled judges, now that only judging is left to do."""
        self._waits_for_stalled = True

    async def wait_until_up(self) -> None:
        """Return once no judge that is down is being probed."""
        while any(endpoint.is_down for endpoint in self._judge_endpoints.values()):  # noqa: ASYNC110 - a gate has no event for it
            await asyncio.sleep(_POLL_SECONDS)

    async def check(self) -> list[str]:
        """Ask each judge for its models before anything is paid for; return notes for the user.

        Raises:
            JudgePreflightError: A key is refused, a certificate not trusted, or a model not served;
                and the others of its panel are too few without it.
        """
        notes = []
        for endpoint in self._judge_endpoints.values():
            member = endpoint.client.endpoint
            if not isinstance(member, ModelConfig):
                continue  # the evaluated model judges itself, and has its own pre-flight
            try:
                await check_endpoint(endpoint.client, flags=JUDGE_FLAGS)
            except StoppedEarly as error:
                endpoint.unreachable = str(error)
                notes.append(
                    f"judge {member.label}: {error}; answers are kept, and judged once it answers"
                )
            except PreflightError as error:
                if not self._can_spare(endpoint):
                    judges = [judge for panel in self._panels for judge in panel.panel]
                    is_alone = {judge.label for judge in judges} == {member.label}
                    raise _of_judge(member, error, is_alone=is_alone) from error
                endpoint.disabled = f"{member.label}: {error}"
                notes.append(
                    f"judge {member.label}: {error}; the others judge without it, resume to have it"
                    " asked too"
                )
        return notes

    def _can_spare(self, endpoint: JudgeEndpoint) -> bool:
        """Return whether every panel can still decide without an endpoint and disabled ones."""
        is_member = False
        for panel in self._panels:
            members = [self.endpoint_of(member) for member in panel.panel]
            is_member = is_member or any(member is endpoint for member in members)
            remaining = [
                member
                for member in members
                if member is not None and member is not endpoint and member.disabled is None
            ]
            quorum = panel.quorum or len(members) // 2 + 1
            # A quorum may be set above the size of its panel; then all of its members are needed.
            if len(remaining) < min(quorum, len(members)):
                return False
        return is_member

    @property
    def _others(self) -> list[JudgeEndpoint]:
        """The endpoints other than the evaluated model's."""
        endpoints = self._judge_endpoints.values()
        return [endpoint for endpoint in endpoints if not endpoint.is_evaluated]

    @property
    def n_slots(self) -> int:
        """How many samples may hold slots of judges other than the evaluated model."""
        return sum(endpoint.slots.free + endpoint.in_flight for endpoint in self._others)

    @property
    def down_seconds(self) -> float | None:
        """For how long a judge has been down, the longest of several; None while all are up.

        The evaluated model may judge itself, but its outage is that of the run's endpoint.
        """
        seconds = [endpoint.client.gate.down_seconds for endpoint in self._others]
        return max((value for value in seconds if value is not None), default=None)

    @property
    def problems(self) -> list[str]:
        """Name, address and fault of each judge that is not asked now; thread-safe."""
        problems = [endpoint.problem for endpoint in self._others]
        return [problem for problem in problems if problem is not None]

    def clients(self) -> list[tuple[str, Client]]:
        """Return the name and the client of each judge."""
        return [(endpoint.name, endpoint.client) for endpoint in self._judge_endpoints.values()]

    def stop_asking(self) -> None:
        """Send no further question; requests in flight may finish."""
        for endpoint in self._judge_endpoints.values():
            endpoint.client.gate.close()
            endpoint.slots.reject_waiters()

    @property
    def disabled(self) -> str | None:
        """Why a judge is not asked again in this session; None where all are asked."""
        reasons = (endpoint.disabled for endpoint in self._judge_endpoints.values())
        return next((reason for reason in reasons if reason is not None), None)

    def _note_refusal(
        self, endpoint: JudgeEndpoint, member: ModelConfig, response: Response
    ) -> None:
        """Disable an endpoint that has never answered, once it refuses for a lasting reason.

        Raises:
            JudgeError: It is disabled, and the others of its panel judge without it.
            JudgePreflightError: They are too few without it.
        """
        error = response.error
        if error is None or error.kind not in _FATAL_KINDS:
            endpoint.n_refused = 0
            return
        endpoint.n_refused += 1
        if endpoint.client.gate.n_answered:  # key and model are right: one question was refused
            return
        fault = Fault(kind=error.kind, message=error.message, retryable=False, status=error.status)
        try:
            raise_if_hopeless(endpoint.client, fault, flags=JUDGE_FLAGS)
        except PreflightError as refused:
            judge_error = _of_judge(member, refused)
            if not self._can_spare(endpoint):
                raise judge_error from refused
            endpoint.disabled = str(judge_error).removeprefix("judge ")
            raise JudgeError(
                endpoint.disabled, kind=judge_error.endpoint_kind or "outage"
            ) from refused

    async def complete(
        self, member: ModelConfig, request: Request, body: bytes, **options: Any
    ) -> Response:
        """Return a judge's reply once it is kept, as `Client.complete`, unless the judge is down.

        Raises:
            JudgeError: There is no reply.
            JudgePreflightError: There has never been one, and the fault holds for every further
                question.
        """
        endpoint = self.endpoint_of(member)
        if endpoint is None:
            raise JudgeError(
                f"{member.label} is not asked in this session; resume to have it judge",
                kind="not_asked",
            )
        if endpoint.disabled is not None:
            raise JudgeError(endpoint.disabled, kind="outage")
        if self._parks(endpoint):
            raise parked_error()
        await endpoint.slots.acquire()
        with endpoint.request_in_flight():
            try:
                response = await endpoint.client.complete(request, body, **options)
            except GateClosed as closed:
                raise parked_error() from closed
            except EndpointDown as down:
                endpoint.disabled = f"{member.label}: {down} ({endpoint.client.trouble})"
                raise JudgeError(endpoint.disabled, kind="outage") from down
        self._note_refusal(endpoint, member, response)
        return response

    def endpoint_of(self, member: ModelConfig) -> JudgeEndpoint | None:
        """Return where a model is asked, None where it is not."""
        return self._judge_endpoints.get(endpoint_key(member))


def endpoint_key(member: EndpointConfig) -> str:
    """Return a key equal for models that share a client; it names an API key's variable only."""
    fields = member.model_dump(mode="json", include=set(EndpointConfig.model_fields))
    concurrency = member.concurrency if isinstance(member, ModelConfig) else None
    return dumps_bytes({**fields, "concurrency": concurrency}).decode()


def _of_judge(
    member: ModelConfig, error: PreflightError, *, is_alone: bool = False
) -> JudgePreflightError:
    """Return the error as one of a judge.

    The flags of a judge replace the whole panel, so a fix is offered for a judge that is alone.
    """
    fix: tuple[str, ...] = ()
    if error.fix and is_alone:
        flags = {JUDGE_FLAGS.url: member.url, JUDGE_FLAGS.model: member.model}
        if member.api_key_env:
            flags[JUDGE_FLAGS.key] = member.api_key_env
        # A fix alternates flags and values.
        flags |= dict(zip(error.fix[::2], error.fix[1::2], strict=True))
        fix = tuple(chain.from_iterable(flags.items()))
    return JudgePreflightError(
        f"judge {member.label}: {error}", endpoint_kind=error.endpoint_kind, fix=fix
    )
