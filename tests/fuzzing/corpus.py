"""Well-formed inputs of each kind, as servers, judges and datasets send them; what the mutations start from."""

from __future__ import annotations

from typing import Any

_USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 3,
    "total_tokens": 10,
    "completion_tokens_details": {"reasoning_tokens": 1},
    "prompt_tokens_details": {"cached_tokens": 2},
}

ANSWERS: list[Any] = [
    {
        "id": "x", "model": "m", "system_fingerprint": "fp_1", "usage": _USAGE,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Answer: 2"}, "finish_reason": "stop"}],
    },
    {
        "model": "m", "usage": None,
        "choices": [
            {"index": 1, "message": {"content": "no"}, "finish_reason": "length"},
            {"index": 0, "message": {"content": None, "reasoning_content": "hm", "refusal": "I will not"},
             "finish_reason": "content_filter"},
        ],
    },
    {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}], "tool_calls": [{}]}}]},
    {"choices": [{"index": 0, "text": "<think>a</think> b", "finish_reason": "stop"}], "usage": _USAGE},
    {"error": {"message": "slow down", "type": "rate_limit_error", "code": "429", "param": None}},
    {"choices": [{"index": 0, "finish_reason": "error", "error": {"code": 503, "message": "overloaded"}}]},
]  # fmt: skip

ERRORS: list[Any] = [
    {"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}},
    {"object": "error", "message": "This model's maximum context length is 512 tokens.", "code": 400},
    {"error": "the input length exceeds the context length"},
    [{"error": {"code": 400, "message": "The input token count (9) exceeds the maximum", "status": "INVALID"}}],
    {"detail": [{"loc": ["body", "max_tokens"], "msg": "ensure this value is greater than 0", "type": "value_error"}]},
    {"error": {"code": 400, "type": "exceed_context_size_error", "n_ctx": 256, "message": "exceeds the context size"}},
    {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}},
]  # fmt: skip

STREAMS: list[bytes] = [
    b'data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"content":"Gr\xc3\xbc\xc3\x9fe"}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\ndata: [DONE]\n\n',
    b': ping\r\n\r\nevent: message\r\ndata: {"choices":[{"text":"a","index":0}]}\r\n\r\n'
    b'data: {"choices":[{"text":"b",\r\ndata: "finish_reason":"length","index":0}]}\r\n\r\n',
    b'event: error\ndata: {"error":{"message":"overloaded","code":529}}\n\n',
    b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm","tool_calls":[{}]}}]}\r\rdata: [DONE]\r\r',
]

HEADERS: list[bytes] = [
    b"Retry-After: 2\r\nDate: Fri, 13 Nov 2026 10:00:00 GMT",
    b"Retry-After: Fri, 13 Nov 2026 10:00:07 GMT\r\nDate: Fri, 13 Nov 2026 10:00:00 GMT",
    b"retry-after-ms: 250\r\nx-should-retry: true",
    b"x-ratelimit-limit-requests: 60\r\nx-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 1m30s",
    b"x-ratelimit-limit-tokens: 90000\r\nx-ratelimit-remaining-tokens: 100\r\nx-ratelimit-reset-tokens: 1763029200",
    b"anthropic-ratelimit-requests-limit: 50\r\nanthropic-ratelimit-requests-remaining: 1\r\n"
    b"anthropic-ratelimit-requests-reset: 2026-11-13T10:00:30Z",
]

_TOP = [None, {" A": -0.5, " B": -2.0}]
LOGPROBS: list[Any] = [
    {
        "choices": [
            {
                "index": 0, "text": "is A", "finish_reason": "length",
                "logprobs": {"tokens": ["is", " A"], "token_logprobs": [None, -0.5], "top_logprobs": _TOP,
                             "text_offset": [0, 2]},
            },
        ],
        "usage": _USAGE,
    },
    {
        "choices": [
            {
                "index": 0, "text": "is A.",
                "logprobs": {"tokens": ["<s>", "is", " A", "."], "token_logprobs": [None, -1.0, -0.5, -9],
                             "top_logprobs": [None, {"is": -1.0}, {" A": -0.5}, {".": -9}], "text_offset": [0, 0, 2, 4]},
            },
        ],
    },
]  # fmt: skip

REPLIES: list[bytes] = [
    b"I compared it with what was asked.\n\nGRADE: C",
    b"GRADE: I\n\n> GRADE: C",
    b'```json\n{"score": 4, "reason": "good"}\n```',
    b"Rating: [[8/10]]",
    b"<think>\nGRADE: C\n</think>\n\nGRADE: P",
    b"Final verdict: [[A]]",
    b'{"criteria": [{"name": "x", "met": true}], "score": 1.5}',
    b"Score: -3 out of 5, or 4",
]

ROWS: dict[str, list[bytes]] = {
    ".jsonl": [
        b'{"id": 1, "question": "1+1", "answer": "2"}\n{"id": "b", "question": "2+2", "answer": 4.0}\n',
        b'\xef\xbb\xbf{"q": "caf\xc3\xa9 \\ud83d\\ude00", "choices": ["a", "b"], "nested": {"x": [1, null, true]}}\r\n\r\n',
    ],
    ".json": [
        b'[{"id": 1, "q": "a"}, {"id": 2, "q": "b"}]',
        b'{"data": [{"q": 1e5, "a": null}], "version": "1"}',
    ],
    ".csv": [b'id,question,answer\n1,"a, ""b""\nc",2\n2,d,3\n', b"\xef\xbb\xbfq;a\r\n1;2\r\n"],
    ".tsv": [b"id\tq\ta\n1\tx\ty\n"],
}

CONTAINER: list[Any] = [
    {"l": [1, {"t": ["a", {"f": "nan"}]}, {"i": "ff"}]},
    {"d": [["a", 1], ["b", {"b": "00ff"}]]},
    {"run": {"tests": {"passed": True}, "reason": None, "out_of_memory": False, "ending": {"exit": 0}, "stderr": "",
             "stdout": "", "cpu_seconds": 0.1, "wall_seconds": 0.2, "output_bytes": 1, "idle_seconds": 0}},
]  # fmt: skip
