"""Answers ``echo`` for llama.cpp's server, which ignores it, by having it repeat the prompt.

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
"""Sends a JSON body to a path of the server; returns its answer or raises `EndpointFault`."""

_SPECIAL: Final = re.compile(r"<[^<>\s]{1,60}>|\[[A-Z]{1,20}\]")
_BIAS: Final = 1e6
_VOCABULARY_MAX: Final = 1 << 20
_SETTINGS: Final = {"temperature": 0, "cache_prompt": True}
_ANSWER_TOKENS: Final = 16
"""What OpenAI's completions generate where nothing is asked for; llama.cpp would not stop."""


@dataclass(slots=True)
class _Token:
    """One token, with its log-probability and the likeliest ones at its place but for the first."""

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

    def read(self, entry: Mapping[str, Any], n_top: int) -> None:
        """Take what the server says of it."""
        self.logprob = entry["logprob"]
        # Reversed, so that of tokens with one text the likeliest counts.
        self.top = {
            alternative["token"]: alternative["logprob"]
            for alternative in reversed(entry["top_logprobs"][:n_top])
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
        prompts, n_top = [query.text for query in call.queries], call.logprobs
        if not all(prompts):
            raise wrong("with echo, none of the prompts may be empty", "prompt")
        limit = call.queries[0].max_tokens
        if limit is None:
            limit = _ANSWER_TOKENS
        choices, n_prompt, n_answer = [], 0, 0
        for index, prompt in enumerate(prompts):
            tokens = await self._tokens(prompt)
            if len(tokens) + limit > self.context_tokens:
                raise _too_long(len(tokens) + limit, self.context_tokens)
            if n_top is not None:
                await self._repeat(tokens, n_top)
            text, ending, answer = await self._answer(body, tokens, n_top or 1, limit)
            rows = [(token.text, token.logprob, token.top) for token in (*tokens, *answer)]
            choices.append(
                {
                    "index": index,
                    "text": prompt + text,
                    "logprobs": None if n_top is None else legacy_json(rows),
                    "finish_reason": ending,
                }
            )
            n_prompt += len(tokens)
            n_answer += len(answer)
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
        body = {"content": prompt, "with_pieces": True, "add_special": True, "parse_special": True}
        tokens, pending = [], b""
        for token in (await self.ask("/tokenize", body))["tokens"]:
            piece = token["piece"]
            if isinstance(piece, str) and not pending:
                tokens.append(_Token(token["id"], piece))
                continue
            # The server gives a piece of a character as bytes; pieces are collected up to its last.
            pending += piece.encode() if isinstance(piece, str) else bytes(piece)
            text = _text_in(pending)
            pending = b"" if text else pending
            tokens.append(_Token(token["id"], text, is_piece=True))
        return tokens

    async def _repeat(self, tokens: Sequence[_Token], n_top: int) -> None:
        """Read the log-probabilities of all tokens but the first."""
        at = 1
        for is_alone, group in groupby(tokens[1:], key=lambda token: token.is_alone):
            run = list(group)
            for block in [[token] for token in run] if is_alone else [run]:
                prefix = [token.id for token in tokens[:at]]
                if is_alone:
                    entries = await self._looked_up(prefix, block[0])
                else:
                    entries = await self._dictated_tokens(prefix, block, n_top)
                if [entry["id"] for entry in entries] != [token.id for token in block]:
                    raise EndpointFault(
                        500, "echo_failed", "the server did not repeat the prompt's tokens"
                    )
                for token, entry in zip(block, entries, strict=True):
                    token.read(entry, n_top)
                at += len(block)

    async def _dictated_tokens(
        self, prefix: list[int], tokens: Sequence[_Token], n_top: int
    ) -> list[dict[str, Any]]:
        """Return what the server says of tokens that it is made to generate."""
        body = {
            "prompt": prefix,
            "n_predict": len(tokens),
            "n_probs": max(1, n_top),
            "grammar": "root ::= " + " ".join(f"<[{token.id}]>" for token in tokens),
        }
        answer = await self.ask("/completion", {**body, **_SETTINGS, "samplers": ["top_k"]})
        return answer.get("completion_probabilities") or []

    async def _looked_up(self, prefix: list[int], token: _Token) -> list[dict[str, Any]]:
        """Return what the server says of a token when it generates another one and lists all."""
        answer = await self.ask("/tokenize", {"content": "a", "add_special": False})
        body = {
            "prompt": prefix,
            "n_predict": 1,
            "n_probs": _VOCABULARY_MAX,
            "logit_bias": [[answer["tokens"][0], _BIAS]],
        }
        answer = await self.ask("/completion", {**body, **_SETTINGS, "samplers": []})
        entries = answer["completion_probabilities"][0]["top_logprobs"]
        return [{**entry, "top_logprobs": entries} for entry in entries if entry["id"] == token.id]

    async def _answer(
        self, body: Mapping[str, Any], tokens: Sequence[_Token], n_top: int, limit: int
    ) -> tuple[str, str, list[_Token]]:
        """Return what the model says after a prompt, why it ended, and its tokens."""
        if limit == 0:
            return "", "length", []
        body = {name: value for name, value in body.items() if name != "echo"}
        body |= {
            "prompt": [token.id for token in tokens],
            "max_tokens": limit,
            "logprobs": max(1, n_top),
        }
        choice = (await self.ask("/v1/completions", body))["choices"][0]
        answer = []
        for entry in (choice.get("logprobs") or {}).get("content") or []:
            answer.append(_Token(entry["id"], entry["token"]))
            answer[-1].read(entry, n_top)
        return choice["text"], choice["finish_reason"], answer


def _text_in(data: bytes) -> str:
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
