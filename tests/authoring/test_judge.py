"""`judge_score`: what it asks, what it gives back, and that a judge's fault is never a low score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nel.authoring.judge_settings import judge_config_of, judges_in, model_config_of
from nel.byob.judge import judge_score
from nel.errors import ConfigError, JudgeError
from nel.scoring.protocol import scoring
from nel.types import ScorerInput
from tests.support.judging import asked, failing, replying, saying


def test_it_returns_a_score_and_a_grade() -> None:
    """Exactly the two keys that files of NeMo Evaluator read."""
    judge = saying("C", 1.0)
    assert judge_score(asked(judge.now), template="binary_qa", criteria="Facts") == {
        "judge_score": 1.0,
        "judge_grade": "C",
    }
    (case,) = judge.cases
    assert (case.template, case.criteria, case.judges) == ("binary_qa", "Facts", ())
    assert (case.response, case.question, case.reference) == ("Paris", "The capital of France?", "Paris")


def test_what_a_scorer_gives_wins() -> None:
    """Placeholders of its own, also those that a sample has."""
    judge = saying("7", 7.0)
    judge_score(
        asked(judge.now, target=["a", "b"]),
        template="Rate {response} for {domain}.\nGRADE: ",
        grade_pattern=r"GRADE:\s*(\d)",
        score_mapping={"7": 1.0},
        judge_key="judge_1",
        domain="medical",
        question="Really?",
        response="shorter",
    )
    (case,) = judge.cases
    assert (case.question, case.response, case.reference) == ("Really?", "shorter", "a\nb")
    assert case.values == {"domain": "medical"}
    assert (case.grade_pattern, case.score_mapping) == (r"GRADE:\s*(\d)", {"7": 1.0})
    assert case.judges == ("judge_1",)


def test_a_failing_judge_is_no_zero() -> None:
    """Its error passes, with its kind and its reply."""
    with pytest.raises(JudgeError) as caught:
        judge_score(asked(failing("two_verdicts").now))
    assert (caught.value.kind, caught.value.reply) == ("two_verdicts", "hm")


def test_a_sample_of_the_scorers_own_finds_the_judge() -> None:
    """Scorers make a ScorerInput with another target; the run's judge is asked all the same."""
    judge = saying("C", 1.0)

    def score(sample: ScorerInput) -> dict[str, Any]:
        return judge_score(ScorerInput(response=sample.response, target="best"))  # type: ignore[no-any-return]

    given = asked(judge.now)
    with scoring(score, given):
        assert score(given)["judge_score"] == 1.0
    assert judge.cases[0].reference == "best"
    assert judge_score(replace(given, target="other"))["judge_score"] == 1.0


def test_a_judge_of_a_file_is_configured() -> None:
    """NeMo Evaluator's fields by nel's names; what is not given is nel's default."""
    given = {
        "url": "http://127.0.0.1:9/v1/chat/completions",
        "model_id": "big",
        "api_key": "JUDGE_KEY",
        "temperature": 0.2,
        "top_p": 1.0,
        "max_new_tokens": 1024,
        "parallelism": 8,
        "max_retries": 16,
        "request_timeout": 600,
    }
    (member,) = judge_config_of(given).panel
    assert (member.url, member.model, member.api_key_env) == ("http://127.0.0.1:9/v1", "big", "JUDGE_KEY")
    assert (member.generation.temperature, member.generation.max_tokens, member.generation.top_p) == (0.2, 1024, 1.0)
    assert (member.concurrency, member.attempts_max, member.total_timeout_seconds) == (8, 17, 600.0)
    plain = model_config_of({"url": "http://h/v1", "model_id": "m", "api_key": None}, "judge")
    assert (plain.generation.temperature, plain.generation.max_tokens) == (0.0, 4096)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"url": "http://h/v1", "model_id": "m", "api_key": "sk-12345"}, "judge: api_key is not the name of an env"),
        ({"url": "http://h/v1", "model": "m", "temprature": 1}, 'no field "temprature"; did you mean "temperature"'),
        ({"url": "http://h/v1"}, 'has no "model_id"'),
        ({"url": "nowhere", "model_id": "m"}, "judge: url: .*is not a URL of an endpoint"),
        ({"url": "http://h/v1", "model_id": "m", "max_retries": "many"}, "max_retries is 'many'; give a number"),
    ],
)
def test_a_judge_that_cannot_be_meant(given: dict[str, Any], message: str) -> None:
    """It is refused where it stands, and no key is shown."""
    with pytest.raises(ConfigError, match=message) as caught:
        model_config_of(given, "judge")
    assert "sk-12345" not in str(caught.value)


def test_further_judges_are_found_in_extra() -> None:
    """By their keys, and by what they hold; other settings of a scorer are left alone."""
    one = {"url": "http://h/v1", "model_id": "m"}
    found = judges_in({"judge": one, "judge_1": {**one, "model_id": "n"}, "strict": True, "safety": one, "x": {"a": 1}})
    assert {key: member.model for key, member in found.items()} == {"judge": "m", "judge_1": "n", "safety": "m"}


def test_a_reply_in_json() -> None:
    """The form is passed on, and the grade is read by the template's own rules."""
    judge = replying('{"reason": "It agrees.", "grade": "C"}')
    found = judge_score(asked(judge.now), response_format={"type": "json_object"})
    assert found == {"judge_score": 1.0, "judge_grade": "C"}
    assert judge.cases[0].values["_response_format"] == {"type": "json_object"}
    for reply in ("GRADE: C", '{"grade": "X"}', '{"grade": "C", "score": 0}', "[1]"):
        with pytest.raises(JudgeError):
            judge_score(asked(replying(reply).now), response_format={"type": "json_object"})


def test_a_parser_of_the_scorers_own() -> None:
    """It sees the whole reply; what it makes nothing of is a fault of the judge."""
    judge = replying("Fine, I'd say: 8 of 10")
    found = judge_score(asked(judge.now), judge_output_parser=lambda reply: int(reply.split()[-3]) / 10)
    assert found == {"judge_score": 0.8, "judge_grade": "0.8"}
    assert "Paris" in judge.cases[0].response
    mapped = judge_score(
        asked(replying("Well: good").now), judge_output_parser=lambda reply: reply[6:], score_mapping={"good": 1.0}
    )
    assert mapped == {"judge_score": 1.0, "judge_grade": "good"}
    for parser in (lambda reply: None, lambda reply: "so so", lambda reply: reply[99]):
        with pytest.raises(JudgeError) as caught:
            judge_score(asked(replying("Fine: 8").now), judge_output_parser=parser)
        assert caught.value.reply == "Fine: 8"
    with pytest.raises(JudgeError):
        judge_score(asked(replying("I would rather not say.").now), judge_output_parser=len)
