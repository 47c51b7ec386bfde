"""Draw outputs to label and print them: `python -m tests.labelled_outputs.draw [STRATUM ...]`.

Half of each stratum is drawn at random, half from the outputs on which rules of one line disagree. Recorded verdicts
and right answers are not printed; what an output repeats in a loop is printed twice.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.labelled_outputs import Kind, digest, response_of, rows, task_of

SEED = 2405
LETTER = re.compile(r"(?<![\w'])[A-J](?![\w'])")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
WORD = re.compile(r"\b(?:yes|no|true|false)\b", re.IGNORECASE)
MARKER = re.compile(r"(?<!/)answer\b|^A:", re.IGNORECASE | re.MULTILINE)
LOOP = re.compile(r"(?P<once>.{4,400}?)(?P=once){3,}", re.DOTALL)
USUAL = re.compile(r"answer is \(?[A-J]\)")


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """One kind of outputs, and how many of them are drawn."""

    kind: Kind
    file: str
    belongs: Callable[[dict[str, Any]], bool]
    """Whether a row of the file is of this stratum."""
    n: int
    """How many are drawn, half of them hard where there are as many."""


def _task(*names: str, closed: bool | None = None) -> Callable[[dict[str, Any]], bool]:
    """Return whether a row is of one of these tasks; `closed`: and comes to the word "answer", or does not."""
    return lambda row: (
        task_of("bbh", row) in names and closed in {None, MARKER.search(response_of("bbh", row)) is not None}
    )


def _benchmark(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: bool(row["benchmark"] == name)


def _is_usual(row: dict[str, Any]) -> bool:
    return USUAL.search(response_of(MMLU_PRO, row)) is not None


def _is_long(row: dict[str, Any]) -> bool:
    return len(response_of(MMLU_PRO, row)) >= 3000


CHOICES = ("date_understanding", "disambiguation_qa", "ruin_names", "snarks")
BBH = "bbh_outputs_code_davinci_002"
TAGGED = "tagged_outputs_gpqa_aime"
MMLU_PRO = "mmlu_pro_outputs_llama31_8b"
STRATA = {
    "gpqa": Stratum(kind="letter", file=TAGGED, belongs=_benchmark("gpqa_diamond"), n=30),
    "mmlu-pro": Stratum(kind="letter", file=MMLU_PRO, belongs=_is_usual, n=40),
    "mmlu-pro-unusual": Stratum(
        kind="letter", file=MMLU_PRO, belongs=lambda row: not _is_usual(row) and not _is_long(row), n=32
    ),
    "mmlu-pro-endless": Stratum(
        kind="letter", file=MMLU_PRO, belongs=lambda row: not _is_usual(row) and _is_long(row), n=8
    ),
    "choice": Stratum(kind="letter", file=BBH, belongs=_task(*(f"{task}/cot" for task in CHOICES)), n=32),
    "choice-direct": Stratum(kind="letter", file=BBH, belongs=_task(*(f"{task}/direct" for task in CHOICES)), n=8),
    "gsm8k-davinci": Stratum(
        kind="number", file="gsm8k_outputs_text_davinci_002", belongs=lambda row: "question" in row, n=44
    ),
    "gsm8k-6b": Stratum(kind="number", file="gsm8k_outputs_6b_finetuning", belongs=lambda row: "question" in row, n=20),
    "aime": Stratum(kind="number", file=TAGGED, belongs=_benchmark("aime24"), n=30),
    "arithmetic": Stratum(kind="number", file=BBH, belongs=_task("multistep_arithmetic_two/cot"), n=26),
    "arithmetic-direct": Stratum(kind="number", file=BBH, belongs=_task("multistep_arithmetic_two/direct"), n=8),
    "boolean": Stratum(kind="yes_no", file=BBH, belongs=_task("boolean_expressions/cot"), n=16),
    "boolean-direct": Stratum(kind="yes_no", file=BBH, belongs=_task("boolean_expressions/direct"), n=4),
    "navigate": Stratum(kind="yes_no", file=BBH, belongs=_task("navigate/cot"), n=14),
    "navigate-direct": Stratum(kind="yes_no", file=BBH, belongs=_task("navigate/direct"), n=4),
    "sorting": Stratum(kind="text", file=BBH, belongs=_task("word_sorting/cot", closed=True), n=18),
    "sorting-cut": Stratum(kind="text", file=BBH, belongs=_task("word_sorting/cot", closed=False), n=8),
    "sorting-direct": Stratum(kind="text", file=BBH, belongs=_task("word_sorting/direct"), n=8),
    "brackets": Stratum(kind="text", file=BBH, belongs=_task("dyck_languages/cot", closed=True), n=18),
    "brackets-cut": Stratum(kind="text", file=BBH, belongs=_task("dyck_languages/cot", closed=False), n=8),
    "brackets-direct": Stratum(kind="text", file=BBH, belongs=_task("dyck_languages/direct"), n=8),
}


def hardness(kind: Kind, text: str) -> int:
    """Return 2 where the closing rules disagree or find nothing, 1 where the first answer differs too, else 0.

    The rules: the first answer of the text, the last one, and the first after the last word "answer". A text of one
    line without that word is all answer. Of texts (words, brackets) only this is asked: does the word stand on the last
    line?
    """
    marks = list(MARKER.finditer(text))
    tail = text[marks[-1].end() :] if marks else "" if "\n" in text.strip() else text
    if kind == "text":
        return 0 if tail.strip() and "\n" not in tail.strip() else 2
    find = {"letter": LETTER, "number": NUMBER, "yes_no": WORD}[kind].findall
    found, behind = find(text), find(tail)
    if not behind or behind[0] != found[-1]:
        return 2
    return int(found[0] != found[-1])


def drawn(name: str) -> list[tuple[int, bool]]:
    """Return the rows of a stratum in the order of the file, each with whether it was drawn as a hard one."""
    stratum = STRATA[name]
    chance = random.Random(f"{SEED} {name}")  # noqa: S311  # a reproducible sample
    candidates = [index for index, row in enumerate(rows(stratum.file)) if stratum.belongs(row)]
    easy = chance.sample(candidates, stratum.n // 2)
    rest = [index for index in candidates if index not in set(easy)]
    chance.shuffle(rest)
    rest.sort(key=lambda index: -hardness(stratum.kind, response_of(stratum.file, rows(stratum.file)[index])))
    hard = rest[: stratum.n - len(easy)]
    return sorted([(index, False) for index in easy] + [(index, True) for index in hard])


def _shown(name: str) -> Iterator[str]:
    stratum = STRATA[name]
    for index, hard in drawn(name):
        row = rows(stratum.file)[index]
        response = response_of(stratum.file, row)
        asked = row.get("question", row.get("input", ""))
        options = "".join(f"\n({chr(65 + place)}) {text}" for place, text in enumerate(row.get("options", ())))
        yield f"##### {name} row {index} {digest(response)} {'hard' if hard else 'random'}\n"
        yield f"--- asked: {asked}{options}\n--- stated in:\n"
        yield LOOP.sub(
            lambda match: f"{match['once'] * 2}[and {len(match[0]) // len(match['once']) - 2} times more]", response
        )
        yield "\n"


if __name__ == "__main__":
    for stratum_name in sys.argv[1:] or STRATA:
        sys.stdout.writelines(_shown(stratum_name))
