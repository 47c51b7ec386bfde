"""The search for garbage while a command starts: imports make objects by the hundred thousand, of
which none is garbage, and walking them takes a tenth of the time of a short run.
"""

from __future__ import annotations

import gc
from typing import Final

_OBJECTS_AT_START: Final = 200_000
"""After so many new objects garbage is searched all the same; a run imports 130,000."""
_usual: tuple[int, int, int] | None = None


def begin_start_up() -> None:
    """Search for garbage rarely until `end_start_up`, in a process that is nel's own."""
    global _usual  # noqa: PLW0603 - one setting for the whole process
    _usual = gc.get_threshold()
    gc.set_threshold(_OBJECTS_AT_START, *_usual[1:])


def end_start_up() -> None:
    """Search as often as usual from now on, and never among the objects made so far."""
    global _usual  # noqa: PLW0603 - as above
    if _usual is not None:
        gc.freeze()
        gc.set_threshold(*_usual)
        _usual = None
