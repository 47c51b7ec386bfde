"""One clear verdict is read; all else is refused by its kind, for every built-in judge."""

from __future__ import annotations

import pytest

from nel.errors import JudgeError
from nel.judges.parsing.formats import json_reader, pattern_reader
from nel.judges.parsing.verdict import REPLY_CHARACTERS_MAX, OutOfRange, Scale, grade_reader
from nel.judges.quoting import quote
from nel.judges.types import Grade, Read
from tests.judges.honest import TRIALS, Trial
from tests.support.tiers import first_rows

QUOTED = quote("Grade {response}", {"response": "x"})
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0}
FIVE = {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}


def kind_or_label(read: Read, reply: str) -> str:
    try:
        return read(reply).label
    except JudgeError as error:
        return error.kind if error.reply == reply else "the reply is lost"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("GRADE: partially correct", "P"),
        ("GRADE: CI", "no_verdict"),
        ("GRADE: C for correct, GRADE: I for incorrect", "no_verdict"),
        ("GRADE: C, GRADE: I", "two_verdicts"),
        ("GRADE: C\nGRADE: I", "two_verdicts"),
        ("GRADE: C\nNo, wait.\nGRADE: I", "I"),
        ("GRADE: C\n\nIt names the capital.", "C"),
        ("GRADE: 8/10", "out_of_range"),
        ("", "empty"),
        ("x" * (REPLY_CHARACTERS_MAX + 1), "no_verdict"),
    ],
)
def test_grades_on_a_line(reply: str, expected: str) -> None:
    """A verdict stands alone on its line; the last one counts if it is a change of mind."""
    assert kind_or_label(grade_reader(QUOTED, LETTERS), reply) == expected


@pytest.mark.parametrize("trial", TRIALS.values(), ids=TRIALS)
def test_no_judge_guesses(trial: Trial) -> None:
    """Unparsable, cut off, empty, refused, out of range, contradictory: each is a fault of its kind."""
    _, question = trial.question("Paris")
    good, other = trial.verdicts[trial.honest], trial.verdicts[trial.forged]
    is_json = trial.judge == "rubric"
    expected = {
        "": "empty",
        "I cannot grade this.": "no_verdict",
        "The response names": "no_verdict",
        good[: len(good) // 2]: "no_verdict",
        f"{good}\n{other}": "two_verdicts",
        f"{good} {other}": "no_verdict" if is_json else "two_verdicts",
        '{"grade": 7}': "no_verdict",
        '{"criteria_met": "true"}': "no_verdict",
        '{"criteria_met": null, "score": 9}': "no_verdict",
        "8/10": "no_verdict",
        **{f"GRADE: {said}": "no_verdict" if is_json else "out_of_range" for said in ("8/10", "-1", "1e9", "NaN")},
    }
    assert {reply: kind_or_label(question.read, reply) for reply in expected} == expected
    assert question.read(good).label == trial.honest
    assert question.again


@pytest.mark.parametrize(
    ("pattern", "mapping", "prefix", "reply", "expected"),
    [
        (r"GRADE:\s*(\d)", FIVE, "", "Well.\nGRADE: 3", "3"),
        (r"GRADE:\s*(\d)", FIVE, "", "GRADE: 10", "out_of_range"),
        (r"GRADE:\s*(\d)", FIVE, "", "GRADE: 3/10", "out_of_range"),
        (r"GRADE:\s*(\d)", FIVE, "", "GRADE: 3 if it is right", "no_verdict"),
        (r"GRADE:\s*(\d)", FIVE, "", "DEGRADE: 3", "no_verdict"),
        (r"GRADE:\s*(\d)", FIVE, "GRADE:", "3", "3"),
        (r"GRADE:\s*(\d)", FIVE, "", "GRADE: 3\nNo.\nGRADE: 4", "4"),
        (r"(?i)GRADE\s*:\s*([CPI])(.*)$", LETTERS, "", "grade: CI", "no_verdict"),
    ],
)
def test_patterns_of_ones_own(pattern: str, mapping: dict[str, float], prefix: str, reply: str, expected: str) -> None:
    """A match ends its word and its line, and follows the same rules as a grade's line."""
    read = pattern_reader(QUOTED, pattern, Scale(mapping), prefix=prefix)
    assert kind_or_label(read, reply) == expected


def _from_one_to_five(value: object) -> Grade | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    if not 1 <= value <= 5:
        raise OutOfRange(value)
    return Grade(label=str(value), score=value / 5)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"score": 4}', "4"),
        ('```json\n{"explanation": "a\nb", "score": 4}\n```', "4"),
        ('I think {"a": 1} and more.\n\n{"score": 4}\n', "4"),
        ('{"score": 4, "score": 5}', "two_verdicts"),
        ('{"score": 4}\n{"score": 5}', "two_verdicts"),
        ('{"score": 4}\nNo.\n{"score": 5}', "5"),
        ('{"score": 8}', "out_of_range"),
        ('{"score": "4"}', "no_verdict"),
        ('{"score": true}', "no_verdict"),
        ('{"rating": 4}', "no_verdict"),
        ('{"score": 4', "no_verdict"),
        ('The reply is {"score": 4}', "no_verdict"),
        ('{"a":\n' * 2_000, "no_verdict"),
    ],
)
def test_json_is_typed_exactly(reply: str, expected: str) -> None:
    """An object with the key, alone on its lines; no key, type or value is made up."""
    assert kind_or_label(json_reader(QUOTED, "score", _from_one_to_five), reply) == expected


N = 100_000
LONG = {
    "verdicts": "GRADE: C\n" * (N // 9),
    "quotation marks": "“" * N,
    "objects": '{"score":\n' * (N // 9),
    "digits": "GRADE: " + "1" * N + "x",
    "blanks": (" " * 99 + "\n") * (N // 100),
    "one word": "a" * N,
    "marks": f"x <<<RESPONSE {QUOTED.code}>>> y\n" * (N // 40),
}


@pytest.mark.parametrize("response", first_rows(1, ["x", LONG["digits"]]), ids=["short", "digits"])
def test_long_texts_are_read_in_bounded_time(response: str) -> None:
    """Neither a reply nor a graded text of any shape makes reading take more than a moment; the suite's limit holds."""
    quoted = quote("Grade {response}", {"response": response})
    readers = [grade_reader(quoted, LETTERS), json_reader(quoted, "score", _from_one_to_five)]
    readers.append(pattern_reader(quoted, r"GRADE:\s*(\d)", Scale(FIVE)))
    for reply in LONG.values():
        for read in readers:
            assert kind_or_label(read, reply) in {"C", "empty", "no_verdict", "two_verdicts", "out_of_range"}
