"""The gate before whole endpoints, under a virtual clock: how near it comes to what each takes, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from nel.models.pacing.random_refusals import RandomRefusals, RefusalVerdict
from tests.models.gate_worlds import Takes, both, bucket, by_chance, paced, places, window
from tests.support.tiers import first_rows, representatives

FREE_PER_SECOND = 640.0
"""Of 64 places and answers of 0.1 s."""


def turns(before: Takes, at: float, after: Takes) -> Takes:
    return lambda now, beside: (before if now < at else after)(now, beside)


def everything(now: float, beside: int) -> bool:
    return True


@pytest.mark.parametrize(
    ("make", "n", "rate_min", "refused_max"),
    [
        (lambda: everything, 10_000, 0.97 * FREE_PER_SECOND, 0.0),
        (lambda: bucket(50), 3_000, 0.94 * 50, 0.015),
        (lambda: window(600, 60), 6_000, 0.97 * 10, 0.08),
        (lambda: places(16), 5_000, 0.65 * 160, 0.01),
        pytest.param(
            lambda: bucket(lambda t: 100 * (1 + 0.8 * math.sin(t / 20))), 10_000, 100, 0.01, marks=pytest.mark.slow
        ),
        (lambda: bucket(lambda t: 200 if t < 20 else 40), 8_000, 48, 0.015),
    ],
    ids=["free", "bucket", "window", "places", "wanders", "falls"],
)
@pytest.mark.parametrize("seed", first_rows(1, [1, 2]))
def test_a_limit_is_met_rarely_and_used(
    make: Callable[[], Takes], n: int, rate_min: float, refused_max: float, seed: int
) -> None:
    seen = paced(make(), n, seed=seed)
    assert seen.answered == n
    assert seen.rate >= rate_min
    assert seen.share <= refused_max


@pytest.mark.parametrize(
    ("share", "n", "rate_min"),
    representatives(
        [(0.002, 10_000, 0.85), (0.01, 10_000, 0.65), (0.05, 8_000, 0.55), (0.1, 5_000, 0.25)],
        (0.01, 10_000, 0.65),
        (0.1, 5_000, 0.25),
    ),
)
@pytest.mark.parametrize("seed", first_rows(1, [1, 2, 3]))
def test_refusals_by_chance_do_not_slow_a_run_down(share: float, n: int, rate_min: float, seed: int) -> None:
    """Without the trials the rates would be 4 to 86, 0.3 to 8 and 0.2 a second, of 640."""
    seen = paced(by_chance(share, seed), n, seed=seed)
    assert seen.answered == n
    assert seen.rate >= rate_min * FREE_PER_SECOND
    assert seen.share <= share + 0.01


@pytest.mark.parametrize(("share", "rate", "n"), [(0.05, 50, 3_000), (0.02, 300, 8_000)])
@pytest.mark.parametrize("seed", first_rows(1, [1, 2]))
def test_a_limit_is_found_among_refusals_by_chance(share: float, rate: float, n: int, seed: int) -> None:
    seen = paced(both(by_chance(share, seed), bucket(rate)), n, seed=seed)
    assert seen.rate >= 0.65 * rate
    assert seen.share <= share + 0.05


@pytest.mark.parametrize("seed", first_rows(1, [1, 2]))
def test_a_server_that_falls_ill_or_is_well_again_changes_little(seed: int) -> None:
    ill = by_chance(0.05, seed)
    assert paced(turns(everything, 10, ill), 15_000, seed=seed).rate >= 0.8 * FREE_PER_SECOND
    healed = paced(turns(ill, 10, bucket(50)), 8_000, seed=seed)
    assert healed.rate >= 50
    assert healed.share <= 0.08


def test_an_endpoint_that_says_how_long_to_wait_is_left_alone_by_all() -> None:
    """Hints are not weighed against a share: no request is sent before the time is over."""
    seen = paced(by_chance(0.02), 500, hint=2.0)
    refusals = [when for when, taken in seen.log if not taken]
    assert len(refusals) > 3
    for refused in refusals:
        late = [when for when, _ in seen.log if refused + 0.01 < when < refused + 2.0]
        assert late == []


@pytest.mark.parametrize(
    ("limits", "tokens"),
    [({"requests_per_minute": 6_000.0}, 0), ({"tokens_per_minute": 60_000.0, "requests_per_minute": 60_000.0}, 10)],
    ids=["requests", "tokens"],
)
def test_a_limit_that_is_announced_is_kept_and_used(limits: dict[str, float], tokens: int) -> None:
    """100 requests a second are allowed, of 640 that could be answered; beside that a burst of at most a second."""
    seen = paced(everything, 3_000, tokens=tokens, **limits)
    assert 95 * seen.seconds <= seen.answered <= 100 * (seen.seconds + 1)


class Ticking:
    """The test for random refusals on a clock that moves a hundredth of a second with each request."""

    def __init__(self) -> None:
        self.chance = RandomRefusals()
        self.now = 0.0

    def record_acceptance(self) -> bool:
        self.now += 0.01
        return self.chance.record_acceptance(self.now)

    def record_refusal(self, *, is_below: bool) -> RefusalVerdict:
        self.now += 0.01
        return self.chance.record_refusal(self.now, is_below=is_below)

    def show(self, one_in: int) -> None:
        """Refuse one in so many until a trial begins, and none in it."""
        while not self.chance.is_trial:
            for _ in range(one_in - 1):
                self.record_acceptance()
            self.record_refusal(is_below=True)
        while not self.record_acceptance():
            pass


def test_a_trial_that_meets_a_limit_needs_twice_the_surprises_next_time() -> None:
    ticking, needed = Ticking(), []
    for _ in range(9):
        surprises = 1
        while ticking.record_refusal(is_below=True) is RefusalVerdict.RATE_LIMIT:
            surprises += 1
        needed.append(surprises)
        assert ticking.chance.is_trial
        while ticking.record_refusal(is_below=False) is RefusalVerdict.RANDOM:
            ticking.record_acceptance()
        assert not ticking.chance.excuses
    assert needed == [4, 8, 16, 32, 64, 128, 256, 256, 256]


def test_refusals_above_the_limit_are_expected() -> None:
    ticking = Ticking()
    for _ in range(1_000):
        assert ticking.record_refusal(is_below=False) is RefusalVerdict.RATE_LIMIT
    for _ in range(200):
        assert ticking.record_refusal(is_below=True) is RefusalVerdict.RATE_LIMIT
        assert ticking.record_refusal(is_below=False) is RefusalVerdict.RATE_LIMIT
        assert ticking.record_refusal(is_below=False) is RefusalVerdict.RATE_LIMIT


def test_a_share_that_is_gone_is_forgotten() -> None:
    ticking = Ticking()
    ticking.show(one_in=20)
    assert 0 < ticking.chance.share < 0.05
    for _ in range(10_000):
        ticking.record_acceptance()
    assert not ticking.chance.excuses


def test_a_share_grows_by_a_trial_alone() -> None:
    """What a limit refuses, however long, is never taken for chance."""
    ticking = Ticking()
    ticking.show(one_in=50)
    shown = ticking.chance.share
    for _ in range(2_000):
        ticking.record_acceptance()
        ticking.record_refusal(is_below=True)
        if ticking.chance.is_trial:
            while ticking.record_refusal(is_below=True) is RefusalVerdict.RANDOM:
                pass
        assert ticking.chance.share <= shown


def test_a_limit_found_among_refusals_by_chance_is_what_was_accepted_meanwhile() -> None:
    ticking = Ticking()
    ticking.show(one_in=50)
    while ticking.record_refusal(is_below=False) is RefusalVerdict.RANDOM:
        ticking.record_acceptance()
    assert ticking.chance.per_second == pytest.approx(50, rel=0.2)


def test_a_hint_ends_a_trial() -> None:
    ticking = Ticking()
    while ticking.record_refusal(is_below=True) is RefusalVerdict.RATE_LIMIT:
        pass
    ticking.chance.retry_after_given()
    assert not ticking.chance.excuses
