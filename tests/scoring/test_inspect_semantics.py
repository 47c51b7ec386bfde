"""The configurable scorers against the behaviour that Inspect documents, its traps mended."""

from __future__ import annotations

from typing import Any

import pytest

from nel.errors import ConfigError, DatasetError, ScorerError
from nel.scorers import TaskState, answer, choice, exact, f1, includes, match, multi_scorer, pattern
from nel.scoring.protocol import ModelOutput, Target
from nel.types import Sample, Score, ScorerInput


def _score(scorer: Any, response: str, target: Any) -> Score:
    score: Score = scorer(ScorerInput(response=response, target=target))
    return score


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("$1,234.50", "1234.5", "C"),
        ("\\$20", "20", "C"),
        ("1_000", "1000", "C"),
        ("42.", "42", "C"),
        ("42!", "42", "C"),
        ("(42)", "42", "C"),
        ("x=42", "42", "C"),
        ("\\boxed{42}", "42", "C"),
        ("**42**", "42", "C"),
        ("60%", "60", "I"),
        ("60%", "60%", "C"),
        ("¥3", "3", "C"),
        ("１２３", "123", "C"),
        ("三百", "300", "C"),
        ("Ⅻ", "12", "C"),
        ("3²", "9", "C"),
        ("−7", "-7", "C"),
        ("½", "0.5", "C"),
        ("inf", "inf", "C"),
        ("123457", "123456", "I"),
        ("25", "5", "I"),
        ("5, apples", "5, apples", "C"),
        ("no number", "0", "I"),
        ("42", ["41", "42"], "C"),
    ],
)
def test_match_numbers(response: str, target: Any, value: str) -> None:
    """Numbers at the end are compared exactly, in every form that people write."""
    assert _score(match(numeric=True), response, target).value == value


@pytest.mark.parametrize(
    ("location", "response", "value"),
    [
        ("begin", "Paris is the capital", "C"),
        ("begin", "It is Paris", "I"),
        ("end", "It is Paris.", "C"),
        ("end", "Paris it is", "I"),
        ("exact", " PARIS! ", "C"),
        ("exact", "It is Paris", "I"),
        ("any", "The Paris region", "C"),
        ("any", "London", "I"),
    ],
)
def test_match_locations(location: Any, response: str, value: str) -> None:
    """Outer spaces, punctuation and capitals do not count, wherever the text has to stand."""
    assert _score(match(location), response, "paris").value == value
    assert _score(match(location, ignore_case=False), response, "paris").value == "I"


@pytest.mark.parametrize(
    ("location", "response", "value"),
    [("begin", "42 or 43", "C"), ("end", "41 then 42", "C"), ("any", "40 42 44", "C"), ("exact", "42", "C"),
     ("begin", "41 or 42", "I"), ("exact", "42 it is", "I")],
)  # fmt: skip
def test_match_number_locations(location: Any, response: str, value: str) -> None:
    """The first number, the last, any of them, or the whole."""
    assert _score(match(location, numeric=True), response, "42").value == value


@pytest.mark.parametrize("scorer", [match(), match(numeric=True), includes(), f1(), exact(), answer("line")])
def test_an_empty_target_matches_nothing(scorer: Any) -> None:
    """What would match everything is a bad row."""
    with pytest.raises(DatasetError, match="the target is empty"):
        _score(scorer, "ANSWER: anything", " ")


def test_includes() -> None:
    """A substring after casefolding; the answer is the response."""
    assert _score(includes(), "Die STRASSE", "straße").value == "C"
    assert _score(includes(ignore_case=False), "Paris", "paris").value == "I"
    assert _score(includes(), "x", ["a", "X"]).value == "C"


@pytest.mark.parametrize(
    ("options", "response", "target", "value", "extracted"),
    [
        ({"pattern": r"is (\w+)"}, "It is Seven", "seven", "C", "Seven"),
        ({"pattern": r"is (\w+)", "ignore_case": False}, "It is Seven", "seven", "I", "Seven"),
        ({"pattern": r"is (\w+)"}, "nothing", "seven", "N", None),
        ({"pattern": r"(\w+) and (\w+)"}, "red and blue", "blue", "C", "blue"),
        ({"pattern": r"(\w+) and (\w+)"}, "red and blue", "green", "I", None),
        ({"pattern": r"(\w+) and (\w+)", "match_all": True}, "red and blue", ["red", "blue"], "C", "redblue"),
        ({"pattern": r"(\w+) and (\w+)", "match_all": True}, "red and blue", "red", "I", None),
        ({"pattern": r"(a)?b"}, "b", "a", "I", None),
    ],
)
def test_pattern(options: dict[str, Any], response: str, target: Any, value: str, extracted: str | None) -> None:
    """A captured group that equals a target; no match is no answer."""
    score = _score(pattern(**options), response, target)
    assert (score.value, score.answer) == (value, extracted)


