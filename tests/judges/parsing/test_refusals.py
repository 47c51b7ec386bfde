"""Whether a reply is refused does not depend on the grade that it gives: else one kind of answer would be lost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from nel.errors import JudgeError
from nel.judges.parsing.formats import pattern_reader
from nel.judges.parsing.verdict import Scale, grade_reader
from nel.judges.quoting import quote
from nel.judges.types import Read
from tests.support.runs import SHARED

QUOTED = quote("Grade {response}", {"response": "Lyon"})
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0}
PAIR = {"A": 1.0, "B": 0.0}
PAIR_WORDS = {"A": ("Output (a)",), "B": ("Output (b)",)}
OPENINGS = (
    "No\n\n",
    "Correct.\n\n",
    "Incorrect.\n\n",
    "If it named Paris, I would say it is correct. It does not.\n\n",
    "**Verdict**\n\n",
    "> it says so\n\n",
)
FORMS = ("GRADE: @", "**GRADE:** @", '"GRADE: @"', "[[@]]", "<verdict>@</verdict>", '{"grade": "@"}')


@cache
def llmbar() -> list[dict[str, Any]]:
    """Return the recorded replies of judges that compare two outputs."""
    with gzip.open(SHARED / "corpus" / "llmbar.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def outcome(read: Read, reply: str) -> str:
    try:
        return read(reply).label
    except JudgeError as error:
        return error.kind


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("form", FORMS)
def test_the_text_before_a_verdict_on_a_line_of_its_own_cannot_take_it_back(opening: str, form: str) -> None:
    """ "No" above "GRADE: I" is a reason for it, and "No" above "GRADE: C" changes nothing either."""
    read = grade_reader(QUOTED, LETTERS)
    assert {label: outcome(read, opening + form.replace("@", label)) for label in LETTERS} == {
        label: label for label in LETTERS
    }


@pytest.mark.parametrize("scale", [LETTERS, PAIR, {"yes": 1.0, "no": 0.0}, {"SAFE": 1.0, "UNSAFE": 0.0}])
@pytest.mark.parametrize(
    "form", ["@", "**@**", "@.", "It names the capital.\n\n@", "GRADE: @ or so", "GRADE: @?", "I cannot say."]
)
def test_every_grade_of_a_scale_is_read_or_refused_in_the_same_form(scale: Mapping[str, float], form: str) -> None:
    """A bare grade, one at the end, and forms that are refused."""
    read = grade_reader(QUOTED, scale)
    n_read = [outcome(read, form.replace("@", label)) == label for label in scale]
    assert len(set(n_read)) == 1


@pytest.mark.parametrize(
    "end", ["[[@]]", 'My verdict: "[[@]]".', "I would consider it better:\n\n[[@]]", "[[@]] is my choice."]
)
def test_a_pattern_of_its_own_is_read_whatever_stands_before_it(end: str) -> None:
    """Recorded replies of Arena-Hard's judge end in each of these forms."""
    read = pattern_reader(QUOTED, r"\[\[([AB])\]\]", Scale(PAIR))
    assert [outcome(read, f"B is not right.\n{end.replace('@', label)}") for label in PAIR] == list(PAIR)


@pytest.mark.shared_data
def test_recorded_replies_with_the_answers_exchanged_have_the_other_verdict() -> None:
    """3,000 recorded replies: reading commutes with the exchange of (a) and (b), and refuses the same ones."""
    read = grade_reader(QUOTED, PAIR, words=PAIR_WORDS)
    exchanged = {"A": "B", "B": "A"}
    for row in llmbar():
        label = outcome(read, row["response"])
        other = row["response"].replace("(a)", "(\0)").replace("(b)", "(a)").replace("(\0)", "(b)")
        assert outcome(read, other) == exchanged.get(label, label), row["id"]


@pytest.mark.shared_data
def test_recorded_replies_are_read_as_their_source_read_them() -> None:
    """Of 3,000 replies the source misread 15, which all end in "Output (b) is better"; two hold no verdict."""
    read = grade_reader(QUOTED, PAIR, words=PAIR_WORDS)
    rows = llmbar()
    differing = [row for row in rows if outcome(read, row["response"]) != row.get("read")]
    refused = [row for row in differing if outcome(read, row["response"]) not in PAIR]
    misread_by_source = [row for row in differing if row not in refused and row.get("read")]
    assert [row.get("read") for row in refused] == [None, None]
    assert all("Output (b) is" in row["response"] for row in misread_by_source)
    assert (len(rows), len(differing), len(misread_by_source)) == (3_000, 18, 15)
