"""How a sample is asked: one request, or one for each turn of a conversation; and what scorers ask of the model.

Every answer but the last of a sample is kept in the store's table of calls before the next request goes out, so that a
resume or a new scorer never pays for it again. Trap: a call is known by its sample, its body and how often that body
was sent before for this sample; a scorer that asks the same thing twice gets two answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from nel.core.strict_json import dumps_bytes, loads
from nel.engine.loglikelihood import rank
from nel.engine.plan import Plan
from nel.engine.response_outcomes import verdict_before_scoring
from nel.engine.scorers.call import ScoringTask
from nel.engine.store.codec import decode_response, encode_response
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
from nel.errors import EndpointError, ScorerError, did_you_mean
from nel.models.budget import BudgetSpent
from nel.models.client import Client, Parse
from nel.models.echo_probe import UNPROBED, EchoSupport
from nel.models.pacing import EndpointDown, GateClosed
from nel.models.protocols import build_body
from nel.solvers.generate import build_request
from nel.types import Generation, Message, Request, Response, Sample

_OPTIONS = ("max_tokens", "temperature", "top_p", "stop", "seed")

Place = tuple[int, int, int]
"""``(benchmark, idx, repeat)`` in the store."""

Commit = Callable[[bytes | None, Response], Awaitable[None]]
"""Puts a sample's last body and answer on disk."""

ENDINGS = (GateClosed, EndpointDown, BudgetSpent)
"""What a request raises when no further one will be sent in this session."""


@dataclass(slots=True)
class SampleRunner:
    """Asks samples and answers scorers, through one client and one store."""

    client: Client | None
    store: Store
    snapshot: Snapshot
    echo: EchoSupport = UNPROBED
    """What the server can do for log-likelihoods, once it was probed."""

    async def ask(self, plan: Plan, sample: Sample, place: Place, commit: Commit) -> tuple[bytes | None, Response]:
        """Return the body sent last and the answer to it, after both are committed; for recorded answers no body.

        Raises:
            GateClosed: The run is stopping; nothing was committed, as with the following.
            EndpointDown: The endpoint was waited for as long as it may be.
            BudgetSpent: The next request might pass a cap.
        """
        if plan.eval_only or self.client is None:
            recorded = Response(text=sample.recorded_response or "")
            await commit(None, recorded)
            return None, recorded
        if plan.benchmark.loglikelihood:
            return await self._rank(plan, sample, place, commit)
        request = build_request(
            sample,
            repeat=place[2],
            model=plan.model or "",
            protocol=plan.protocol,
            generation=plan.generation,
            system_prompt=plan.config.system_prompt,
        )
        body = self._body(request)
        for turn, following in enumerate(sample.turns):
            response = await self._kept(place, f"turn-{turn}", request, body, truncated=plan.config.truncated)
            if response.error or verdict_before_scoring(response, truncated=plan.config.truncated) is not None:
                await commit(body, response)
                return body, response
            said = Message(role="assistant", content=response.text)
            request = replace(request, messages=(*request.messages, said, Message(role="user", content=following)))
            body = self._body(request)
        response = await self.client.complete(request, body, keep=partial(commit, body))
        if response.error is not None:
            await commit(body, response)
        return body, response

    async def _rank(self, plan: Plan, sample: Sample, place: Place, commit: Commit) -> tuple[bytes | None, Response]:
        """Return the choices' log-likelihoods; each is kept as it comes, and the whole committed at the end."""
        body, response = await rank(
            sample,
            model=plan.model or "",
            delimiter=plan.benchmark.target_delimiter,
            repeat=place[2],
            generation=plan.generation,
            echo=self.echo,
            ask=partial(self._kept, place),
        )
        await commit(body, response)
        return body, response

    async def answer(self, plan: Plan, item: ScoringTask, payload: Mapping[str, Any]) -> str:
        """Return the model's answer to what a scorer asks: text, or messages with ``role`` and ``content``.

        Raises:
            EndpointError: There is no endpoint, or it gave no usable answer; the sample is unscored by ``infra``.
            ScorerError: The scorer asked for something that is no prompt, or with an unknown option.
        """
        request = _request(plan, item, payload)
        body = self._body(request)
        digest = hashlib.sha256(body).hexdigest()
        counts = item.talk.counts
        counts[digest] += 1
        key = f"call-{digest}-{counts[digest]}"
        place = (item.job, item.idx, item.repeat)
        try:
            async with item.talk.asking(key):
                response = await self._kept(place, key, request, body)
        except ENDINGS as ending:
            raise EndpointError(f"the model was not asked for the scorer: {ending}") from ending
        if response.error is not None:
            raise EndpointError(f"the model did not answer the scorer: {response.error.message}")
        return response.text

    async def _kept(
        self,
        place: Place,
        key: str,
        request: Request,
        body: bytes,
        parse: Parse | None = None,
        *,
        truncated: Any = None,
    ) -> Response:
        """Return the answer that the store has, or ask and store it before it counts."""
        known = self.snapshot.call(*place, key)
        if known is not None:
            return decode_response(known)
        if self.client is None:
            raise EndpointError("there is no endpoint in this session to ask")

        async def keep(response: Response) -> None:
            if truncated is None or verdict_before_scoring(response, truncated=truncated) is None:
                await self.store.put_call(*place, key, body.decode(), encode_response(response))

        return await self.client.complete(request, body, call=key, keep=keep, parse=parse)

    def _body(self, request: Request) -> bytes:
        return dumps_bytes(build_body(request, stream=self.client is not None and self.client.endpoint.stream))


def conversation_of(sample: Sample, body: str | bytes | None, response: Response) -> tuple[dict[str, Any], ...]:
    """Return all messages of a sample with several turns, the last answer included; nothing for any other sample."""
    if not sample.turns or body is None:
        return ()
    messages: Sequence[dict[str, Any]] = loads(body)["messages"]
    return (*messages, {"role": "assistant", "content": response.text})


def _request(plan: Plan, item: ScoringTask, payload: Mapping[str, Any]) -> Request:
    prompt, options = payload["prompt"], dict(payload["options"])
    for name in options:
        if name not in _OPTIONS:
            hint = did_you_mean(name, _OPTIONS) or f"; it takes: {', '.join(_OPTIONS)}"
            raise ScorerError(f'model_call_fn has no option "{name}"{hint}')
    if plan.eval_only or plan.model is None:
        raise EndpointError("recorded answers are scored: there is no model to ask; give the run an endpoint")
    generation: Generation = replace(plan.generation, **options)
    sample = replace(item.sample, input=_input(prompt), turns=())
    return build_request(
        sample,
        repeat=item.repeat,
        model=plan.model,
        protocol=plan.protocol,
        generation=generation,
        system_prompt=None,
    )


def _input(prompt: Any) -> str | tuple[Message, ...]:
    if isinstance(prompt, str):
        return prompt
    try:
        return tuple(Message(role=message["role"], content=message["content"]) for message in prompt)
    except (TypeError, KeyError) as error:
        raise ScorerError(
            'model_call_fn takes text, or messages like {"role": "user", "content": "..."}; it was given '
            f"{str(prompt)[:80]}"
        ) from error
