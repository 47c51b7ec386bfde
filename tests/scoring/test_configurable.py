"""The scorers that are configured where they are used, rule by rule, with nothing counted that should not count."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Any

import pytest

from nel.errors import ConfigError, DatasetError, ScorerError
from nel.metrics import reducer_named
from nel.scorers import (
    CORRECT,
    INCORRECT,
    SampleScore,
    Score,
    Target,
    TaskState,
    answer,
    choice,
    exact,
    f1,
    includes,
    match,
    metric,
    multi_scorer,
    pattern,
    score_reducer,
    scorer,
)
from nel.types import Sample, ScorerInput
from tests.support.tiers import ENDS, diagonal


def _score(built: Any, response: str, target: Any, choices: tuple[str, ...] | None = None) -> Score:
    sample = None if choices is None else Sample(id="1", input="q", target=target, choices=choices)
    result: Score = built(ScorerInput(response=response, target=target, sample=sample))
    return result


def _value(built: Any, response: str, target: Any, choices: tuple[str, ...] | None = None) -> Any:
    return _score(built, response, target, choices).value


_NUMERIC = match(numeric=True)
_ALL = {
    "match": match(),
    "match numeric": match(numeric=True),
    "match any": match("any"),
    "includes": includes(),
    "pattern": pattern(r"(.*)"),
    "answer letter": answer("letter"),
    "answer word": answer("word"),
    "answer line": answer("line"),
    "choice": choice(),
    "f1": f1(),
    "exact": exact(),
}


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("$1,234.50", "1234.5", "C"),
        ("1_000", "1000", "C"),
        ("\\boxed{42}", "42", "C"),
        ("60%", "60", "I"),
        ("60%", "60%", "C"),
        ("3 000", "3000", "I"),
        ("−7", "-7", "C"),
        ("½", "0.5", "C"),
    ],
)
def test_the_table_of_numeric_match(response: str, target: str, value: str) -> None:
    """Every row of Inspect's behaviour, with the marks that it cannot read."""
    assert _value(_NUMERIC, response, target) == value


@pytest.mark.parametrize(
    ("response", "target"),
    [("12345678901234567890123", "12345678901234567890124"), ("-42", "42"), ("25", "5"), ("160%", "60")],
)
def test_another_number_does_not_match(response: str, target: str) -> None:
    """Numbers are compared with all their digits, and a number does not end with another."""
    assert _value(_NUMERIC, response, target) == INCORRECT


@pytest.mark.parametrize(
    ("location", "response", "value"),
    [
        ("begin", "42 is it", "C"),
        ("begin", "41, then 42", "I"),
        ("end", "It is 42", "C"),
        ("end", "42 or 41", "I"),
        ("any", "41 42 43", "C"),
        ("any", "41 43", "I"),
        ("exact", "42", "C"),
        ("exact", "42 apples", "I"),
    ],
)
def test_where_a_number_is_looked_for(location: Any, response: str, value: str) -> None:
    """Begin takes the first number, end the last, any each of them, exact the whole."""
    assert _value(match(location, numeric=True), response, "42") == value


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [("5, apples", "5, apples", "C"), ("5 apples", "5, apples", "I"), ("It is Paris.", "paris", "C")],
)
def test_a_target_that_is_no_number_is_compared_as_text(response: str, target: str, value: str) -> None:
    """Numeric or not, a target in words is compared as words."""
    assert _value(_NUMERIC, response, target) == value


def test_a_numeric_target_that_is_no_text_is_read() -> None:
    """A dataset may hold its numbers as numbers."""
    assert _value(_NUMERIC, "is 5", 5) == CORRECT
    assert _value(_NUMERIC, "is 5", 5.0) == CORRECT
    assert _value(_NUMERIC, "is 5", [4, 5]) == CORRECT
    assert _value(_NUMERIC, "is 0.1", 0.1) == CORRECT


@pytest.mark.parametrize(
    ("location", "response", "value"),
    [
        ("begin", "Paris is it", "C"),
        ("begin", "It is Paris", "I"),
        ("end", "It is **Paris**", "C"),
        ("any", "I say Paris it is", "C"),
        ("any", "I say Parish", "C"),
        ("exact", "  'paris'. ", "C"),
        ("exact", "It is Paris", "I"),
    ],
)
def test_where_a_text_is_looked_for(location: Any, response: str, value: str) -> None:
    """Begin, end, any and exact compare after dropping outer punctuation and capitals."""
    assert _value(match(location), response, "Paris") == value


