r"""Faults and what holds after them: a scripted server that breaks HTTP, the invariants, and a test for each fault.

Every test names the numbers of its faults (``f01`` and so on); this is where each is tested. Regenerate the table when
a test moves. What nel does not stand yet is in `tests.faults.known`. Trap: a run here has every wait scaled down, so a
test that needs a real default must set it.

"""

import pytest

pytest.register_assert_rewrite("tests.faults.invariants")
