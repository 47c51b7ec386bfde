"""MGSM: 250 problems of GSM8K in eleven languages (Shi et al. 2022, arXiv 2210.03057).

A problem is asked in its own language, with the labels of the dataset's own worked examples. Gold answers are whole
numbers, so a mark before three digits parts thousands in every language (``1.234``, ``1,234`` and ``1 234`` are one
number), and any other mark is a decimal point. Examples (``--num-fewshot``, up to 8) carry their labels inside their
texts, and test rows do not.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Any, Final

from nel.byob import Card, ScorerInput, benchmark, scorer

REVISION = "b2f13d426afe3be8d69a7e739b36724db8b66bbc"
LABELS: Final = {
    "bn": ("প্রশ্ন:", "ধাপে ধাপে উত্তর:"),
    "de": ("Frage:", "Schritt-für-Schritt-Antwort:"),
    "en": ("Question:", "Step-by-Step Answer:"),
    "es": ("Pregunta:", "Respuesta paso a paso:"),
    "fr": ("Question :", "Réponse étape par étape :"),
    "ja": ("問題:", "ステップごとの答え:"),
    "ru": ("Задача:", "Пошаговое решение:"),
    "sw": ("Swali:", "Jibu la Hatua kwa Hatua:"),
    "te": ("ప్రశ్న:", "దశలవారీగా సమాధానం:"),
    "th": ("โจทย์:", "คำตอบทีละขั้นตอน:"),
    "zh": ("问题:", "逐步解答:"),
}
"""What stands before a problem and before its solution, by language."""
DIGITS_MAX: Final = 40
"""A longer number equals no gold answer."""
_ANSWERS: Final = (
    "the answer is|answer|die antwort lautet|antwort|la respuesta es|respuesta|la réponse est|réponse|ответ|"
    "jibu ni|jibu|คำตอบคือ|คำตอบ|答えは|答え|答案是|答案|উত্তর|సమాధానం"
)
_DECLARED = re.compile(rf"(?:{_ANSWERS})[\s*_]*[:：—-]?[\s*_]*([^\n]*)", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:(?<![\w.)])[-−–])?(?:(?<!\d)\d{1,3}(?:(?P<mark>[.,'’٬\s])\d{3})(?:(?P=mark)\d{3})*(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
)
_THOUSANDS = re.compile(r"(?<=\d)[.,'’٬\s](?=\d{3}(?!\d))")

PROMPT = """Solve this problem step by step. End with a line of the form "Answer: N", where N is the number alone.

{question_label} {question}
{answer_label}"""


def with_labels(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``language``, the labels of that language, a bare ``question`` and the worked ``solution``.

    Raises:
        KeyError: A field is missing, or the language is none of MGSM's.
    """
    language = row.get("language") or row["config"]
    question_label, answer_label = LABELS[language]
    question = _without_label(str(row["question"]), question_label)
    solution = row.get("answer") or row["answer_number"]
    return {
        **row,
        "language": language,
        "question_label": question_label,
        "answer_label": answer_label,
        "question": question,
        "solution": _without_label(str(solution), answer_label),
    }


def _without_label(text: str, label: str) -> str:
    """Return a text without the label before it, whichever colon it was written with."""
    head, colon, rest = text.strip().replace("：", ":", 1).partition(":")
    same = "".join(head.split()).casefold() == "".join(label.rstrip(": ").split()).casefold()
    return rest.strip() if colon and same else text.strip()


def answer_number(response: str) -> str | None:
    """Return the number that a response gives as its answer, as written, or None.

    Rule: the last number of the last line that declares an answer, in any of the languages, else the last number.

    >>> answer_number("3 × 4 = 12\\nDie Antwort lautet 1.234."), answer_number("答えは18です。"), answer_number("?")
    ('1.234', '18', None)
    """
    for declared in reversed(_DECLARED.findall(response)):
        if numbers := _numbers(declared):
            return numbers[-1]
    numbers = _numbers(response)
    return numbers[-1] if numbers else None


def value_of(written: str) -> Fraction:
    """Return the value of a number as `answer_number` finds it, digits of any script included.

    >>> [str(value_of(text)) for text in ("1.234", "1 234", "12,50", "১২", "−5", "7.00")]
    ['1234', '1234', '25/2', '12', '-5', '7']
    """
    digits = "".join(str(unicodedata.digit(mark)) if mark.isdigit() else mark for mark in written)
    plain = _THOUSANDS.sub("", digits).replace(",", ".")
    return Fraction(re.sub("[−–]", "-", plain))


def _numbers(text: str) -> list[str]:
    return [match[0] for match in _NUMBER.finditer(text)]


@benchmark(
    name="mgsm",
    description="MGSM, 250 grade-school word problems in each of eleven languages, scored by language",
    dataset=f"hf://juletxara/mgsm?configs={','.join(LABELS)}&split=test&revision={REVISION}",
    prompt=PROMPT,
    target_field="answer_number",
    category_field="language",
    prepare_row=with_labels,
    fewshot_split="train",
    fewshot_match_field="language",
    fewshot_target_template="{solution}",
    card=Card(
        paper="Language Models are Multilingual Chain-of-Thought Reasoners, arXiv 2210.03057",
        licence="CC-BY-SA-4.0",
        citation="Shi et al., ICLR 2023",
        metric="accuracy",
        homepage="https://huggingface.co/datasets/juletxara/mgsm",
        revision=REVISION,
        languages=tuple(LABELS),
    ),
)
@scorer
def mgsm(sample: ScorerInput) -> dict[str, object]:
    """Compare the answer's number with the gold number, exactly."""
    found = answer_number(sample.response)
    correct = found is not None and len(found) <= DIGITS_MAX and value_of(found) == value_of(str(sample.target))
    return {"correct": correct, "parsed": found is not None, "extracted": found}
