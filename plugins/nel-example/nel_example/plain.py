"""A protocol of an endpoint's own: a question in, a reply out, and a digest of each request in a
header.
"""

import hashlib
from collections.abc import Mapping

from nel.clients import (
    AnswerStream,
    EndpointConfig,
    Fault,
    NotInProtocol,
    Request,
    Response,
    Usage,
    Wire,
    malformed_fault,
    only_text,
    read_text,
    system_apart,
)


class Plain(Wire):
    """Questions in, replies out: the protocol of a small in-house server."""

    name = "example-plain"
    listing = None
    signs = True
    unsupported = {  # noqa: RUF012 - as the base class has it
        "top_p": "--top-p",
        "seed": "--seed",
        "stop": "--stop",
    }

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go, below the base URL."""
        return "/completions"

    async def sign(
        self,
        endpoint: EndpointConfig,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> Mapping[str, str]:
        """Return the digest of what is sent, which the server checks."""
        return {"X-Digest": hashlib.sha256(body).hexdigest()}

    def body(self, request: Request, *, stream: bool) -> dict[str, object]:
        """Return the JSON body of a request."""
        system, messages = system_apart(request.messages, self.name)
        if stream or len(messages) != 1:
            raise NotInProtocol(
                f"the {self.name} protocol takes one question, and answers it at once"
            )
        question = only_text(messages[0], self.name)
        return {
            "model": request.model,
            "question": question if system is None else f"{system}\n\n{question}",
            "words": request.generation.max_tokens,
            "warmth": request.generation.temperature,
        }

    def neutral(self, body: Mapping[str, object], prompt: str) -> dict[str, object]:
        """Return a body with the settings of another one, and another question."""
        return {**body, "question": prompt}

    def answer(self, payload: object) -> Response | Fault:
        """Return the reply, or the fault that a body without one is."""
        if not isinstance(payload, dict) or not isinstance(payload.get("reply"), str):
            return malformed_fault("the body has no reply")
        text = read_text(payload["reply"], finish_reason="length" if payload.get("cut") else "stop")
        return Response(
            text=text.text,
            reasoning=text.reasoning,
            finish_reason=text.finish_reason,
            usage=Usage(completion_tokens=payload.get("used")),
        )

    def stream(self) -> AnswerStream:
        """Refuse: it is never reached, since `body` refuses a stream."""
        raise NotInProtocol(f"the {self.name} protocol has no streams")


plain = Plain()