def test_a_pattern_that_runs_away_is_given_up() -> None:
    """The sample is unscored; the next one is scored."""
    with pytest.raises(ScorerError, match="took longer than"):
        _score(pattern(r"((a|aa)+)$"), "a" * 60 + "b", "x")
    assert _score(pattern(r"(a)"), "a", "a").value == "C"


@pytest.mark.parametrize(
    ("kind", "response", "target", "value"),
    [
        ("letter", "ANSWER: B", "B", "C"),
        ("letter", "ANSWER: **B**", "B", "C"),
        ("letter", "answer: (b)", "B", "C"),
        ("letter", "ANSWER: $B$", "B", "C"),
        ("letter", "ANSWER: A\nANSWER: B", "B", "C"),
        ("letter", "ANSWER: A or B", "A", "N"),
        ("letter", "B", "B", "N"),
        ("word", "ANSWER: Yes.", "yes", "C"),
        ("word", "ANSWER: **Yes**", "yes", "C"),
        ("word", "ANSWER: Yes then more", "Yes", "N"),
        ("line", "ANSWER: New York.", "new york", "C"),
        ("line", "ANSWER: \\boxed{New York}", "New York", "C"),
        ("line", "no marker", "New York", "N"),
    ],
)
def test_answer(kind: Any, response: str, target: str, value: str) -> None:
    """What follows the last ANSWER:, without what stands around it."""
    assert _score(answer(kind), response, target).value == value


@pytest.mark.parametrize(
    ("response", "target", "value", "given"),
    [
        ("ANSWER: C", "C", "C", "C"),
        ("ANSWER: A, C", ["A", "C"], "C", "A, C"),
        ("ANSWER: AC", "AC", "C", "A, C"),
        ("ANSWER: A", ["A", "C"], "I", "A"),
        ("ANSWER: None of the above", "A", "N", None),
        ("I would say (B).", "B", "C", "B"),
    ],
)
def test_choice(response: str, target: Any, value: str, given: str | None) -> None:
    """All right letters and no other; the labels are those of the choices."""
    sample = Sample(id="1", input="q", target=target, choices=("w", "x", "y", "z"))
    score = choice()(ScorerInput(response=response, target=target, sample=sample))
    assert (score.value, score.answer) == (value, given)


@pytest.mark.parametrize(
    ("response", "target", "same", "overlap"),
    [
        ("the big cat", "cat", "I", 0.67),
        ("The Beatles!", "beatles", "C", 1.0),
        ("3,000", "3000", "C", 1.0),
        ("(3.14)", "3.14", "C", 1.0),
        ("U.S.", "us", "C", 1.0),
        ("50%", "50", "I", 0.0),
        ("-5", "5", "I", 0.0),
        ("a", "an", "I", 0.0),
        ("well-known", "well known", "C", 1.0),
        ("", "x", "I", 0.0),
        ("cat", ["dog", "cat"], "C", 1.0),
    ],
)
def test_exact_and_f1(response: str, target: Any, same: str, overlap: float) -> None:
    """Words are normalised as Inspect does it; what normalises to nothing equals nothing."""
    assert _score(exact(), response, target).value == same
    assert _score(f1(), response, target).value == overlap


def test_f1_options() -> None:
    """Stop words do not count, and the answer can be taken out first."""
    assert _score(f1(stop_words=["big"]), "big cat", "cat").value == 1.0
    assert _score(f1(answer_fn=lambda text: text.rpartition(":")[2]), "long talk: cat", "cat").value == 1.0


@pytest.mark.parametrize(("reducer", "value"), [("mode", "I"), ("max", "C"), ("at_least_1", 1.0), ("at_least_2", 0.0)])
def test_several_scorers_are_reduced_to_one(reducer: str, value: Any) -> None:
    """Three scorers see one response; a function reduces as well as a name."""
    scorers = [match("exact"), includes(), match("begin")]
    assert _score(multi_scorer(scorers, reducer), "It is Paris", "Paris").value == value
    assert _score(multi_scorer(scorers, lambda scores: scores[1]), "It is Paris", "Paris").value == "C"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: match("middle"), "use begin, end, any, exact"),
        (lambda: answer("sentence"), "use letter, word or line"),
        (lambda: pattern("abc"), "has no group"),
        (lambda: pattern("(abc"), "is not a regular expression"),
        (lambda: multi_scorer([], "mode"), "at least one scorer"),
        (lambda: multi_scorer([match()], "meen"), 'did you mean "mean"'),
    ],
)
def test_wrong_options_are_refused(build: Any, message: str) -> None:
    """The error says what there is."""
    with pytest.raises(ConfigError, match=message):
        build()


async def test_all_can_be_awaited_as_in_inspect() -> None:
    """`await scorer(state, target)` gives the same score as a call with a sample."""
    state = TaskState(output=ModelOutput(completion="It is Paris"))
    for scorer in (
        match(),
        includes(),
        pattern(r"is (\w+)"),
        exact(),
        f1(),
        multi_scorer([match(), includes()], "mode"),
    ):
        assert await scorer(state, Target("Paris")) == _score(scorer, "It is Paris", "Paris")
