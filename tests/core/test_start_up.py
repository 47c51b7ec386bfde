"""While a command starts, garbage is searched rarely; once it works, as often as usual."""

from __future__ import annotations

import subprocess
import sys

COUNTING = """
import gc
usual, before = gc.get_threshold(), gc.get_freeze_count()
from nel.core.start_up import begin_start_up, end_start_up
begin_start_up()
assert gc.get_threshold()[0] > usual[0]
end_start_up()
assert gc.get_threshold() == usual and gc.get_freeze_count() > before
n = gc.get_freeze_count()
end_start_up()
assert gc.get_freeze_count() == n
"""


def test_what_was_imported_is_never_searched_again() -> None:
    """The objects of the start are frozen once, and the usual thresholds hold from then on."""
    subprocess.run([sys.executable, "-c", COUNTING], check=True, timeout=60)
