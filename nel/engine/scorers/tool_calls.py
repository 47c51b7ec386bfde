"""Calls of tools that a server without a parser for them left in the text of an answer. No I/O.

Depends on `nel.core.thinking` and `nel.types`. Takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.thinking import Quotations
from nel.types import Response, Sample

# What opens and closes a call. Where nothing closes it, the call goes on to the end.
_SPELLINGS: Final = (
    # Hermes, Qwen and GLM; DeepSeek, MiniMax, LongCat and XML; Llama and Qwen-Coder; Nemotron.
    (
        r"<(?:\w{1,20}[:_])?(?:function|tool)_calls?>",
        r"</(?:\w{1,20}[:_])?(?:function|tool)_calls?>",
    ),
    (r"<function=[^<>\n]{1,200}>", r"</function>"),
    (r"<TOOLCALL>", r"</TOOLCALL>"),
    # DeepSeek V3.2 and V4; DeepSeek V3 and Step 3; Kimi K2; Kimi K3.
    (
        r"<[｜|]{1,2}DSML[｜|]{1,2}(?:\w{4,8}_)?calls>",
        r"</[｜|]{1,2}DSML[｜|]{1,2}(?:\w{4,8}_)?calls>",
    ),
    (r"<｜tool[▁_ ]calls[▁_ ]begin｜>", r"<｜tool[▁_ ]calls[▁_ ]end｜>"),
    (r"<\|tool_calls_section_begin\|>", r"<\|tool_calls_section_end\|>"),
    (r"<\|open\|>tools<\|sep\|>", r"<\|close\|>tools<\|sep\|>"),
    # Granite, Phi and Gemma 4; LFM2 and Solar Open 2; FunctionGemma; Mistral; Command; InternLM.
    (r"<\|tool_call\|?>", r"<\|/tool_call\|>|<tool_call\|>"),
    (r"<\|tool_call[_:]start\|>", r"<\|tool_call[_:]end\|>"),
    (r"<start_function_call>", r"<end_function_call>"),
    (r"\[TOOL_CALLS\]", ""),
    (r"<\|START_ACTION\|>", r"<\|END_ACTION\|>"),
    (r"<\|action_start\|>", r"<\|action_end\|>"),
    # Apertus; Inkling; PLaMo 3.
    (r"<\|tools_prefix\|>", r"<\|tools_suffix\|>"),
    (r"(?:<\|message_model\|>)?<\|content_invoke_tool_(?:json|text)\|>", r"<\|end_message\|>"),
    (r"<\|plamo:begin_tool_requests:plamo\|>", r"<\|plamo:end_tool_requests:plamo\|>"),
    # Llama's built-in tools; gpt-oss with its special tokens and without; Phi-4-mini.
    (r"<\|python_tag\|>(?=\s*(?:\{|\w+\.call\())", ""),
    (r"(?:<\|start\|>assistant)?<\|channel\|>commentary\s+to=", r"<\|call\|>"),
    (r"\A\s*(?:assistant)?commentary\s+to=functions\.", ""),
    (r"\bfunctools(?=\[\s*\{)", ""),
)
_OPENINGS: Final = re.compile("|".join(f"({opening})" for opening, _ in _SPELLINGS))
_CLOSINGS: Final = [re.compile(closing) if closing else None for _, closing in _SPELLINGS]
_FIRST: Final = re.compile(r"<|\[TOOL_CALLS\]|commentary|functools\[")
"""Without one of these a text has no call."""


def answer_in(response: Response, sample: Sample | None) -> str:
    """Return the answer to a sample: the text of its response without calls of tools, unless its
    prompt asks for them.

    Where the server read calls itself, the text is the answer.
    """
    if response.tool_calls or _FIRST.search(response.text) is None:
        return response.text
    asked = "" if sample is None else sample.input
    prompt = (
        asked if isinstance(asked, str) else "\n".join(str(message.content) for message in asked)
    )
    return without_tool_calls(response.text, prompt)


def without_tool_calls(text: str, prompt: str = "") -> str:
    """Return a text without its calls of tools, or as it is where the prompt shows their form.

    A call in a code fence, in quotation marks or in backticks is text.

    >>> without_tool_calls('Let me add.\\n<tool_call>\\n{"name": "add"}\\n</tool_call>')
    'Let me add.'
    >>> without_tool_calls("<tool_call>{}</tool_call>", prompt="Call tools as <tool_call>JSON</tool_call>.")
    '<tool_call>{}</tool_call>'
    """
    if _FIRST.search(text) is None:
        return text
    quotations = Quotations(text)
    pieces: list[str] = []
    start = 0
    while (opening := quotations.first_outside(_OPENINGS, start)) is not None:
        if opening[0].strip() in prompt:
            return text
        pieces.append(text[start : opening.start()])
        pattern = _CLOSINGS[(opening.lastindex or 1) - 1]
        closing = pattern.search(text, opening.end()) if pattern is not None else None
        start = closing.end() if closing is not None else len(text)
    return "".join([*pieces, text[start:]]).strip() if pieces else text
