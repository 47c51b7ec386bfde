"""What is compared with what, from which side, and what becomes of answers that failed or are missing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nel.apps.leaderboard.entries import AnswerSource, BoardAnswer, BoardEntry
from nel.apps.leaderboard.pairing import make_pairs
from nel.errors import ConfigError


def entry(label: str, n: int = 40, *, repeats: int = 1, first: int = 0, **special: BoardAnswer) -> BoardEntry:
    """Return an entry with n answers, some of them special: ``q3=Answer(...)``."""
    names = [f"q{number}" for number in range(first, first + n)]
    return BoardEntry(
        label=label,
        run_id=f"run-{label}",
        model=label,
        benchmark="talk",
        identity={"benchmark": "talk"},
        digest="sha256:0",
        answers={
            (name, repeat): special.get(name, BoardAnswer(idx=idx))
            for idx, name in enumerate(names)
            for repeat in range(repeats)
        },
        questions={name: name.encode() for name in names},
        source=AnswerSource(run_dir=Path("nowhere"), key=1, plan={}),
    )


def test_the_sides_are_balanced_and_do_not_depend_on_names_or_order() -> None:
    """Of 400 pairs either side has 160 to 240; the runs named in another order give the same rows."""
    entries = [entry("a", 400), entry("b", 400)]
    found = make_pairs(entries, baseline=None, seed=0)
    assert 160 <= sum(one.left == "a" for one in found.to_judge) <= 240
    assert make_pairs(entries[::-1], baseline=None, seed=0).to_judge == found.to_judge
    other = make_pairs(entries, baseline=None, seed=1)
    assert [one.left for one in other.to_judge] != [one.left for one in found.to_judge]


def test_repeats_meet_their_like() -> None:
    """The second answer of one model meets the second of the other; what only one has is not compared."""
    found = make_pairs([entry("a", 5, repeats=3), entry("b", 5, repeats=2)], baseline=None, seed=0)
    assert Counter(one.key[1] for one in found.to_judge) == {0: 5, 1: 5}


def test_a_failed_answer_loses_without_a_judge_and_two_tie() -> None:
    """Truncated against good is lost, empty against truncated tied; both are named with their kinds."""
    cut, empty = BoardAnswer(idx=0, failure="truncated"), BoardAnswer(idx=0, failure="empty")
    found = make_pairs([entry("a", 3, q0=cut, q1=cut), entry("b", 3, q1=empty)], baseline=None, seed=0)
    assert [one.key[0] for one in found.to_judge] == ["q2"]
    lost, tied = found.forfeits
    assert (lost.score if lost.left == "a" else 1 - lost.score) == 0
    assert {lost.left_failure, lost.right_failure} == {"truncated", None}
    assert tied.score == 0.5
    assert {tied.left_failure, tied.right_failure} == {"truncated", "empty"}


def test_an_answer_lost_by_the_machinery_is_left_out_and_counted() -> None:
    """Even where the other answer failed: nothing is known of who is better."""
    gone, cut = BoardAnswer(idx=0, missing="infra:timeout"), BoardAnswer(idx=0, failure="truncated")
    found = make_pairs([entry("a", 3, q0=gone, q1=gone), entry("b", 3, q1=cut)], baseline=None, seed=0)
    assert found.forfeits == []
    assert len(found.to_judge) == 1
    assert sum(found.left_out.values()) == 2
    assert {(culprit, reason) for _, _, culprit, reason in found.left_out} == {("a", "infra:timeout")}


def test_questions_that_not_all_runs_have_are_counted() -> None:
    """q0 to q9 and q5 to q14 share five."""
    found = make_pairs([entry("a", 10), entry("b", 10, first=5)], baseline=None, seed=0)
    assert (found.n_questions, found.n_questions_apart, len(found.to_judge)) == (5, 10, 5)


def test_runs_without_a_common_question_are_refused() -> None:
    """Rows without ids of their own have other names in each recorded dataset."""
    with pytest.raises(ConfigError, match="no sample id in common"):
        make_pairs([entry("a", 3), entry("b", 3, first=3)], baseline=None, seed=0)


def test_an_unknown_baseline_is_named() -> None:
    """What is wrong, and what there is."""
    with pytest.raises(ConfigError, match='no run is called "aa"'):
        make_pairs([entry("a"), entry("b")], baseline="aa", seed=0)
