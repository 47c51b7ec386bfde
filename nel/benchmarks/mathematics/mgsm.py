"""MGSM: 250 problems of GSM8K in eleven languages (Shi et al. 2022, arXiv 2210.03057).

A problem is asked in its own language, with the labels of the dataset's worked examples. Gold
answers are whole numbers, so in a language that writes decimals with a comma (German, French,
Spanish, Russian) any mark before three digits separates thousands: ``1.234``, ``1,234`` and
``1 234`` are one number. In the others a point separates decimals, and ``1.234`` is less than two.
Examples (``--num-fewshot``, up to 8) have their labels in their texts; test rows do not.
"""

from __future__ import annotations

import re
from typing import Any, Final

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.numbers import read_number
from nel.reading.numerals import numbers_equal
from nel.reading.own import own_answer
from nel.reading.response import Answer

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
_COMMA_LANGUAGES: Final = frozenset(("de", "es", "fr", "ru"))
# The point of 1.234 and the comma of 1,234, but neither of 1.23 nor of 1.2345.
_THOUSANDS_MARK: Final = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")

PROMPT = """Solve this problem step by step. End with a line of the form "Answer: N", where N is the number alone.

{question_label} {question}
{answer_label}"""


def with_labels(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``language``, its labels, and a bare ``question`` and ``solution``.

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
    # Chinese and Japanese rows have a full-width colon, and French ones a space before it.
    head, colon, body = text.strip().replace("：", ":", 1).partition(":")
    is_label = "".join(head.split()).casefold() == "".join(label.rstrip(": ").split()).casefold()
    return body.strip() if colon and is_label else text.strip()


def answer_number(response: Answer, language: str | None = None) -> str | None:
    """Return the number that a response gives as its answer, its thousands joined, or None.

    Args:
        response: The response.
        language: The problem's, such as ``de``: it tells which mark parts decimals.

    >>> answer_number(Answer("Die Antwort lautet 1.234."), "de"), answer_number(Answer("答えは18です。"))
    ('1234', '18')
    >>> answer_number(Answer("The answer is 1.234."), "en")
    '1.234'
    """
    if language not in _COMMA_LANGUAGES:
        return read_number(response).value
    # All answers are whole numbers, and models group thousands with either mark.
    text = _THOUSANDS_MARK.sub("", response.text)
    return read_number(Answer(text, response.asked), ",").value


@benchmark(
    name="mgsm",
    description=(
        "MGSM, 250 grade-school word problems in each of eleven languages, scored by language"
    ),
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
@scorer(in_process=True)
def mgsm(sample: ScorerInput) -> dict[str, object]:
    """Compare the answer's number with the gold number, exactly."""
    response, ran_on = own_answer(sample)
    number = answer_number(response, sample.metadata.get("language"))
    correct = number is not None and numbers_equal(number, sample.target)
    return {"correct": correct, "parsed": number is not None, "extracted": number, **ran_on}
