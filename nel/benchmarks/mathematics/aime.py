"""AIME 2024 and 2025: 30 competition problems a year whose answer is a whole number from 0 to 999.

The answer is the number that the response declares last, in a ``\\boxed{}``, a tag, after
``Answer:`` or in a sentence, or that it sets off as its last line; elsewhere there is none, for a
number in the midst of the reasoning is not an answer. A box that holds more than one number, such
as ``5\\sqrt{3}``, is none of its parts. With so few problems, ask each several times
(``--repeats``).
"""

from __future__ import annotations

from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.numbers import read_number
from nel.reading.numerals import numbers_equal
from nel.reading.own import own_answer
from nel.reading.response import Answer, own_response

REVISION_2024 = "8d88b2876a82a080e2f172cc9b25d0d9d2cb4792"
REVISION_2025 = "563bb8404243c5f09de6ec262f2db674fe5bce9b"
PROMPT = """Solve this problem step by step. The answer is a whole number from 0 to 999; put it, and nothing else, \
into \\boxed{{}}.

{problem}"""


def whole_number(response: str) -> str | None:
    """Return the number that a response declares as its answer, or None.

    >>> whole_number("so \\\\boxed{073}"), whole_number("Answer: 336^\\\\circ"), whole_number("I get 5 here")
    ('073', '336', None)
    >>> whole_number("\\\\boxed{5\\\\sqrt{3}}"), whole_number("\\\\boxed{73, 74}"), whole_number("<answer>204</answer>")
    (None, None, '204')
    """
    return _declared_answer(own_response(response))


def _declared_answer(response: Answer) -> str | None:
    return read_number(response, declared_only=True).value


def _compare(sample: ScorerInput) -> dict[str, object]:
    response, ran_on = own_answer(sample)
    number = _declared_answer(response)
    correct = number is not None and numbers_equal(number, sample.target)
    return {"correct": correct, "parsed": number is not None, "extracted": number, **ran_on}


def _card(year: int, address: str, revision: str) -> Card:
    return Card(
        paper=f"American Invitational Mathematics Examination {year}",
        licence="not stated; the problems are the Mathematical Association of America's",
        citation=f"Mathematical Association of America, AIME I and II, {year}",
        metric="accuracy",
        homepage=f"https://huggingface.co/datasets/{address}",
        revision=revision,
        languages=("en",),
    )


@benchmark(
    name="aime24",
    description="AIME 2024, 30 competition problems with a whole number as answer",
    dataset=f"hf://Maxwell-Jia/AIME_2024?split=train&revision={REVISION_2024}",
    prompt=PROMPT,
    target_field="answer",
    id_field="ID",
    field_mapping={"Problem": "problem", "Answer": "answer"},
    card=_card(2024, "Maxwell-Jia/AIME_2024", REVISION_2024),
)
@scorer(in_process=True)
def aime24(sample: ScorerInput) -> dict[str, object]:
    """Compare the declared whole number with the gold one."""
    return _compare(sample)


@benchmark(
    name="aime25",
    description="AIME 2025, 30 competition problems with a whole number as answer",
    dataset=f"hf://math-ai/aime25?split=test&revision={REVISION_2025}",
    prompt=PROMPT,
    target_field="answer",
    id_field="id",
    card=_card(2025, "math-ai/aime25", REVISION_2025),
)
@scorer(in_process=True)
def aime25(sample: ScorerInput) -> dict[str, object]:
    """Compare the declared whole number with the gold one."""
    return _compare(sample)
