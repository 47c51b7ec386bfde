"""The search for garbage in a process that is nel's own, which Python makes after 700 new objects.

Imports make objects by the hundred thousand, of which none is garbage, and walking them takes a
tenth of the time of a short run. In a run most new objects are of requests in flight; what a sample
leaves is freed when nothing refers to it.
"""

from __future__ import annotations

import gc
from typing import Final

_OBJECTS_AT_START: Final = 200_000
"""After so many new objects garbage is searched all the same; a run imports 130,000."""
_OBJECTS_IN_A_RUN: Final = 5_000
"""As many as 64 requests in flight have; searched after 700, they took 7 µs of CPU a sample."""
_usual: tuple[int, int, int] | None = None
_is_own_process = False


def begin_start_up() -> None:
    """Search for garbage rarely until `end_start_up`, in a process that is nel's own."""
    global _usual, _is_own_process  # noqa: PLW0603 - one setting for the whole process
    _usual = gc.get_threshold()
    _is_own_process = True
    gc.set_threshold(_OBJECTS_AT_START, *_usual[1:])


def end_start_up() -> None:
    """Search as often as usual from now on, and never among the objects made so far."""
    global _usual  # noqa: PLW0603 - as above
    if _usual is not None:
        gc.freeze()
        gc.set_threshold(*_usual)
        _usual = None


def begin_run() -> None:
    """End the start-up, and search less often; scorers' own processes were forked before."""
    end_start_up()
    if _is_own_process:
        gc.set_threshold(_OBJECTS_IN_A_RUN, *gc.get_threshold()[1:])
