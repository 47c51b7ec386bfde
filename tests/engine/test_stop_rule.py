"""A stop rule looks only at prefixes of the drawn order in which every question has an outcome."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from nel.config.schema.stop import read_condition
from nel.engine.stopping.drawn_order import DrawnOrder, draw
from nel.engine.stopping.stop_rule import StopRule, StoredBaseline
from nel.engine.store.codec import encode_sample, seal_text
from nel.engine.store.snapshot import StoredSample
from nel.types import ModelFailure, Outcome, Sample, Scored, Unscored

UNSCORED = Unscored(cause="judge", kind="tie")


def samples(n: int, *, cluster: int = 1, unusable: Sequence[int] = ()) -> list[StoredSample]:
    """Return n stored samples; each run of ``cluster`` of them is one group."""
    found = []
    for idx in range(n):
        group = f"g{idx // cluster}" if cluster > 1 else None
        content = seal_text(encode_sample(Sample(id=f"q{idx}", input=f"Question {idx}?", group=group)))
        found.append(StoredSample(idx, f"q{idx}", idx + 1, None if idx in unusable else content, None))
    return found


def scored(reward: float) -> Outcome:
    return Scored(reward=reward, metrics={"correct": reward}) if reward else ModelFailure(kind="no_answer")


def rule(order: DrawnOrder, *when: str, repeats: int = 1, baseline: StoredBaseline | None = None) -> StopRule:
    return StopRule(order, repeats, [read_condition(text) for text in when], baseline)


def fed(made: StopRule, outcomes: dict[tuple[int, int], Outcome], seed: int) -> StopRule:
    """Feed outcomes in a random order."""
    places = sorted(outcomes)
    random.Random(seed).shuffle(places)  # noqa: S311 - a test, not a secret
    made.start()
    for idx, repeat in places:
        made.add(idx, repeat, outcomes[idx, repeat])
    return made


def state(made: StopRule) -> tuple[str, float, float, int]:
    return repr(made.decision), made.mean.lower, made.mean.upper, made.n_clusters


@pytest.mark.parametrize(("cluster", "repeats"), [(1, 1), (3, 2)])
def test_the_order_in_which_outcomes_come_changes_nothing(cluster: int, repeats: int) -> None:
    """Fifteen orders of the same outcomes, failures and unscored among them, give one decision at one prefix."""
    order = draw(samples(240, cluster=cluster, unusable=(7,)), seed=3)
    chance = random.Random(5)  # noqa: S311 - a test, not a secret
    values = [scored(1.0), scored(0.0), UNSCORED]
    places = [(idx, repeat) for idx in range(240) if idx != 7 for repeat in range(repeats)]
    outcomes = dict(zip(places, chance.choices(values, (76, 20, 4), k=len(places)), strict=True))
    found = {
        state(fed(rule(order, "width<0.35", "futile accuracy>=0.3", repeats=repeats), outcomes, seed))
        for seed in range(15)
    }
    ((decision, _, _, n_clusters),) = found
    assert decision != "None"
    assert 0 < n_clusters < len(order.ends)


def test_a_gap_in_the_prefix_holds_back_every_look() -> None:
    """All but the first question answered right is no reason to stop; its outcome is."""
    order = draw(samples(100), seed=0)
    made = rule(order, "width<0.2")
    for idx in order.order[1:]:
        made.add(idx, 0, scored(1.0))
    assert (made.decision, made.n_clusters) == (None, 0)
    made.add(order.order[0], 0, scored(0.0))
    assert made.decision is not None
    assert made.n_wanted == made.decision["n_clusters"] < 100


def test_a_cluster_counts_when_its_last_repeat_is_there() -> None:
    """Two questions of one group with two answers each are one look."""
    order = draw(samples(4, cluster=2), seed=0)
    made = rule(order, "width<0.01", repeats=2)
    first, second = order.order[:2]
    for idx, repeat in ((first, 0), (second, 1), (first, 1)):
        made.add(idx, repeat, scored(1.0))
        assert made.n_clusters == 0
    made.add(second, 0, scored(1.0))
    assert made.n_clusters == 1


def test_the_order_is_that_of_the_seed_and_not_of_the_file() -> None:
    """The same questions in another order are drawn alike; another seed draws otherwise; groups stay together."""
    one = samples(60, cluster=3)
    other = [StoredSample(idx, held.sample_id, idx, held.content, None) for idx, held in enumerate(reversed(one))]
    ids = [[made[idx].sample_id for idx in draw(made, seed=1).order] for made in (one, other)]
    assert [sorted(ids[0][at : at + 3]) for at in range(0, 60, 3)] == [
        sorted(ids[1][at : at + 3]) for at in range(0, 60, 3)
    ]
    assert ids[0] != sorted(ids[0], key=lambda name: int(name[1:]))
    assert [one[idx].sample_id for idx in draw(one, seed=2).order] != ids[0]
    assert all(len({int(name[1:]) // 3 for name in ids[0][at : at + 3]}) == 1 for at in range(0, 60, 3))


def test_unscored_questions_are_taken_as_wrong_and_as_right() -> None:
    """With a third unscored the interval is never narrower than what they could change, so the run goes on."""
    order = draw(samples(300), seed=0)
    outcomes = {(idx, 0): UNSCORED if at % 3 == 0 else scored(1.0) for at, idx in enumerate(order.order)}
    made = fed(rule(order, "width<0.3"), outcomes, 1)
    assert made.decision is None
    assert made.mean.lower <= 200 / 300 <= made.mean.upper == 1.0
    assert fed(rule(order, "futile accuracy>=0.7"), outcomes, 1).decision is None


def test_a_score_outside_of_0_to_1_leaves_the_rule_unusable() -> None:
    """A rule has no interval for it: nothing is decided, and it says why."""
    order = draw(samples(50), seed=0)
    made = rule(order, "width<0.9")
    made.add(order.order[1], 0, Scored(reward=7.0, metrics={}))
    for idx in order.order:
        made.add(idx, 0, scored(1.0))
    assert made.decision is None
    assert made.unusable == "a score is 7, not between 0 and 1"


@pytest.mark.parametrize(("right", "reason"), [(1.0, "better"), (0.0, "worse")])
def test_a_baseline_is_compared_question_by_question(right: float, reason: str) -> None:
    """Against a baseline that is right on every second question, all right is better and all wrong is worse."""
    order = draw(samples(100), seed=0)
    values = [float(idx % 2) for idx in range(100)]
    baseline: StoredBaseline = {"run_id": "base", "low": values, "high": values, "is_binary": True}
    made = fed(rule(order, "better-or-worse base", baseline=baseline), {(i, 0): scored(right) for i in range(100)}, 2)
    assert made.decision is not None
    assert made.decision["reason"] == reason
    assert made.decision["n_clusters"] < 40
    assert made.direction is not None
    assert made.direction.lower <= right - 0.5 <= made.direction.upper


@pytest.mark.parametrize("seed", range(4))
def test_a_score_that_is_reached_exactly_is_not_futile(seed: int) -> None:
    """Sums of scores are off by rounding: before, the last looks put the truth outside its own interval."""
    order = draw(samples(300, cluster=5), seed=seed)
    outcomes = {(idx, 0): scored(float(idx % 10 < 7)) for idx in range(300)}
    made = fed(rule(order, "futile accuracy>=0.7"), outcomes, seed)
    assert made.decision is None
    assert made.mean.lower <= 0.7 <= made.mean.upper
