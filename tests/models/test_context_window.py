"""The words of servers for a prompt that does not fit the context, and for a limit on the answer that none may have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nel.models.faults import fault_of_error_object, fault_of_status

_COMPLETION = "Please reduce the length of the messages or completion."

PROMPT_TOO_LONG: dict[str, tuple[int, Any]] = {"vllm 0.9": (400, {"object": "error", "type": "BadRequestError", "code": 400, "message": (
        "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the "
        f"messages, 10000 in the completion). {_COMPLETION} None")}), "vllm 0.11": (400, {"error": {"type": "BadRequestError", "code": 400, "message": (
        "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context length is 4096 "
        "tokens and your request has 3500 input tokens (1024 > 4096 - 3500).")}}), "vllm 0.15": (400, {"error": {"type": "BadRequestError", "param": "input_tokens", "code": 400, "message": (
        "This model's maximum context length is 2048 tokens. However, your request has 8000 input tokens. Please "
        "reduce the length of the input messages. (parameter=input_tokens, value=8000)")}}), "vllm 0.32": (400, {"error": {"code": 400, "type": "BadRequestError", "message": (
        "This model's maximum context length is 4096 tokens. However, your prompt contains 5000 input tokens, which "
        "exceeds this limit even without any output tokens. Please reduce the length of the input prompt.")}}), "sglang": (400, {"object": "error", "type": "BadRequestError", "code": 400, "message": (
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).")}), "tgi": (422, {"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168",
                  "error_type": "validation"}), "tgi, both": (422, {"error": (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 `inputs` tokens and "
        "1024 `max_new_tokens`"), "error_type": "validation"}), "llama.cpp": (400, {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 14429,
                                  "n_ctx": 8192, "message": (
        "the request exceeds the available context size. try increasing the context size or enable context shift")}}), "llama-cpp-python": (400, {"error": {"code": "context_length_exceeded", "type": "invalid_request_error", "message": (
        "This model's maximum context length is 2048 tokens, however you requested 2285 tokens (2185 in your prompt; "
        "100 for the completion). Please reduce your prompt; or completion length.")}}), "ollama": (400, {"error": "the input length exceeds the context length"}), "litellm": (400, {"error": {"type": None, "param": None, "code": "400", "message": (
        "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - Error code: 400. Received "
        "Model Group=m\nAvailable Model Group Fallbacks=None")}}), "openai": (400, {"error": {"type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded",
                               "message": ("This model's maximum context length is 128000 tokens. However, your messages "
                                           "resulted in 204308 tokens. Please reduce the length of the messages.")}}), "openai responses": (400, {"error": {"type": "invalid_request_error", "code": None, "message": (
        "Your input exceeds the context window of this model. Please adjust your input and try again.")}}), "openai, string": (400, {"error": {"type": "invalid_request_error", "code": "string_above_max_length", "message": (
        "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576.")}}), "azure": (400, {"error": {"type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded",
                              "message": ("This model's maximum context length is 4096 tokens. However, you requested "
                                          f"4201 tokens (3177 in the messages, 1024 in the completion). {_COMPLETION}")}}), "anthropic": (400, {"type": "error", "error": {"type": "invalid_request_error", "message": (
        "prompt is too long: 210000 tokens > 200000 maximum")}}), "anthropic, bytes": (413, {"type": "error", "error": {"type": "request_too_large", "message": (
        "Request exceeds the maximum size")}}), "gemini": (400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": (
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).")}}]), "mistral": (400, {"object": "error", "type": "invalid_request_error", "code": "3051", "message": (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length")}), "bedrock": (400, {"message": "Input is too long for requested model."}), "openrouter": (400, {"error": {"code": 400, "message": (
        "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (8000 of text "
        "input, 1000 in the output). Please reduce the length of either one.")}}), "zhipu": (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}), "cerebras": (400, {"message": (
        "Please reduce the length of the messages or completion. Current length is 9123 while limit is 8192"),
        "type": "invalid_request_error", "code": "context_length_exceeded"})}  # fmt: skip

SETTING_TOO_LARGE: dict[str, Any] = {"openai": {"error": {"type": "invalid_request_error", "code": "invalid_value", "param": "max_tokens", "message": (
        "max_tokens is too large: 99999. This model supports at most 4096 completion tokens, whereas you provided 99999."
    )}}, "vllm": {"error": {"code": 400, "message": (
        "max_tokens=8888 cannot be greater than max_model_len=max_total_tokens=3072. Please request fewer output tokens."
    )}}, "vllm 0.19": {"error": {"code": 400, "message": (
        "This model's maximum context length is 4096 tokens. However, you requested 4096 output tokens and your prompt "
        "contains 110 characters (more than 0 characters, which is the upper bound for 0 input tokens).")}}, "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": (
        "max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens for this model")}}, "bedrock": {"message": (
        "The maximum tokens you requested exceeds the model limit of 2048. Try again with a maximum tokens value that is "
        "lower than 2048.")}, "gemini": {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": (
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 "
        "(inclusive) to 8193 (exclusive).")}}, "tgi": {"error": "Input validation error: `max_new_tokens` must be <= 512. Given: 1000"}, "litellm": {"error": {"code": "400", "message": (
        "litellm.BadRequestError: OpenAIException - max_tokens=32768 cannot be greater than "
        "max_model_len=max_total_tokens=12288")}}}  # fmt: skip

NEITHER: dict[str, tuple[int, Any]] = {
    "groq, tokens a minute": (413, {"error": {"type": "tokens", "code": "rate_limit_exceeded", "message": (
        "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 7044, "
        "please reduce your message size and try again.")}}),
    "temperature": (400, {"error": {"code": "unsupported_value", "param": "temperature", "message": (
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
    )}}),
    "bad key": (400, {"error": {"code": "400", "type": "auth_error", "message": (
        "Authentication Error, Invalid proxy server token passed. Received API Key = sk-...1234")}}),
    "a body limit of a proxy": (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
    "a deadline": (500, {"error": "rpc error: context deadline exceeded after 10 s"}),
    "context cancelled": (500, "context canceled"),
    "an overloaded server": (500, {"error": {"message": "the context cache is full"}}),
}  # fmt: skip


def _bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


@pytest.mark.parametrize("vendor", PROMPT_TOO_LONG)
def test_a_prompt_that_does_not_fit_is_the_models_failure(vendor: str) -> None:
    status, body = PROMPT_TOO_LONG[vendor]
    fault = fault_of_status(status, {}, _bytes(body))
    assert (fault.kind, fault.model_failure, fault.retryable) == ("context_exceeded", "context_exceeded", False)


@pytest.mark.parametrize("vendor", SETTING_TOO_LARGE)
def test_a_limit_that_no_prompt_could_have_is_the_users_setting(vendor: str) -> None:
    fault = fault_of_status(400, {}, _bytes(SETTING_TOO_LARGE[vendor]))
    assert (fault.kind, fault.model_failure) == ("bad_request", None)


@pytest.mark.parametrize("name", NEITHER)
def test_other_refusals_are_neither(name: str) -> None:
    status, body = NEITHER[name]
    assert fault_of_status(status, {}, _bytes(body)).model_failure is None


def test_an_error_object_with_status_200_is_read_in_the_same_way() -> None:
    _, body = PROMPT_TOO_LONG["vllm 0.32"]
    fault = fault_of_error_object(body["error"])
    assert (fault.kind, fault.status) == ("context_exceeded", 200)


def test_words_after_a_long_prefix_are_read() -> None:
    """A proxy puts its own words in front; what is shown is cut, what is read is not."""
    body = {"error": {"message": "proxy: " * 100 + "prompt is too long: 9 tokens > 8 maximum"}}
    fault = fault_of_status(400, {}, _bytes(body))
    assert fault.kind == "context_exceeded"
    assert len(fault.message) < 400
