"""A judge that answers yes or no."""

from collections.abc import Sequence

from nel import Case, Judge, Question, grade_reader, quote

PROMPT = """Does this answer say the same as the reference?

Reference:
{reference}

Answer:
{response}

Give your reasons, then end with one line in the form "VERDICT: X", where X is yes or no."""


def ask(case: Case) -> Sequence[Question]:
    """Return the one question about a case."""
    quoted = quote(PROMPT, {"reference": case.reference, "response": case.response})
    read = grade_reader(quoted, {"yes": 1.0, "no": 0.0}, keyword="VERDICT")
    return [Question(prompt=quoted.prompt, read=read)]


yes_no = Judge(
    name="example-yes-no",
    description="Same as the reference, yes or no",
    ask=ask,
    example_reply="They agree.\nVERDICT: yes",
)