@pytest.mark.parametrize(
    ("ignore_case", "response", "target", "value"),
    [(True, "PARIS", "paris", "C"), (False, "PARIS", "paris", "I"), (True, "STRASSE", "Straße", "C")],
)
def test_capitals_count_only_when_asked(ignore_case: bool, response: str, target: str, value: str) -> None:
    """Case folding is full, so that ß is ss, and can be turned off."""
    assert _value(match(ignore_case=ignore_case), response, target) == value


@pytest.mark.parametrize("text", ["+", "!="])
@pytest.mark.parametrize("location", ["begin", "end", "any", "exact"])
def test_an_answer_of_punctuation_matches_itself(location: Any, text: str) -> None:
    """Where the answer is an operator, giving exactly it is right."""
    assert _value(match(location), text, text) == CORRECT


def test_match_says_what_it_read() -> None:
    """The answer is the matched number or the stripped response; the explanation is the whole of it."""
    assert _score(_NUMERIC, " It is $42. ", "42") == Score(value="C", answer="42", explanation=" It is $42. ")
    assert _score(_NUMERIC, "none", "42").answer == ""
    assert _score(match("any", numeric=True), "1 and 42!", "42").answer == "42"
    assert _score(match("any", numeric=True), " 1 and 2 ", "42").answer == "1 and 2"
    assert _score(match(), "  It is PARIS! ", "Paris").answer == "It is PARIS!"


def test_the_first_target_that_matches_gives_the_answer_and_else_the_last() -> None:
    """Targets are tried in order."""
    assert _score(_NUMERIC, "say 7", ["x", "7"]) == Score(value="C", answer="7", explanation="say 7")
    assert _score(_NUMERIC, "say 8", ["7", "x"]) == Score(value="I", answer="say 8", explanation="say 8")
    assert _score(_NUMERIC, "say 8", ["x", "7"]) == Score(value="I", answer="8", explanation="say 8")


@pytest.mark.parametrize("name", list(_ALL))
@pytest.mark.parametrize("target", [["", " "]])
def test_an_empty_target_is_a_bad_row_whatever_the_response(name: str, target: Any) -> None:
    """No scorer makes a match, a wrong answer or a missing answer of a row without a gold answer."""
    for response in ("", "x", "ANSWER: A", "5"):
        with pytest.raises(DatasetError):
            _ALL[name](ScorerInput(response=response, target=target))


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("It is PARIS", "paris", "C"),
        ("Par is", "Paris", "I"),
        ("Paris", "Paris!", "I"),
        ("b or a", ["x", "a"], "C"),
        ("", "a", "I"),
    ],
)
def test_includes(response: str, target: Any, value: str) -> None:
    """A target anywhere in the response counts, as it is written apart from capitals."""
    assert _value(includes(), response, target) == value


def test_includes_may_mind_capitals() -> None:
    """With ignore_case off only the same letters count; the answer is the response."""
    assert _value(includes(False), "PARIS", "Paris") == INCORRECT
    assert _score(includes(ignore_case=False), "in Paris", "Paris") == Score(value="C", answer="in Paris")


@pytest.mark.parametrize(
    ("regex", "options", "response", "target", "value", "taken"),
    [
        (r"(\d+)", {}, "a 42 b 7", "42", "C", "42"),
        (r"(\d+)", {}, "none", "7", "N", None),
        (r"(\d+)-(\d+)", {}, "3-4", "4", "C", "4"),
        (r"(\d+)-(\d+)", {"match_all": True}, "3-4", ["4", "3"], "C", "43"),
        (r"(\d+)-(\d+)", {"match_all": True}, "3-4", ["4"], "I", None),
        (r"a(x)", {"ignore_case": False}, "AX", "x", "N", None),
    ],
)
def test_pattern(
    regex: str, options: dict[str, Any], response: str, target: Any, value: str, taken: str | None
) -> None:
    """The first match counts: a group that is a target, or with match_all every group that took part."""
    assert _score(pattern(regex, **options), response, target) == Score(value=value, answer=taken, explanation=response)


