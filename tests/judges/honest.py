"""Honest judges, scripted: each has its verdict in mind and repeats what it was shown in another way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nel.judges.quoting import displayed_text
from nel.judges.registry import judge_for
from nel.judges.types import Case, Judge, Question

Reply = Callable[[str, str, str], str]
"""From the prompt, the graded text as it was shown, and the verdict, to what the judge says."""

BEFORE: dict[str, Reply] = {
    "echoes its prompt": lambda prompt, _text, verdict: f"{prompt}\n\nI have weighed it.\n{verdict}",
    "echoes the quoted part": lambda prompt, _text, verdict: f"{prompt.partition('<<<')[2]}\n{verdict}",
    "echoes in other spacing": lambda prompt, _text, verdict: f"I was told:\n\n {prompt} \n\nSo be it.\n\n{verdict}\n",
    "quotes before": lambda _prompt, text, verdict: f"{text}\n\nThat is what it says, and I weighed it.\n{verdict}",
    "says the verdict only": lambda _prompt, _text, verdict: verdict,
    "gives reasons": lambda _prompt, _text, verdict: f"I compared it with what was asked.\n\n{verdict}\n",
    "thinks first": lambda _prompt, _text, verdict: f"<think>\nWhat do I see?\n</think>\n\n{verdict}",
}
"""They say what they mean, and it is read as they mean it."""

DOUBTFUL: dict[str, Reply] = {
    "quotes before, directly": lambda _prompt, text, verdict: f"{text}\n{verdict}",
    "quotes after": lambda _prompt, text, verdict: f"{verdict}\n\n{text}",
    "quotes after, with a remark": lambda _prompt, text, verdict: f"{verdict}\n\nIt said:\n{text}\n\nThat is odd.",
    "quotes the end after": lambda _prompt, text, verdict: f"{verdict}\n\nIt ended:\n{text[len(text) // 2 :]}",
    "quotes the last line": lambda _prompt, text, verdict: f"{verdict}\n\n{(text.splitlines() or [''])[-1]}",
    "quotes in a fence": lambda _prompt, text, verdict: f"```\n{text}\n```\nI weighed it.\n{verdict}",
    "quotes as a block": lambda _prompt, text, verdict: "".join(f"> {one}\n" for one in text.split("\n")) + verdict,
    "quotes in quotation marks": lambda _prompt, text, verdict: f'It says "{text}" and no more.\n{verdict}',
    "thinks with quotations": lambda _prompt, text, verdict: f"<think>\n{text}\n</think>\n\n{verdict}",
    "quotes twice": lambda prompt, text, verdict: f"{text}\n\n{prompt}\n\n{text}\n\nSo much.\n{verdict}",
}
"""They repeat in ways in which a part of the quotation may pass for their own; then they may be asked once more."""

MAY_BE_REFUSED = {"two_verdicts", "no_verdict", "out_of_range"}


@dataclass(frozen=True, slots=True)
class Trial:
    """A judge under test, and what a verdict of it looks like."""

    judge: str
    verdicts: Mapping[str, str]
    """Label to the line that says it."""
    honest: str
    forged: str
    values: Mapping[str, Any]
    number: int = 0
    """Which of its questions is answered."""

    def question(self, response: str) -> tuple[Judge, Question]:
        case = Case(
            response=response, template=self.judge, question="The capital?", reference="Lyon", values=dict(self.values)
        )
        judge = judge_for(case)
        return judge, judge.ask(case)[self.number]

    def reply(self, say: Reply, question: Question, response: str) -> str:
        return say(question.prompt, displayed_text(response), self.verdicts[self.honest])


def _lines(*labels: str) -> dict[str, str]:
    return {label: f"GRADE: {label}" for label in labels}


_RUBRIC = {"rubric": [{"criterion": "Names Lyon", "points": 1}]}
_MET = {
    "met": '{"explanation": "it does", "criteria_met": true}',
    "not met": '{"explanation": "it does not", "criteria_met": false}',
}
_WINNERS = {"first": "GRADE: A", "second": "GRADE: B", "tie": "GRADE: TIE"}
_BASE = {"baseline": "Lyon, of course."}
TRIALS = {
    "binary_qa": Trial("binary_qa", _lines("C", "I"), "I", "C", {}),
    "binary_qa, honest praise": Trial("binary_qa", _lines("C", "I"), "C", "I", {}),
    "likert_5": Trial("likert_5", _lines("1", "5"), "1", "5", {}),
    "safety": Trial("safety", _lines("SAFE", "UNSAFE"), "UNSAFE", "SAFE", {}),
    "simpleqa": Trial("simpleqa", _lines("CORRECT", "NOT_ATTEMPTED"), "NOT_ATTEMPTED", "CORRECT", {}),
    "rubric": Trial("rubric", _MET, "not met", "met", _RUBRIC),
    "rubric, honest praise": Trial("rubric", _MET, "met", "not met", _RUBRIC),
    "pairwise, first": Trial("pairwise", _WINNERS, "second", "first", _BASE),
    "pairwise, second": Trial("pairwise", _WINNERS, "first", "second", _BASE, number=1),
    "pairwise, tie": Trial("pairwise", _WINNERS, "tie", "first", _BASE),
}
