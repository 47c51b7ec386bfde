"""Faults and what holds after them: a scripted server that breaks HTTP, the invariants, and a test for each fault.

Every test names the numbers of its faults (``f01`` and so on), in its name or in the ids of its rows. A run here has
every wait scaled down, so a test that needs a real default has to set it.
"""

import pytest

pytest.register_assert_rewrite("tests.faults.invariants")