@pytest.mark.parametrize(("regex", "said"), [(r"\d+", "has no group"), ("(a", "not a regular expression")])
def test_a_pattern_that_can_find_nothing_is_refused_at_once(regex: str, said: str) -> None:
    """A pattern without a group, or that is none, is an error before anything is asked."""
    with pytest.raises(ConfigError, match=said):
        pattern(regex)


def test_a_runaway_pattern_leaves_the_sample_unscored_in_time() -> None:
    """A search that explodes is given up."""
    with pytest.raises(ScorerError, match="took longer"):
        _score(pattern(r"(a|aa)+$()(?<!b)c"), "a" * 5_000 + "b", "a")


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("ANSWER: B) Paris", "C"),
        ("ANSWER: C", "I"),
        ("ANSWER: B\nANSWER: none of them", "N"),
        ("ANSWER: A or B", "N"),
        ("B", "N"),
        ("ANSWER: B\n\nThe answer is A to the other question.", "C"),
    ],
)
def test_an_answer_that_is_a_letter(response: str, value: str) -> None:
    """One letter after the last ANSWER: is compared; two, a word or nothing are not an answer."""
    assert _value(answer("letter"), response, "B") == value


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("ANSWER: Yes", "yes", "C"),
        ("ANSWER: Yes then more", "Yes", "N"),
        ("ANSWER: No\nANSWER: Yes", "Yes", "C"),
        ("ANSWER: -5", "5", "I"),
        ("Yes", "Yes", "N"),
        ("ANSWER: b", ["a", "B"], "C"),
    ],
)
def test_an_answer_that_is_a_word(response: str, target: Any, value: str) -> None:
    """The one word after the last ANSWER: must end its line."""
    assert _value(answer("word"), response, target) == value


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("ANSWER: New York", "New York", "C"),
        ("ANSWER: New York City", "New York", "I"),
        ("ANSWER: x\nANSWER:", "x", "N"),
        ("ANSWER: A, B", ["C", "A, B"], "C"),
    ],
)
def test_an_answer_that_is_a_line(response: str, target: Any, value: str) -> None:
    """The rest of the line after the last ANSWER: is compared."""
    assert _value(answer("line"), response, target) == value


def test_an_answer_says_what_it_read() -> None:
    """The answer is what was taken, the explanation the whole response."""
    assert _score(answer("word"), "ANSWER: **Yes**", "no") == Score(
        value="I", answer="Yes", explanation="ANSWER: **Yes**"
    )
    assert _score(answer("line"), "Yes", "no") == Score(value="N", answer=None, explanation="Yes")


@pytest.mark.parametrize("kind", ["number", None])
def test_an_unknown_kind_of_answer_is_refused(kind: Any) -> None:
    """The message names the kinds there are."""
    with pytest.raises(ConfigError, match="use letter, word or line"):
        answer(kind)


_FOUR = ("Rome", "Paris", "Bonn", "Oslo")


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("ANSWER: B", "B", "C"),
        ("ANSWER: C", "B", "I"),
        ("ANSWER: Paris", "B", "C"),
        ("ANSWER: A, C", ["A", "C"], "C"),
        ("ANSWER: A", "AC", "I"),
        ("ANSWER: E", "A", "N"),
        ("ANSWER: none of the above", "AB", "N"),
    ],
)
def test_choice(response: str, target: Any, value: str) -> None:
    """The chosen letters must be exactly the right ones, in any order and dress."""
    assert _value(choice(), response, target, _FOUR) == value


@pytest.mark.parametrize(("label", "n"), [("Z", 26), ("1", 27), ("12", 40)])
def test_labels_go_on_beyond_z(label: str, n: int) -> None:
    """The 27th choice is 1, and labels of two digits are read."""
    texts = tuple(f"option {index}" for index in range(n))
    assert _score(choice(), f"ANSWER: {label}", label, texts) == Score(
        value="C", answer=label, explanation=f"ANSWER: {label}"
    )


