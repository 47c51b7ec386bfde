"""Distinguishes random refusals from a rate limit, by sending at twice the rate for a moment.

One address is often served by several machines, and one of them may refuse a constant share of all
requests, whatever the rate. Treating such a refusal as a rate limit slows a run down for nothing:
with one refusal in a hundred, a run at 640 requests a second ended at 4. The two differ in how
refusals depend on the rate: below a limit no request is refused and at twice the limit every second
one is, while random refusals keep their share at any rate.

A refusal below the limit found last is unexpected. After several unexpected refusals a trial
starts: at least two seconds at twice the rate. If the share of refusals does not rise in it,
refusals are random, and from then on only an excess over that share counts as a limit: a cumulative
sum (CUSUM, Page 1954) of refusals beyond twice the share. A trial that hits a limit costs a few
refusals, and the next trial needs twice as many unexpected ones. If most refusals later turn out to
come in runs or with a limit, as those of a per-second quota do, the assumption of random refusals
is dropped. No I/O; times are seconds on the event loop's clock, passed in.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

_UNEXPECTED_MIN: Final = 4.0
"""Unexpected refusals that start the first trial."""
_UNEXPECTED_MAX: Final = 256.0
"""Upper bound of what later trials need."""
_DECAY: Final = 0.5
"""Unexpected refusals forgotten for each refusal above the limit, where one is expected."""
_TRIAL_REQUESTS: Final = 60
_TRIAL_SECONDS: Final = 2.0
"""Shortest trial: it spans two windows of a limit that is counted by the second."""
_SHARE_MIN: Final = 0.0005
"""Below this share the assumption of random refusals is dropped."""
_SHARE_MAX: Final = 0.3
"""Highest share that a trial expects."""
_SHARE_SHOWN_MIN: Final = 0.01
"""Smallest share that a trial is long enough to show."""
_BEYOND: Final = 0.05
"""Share of refusals above twice the random share that is still tolerated."""
_REFERENCE_MAX: Final = 0.4
"""Highest share of refusals that is ever tolerated."""
_DISPROOF: Final = 3.0
_DISPROOF_MIN: Final = 20
"""Refusals by a limit disprove randomness beyond this multiple of the random ones plus this."""
_ALARM: Final = 3.0
"""Excess refusals that show a limit: the threshold of the cumulative sum."""
_MEASURED_MIN: Final = 3
"""Accepted requests needed to measure the limit's rate."""
_MEMORY_REQUESTS: Final = 1000.0


class RefusalVerdict(Enum):
    """What a refusal means for the rate limit."""

    RANDOM = "within the random share"
    RATE_LIMIT = "a rate limit"
    TRIAL_STARTED = "one unexpected refusal too many: send at twice the rate"
    TRIAL_FAILED = "twice the rate hit a limit: restore the limit from before the trial"


