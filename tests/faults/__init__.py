"""Faults and what holds after them."""

import pytest

pytest.register_assert_rewrite("tests.faults.invariants")