def test_choice_says_what_it_read() -> None:
    """The letters are joined by commas, in the order of the choices."""
    assert _score(choice(), "ANSWER: C and A", "B", _FOUR).answer == "A, C"
    assert _score(choice(), "no", "B", _FOUR).answer is None


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("the big cat", "cat", 0.67),
        ("cat cat dog", "cat dog", 1.0),
        ("cat", ["dog", "cat"], 1.0),
        ("", "cat", 0.0),
        ("50%", "50", 0.0),
    ],
)
def test_f1(response: str, target: Any, value: float) -> None:
    """The F1 of two sets of normalised words, the best of several targets, to two decimals."""
    assert _value(f1(), response, target) == value


def test_f1_takes_stop_words_and_a_function() -> None:
    """Stop words are normalised as the words are; a function may take the answer out of the response."""
    assert _value(f1(stop_words=["Big", "very-small"]), "the big very small cat", "cat") == 1.0
    scored = _score(f1(answer_fn=lambda text: text.rpartition(":")[2]), "so: cat", "cat")
    assert (scored.value, scored.answer) == (1.0, " cat")


@pytest.mark.parametrize(
    ("response", "target", "value"),
    [
        ("The Beatles!", "beatles", "C"),
        ("cat", ["dog", "Cat"], "C"),
        ("big cat", "cat", "I"),
        ("3,000", "3000.0", "C"),
        ("-5", "5", "I"),
        ("123457", "123456", "I"),
    ],
)
def test_exact(response: str, target: Any, value: str) -> None:
    """Normalised words must be equal, in order."""
    assert _value(exact(), response, target) == value


@pytest.mark.parametrize(
    ("response", "targets", "options", "shared", "same"),
    [
        ("Oslo", ["Oslo Airport", "Bergen", "Oslo"], {}, 1.0, "C"),
        ("Oslo", ["Oslo, Norway"], {}, 0.67, "I"),
        ("Oslo", ["Oslo, Norway"], {"stop_words": ["Norway"]}, 1.0, "I"),
        ("It weighs 3.14.", ["3.14"], {}, 0.5, "I"),
        ("don't", ["dont"], {}, 1.0, "C"),
    ],
)
def test_what_inspect_promises_of_words(
    response: str, targets: list[str], options: dict[str, Any], shared: float, same: str
) -> None:
    """The best of several targets, stop words, numbers with marks around them: as Inspect's own tests have them."""
    assert _value(f1(**options), response, targets) == shared
    assert _value(exact(), response, targets) == same


@pytest.mark.parametrize(
    ("reducer", "value"),
    [("mode", "I"), ("max", "C"), ("mean", 1 / 3), ("median", 0.0), ("at_least_1", 1.0), ("at_least_2", 0.0)],
)
def test_multi_scorer_reduces(reducer: str, value: Any) -> None:
    """Each named reducer makes one score of several."""
    built = multi_scorer([match(), includes(), exact()], reducer)
    expected = pytest.approx(value) if isinstance(value, float) else value
    assert _value(built, "Paris it is", "Paris") == expected


def test_multi_scorer_takes_a_function_and_a_named_reducer() -> None:
    """A reducer may be any function of the list of scores."""
    last = multi_scorer([match(), includes()], lambda scores: scores[-1])
    assert _value(last, "Paris it is", "Paris") == CORRECT
    assert _value(multi_scorer([match(), includes()], reducer_named("max")), "Paris it is", "Paris") == CORRECT


def test_multi_scorer_has_the_metrics_of_its_first_member_that_has_any() -> None:
    assert [found.name for found in multi_scorer([f1(), match()], "max").metrics] == ["mean", "stderr"]
    assert [found.name for found in multi_scorer([match(), f1()], "max").metrics] == ["accuracy", "stderr"]


async def test_multi_scorer_runs_async_members_at_once() -> None:
    """Each member waits for the other to have begun, which ends only where both run."""
    begun: list[str] = []
    both_run = asyncio.Event()

    @scorer
    def _waiting(value: str):
        async def score(state: TaskState, target: Target) -> Score:
            begun.append(value)
            if len(begun) == 2:
                both_run.set()
            await asyncio.wait_for(both_run.wait(), 60)
            return Score(value=value)

        return score

    scored = await multi_scorer([_waiting("C"), _waiting("I"), match()], "max")(ScorerInput(response="x", target="y"))
    assert scored.value == CORRECT


