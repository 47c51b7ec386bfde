"""The routes of `nel serve`, with the names and bodies of NeMo Evaluator's.

An answer that has no score is an error of HTTP, never a reward: a training loop must not learn from
0 where a scorer failed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

from nel.apps.http_server import has_token, host_of, is_named
from nel.apps.serve.samples import SAMPLE_ID, ServedSamples, expected_text
from nel.apps.serve.scoring import AnswerScorer
from nel.core.json_values import is_whole
from nel.core.strict_json import dumps, loads
from nel.errors import NelError
from nel.types import JsonObject, ModelFailure, Outcome, Sample, Scored, Unscored

_BODY_BYTES_MAX: Final = 16 * 1024**2
_ELSEWHERE: Final = frozenset({"sandbox", "infra", "cancelled", "budget"})
"""Causes for which the same answer may get a score later: 503 instead of 500."""
_JUDGE_AWAY: Final = frozenset(
    {"outage", "timeout", "server_error", "rate_limit", "connection", "auth", "not_found"}
)
"""Faults of a judge that say nothing of its reply."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What the routes serve."""

    served: ServedSamples
    scorer: AnswerScorer
    hosts: frozenset[str]
    """Names by which the server may be addressed; empty: any."""
    token: str | None = field(default=None, repr=False)


SERVICE: Final = web.AppKey("service", Service)


class Refused(NelError):
    """A request that cannot be answered; `status` is that of HTTP."""

    def __init__(self, status: int, message: str, **fields: object) -> None:
        """Keep what the answer says beside the message."""
        super().__init__(message)
        self.status = status
        self.fields = fields


def serving_app(service: Service) -> web.Application:
    """Return the application."""
    app = web.Application(
        client_max_size=_BODY_BYTES_MAX, middlewares=[_errors_as_json, _check_client]
    )
    app[SERVICE] = service
    app.router.add_get("/health", _health)
    app.router.add_get("/dataset_size", _dataset_size)
    app.router.add_post("/seed_session", _seed_session)
    app.router.add_post("/verify", _verify)
    return app


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refused as error:
        return _json(
            {"error": {"message": str(error), **error.fields}, "detail": str(error)},
            status=error.status,
        )
    except web.HTTPException as error:
        return _json(
            {"error": {"message": error.reason}, "detail": error.reason}, status=error.status
        )


@web.middleware
async def _check_client(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests without the token, and those of pages of other sites."""
    service = request.app[SERVICE]
    host = host_of(request.headers.get("Host"))
    if service.hosts and not is_named(host, service.hosts):
        raise Refused(421, f"this server is not {host}")
    if not has_token(request, service.token):
        raise Refused(401, "send the token as Authorization: Bearer TOKEN")
    # A page of another site can send JSON only after a preflight request, which is not answered.
    if request.method == "POST" and request.content_type != "application/json":
        raise Refused(415, "send JSON with Content-Type: application/json")
    return await handler(request)


async def _health(request: web.Request) -> web.Response:
    served = request.app[SERVICE].served
    name = served.plan.benchmark.name
    return _json(
        {
            "status": "ok",
            "benchmark": name,
            "dataset_size": len(served.samples),
            "protocol": "evaluator",
        }
    )


async def _dataset_size(request: web.Request) -> web.Response:
    return _json({"size": len(request.app[SERVICE].served.samples)})


async def _seed_session(request: web.Request) -> web.Response:
    served = request.app[SERVICE].served
    idx = (await _body(request)).get("idx", 0)
    if not is_whole(idx) or not 0 <= idx < len(served.samples):
        raise Refused(
            400,
            f"idx={idx!r} is out of range; give a whole number from 0 to {len(served.samples) - 1}",
        )
    return _json(served.question_json(served.samples[idx]))


async def _verify(request: web.Request) -> web.Response:
    service = request.app[SERVICE]
    body = await _body(request)
    is_gym = "expected" not in body
    sample = _sample_of(service.served, body, is_gym=is_gym)
    text = answer_text(body.get("response"))
    if service.scorer.is_full:
        raise Refused(503, "too many answers wait for their scores; send fewer at the same time")
    finish = body.get("finish_reason")
    outcome = await service.scorer.score(sample, text, finish if isinstance(finish, str) else None)
    score = score_json(outcome)
    if not is_gym:
        return _json({**score, "metadata": {SAMPLE_ID: sample.id}})
    score["expected_answer"] = expected_text(sample)
    score |= {key: body[key] for key in ("responses_create_params", "response") if key in body}
    return _json(score)


def _sample_of(served: ServedSamples, body: JsonObject, *, is_gym: bool) -> Sample:
    metadata = body.get("metadata")
    sample = served.of(metadata.get(SAMPLE_ID)) if isinstance(metadata, dict) else None
    if sample is None:
        raise Refused(
            400,
            f"metadata.{SAMPLE_ID} names no sample; send the metadata back as /seed_session, or the"
            " export, has it",
        )
    key = "expected_answer" if is_gym else "expected"
    expected = body.get(key)
    if expected not in (None, expected_text(sample), sample.target):
        raise Refused(400, f'{key} is not that of sample "{sample.id}"; is it of another dataset?')
    return sample


def answer_text(response: object) -> str:
    """Return the text of an answer: a text, NeMo Gym's ``output``, or a completion's ``choices``.

    Raises:
        Refused: It is none of these.
    """
    if isinstance(response, str):
        return response
    if isinstance(response, dict):
        # NeMo Gym's output holds calls and reasoning too, which are not the answer.
        messages = [item for item in response.get("output") or () if _is_answer(item)]
        if messages:
            return "\n".join(_content_text(item.get("content")) for item in messages).strip()
        for choice in response.get("choices") or ():
            message = choice.get("message") if isinstance(choice, dict) else None
            if isinstance(message, dict) and isinstance(message.get("content"), str):
                return str(message["content"])
    raise Refused(
        400,
        "response is not an answer; send text, a response with output, or a chat completion with"
        " choices",
    )


def _is_answer(item: object) -> bool:
    return (
        isinstance(item, dict) and item.get("type") == "message" and item.get("role") == "assistant"
    )


def _content_text(content: object) -> str:
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [item.get("text") for item in parts if isinstance(item, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def score_json(outcome: Outcome) -> dict[str, object]:
    """Return the reward of an outcome and what it was made of.

    Raises:
        Refused: There is no score.
    """
    if isinstance(outcome, Unscored):
        is_temporary = outcome.cause in _ELSEWHERE or (
            outcome.cause == "judge" and outcome.kind in _JUDGE_AWAY
        )
        raise Refused(
            503 if is_temporary else 500,
            f"the answer has no score: {outcome.detail}",
            cause=outcome.cause,
            kind=outcome.kind,
        )
    details: dict[str, object] = {**outcome.details, **outcome.metrics}
    if isinstance(outcome, ModelFailure):
        details |= {"outcome": "model_failure", "kind": outcome.kind, "detail": outcome.detail}
    reward = outcome.reward if isinstance(outcome, Scored) else 0.0
    return {"reward": reward, "extracted_answer": outcome.answer, "scoring_details": details}


async def _body(request: web.Request) -> dict[str, Any]:
    data = await request.read()
    try:
        body = loads(data) if data else {}
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise Refused(400, f"the body is a {type(body).__name__}, not a JSON object")
    return body


def _json(content: Mapping[str, object], *, status: int = 200) -> web.Response:
    return web.Response(text=dumps(content), status=status, content_type="application/json")
