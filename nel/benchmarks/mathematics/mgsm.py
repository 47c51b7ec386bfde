"""MGSM: 250 problems of GSM8K in eleven languages (Shi et al. 2022, arXiv 2210.03057).

A problem is asked in its own language, with the labels of the dataset's own worked examples. Gold answers are whole
numbers, so in a language that parts decimals with a comma (German, French, Spanish, Russian) any mark before three
digits parts thousands: ``1.234``, ``1,234`` and ``1 234`` are one number. In the others a point parts decimals, and
``1.234`` is less than two. The words around a number tell its language, else the language of the problem does. Examples
(``--num-fewshot``, up to 8) carry their labels inside their texts, and test rows do not.
"""

from __future__ import annotations

import re
from typing import Any, Final

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.scoring.numeric.finding import Number, found_numbers, last_number_found, numbers_equal
from nel.scoring.numeric.languages import Mark, decimal_mark
from nel.scoring.reading.numbers import read_number
from nel.scoring.reading.run_on import before_next_question, read_own

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
_ANSWERS: Final = (
    "the answer is|answer|die antwort lautet|antwort|la respuesta es|respuesta|la réponse est|réponse|ответ|"
    "jibu ni|jibu|คำตอบคือ|คำตอบ|答えは|答え|答案是|答案|উত্তর|సమాధానం"
)
_DECLARED = re.compile(rf"(?:{_ANSWERS})[\s*_]*[:：—-]?[\s*_]*([^\n]*)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")

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


def answer_number(response: str, language: str | None = None) -> str | None:
    """Return the number that a response gives as its answer, or None.

    Rule: what `nel.scoring.reading.numbers.read_number` finds declared; else the last number of the last line that
    declares an answer in one of the dataset's languages, else the last number. It is given as written, or as a plain
    decimal where its language gives it its value.

    Args:
        language: The problem's, such as ``de``; it decides where the words of the response do not.

    >>> answer_number("3 × 4 = 12\\nDie Antwort lautet 1.234."), answer_number("答えは18です。"), answer_number("?")
    ('1234', '18', None)
    >>> answer_number("The answer is 1.234."), answer_number("1.234", "de"), answer_number("1.234", "en")
    ('1.234', '1234', '1.234')
    """
    response = before_next_question(response)
    mark: Mark | None = None if language is None else "," if language in _COMMA_LANGUAGES else "."
    read = read_number(response, mark, declared_only=True)
    if read.value is not None:
        return _joined(response, read.start, read.end, mark) or read.value
    for declared in reversed(list(_DECLARED.finditer(response))):
        if numbers := list(found_numbers(response, *declared.span(1), mark)):
            return _text(response, numbers[-1], mark)
    last = last_number_found(response, mark)
    return read_number(response, mark).value if last is None else _text(response, last, mark)


def _text(response: str, number: Number, mark: Mark | None) -> str | None:
    """Return a number with its thousands joined, or None where it is no single number."""
    joined = _joined(response, number.start, number.end, mark)
    return joined or (None if number.value is None else number.text)


def _joined(response: str, start: int, end: int, mark: Mark | None) -> str | None:
    """Return the number at a place with its thousands joined, or None where its language does not group it so."""
    joined = _THOUSANDS.sub("", response[start:end])
    if joined == response[start:end] or (decimal_mark(response, start, end) or mark) != ",":
        return None
    return joined.replace(",", ".")


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
    language = sample.metadata.get("language")
    known = language if language in LABELS else None
    found, ran_on = read_own(sample, lambda response: answer_number(response, known))
    correct = found is not None and numbers_equal(found, sample.target)
    return {"correct": correct, "parsed": found is not None, "extracted": found, **ran_on}