class RandomRefusals:
    """Estimates the share of requests that is refused at random; 0 until a trial shows one."""

    def __init__(self) -> None:
        """Start with the assumption that every refusal shows a rate limit."""
        self.share = 0.0
        self.is_trial = False
        self.per_second: float | None = None
        """Requests a second accepted while the last limit refused others; None: not measured."""
        self._shown = 0.0
        """The share shown by the last trial: the upper bound of `share` until the next one."""
        self._expected = 0.0
        """The share of refusals before the trial."""
        self._trial_since = 0.0
        self._unexpected = 0.0
        self._needed = _UNEXPECTED_MIN
        self._accepted = self._refused = 0
        """Requests since the first unexpected refusal, or since the trial started."""
        self._excess = 0.0
        """The cumulative sum of refusals beyond `_reference`; positive during an excursion."""
        self._accepted_since = self._refused_since = 0
        """Requests in the current excursion."""
        self._consecutive = 0
        """Refusals in the current excursion that directly follow another refusal."""
        self._was_refused = False
        self._since = self._share_since = 0.0
        """When the excursion began, and the share then."""
        self._n_random = self._n_limited = 0
        """Refusals since the trial, by their likely cause."""

    @property
    def excuses(self) -> bool:
        """Return whether a refusal may be random: in a trial, and after one that has shown it."""
        return self.is_trial or self.share > 0

    def record_acceptance(self, now: float) -> bool:
        """Record an acceptance; return whether it ends a trial: refusals are random then."""
        self._accepted += 1
        self._was_refused = False
        if not self.excuses:
            return False
        self._excess -= self._reference
        self._accepted_since += 1
        if self._excess <= 0:
            # The excursion ended without an alarm. Its isolated refusals look random; those in a
            # run look like a quota that was used up.
            self._n_random += self._refused_since - self._consecutive
            self._n_limited += self._consecutive
            self._reset_excursion()
        if self.is_trial:
            return self._complete_trial(now)
        # With the step up in `record_refusal`, a mean in which the last thousand requests count.
        self.share -= self.share / _MEMORY_REQUESTS
        if self.share < _SHARE_MIN:
            self.share, self._needed = 0.0, _UNEXPECTED_MIN
        return False

    def record_refusal(self, now: float, *, is_below: bool) -> RefusalVerdict:
        """Record a refusal that names no wait, and return what it means.

        Args:
            is_below: The request was sent below the limit found last, where no refusal is expected.
        """
        if not self._refused_since:
            self._since, self._share_since = now, self.share
        self._refused += 1
        self._refused_since += 1
        self._consecutive += self._was_refused
        self._was_refused = True
        if self.excuses:
            self._excess += 1 - self._reference
            if not self.is_trial:
                # At most what the trial has shown: a limit's refusals must not make it grow.
                self.share = min(self._shown, self.share + (1 - self.share) / _MEMORY_REQUESTS)
            if self._excess < _ALARM:
                return RefusalVerdict.RANDOM
        if self.is_trial:
            self._drop_assumption()
            return RefusalVerdict.TRIAL_FAILED
        return self._found_limit(now, is_below=is_below)

    def retry_after_given(self) -> None:
        """Record a refusal that names a wait: it is a limit without doubt, and aborts a trial."""
        self.per_second = None
        if self.is_trial:
            self._drop_assumption()

    @property
    def _reference(self) -> float:
        """Return the tolerated share of refusals: the reference value of the cumulative sum."""
        return min(_REFERENCE_MAX, 2 * (self._expected if self.is_trial else self.share) + _BEYOND)

    def _found_limit(self, now: float, *, is_below: bool) -> RefusalVerdict:
        """Record that a limit was found, and decide whether a trial should question it."""
        accepted, refused = self._accepted_since, self._refused_since
        # The excursion was a limit's, so it says nothing of the share.
        self.share = min(self.share, self._share_since)
        self._n_limited += refused
        if self.share and self._n_limited > _DISPROOF * self._n_random + _DISPROOF_MIN:
            self._drop_assumption()
        is_measured = accepted >= _MEASURED_MIN and now > self._since
        self.per_second = accepted / (now - self._since) if is_measured else None
        self._reset_excursion()
        if not is_below:
            self._unexpected = max(0.0, self._unexpected - _DECAY)
            return RefusalVerdict.RATE_LIMIT
        if self._unexpected == 0.0:
            # The share before a trial is counted from its first unexpected refusal: this one, or
            # the whole excursion that it ends.
            self._accepted, self._refused = (accepted, refused) if self.share else (0, 1)
        self._unexpected += 1
        if self._unexpected < self._needed:
            return RefusalVerdict.RATE_LIMIT
        self._expected = min(_SHARE_MAX, self._refused / (self._refused + self._accepted))
        self.is_trial = True
        self._trial_since = now
        self._reset_counts()
        return RefusalVerdict.TRIAL_STARTED

    def _complete_trial(self, now: float) -> bool:
        """End a trial that has run long enough with the share shown; return whether it ended."""
        if (
            self._accepted + self._refused < _TRIAL_REQUESTS
            or now - self._trial_since < _TRIAL_SECONDS
        ):
            return False
        self.is_trial = False
        self.share = self._shown = max(
            _SHARE_SHOWN_MIN, self._refused / (self._accepted + self._refused)
        )
        self._n_random = self._n_limited = 0
        self._reset_counts()
        return True

    def _drop_assumption(self) -> None:
        """End a trial without result, or drop an earlier one's share; delay the next trial."""
        if not self.is_trial:
            self.share = 0.0
        self.is_trial = False
        self._needed = min(2 * self._needed, _UNEXPECTED_MAX)
        self._reset_counts()

    def _reset_counts(self) -> None:
        self._unexpected = 0.0
        self._accepted = self._refused = 0
        self._reset_excursion()

    def _reset_excursion(self) -> None:
        self._excess = 0.0
        self._accepted_since = self._refused_since = self._consecutive = 0
