"""Tells an endpoint that refuses every request from samples that it refuses.

A sample may be refused for its content: a firewall objects to a word, a proxy closes the
connection. So the endpoint is at fault only once witnesses (samples from all over the dataset, and
a neutral prompt) are refused in the same way.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from nel.engine.asking.asker import Asker, Suspicion
from nel.engine.asking.generate import STOP_ERRORS, Exchange
from nel.engine.asking.work import WorkItem, WorkQueue
from nel.engine.asking.workers import Workers
from nel.engine.stopping.abort_conditions import EndpointFaultCounter
from nel.engine.stopping.exit_status import exit_status_of
from nel.engine.stopping.session_end import Stop
from nel.errors import StoppedEarly
from nel.models.client import Client
from nel.models.faults import is_refusal
from nel.models.preflight import refused_by_all
from nel.models.refusals import is_alike
from nel.types import Response, ResponseError

_WITNESSES: Final = 4
"""Samples beside the refused one; with the neutral prompt six requests are refused alike."""


class EndpointTrial:
    """Decides for one session whether the endpoint or its samples are at fault."""

    def __init__(
        self,
        client: Client,
        queue: WorkQueue,
        faults: EndpointFaultCounter,
        asker: Asker,
        stop: Stop,
        workers: Workers,
    ) -> None:
        """Start without a suspicion.

        Args:
            client: Of the endpoint.
            queue: Where other samples are taken from.
            faults: Raises the suspicions.
            asker: Asks samples.
            stop: Ends the session.
            workers: Beside which a suspicion is looked into.
        """
        self._stop = stop
        self._workers = workers
        self._client = client
        self._queue = queue
        self._faults = faults
        self._asker = asker
        self._acceptance = asker.acceptance
        self._is_running = False
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()

    async def wait(self) -> None:
        """Return once no trial runs; requests sent during one would be refused as well."""
        await self._may_go_on.wait()

    async def ask_first(self, item: WorkItem) -> None:
        """Ask one sample before the others, and hold a trial if it is refused.

        Refused exchanges are stored only once the endpoint is found not to be at fault; where it
        is, a resume asks these samples again.

        Raises:
            PreflightError: The endpoint refuses every request, and has never answered in this run.
            StoppedEarly: It refuses every request now, or nothing answers.
        """
        acceptance = self._acceptance
        acceptance.doubt()
        try:
            refused: list[tuple[WorkItem, Exchange]] = []
            error = await self._ask(item, refused)
            while error is not None and await self._is_adapted(item, error):
                refused.clear()
                error = await self._ask(item, refused)
            if error is None or not refused:
                return
            is_sure = error.kind == "tls"  # no prompt was sent that could be the reason
            if is_sure or await self._is_at_fault(item, refused[0][1].body, error, refused):
                acceptance.refuses_all = True
                fault = refused_by_all(self._client, error, item.job.plan.benchmark.protocol)
                if self._faults.has_answered:
                    raise StoppedEarly(str(fault), endpoint_kind=error.kind)
                raise fault
            acceptance.decide()
            for sample, exchange in refused:
                await self._asker.store(sample, exchange)
                await self._finish(sample, exchange)
        finally:
            acceptance.decide()  # after an error too: workers wait for it

    async def _ask(
        self, item: WorkItem, refused: list[tuple[WorkItem, Exchange]] | None
    ) -> ResponseError | None:
        """Ask a sample, and return the error of the endpoint, if it gave no answer.

        Args:
            item: The sample.
            refused: Collects exchanges that are not stored yet; None stores them at once.
        """
        exchange = await self._asker.ask(item)
        if exchange.is_stored or refused is None:
            await self._finish(item, exchange)
        else:
            refused.append((item, exchange))
        return _loss_of(exchange.response)

    async def _finish(self, item: WorkItem, exchange: Exchange) -> None:
        suspicion = await self._asker.finish(item, exchange)
        if suspicion is not None:
            self.suspect(item, suspicion)

    async def _is_adapted(self, item: WorkItem, error: ResponseError) -> bool:
        """Return whether requests were adapted to a refusal, which is done before any answer only.

        Such refusals name a parameter that the model does not accept.
        """
        if self._faults.has_answered or self._acceptance.is_decided:
            return False
        from nel.engine.asking.adaptation import adapt  # noqa: PLC0415 - few models ask for any

        return await adapt(item, error, self._asker)

    def suspect(self, item: WorkItem, suspicion: Suspicion) -> None:
        """Hold a trial beside the workers, and stop the session if the endpoint is at fault."""
        error = suspicion.error
        if error.kind == "quota" or (error.kind == "tls" and not self._faults.has_answered):
            self._stop.request(suspicion.status)
        elif not self._is_running:
            self._is_running = True
            # Further samples would be refused as well. After other faults, such as timeouts, they
            # may be answered, and go on meanwhile.
            if is_refusal(error):
                self._may_go_on.clear()
            self._workers.start(self._settle(item, suspicion))

    async def _settle(self, item: WorkItem, suspicion: Suspicion) -> None:
        status, body, error = suspicion
        try:
            if not await self._is_at_fault(item, body, error):
                self._faults.clear()
                return
            if is_refusal(error):
                protocol = item.job.plan.benchmark.protocol
                refused = exit_status_of(refused_by_all(self._client, error, protocol))
                status = replace(status, reason=refused.reason, fix=refused.fix)
            self._stop.request(status)
        except STOP_ERRORS as ending:
            self._stop.request_after(ending)
        finally:
            self._is_running = False
            self._may_go_on.set()

    async def _is_at_fault(
        self,
        item: WorkItem,
        body: bytes | None,
        error: ResponseError,
        refused: list[tuple[WorkItem, Exchange]] | None = None,
    ) -> bool:
        """Return whether samples from all over the dataset and a neutral prompt fail alike."""
        for witness in self._queue.spread(_WITNESSES):
            witness_error = await self._ask(witness, refused)
            if witness_error is None or not is_alike(witness_error, error):
                return False
        neutral_error = await self._client.ask_neutral(item.job.plan.protocol, body or b"{}")
        return neutral_error is not None and is_alike(neutral_error, error)


def _loss_of(response: Response) -> ResponseError | None:
    """Return the endpoint's error; None for an answer or a failure of the model."""
    error = response.endpoint_error
    return None if error is None or error.model_failure is not None else error
