"""EvalScope's prompt templates of multiple choice, word for word. Source: EvalScope 1.14,
Apache-2.0.

Not formatted by line length: a prompt is a contract, and each differs from the next in one
sentence.
"""

from __future__ import annotations

from typing import Final

FEW_SHOT_TEMPLATE: Final = (
    "Here are some examples of how to answer similar questions:\n\n{fewshot}\n\n"
)
CHINESE_FEW_SHOT_TEMPLATE: Final = "以下是一些示例问题：\n\n{fewshot}\n\n"

_ONE: Final = "Answer the following multiple choice question. "
_SEVERAL: Final = (
    "Answer the following multiple choice question where multiple answers may be correct. "
)
_WHOLE: Final = "The entire content of your response should be of the following format: "
_LAST: Final = "The last line of your response should be of the following format: "
_LETTER: Final = "'ANSWER: [LETTER]' (without quotes) where [LETTER] is one of {letters}."
_LETTERS: Final = (
    "'ANSWER: [LETTERS]' (without quotes) where [LETTERS] is one or more of {letters}."
)
_THINK: Final = " Think step by step before answering."
_BODY: Final = "\n\n{question}\n\n{choices}"

_ZH_ONE: Final = "回答下面的单项选择题，请选出其中的正确答案。"
_ZH_SEVERAL: Final = "回答下面的多项选择题，请选出其中的所有正确答案。"
_ZH_WHOLE: Final = "你的回答的全部内容应该是这样的格式："
_ZH_LAST: Final = "你的回答的最后一行应该是这样的格式："
_ZH_LETTER: Final = '"答案：[LETTER]"（不带引号），其中 [LETTER] 是 {letters} 中的一个。'
_ZH_LETTERS: Final = '"答案：[LETTERS]"（不带引号），其中 [LETTERS] 是 {letters} 中的一个或多个。'
_ZH_THINK: Final = "请在回答前进行一步步思考。"
_ZH_BODY: Final = "问题：{question}\n选项：\n{choices}\n"


class MultipleChoiceTemplate:
    """The templates by name; each names ``{question}``, ``{choices}`` and ``{letters}``."""

    SINGLE_ANSWER = _ONE + _WHOLE + _LETTER + _BODY
    SINGLE_ANSWER_COT = _ONE + _LAST + _LETTER + _THINK + _BODY
    MULTIPLE_ANSWER = _SEVERAL + _WHOLE + _LETTERS + _BODY
    MULTIPLE_ANSWER_COT = _SEVERAL + _LAST + _LETTERS + _THINK + _BODY
    CHINESE_FEW_SHOT_TEMPLATE = CHINESE_FEW_SHOT_TEMPLATE
    CHINESE_SINGLE_ANSWER_TEMPLATE = _ZH_ONE + _ZH_WHOLE + _ZH_LETTER + "\n\n" + _ZH_BODY
    CHINESE_SINGLE_ANSWER_TEMPLATE_COT = (
        _ZH_ONE + _ZH_LAST + _ZH_LETTER + _ZH_THINK + "\n\n" + _ZH_BODY
    )
    CHINESE_MULTIPLE_ANSWER_TEMPLATE = _ZH_SEVERAL + _ZH_WHOLE + _ZH_LETTERS + "\n" + _ZH_BODY
    CHINESE_MULTIPLE_ANSWER_TEMPLATE_COT = (
        _ZH_SEVERAL + _ZH_LAST + _ZH_LETTERS + _ZH_THINK + "\n\n" + _ZH_BODY
    )


CHINESE: Final = tuple(
    text for name, text in vars(MultipleChoiceTemplate).items() if "ANSWER_TEMPLATE" in name
)
"""Those whose answer stands after ``答案``."""
