"""The readers do not get worse: their rates of errors on generated answers stay below what they are now.

The whole table, on 20,000 forms of each kind and half, is written by ``python -m tests.answer_forms.rates --write``.
"""

from __future__ import annotations

import pytest

from tests.answer_forms.form import Kind
from tests.answer_forms.rates import rates

FORMS = 600
RATES = ("wrong_counted_right", "another_read", "not_read", "read_although_none")
BOUNDS: tuple[tuple[Kind, str, tuple[float, float, float, float]], ...] = (
    ("letter", "blind", (0.002, 0.002, 0.006, 0.02)),
    ("letter", "informed", (0.006, 0.003, 0.02, 0.03)),
    ("number", "blind", (0.004, 0.005, 0.035, 0.04)),
    ("number", "informed", (0.004, 0.005, 0.035, 0.02)),
    ("yes_no", "blind", (0.002, 0.003, 0.005, 0.02)),
    ("yes_no", "informed", (0.002, 0.003, 0.007, 0.02)),
    ("text", "blind", (0.002, 0.003, 0.005, 0.03)),
    ("text", "informed", (0.002, 0.003, 0.005, 0.02)),
    ("label", "blind", (0.002, 0.003, 0.005, 0.02)),
    ("label", "informed", (0.002, 0.003, 0.007, 0.02)),
    ("mathematics", "blind", (0.002, 0.003, 0.006, 0.02)),
    ("mathematics", "informed", (0.002, 0.003, 0.005, 0.02)),
)
"""Two or three forms above what was measured; a reader that gets better may have them lowered."""


@pytest.mark.parametrize(("kind", "half", "bounds"), BOUNDS)
def test_a_reader_errs_no_more_often_than_it_did(
    kind: Kind, half: str, bounds: tuple[float, float, float, float]
) -> None:
    """The forms are the same in each run, so that the rates are too."""
    found = rates(half, kind, FORMS)
    assert {name: found[name] for name, bound in zip(RATES, bounds, strict=True) if found[name] > bound} == {}
