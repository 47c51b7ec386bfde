"""While a command starts, garbage is searched rarely; in a run less often than usual."""

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


IN_A_LOOP = """
import asyncio, gc, sys
from nel.core.event_loop import run
from nel.core.start_up import begin_start_up
usual = gc.get_threshold()
if sys.argv[1:]:
    begin_start_up()
run(asyncio.sleep(0))
print(gc.get_threshold()[0] > usual[0], gc.get_threshold()[1:] == usual[1:])
"""


def test_only_a_process_of_nel_searches_less_often_in_its_event_loop() -> None:
    """A program that uses nel as a library keeps its thresholds."""
    for arguments, expected in ((["command"], "True True"), ([], "False True")):
        command = [sys.executable, "-c", IN_A_LOOP, *arguments]
        printed = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
        assert printed.stdout.strip() == expected
