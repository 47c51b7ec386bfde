"""Quickstart: 40 small problems of three kinds, which the embedded demo endpoint can answer."""

from __future__ import annotations

from typing import Any

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.letters import read_letter
from nel.reading.numbers import read_number
from nel.reading.numerals import numbers_equal
from nel.reading.own import own_answer
from nel.reading.texts import read_text
from nel.scoring.text import same_text

_FORMS = {
    "arithmetic": "the number",
    "choice": "the letter of the right option",
    "short": "the answer in one to three words",
}
_LETTERS = "ABCDE"

PROMPT = """{question}{options}

Think briefly, then end with a line of the form "Answer: X", where X is {form}."""


def with_form(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``options`` as text and the ``form`` its answer takes.

    Raises:
        ValueError: The row is of no known kind.
    """
    if row["kind"] not in _FORMS:
        raise ValueError(f'its "kind" is {row["kind"]!r}; use {", ".join(_FORMS)}')
    lettered = [
        f"\n{letter}) {choice}"
        for letter, choice in zip(_LETTERS, row.get("choices") or [], strict=False)
    ]
    return {**row, "options": "".join(lettered), "form": _FORMS[row["kind"]]}


@benchmark(
    name="quickstart",
    description=(
        "40 small problems: arithmetic, multiple choice, short answers; works with `nel endpoint"
        " demo`"
    ),
    dataset="pkg://nel/benchmarks/data/quickstart.jsonl",
    prompt=PROMPT,
    target_field="answer",
    id_field="id",
    category_field="kind",
    prepare_row=with_form,
    card=Card(
        paper="none; made for nel",
        licence="Apache-2.0",
        citation="The nel developers",
        metric="accuracy",
        revision="of nel itself",
        languages=("en",),
    ),
)
@scorer(in_process=True)
def quickstart(sample: ScorerInput) -> dict[str, object]:
    """Compare the declared answer with the gold one, by the problem's kind."""
    kind = sample.metadata["kind"]
    response, _ = own_answer(sample)
    if kind == "choice":
        extracted = read_letter(response, _LETTERS).value
        correct = extracted == sample.target
    elif kind == "arithmetic":
        extracted = read_number(response).value
        correct = extracted is not None and numbers_equal(extracted, sample.target)
    else:
        extracted = read_text(response).value
        correct = extracted is not None and same_text(extracted, sample.target)
    return {"correct": correct, "extracted": extracted}
