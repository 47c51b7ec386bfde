"""The built-in judge of a rubric in words, with a score and a threshold.

The reply is a JSON object with ``pass`` and ``score``; a response passes if ``pass`` is true and
the score reaches the threshold. Source: promptfoo's assertion ``llm-rubric``. A change of the
prompt invalidates cached replies. Depends on `nel.judges.quoting` and `nel.judges.parsing`.
"""

from __future__ import annotations

from typing import Final

from nel.core.json_values import finite, is_number
from nel.errors import JudgeError
from nel.judges.parsing.formats import json_reader
from nel.judges.parsing.scale import OutOfRange
from nel.judges.quoting import quote
from nel.judges.types import Case, Grade, Judge, Question

NAME: Final = "llm_rubric"
_PROMPT: Final = """You grade a response by a rubric, strictly and fairly. The rubric alone decides, not style or \
length.

The rubric:
{rubric}

{parts}The response to grade:
{response}

Reply with one JSON object and nothing else. It has three keys: "explanation", a text with your reasons, "score", a \
number from 0 (nothing of the rubric is met) to 1 (all of it is), and "pass", which is true or false."""
_AGAIN: Final = (
    "Your reply holds no verdict that can be read. Reply once more with one JSON object and nothing"
    ' else; its key "pass" is true or false and its key "score" a number from 0 to 1.'
)


def ask(case: Case) -> list[Question]:
    """Return the question whether the response meets ``values["rubric"]``, else the criteria.

    Raises:
        JudgeError: ``bad_case``: there is no rubric, or ``values["threshold"]`` is not a number
            from 0 to 1.
    """
    # A rubric from a row is untrusted and quoted; the criteria are the benchmark author's.
    rubric = case.values.get("rubric")
    row_rubric = rubric if isinstance(rubric, str) and rubric.strip() else None
    if row_rubric is None and not case.criteria.strip():
        raise JudgeError(
            'the rubric is empty; give criteria, or values={"rubric": "…"}', kind="bad_case"
        )
    threshold = _threshold(case)
    parts = "The question:\n{question}\n\n" if case.question.strip() else ""
    quoted = quote(
        _PROMPT.replace("{parts}", parts),
        {"question": case.question, "response": case.response, "rubric": row_rubric},
        trusted={} if row_rubric is not None else {"rubric": case.criteria},
    )
    # Two readers of one object, so that a reply without one of the keys is refused.
    read_pass = json_reader(quoted, "pass", _passes)
    read_score = json_reader(quoted, "score", _score)

    def read(reply: str) -> Grade:
        verdict, score = read_pass(reply), read_score(reply).score
        is_pass = verdict.label == "pass" and (threshold is None or score >= threshold)
        return Grade(
            label="pass" if is_pass else "fail",
            score=float(is_pass),
            explanation=verdict.explanation,
            metrics={"rubric_score": score},
        )

    return [Question(prompt=quoted.prompt, read=read, again=_AGAIN, is_quick=True)]


def _threshold(case: Case) -> float | None:
    threshold = case.values.get("threshold")
    if threshold is None:
        return None
    if not is_number(threshold) or not 0 <= threshold <= 1:
        raise JudgeError(
            f"the threshold is {threshold!r:.40}; give a number from 0 to 1", kind="bad_case"
        )
    return float(threshold)


def _passes(value: object) -> Grade | None:
    if not isinstance(value, bool):
        return None
    return Grade(label="pass" if value else "fail", score=float(value))


def _score(value: object) -> Grade | None:
    score = finite(value)
    if score is None:
        return None
    if not 0 <= score <= 1:
        raise OutOfRange(score)
    return Grade(label=f"{score:g}", score=score)


llm_rubric = Judge(
    name=NAME,
    description=(
        "Passes a rubric in words or not, with a score and a threshold, as promptfoo's llm-rubric"
    ),
    ask=ask,
    example=Case(
        response="Paris",
        question="The capital of France?",
        criteria="Names Paris",
        values={"threshold": 0.5},
    ),
    example_reply='{"explanation": "It names Paris.", "score": 1, "pass": true}',
    level="nominal",
)