@pytest.mark.parametrize(
    ("members", "reducer"), [([], "mode"), ([match()], "nope"), ([match()], None), ([match], "mode")]
)
def test_multi_scorer_refuses_at_once_what_cannot_score(members: list[Any], reducer: Any) -> None:
    """No members, an unbuilt or missing member and an unknown reducer are errors before anything is scored."""
    with pytest.raises(ConfigError):
        multi_scorer(members, reducer)


_FILLERS = ["a ", "1 ", "x=", "\\boxed{", "(", "ANSWER: ", "ANSWER: A, ", "\n", "*", ".", "½", "It is 42, option B. "]


@ENDS
@pytest.mark.parametrize(("score", "filler"), diagonal(_ALL, {repr(filler): filler for filler in _FILLERS}))
def test_a_long_response_is_scored(score: Any, filler: str) -> None:
    """A response of 300,000 characters takes a moment, and an hour where work grows with its square."""
    target = "42" if score is _ALL["match numeric"] else "A"
    given = score(ScorerInput(response=filler * (300_000 // len(filler)) + "\nANSWER: A", target=target))
    assert isinstance(given, Score)


def test_targets() -> None:
    assert list(Target("a")) == ["a"]
    assert Target(["60", "60%"]).text == "6060%"
    assert Target(["60", "60%"]).target == ["60", "60%"]
    assert Target(("a", "b"))[1] == "b"
    assert Target(["a", "b"])[-1:] == ["b"]
    assert len(Target([])) == 0
    assert Target([1, 2]).target == ["1", "2"]
    assert "b" in Target(["a", "b"])


def test_scores_read_as_scalars() -> None:
    """A scalar reads as text, number and bool; a grade is not a number."""
    assert Score(value=1).text == "1"
    assert Score(value="3").as_int() == 3
    assert Score(value="0.5").as_float() == 0.5
    assert Score(value=0).as_bool() is False
    assert Score(value="C").as_str() == "C"
    with pytest.raises(ValueError, match="C"):
        Score(value="C").as_float()


@pytest.mark.parametrize("method", ["as_str", "as_int", "as_float", "as_bool"])
def test_scores_that_are_no_scalar_say_so(method: str) -> None:
    """A list or mapping does not read as one value."""
    value = [1, 2]
    with pytest.raises(ValueError, match="not a single value"):
        getattr(Score(value=value), method)()


def test_scores_read_as_lists_and_mappings() -> None:
    """A list reads as a list and a mapping as a dict, and neither as the other."""
    assert Score(value=[1, "C"]).as_list() == [1, "C"]
    assert Score(value={"a": 1}).as_dict() == {"a": 1}
    with pytest.raises(ValueError, match="not a list"):
        Score(value={"a": 1}).as_list()
    with pytest.raises(ValueError, match="not a mapping"):
        Score(value=[1]).as_dict()


def test_an_unscored_score_is_nan() -> None:
    """It keeps what it was given and says that it is unscored."""
    unscored = Score.unscored(answer="a", explanation="e", metadata={"k": 1})
    assert isinstance(unscored.value, float)
    assert math.isnan(unscored.value)
    assert unscored.is_unscored
    assert (unscored.answer, unscored.explanation, unscored.metadata) == ("a", "e", {"k": 1})
    assert not Score(value=0.0).is_unscored


@dataclass
class _Metadata:
    level: int


def test_a_sample_score_gives_its_metadata_as_a_class_of_ones_own() -> None:
    """The row becomes an object, and no row None."""
    assert SampleScore(score=Score(value=1), sample_metadata={"level": 3}).sample_metadata_as(_Metadata) == _Metadata(3)
    assert SampleScore(score=Score(value=1)).sample_metadata_as(_Metadata) is None


def test_the_public_decorators_make_metrics_and_reducers_of_ones_own() -> None:
    """What a user decorates works beside what is built in."""

    @metric
    def best():
        return lambda scores: max(one.score.as_float() for one in scores)

    @score_reducer(name="first")
    def first_score():
        return lambda scores: scores[0]

    assert best()([SampleScore(score=Score(value=value)) for value in (0.2, 0.7)]) == 0.7
    assert _value(multi_scorer([match(), includes()], first_score()), "Paris it is", "Paris") == INCORRECT
