"""Judges for `nel serve`: those of a run; replies are not kept, as each answer is judged once.

A judge that is down costs each answer its score and never the server: it is asked again with the
next answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from nel.config.openai_environment import key_variable
from nel.config.redaction import read_key
from nel.engine.judging.adaptation import JudgeAdaptation
from nel.engine.judging.endpoint_set import endpoint_key
from nel.engine.judging.endpoints import JudgeEndpoint
from nel.engine.judging.judges import Judges
from nel.engine.planning.plan import Plan, judging_models
from nel.engine.progress import Progress
from nel.engine.scorers.call import Delegated, ScoringTask
from nel.engine.stopping.exit_status import ExitStatus
from nel.judges.types import Case, Judgement
from nel.models.client import Client
from nel.types import Outcome, SampleKey, Unscored

if TYPE_CHECKING:
    from nel.config.schema import ModelConfig
    from nel.engine.store.plans import StoredPlan
    from nel.engine.store.rows import Asked, Row

JOB: Final = 0
"""The number of the one benchmark."""
_CONCURRENCY: Final = 32
_NEVER_SECONDS: Final = 1e9
"""An outage of a judge ends no server."""


class _NothingKept:
    """A store that keeps nothing, and what it holds."""

    session = 1

    def __init__(self, plan: StoredPlan, name: str) -> None:
        self._plan = plan
        self._name = name

    def append(self, rows: Sequence[Row]) -> asyncio.Future[None]:
        return _done()

    def put_plan(self, benchmark: int, plan: StoredPlan) -> asyncio.Future[None]:
        self._plan = plan
        return _done()

    def benchmarks(self) -> list[tuple[int, str, str, StoredPlan]]:
        return [(JOB, self._name, self._name, self._plan)]

    def reply(self, key: SampleKey, asked: Asked) -> Row | None:
        return None

    def has_reply(self, benchmark: int, judge: str | None = None) -> bool:
        return False


class ServedJudges:
    """The judges of a served benchmark; use it on one event loop."""

    def __init__(self, judges: Judges, timeout_seconds: float) -> None:
        """Take the judges, and for how long an answer waits for them."""
        self._refusal: str | None = None
        self._judges = judges
        self._timeout_seconds = timeout_seconds
        judges.on_end = self._on_refusal

    def _on_refusal(self, status: ExitStatus) -> None:
        self._refusal = status.reason

    async def judge(self, item: ScoringTask, turn: int, case: Case) -> Judgement:
        """Return the judgement that a scorer asks for; see `Judges.judge`."""
        return await self._judges.judge(item, turn, case)

    async def outcome(self, item: ScoringTask, result: Outcome | Delegated) -> Outcome:
        """Return the outcome of an answer, judged where its scorer leaves that to the judges."""
        if isinstance(result, Delegated):
            result = await self._judges.verdict(item, result)
        return self._judges.finalize(item, result) or self._unreached_judge()

    async def within_time(self, work: Awaitable[Outcome]) -> Outcome:
        """Return an outcome that has to be there in time."""
        try:
            return await asyncio.wait_for(work, self._timeout_seconds)
        except TimeoutError:
            reason = f"no judgement within {self._timeout_seconds:g} s{self._problems()}"
            return Unscored(cause="judge", kind="timeout", detail=reason)

    def _unreached_judge(self) -> Unscored:
        return Unscored(
            cause="judge",
            kind="outage",
            detail=self._refusal or f"the judge is down{self._problems()}",
        )

    def _problems(self) -> str:
        return "".join(f"; {problem}" for problem in self._judges.problems)


def _done() -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.set_result(None)
    return future


@asynccontextmanager
async def open_judges(
    plan: Plan, *, timeout_seconds: float, plugin_timeout_seconds: float, say: Callable[[str], None]
) -> AsyncIterator[ServedJudges | None]:
    """Open the judges that a benchmark may ask, and ask for their models; None where it has none.

    Raises:
        JudgePreflightError: A key is refused, or a model is not served.
    """
    members = judging_models([plan])
    if not members:
        yield None
        return
    async with AsyncExitStack() as clients:
        endpoints = await _open(members, clients)
        store = _NothingKept({"identity": dict(plan.fields)}, plan.benchmark.name)
        judges = Judges(
            store=store,
            snapshot=store,
            endpoint=None,
            judge_endpoints=endpoints,
            plugin_timeout_seconds=plugin_timeout_seconds,
            adaptation=JudgeAdaptation([], store, store, Progress()),
            plans={JOB: plan},
        )
        await judges.check()
        for problem in judges.problems:
            say(f"{problem}; answers are HTTP 503 until it answers")
        watching = asyncio.create_task(judges.watch())
        served = ServedJudges(judges, timeout_seconds)
        try:
            yield served
        finally:
            judges.stop_asking()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


async def _open(
    members: Sequence[ModelConfig], clients: AsyncExitStack
) -> dict[str, JudgeEndpoint]:
    endpoints: dict[str, JudgeEndpoint] = {}
    for member in members:
        key = endpoint_key(member)
        if key in endpoints:
            continue
        concurrency = member.concurrency or _CONCURRENCY
        # A run gives a judge up after its limit of an outage; a server waits for it to come back.
        lasting = member.model_copy(update={"outage_seconds_max": _NEVER_SECONDS})
        client = Client(lasting, api_key=read_key(key_variable(member)), connections=concurrency)
        endpoints[key] = JudgeEndpoint.of(await clients.enter_async_context(client), concurrency)
    return endpoints
