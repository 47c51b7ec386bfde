"""Answers ``echo`` for llama.cpp's server, which ignores it: has that server repeat the prompt
token by token.

A grammar that allows one sequence of token ids alone has the server generate the prompt's own
tokens, and what it says of each is the log-probability before the grammar. Special tokens and
pieces of characters, which a grammar cannot hold, are looked up among all tokens at their place.
Depends on llama.cpp's own routes ``/tokenize`` and ``/completion``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from nel.apps.mock.request_parsing import EndpointFault, parse_call, wrong
from nel.apps.mock.tokens import legacy_json

Ask = Callable[[str, Mapping[str, object]], Awaitable[Any]]
"""Sends a JSON body to a path of llama.cpp's server and returns the decoded answer; raises
`EndpointFault`.
"""

_SPECIAL: Final = re.compile(r"<[^<>\s]{1,60}>|\[[A-Z]{1,20}\]")
_BIAS: Final = 1e6
_VOCABULARY_MAX: Final = 1 << 20
_PLAIN: Final = {"temperature": 0, "cache_prompt": True}
_ANSWER_TOKENS: Final = 16
"""What OpenAI's completions generate where nothing is asked for; llama.cpp would not stop."""


@dataclass(slots=True)
class _Token:
    """One token with its log-probability and the likeliest ones at its place; None of the first of
    a text.
    """

    id: int
    text: str
    """Empty for a piece of a character, but for the last one, which has it whole."""
    is_piece: bool = False
    logprob: float | None = None
    top: dict[str, float] | None = None

    @property
    def is_alone(self) -> bool:
        """Return whether no grammar can hold it."""
        return self.is_piece or _SPECIAL.fullmatch(self.text) is not None

    def read(self, entry: Mapping[str, Any], wanted: int) -> None:
        """Take what the server says of it."""
        self.logprob = entry["logprob"]
        self.top = {
            alternative["token"]: alternative["logprob"]
            for alternative in reversed(entry["top_logprobs"][:wanted])
        }
        self.top[self.text] = entry["logprob"]


