"""Faults that nel does not stand yet, by the end of the test's name, with what goes wrong. Each is a strict xfail.

A line is removed with the change that mends it: a mended fault fails the suite until it is. Trap: a line here must say
where the fault is; a test that is wrong is corrected, not listed.
"""

from __future__ import annotations

KNOWN = {
    "[f118-1e308]": "numpy overflows in the spread; a warning on stderr and an interval of -inf in the table",
}


def reason(name: str) -> str | None:
    """Return why a test is known to fail, or None."""
    return next((why for end, why in KNOWN.items() if name.endswith(end)), None)
