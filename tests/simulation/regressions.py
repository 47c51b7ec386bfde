"""Seeds that once failed, with what they found; the fast tests run some, `make test-storms` all."""

from __future__ import annotations

from typing import Final

REGRESSIONS: Final = {
    2: "two workers that ended together each took the other for the one that goes on; the run ended half asked",
    27: "a sample was given up for the attempts that two outages had cost it",
    28: "the retry of the first request let others go before it was answered, and a full disk went unseen",
    137: "the failure of a worker that was started later was not seen until another one ended",
    191: "as 137, with one request at a time",
    235: "one repeat of three decided for a judge; replies without a verdict were paid for again after each outage; a "
    "restarted scorer asked again for what it had been answered, and its record had each verdict twice",
    237: "the gate's opening overflowed when the second request came a minute after the first, and the run crashed",
    241: "answers to what was sent before an outage hid it, and refused connections used up a sample's attempts",
    276: "who waited for a judge that was down left no room for answers, and the model was asked nothing",
    973: "an answer could not be kept, and another was asked for before the session ended",
    1672: "a full disk that did not take an answer to a scorer was blamed on the scorer, and the run went on",
    1876: "the last outcomes were not on disk, and the run said that it was done",
    5163: "a budget that was spent on what a scorer asked ended the run as done, and not as stopped",
}