@dataclass(frozen=True, slots=True)
class PromptEcho:
    """Echoes prompts of one server."""

    ask: Ask
    context_tokens: int
    """Most tokens of a prompt and its answer."""

    async def complete(self, body: Mapping[str, Any]) -> dict[str, object]:
        """Return the answer to a completions request with ``echo``, in the legacy form.

        Raises:
            EndpointFault: The request is not supported, does not fit, or the server refused it.
        """
        call = parse_call("completions", body, {})
        prompts, wanted = [query.text for query in call.queries], call.logprobs
        if not all(prompts):
            raise wrong("with echo, none of the prompts may be empty", "prompt")
        limit = _ANSWER_TOKENS if (asked := call.queries[0].max_tokens) is None else asked
        choices, n_prompt, n_answer = [], 0, 0
        for index, prompt in enumerate(prompts):
            tokens = await self._tokens(prompt)
            if len(tokens) + limit > self.context_tokens:
                raise _too_long(len(tokens) + limit, self.context_tokens)
            if wanted is not None:
                await self._repeat(tokens, wanted)
            text, ending, answer = await self._answer(body, tokens, wanted or 1, limit)
            rows = [(token.text, token.logprob, token.top) for token in (*tokens, *answer)]
            choices.append(
                {
                    "index": index,
                    "text": prompt + text,
                    "logprobs": None if wanted is None else legacy_json(rows),
                    "finish_reason": ending,
                }
            )
            n_prompt, n_answer = n_prompt + len(tokens), n_answer + len(answer)
        usage = {
            "prompt_tokens": n_prompt,
            "completion_tokens": n_answer,
            "total_tokens": n_prompt + n_answer,
        }
        return {
            "object": "text_completion",
            "model": body.get("model"),
            "choices": choices,
            "usage": usage,
        }

    async def _tokens(self, prompt: str) -> list[_Token]:
        asked = {"content": prompt, "with_pieces": True, "add_special": True, "parse_special": True}
        tokens, pending = [], b""
        for token in (await self.ask("/tokenize", asked))["tokens"]:
            piece = token["piece"]
            if isinstance(piece, str) and not pending:
                tokens.append(_Token(token["id"], piece))
                continue
            pending += piece.encode() if isinstance(piece, str) else bytes(piece)
            text = _whole(pending)
            pending = b"" if text else pending
            tokens.append(_Token(token["id"], text, is_piece=True))
        return tokens

    async def _repeat(self, tokens: Sequence[_Token], wanted: int) -> None:
        """Read the log-probabilities of all tokens but the first."""
        at = 1
        for is_alone, group in groupby(tokens[1:], key=lambda token: token.is_alone):
            run = list(group)
            for block in [[entry] for entry in run] if is_alone else [run]:
                before = [token.id for token in tokens[:at]]
                entries = await (
                    self._looked_up(before, block[0])
                    if is_alone
                    else self._dictated_tokens(before, block, wanted)
                )
                if [entry["id"] for entry in entries] != [token.id for token in block]:
                    raise EndpointFault(
                        500, "echo_failed", "the server did not repeat the prompt's tokens"
                    )
                for token, entry in zip(block, entries, strict=True):
                    token.read(entry, wanted)
                at += len(block)

    async def _dictated_tokens(
        self, before: list[int], tokens: Sequence[_Token], wanted: int
    ) -> list[dict[str, Any]]:
        """Return what the server says of tokens that it is made to generate."""
        grammar = "root ::= " + " ".join(f"<[{token.id}]>" for token in tokens)
        asked = {
            "prompt": before,
            "n_predict": len(tokens),
            "n_probs": max(1, wanted),
            "grammar": grammar,
        }
        answer = await self.ask("/completion", {**asked, **_PLAIN, "samplers": ["top_k"]})
        return answer.get("completion_probabilities") or []

    async def _looked_up(self, before: list[int], token: _Token) -> list[dict[str, Any]]:
        """Return what the server says of a token that it does not generate: any other one is, and
        all are listed.
        """
        other = (await self.ask("/tokenize", {"content": "a", "add_special": False}))["tokens"][0]
        asked = {
            "prompt": before,
            "n_predict": 1,
            "n_probs": _VOCABULARY_MAX,
            "logit_bias": [[other, _BIAS]],
        }
        answer = await self.ask("/completion", {**asked, **_PLAIN, "samplers": []})
        listed = answer["completion_probabilities"][0]["top_logprobs"]
        return [{**entry, "top_logprobs": listed} for entry in listed if entry["id"] == token.id]

    async def _answer(
        self, body: Mapping[str, Any], tokens: Sequence[_Token], wanted: int, limit: int
    ) -> tuple[str, str, list[_Token]]:
        """Return what the model says after a prompt, why it ended, and its tokens."""
        if limit == 0:
            return "", "length", []
        own = {name: value for name, value in body.items() if name != "echo"}
        asked = {
            **own,
            "prompt": [token.id for token in tokens],
            "max_tokens": limit,
            "logprobs": max(1, wanted),
        }
        choice = (await self.ask("/v1/completions", asked))["choices"][0]
        answer = []
        for entry in (choice.get("logprobs") or {}).get("content") or []:
            answer.append(_Token(entry["id"], entry["token"]))
            answer[-1].read(entry, wanted)
        return choice["text"], choice["finish_reason"], answer


def _whole(data: bytes) -> str:
    """Return the characters that bytes are, and nothing while one of them is cut."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _too_long(n_tokens: int, n_max: int) -> EndpointFault:
    message = (
        f"the request exceeds the available context size: {n_tokens} tokens with the answer, of"
        f" {n_max}"
    )
    return EndpointFault(400, "exceed_context_size_error", message)
