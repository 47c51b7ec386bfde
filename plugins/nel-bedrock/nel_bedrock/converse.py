"""The Converse API of Amazon Bedrock: how a request is written and signed, and how an answer is
read.

botocore finds the credentials, by its usual chain, and signs; nothing of either is stored. Sends
nothing itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final
from urllib.parse import quote, urlsplit

from nel.clients import (
    AnswerStream,
    ConfigError,
    EndpointConfig,
    Fault,
    Message,
    NotInProtocol,
    Request,
    Response,
    Usage,
    Wire,
    data_of,
    image_of,
    malformed_fault,
    merge_body,
    read_text,
    system_apart,
    unknown_part,
)
from nel.core.json_values import present
from nel_bedrock.event_stream import ConverseStream

_SERVICE: Final = "bedrock"
_REGION: Final = re.compile(r"^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws|api\.aws)")
_FORMATS: Final = ("gif", "jpeg", "png", "webp")


class Converse(Wire):
    """Converse, of Amazon Bedrock."""

    name = "bedrock"
    listing = None
    signs = True
    unsupported: ClassVar = {"seed": "--seed", "reasoning_effort": "--reasoning-effort"}

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go: the model's name, or an ARN, stands in it."""
        return f"/model/{quote(model, safe='')}/converse{'-stream' if stream else ''}"

    def check(self, endpoint: EndpointConfig) -> None:
        """Raise ConfigError where there are no credentials or no region."""
        if _has_key(endpoint):
            return
        self._region(endpoint)
        if self._session.get_credentials() is None:
            raise ConfigError(
                "no AWS credentials were found; set AWS_PROFILE or AWS_ACCESS_KEY_ID and"
                " AWS_SECRET_ACCESS_KEY, or name the variable that holds an API key of Bedrock with"
                " --api-key-env"
            )

    def secrets(self, endpoint: EndpointConfig) -> Sequence[str]:
        """Return the secrets of the credentials as they are now."""
        if _has_key(endpoint):
            return ()
        credentials = self._session.get_credentials()
        if credentials is None:
            return ()
        frozen = credentials.get_frozen_credentials()
        return tuple(secret for secret in (frozen.secret_key, frozen.token) if secret)

    async def sign(
        self,
        endpoint: EndpointConfig,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> Mapping[str, str]:
        """Return the headers of Signature Version 4; none where a key is sent instead."""
        if _has_key(endpoint):
            return {}
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - needed for a request only
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415 - needed for a request only

        # Credentials that expire are fetched again, which may ask a server.
        credentials = await asyncio.to_thread(
            self._session.get_credentials().get_frozen_credentials
        )
        request = AWSRequest(
            method=method, url=url, data=body, headers={"Content-Type": headers["Content-Type"]}
        )
        SigV4Auth(credentials, _SERVICE, self._region(endpoint)).add_auth(request)
        return {name: value for name, value in request.headers.items() if name != "Content-Type"}

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the JSON body of a request."""
        generation = request.generation
        system, messages = system_apart(request.messages, self.name)
        limits = {
            "maxTokens": generation.max_tokens,
            "temperature": generation.temperature,
            "topP": generation.top_p,
            "stopSequences": None if generation.stop is None else list(generation.stop),
        }
        body: dict[str, object] = {"messages": [_message(message) for message in messages]}
        if system is not None:
            body["system"] = [{"text": system}]
        if settings := present(limits):
            body["inferenceConfig"] = settings
        return merge_body(body, generation.extra)

    def neutral(self, body: Mapping[str, Any], prompt: str) -> dict[str, Any]:
        """Return a body with one message and no system message."""
        others = {name: value for name, value in body.items() if name != "system"}
        return {**others, "messages": [{"role": "user", "content": [{"text": prompt}]}]}

    def answer(self, payload: object) -> Response | Fault:
        """Return the text of all blocks of a message, reasoning apart."""
        if not isinstance(payload, dict):
            return malformed_fault(f"the body is a JSON {type(payload).__name__}, not an object")
        message = (payload.get("output") or {}).get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), list):
            return malformed_fault("the body has no output.message.content")
        blocks = [block for block in message["content"] if isinstance(block, dict)]
        thoughts = [
            (block["reasoningContent"].get("reasoningText") or {}).get("text")
            for block in blocks
            if isinstance(block.get("reasoningContent"), dict)
        ]
        reasoning = "\n".join(thought for thought in thoughts if isinstance(thought, str))
        text = read_text(
            "".join(block["text"] for block in blocks if isinstance(block.get("text"), str)),
            finish_reason=str(payload["stopReason"]) if payload.get("stopReason") else None,
            reasoning=reasoning or None,
        )
        return Response(
            text=text.text,
            reasoning=text.reasoning,
            finish_reason=text.finish_reason,
            usage=_usage(payload.get("usage")),
        )

    def stream(self) -> AnswerStream:
        """Return a collector of binary events."""
        return ConverseStream()

    @cached_property
    def _session(self) -> Any:
        from botocore.session import get_session  # noqa: PLC0415 - needed for a request only

        return get_session()

    def _region(self, endpoint: EndpointConfig) -> str:
        match = _REGION.match(urlsplit(endpoint.url).hostname or "")
        region = match[1] if match else self._session.get_config_variable("region")
        if not region:
            raise ConfigError(
                f"the AWS region of {endpoint.url} is not known; give --model-url "
                "https://bedrock-runtime.REGION.amazonaws.com, or set AWS_DEFAULT_REGION"
            )
        return str(region)


def _has_key(endpoint: EndpointConfig) -> bool:
    """Return whether requests carry a key of their own, so that they are not signed."""
    return endpoint.api_key_env is not None or any(
        name.lower() == "authorization" for name in endpoint.headers_env
    )


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message.content, str):
        return {"role": message.role, "content": [{"text": message.content}]}
    return {"role": message.role, "content": [_block(block) for block in message.content]}


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "text":
        return {"text": block.get("text")}
    if block.get("type") != "image_url":
        raise unknown_part(block, Converse.name)
    data = data_of(image_of(block))
    if data is None:
        raise NotInProtocol(
            "the bedrock protocol takes images as data only; give a file or a data URL"
        )
    form = data[0].removeprefix("image/").replace("jpg", "jpeg")
    if form not in _FORMATS:
        raise NotInProtocol(
            f"the bedrock protocol takes images of {', '.join(_FORMATS)}, not {data[0]}"
        )
    return {"image": {"format": form, "source": {"bytes": data[1]}}}


def _usage(usage: object) -> Usage:
    """Return the counts; tokens that were read from or written to the cache are not among
    ``inputTokens``.
    """
    counts = usage if isinstance(usage, dict) else {}
    prompt_tokens = _count(counts.get("inputTokens"))
    cache_reads = _count(counts.get("cacheReadInputTokens"))
    if prompt_tokens is not None:
        prompt_tokens += (cache_reads or 0) + (_count(counts.get("cacheWriteInputTokens")) or 0)
    return Usage(
        prompt_tokens=prompt_tokens,
        completion_tokens=_count(counts.get("outputTokens")),
        cached_tokens=cache_reads,
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= 2**53 else None


bedrock = Converse()
