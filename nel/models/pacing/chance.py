"""Tells refusals that come by chance from those of a limit, by trying twice the rate.

Behind one address there are often several servers, and one of them may refuse a share of all that it is sent, whatever
the rate. A limit taken from such a refusal slows a run down for nothing: one refusal in a hundred was enough for a run
at 640 requests a second to end at 4. What tells the two apart: below a limit nobody is refused and at twice the limit
every second is, while chance refuses the same share at any rate.

A refusal below the limit found last is a surprise. A few surprises are reason for a trial: two seconds or more at twice
the rate. Where no greater share is refused in it, refusals come by chance, and from then on only more of them than that
share explains show a limit: a cumulative sum (Page 1954) of refusals beyond twice the share. A trial that meets a limit
costs a few refusals, and twice as many surprises are needed for the next. Where most refusals turn out to come in rows
or with a limit, as those of a quota for each second do, chance is disproved. Knows no clock; times are seconds on the
event loop's.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

_SURPRISES: Final = 4.0
_SURPRISES_MAX: Final = 256.0
_TAKEN_BACK: Final = 0.5
"""By each refusal that comes above the limit, where it is expected."""
_TRIAL_REQUESTS: Final = 60
_TRIAL_SECONDS: Final = 2.0
"""A trial lasts at least so long, so that it spans a limit that is counted by the second."""
_SHARE_MIN: Final = 0.0005
_SHARE_MAX: Final = 0.3
_SHARE_SHOWN_MIN: Final = 0.01
"""A trial is too short to show less."""
_BEYOND: Final = 0.05
"""So much above twice the share is a limit's doing."""
_REFERENCE_MAX: Final = 0.4
_DISPROOF: Final = 3.0
_DISPROOF_MIN: Final = 20
"""Where a limit refuses so many times what chance does, chance is not the reason."""
_ALARM: Final = 3.0
"""Refusals in excess that show a limit."""
_MEASURED_MIN: Final = 3
"""So many must have been accepted for the limit's rate to be taken from them."""
_MEMORY_REQUESTS: Final = 1000.0


class Refusal(Enum):
    """What a refusal means for the limit."""

    EXCUSED = "it may be one by chance"
    LIMIT = "it shows a limit"
    TRIAL_BEGINS = "it comes below the limit once too often: twice the rate is to be tried"
    TRIAL_FAILED = "twice the rate met a limit: what held before is to hold again"


class Chance:
    """What share of requests an endpoint refuses by chance; 0 until a trial has shown that it does."""

    def __init__(self) -> None:
        """Start by taking every refusal for a limit's."""
        self.share = 0.0
        self.is_trial = False
        self.per_second: float | None = None
        """Requests a second that were accepted while the limit that was found last refused others."""
        self._shown = 0.0
        """The share that a trial has shown; only another one can show a greater."""
        self._expected = 0.0
        """The share before a trial."""
        self._trial_since = 0.0
        self._surprises = 0.0
        self._needed = _SURPRISES
        self._taken = self._refused = 0
        """Since the first surprise, or in the trial."""
        self._excess = 0.0
        self._taken_since = self._refused_since = 0
        """Since there was no excess, which is that of refusals over what the share explains."""
        self._in_a_row = 0
        """Refusals straight after another one, since there was no excess."""
        self._was_refused = False
        self._since = self._share_since = 0.0
        """When the excess began, and the share then."""
        self._by_chance = self._by_limit = 0
        """Refusals since the trial, by what they look like."""

    @property
    def excuses(self) -> bool:
        """Return whether a refusal may be one by chance: in a trial, and after one that has shown it."""
        return self.is_trial or self.share > 0

    def accepted(self, now: float) -> bool:
        """Note a request that was let in; return whether a trial ends with it, and refusals come by chance."""
        self._taken += 1
        self._was_refused = False
        if not self.excuses:
            return False
        self._excess -= self._reference
        self._taken_since += 1
        if self._excess <= 0:
            self._by_chance += self._refused_since - self._in_a_row
            self._by_limit += self._in_a_row
            self._start_over()
        if self.is_trial:
            return self._is_over(now)
        self.share -= self.share / _MEMORY_REQUESTS
        if self.share < _SHARE_MIN:
            self.share, self._needed = 0.0, _SURPRISES
        return False

    def refused(self, now: float, *, is_below: bool) -> Refusal:
        """Note a refusal without a hint, and return what it means.

        Args:
            is_below: It was sent below the limit found last.
        """
        if not self._refused_since:
            self._since, self._share_since = now, self.share
        self._refused += 1
        self._refused_since += 1
        self._in_a_row += self._was_refused
        self._was_refused = True
        if self.excuses:
            self._excess += 1 - self._reference
            if not self.is_trial:
                self.share = min(self._shown, self.share + (1 - self.share) / _MEMORY_REQUESTS)
            if self._excess < _ALARM:
                return Refusal.EXCUSED
        if self.is_trial:
            self._fail()
            return Refusal.TRIAL_FAILED
        return self._found(now, is_below=is_below)

    def told(self) -> None:
        """Note a refusal with a hint, which needs no guess and ends a trial."""
        self.per_second = None
        if self.is_trial:
            self._fail()

    @property
    def _reference(self) -> float:
        return min(_REFERENCE_MAX, 2 * (self._expected if self.is_trial else self.share) + _BEYOND)

    def _found(self, now: float, *, is_below: bool) -> Refusal:
        """Note that a limit was found, and tell whether it is time to doubt it."""
        taken, refused = self._taken_since, self._refused_since
        self.share = min(self.share, self._share_since)  # those were a limit's
        self._by_limit += refused
        if self.share and self._by_limit > _DISPROOF * self._by_chance + _DISPROOF_MIN:
            self._fail()
        self.per_second = taken / (now - self._since) if taken >= _MEASURED_MIN and now > self._since else None
        self._start_over()
        if not is_below:
            self._surprises = max(0.0, self._surprises - _TAKEN_BACK)
            return Refusal.LIMIT
        if self._surprises == 0.0:
            self._taken, self._refused = (taken, refused) if self.share else (0, 1)
        self._surprises += 1
        if self._surprises < self._needed:
            return Refusal.LIMIT
        self._expected = min(_SHARE_MAX, self._refused / (self._refused + self._taken))
        self.is_trial = True
        self._trial_since = now
        self._begin()
        return Refusal.TRIAL_BEGINS

    def _is_over(self, now: float) -> bool:
        if self._taken + self._refused < _TRIAL_REQUESTS or now - self._trial_since < _TRIAL_SECONDS:
            return False
        self.is_trial = False
        self.share = self._shown = max(_SHARE_SHOWN_MIN, self._refused / (self._taken + self._refused))
        self._by_chance = self._by_limit = 0
        self._begin()
        return True

    def _fail(self) -> None:
        if not self.is_trial:
            self.share = 0.0
        self.is_trial = False
        self._needed = min(2 * self._needed, _SURPRISES_MAX)
        self._begin()

    def _begin(self) -> None:
        self._surprises = 0.0
        self._taken = self._refused = 0
        self._start_over()

    def _start_over(self) -> None:
        self._excess = 0.0
        self._taken_since = self._refused_since = self._in_a_row = 0
