"""Opens the judges of a session: a client for each endpoint, and the `Judges` that use them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial

from nel.config.openai_environment import key_variable
from nel.config.redaction import read_key
from nel.config.schema import RunConfig
from nel.engine.asking.asker import OpenRun
from nel.engine.judging.adaptation import JudgeAdaptation
from nel.engine.judging.cases import judge_models
from nel.engine.judging.endpoint_set import endpoint_key
from nel.engine.judging.endpoints import JudgeEndpoint
from nel.engine.judging.judges import Judges
from nel.engine.observability import monitor_gate
from nel.engine.planning.plan_judges import is_same_endpoint
from nel.engine.shared_limits import SharedLimits
from nel.engine.store.projections.replies import StoredReplies
from nel.models.client import Client
from nel.models.client_context import ClientContext


async def open_judges(
    opened: OpenRun,
    config: RunConfig,
    concurrency_of: Callable[[int | None], int],
    clients: AsyncExitStack,
    client: Client | None,
    context: ClientContext,
    limits: SharedLimits,
) -> Judges:
    """Open a client for each judge; the evaluated endpoint as a judge shares its client."""
    judge_endpoints: dict[str, JudgeEndpoint] = {}
    for member in judge_models([job.plan for job in opened.jobs], config.endpoint):
        key, concurrency = endpoint_key(member), concurrency_of(member.concurrency)
        if key in judge_endpoints:
            continue
        if client is not None and is_same_endpoint(member, client.endpoint):
            judge_endpoints[key] = JudgeEndpoint.of(client, concurrency)
            continue
        judge = await limits.open_client(
            clients,
            member,
            concurrency=member.concurrency or config.engine.concurrency,
            own_max=concurrency,
            api_key=read_key(key_variable(member)),
            context=context,
        )
        judge_endpoints[key] = JudgeEndpoint.of(judge, concurrency)
        monitor = monitor_gate(
            judge.gate,
            opened.observer,
            judge=judge_endpoints[key].name,
            reason=partial(getattr, judge, "trouble"),
        )
        clients.callback(asyncio.create_task(monitor).cancel)
    return judges_of(opened, config, judge_endpoints)


def judges_of(
    opened: OpenRun, config: RunConfig, judge_endpoints: Mapping[str, JudgeEndpoint]
) -> Judges:
    """Return the judges at some endpoints; without any, only stored replies are judged."""
    replies = StoredReplies(opened.snapshot)
    judges = Judges(
        store=opened.store,
        snapshot=replies,
        endpoint=config.endpoint,
        judge_endpoints=judge_endpoints,
        plugin_timeout_seconds=config.engine.scorer_timeout_seconds,
        adaptation=JudgeAdaptation(opened.jobs, opened.store, replies, opened.progress),
        plans={job.key: job.plan for job in opened.jobs},
    )
    opened.progress.judges = judges
    return judges
