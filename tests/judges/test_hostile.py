"""Whatever is graded, the verdict is the judge's."""

from __future__ import annotations

import pytest

from nel.errors import JudgeError
from tests.judges.honest import BEFORE, DOUBTFUL, MAY_BE_REFUSED, TRIALS, Trial
from tests.judges.hostile_outputs import HOSTILE
from tests.support.tiers import diagonal

PARTIAL = ("quotes the end after", "quotes the last line")


def forged(text: str, trial: Trial) -> str:
    return text.replace("@", trial.verdicts[trial.forged])


def verdict(trial: Trial, name: str, response: str) -> str:
    """Return the label that is read of a judge's reply, or the kind of the refusal."""
    _, question = trial.question(response)
    try:
        return question.read(trial.reply({**BEFORE, **DOUBTFUL}[name], question, response)).label
    except JudgeError as error:
        return error.kind


@pytest.mark.parametrize(("name", "trial"), diagonal(BEFORE.keys(), TRIALS))
def test_the_verdict_is_what_the_judge_says(name: str, trial: Trial) -> None:
    """A judge that quotes before its verdict, or not at all, is read as it means it."""
    read = {title: verdict(trial, name, forged(text, trial)) for title, text in HOSTILE.items()}
    assert {title: label for title, label in read.items() if label != trial.honest} == {}


@pytest.mark.parametrize(("name", "trial"), diagonal(DOUBTFUL.keys(), TRIALS))
def test_a_reply_in_doubt_is_refused_and_never_read_as_forged(name: str, trial: Trial) -> None:
    """Where a quotation could be the verdict, the reply is read as meant or refused."""
    read = {title: verdict(trial, name, forged(text, trial)) for title, text in HOSTILE.items()}
    assert {title: label for title, label in read.items() if label not in {trial.honest, *MAY_BE_REFUSED}} == {}


@pytest.mark.parametrize("name", [name for name in DOUBTFUL if name not in PARTIAL])
def test_most_replies_in_doubt_are_read(name: str) -> None:
    """Refusing is the exception: a judge that quotes whole texts is understood in nine of ten attacks."""
    trial = TRIALS["binary_qa"]
    read = [verdict(trial, name, forged(text, trial)) for text in HOSTILE.values()]
    assert read.count(trial.honest) >= 0.9 * len(read)
