r"""Labels in boxes side by side, which are several answers or none: ``\boxed{A} or \boxed{B}``.

Depends on `nel.scoring.reading.declarations` for the boxes, and on `nel.scoring.reading.label_runs` for their labels.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.declarations import Declaration
from nel.scoring.reading.label_runs import UNDECIDED, Run, label_at

_BEFORE_MAX: Final = 120
_BESIDE = lazy_pattern(
    r"""
    \\(?:boxed|fbox)\s?\{ (?P<other> [^\n]{1,60}? ) \} [\s$*)\]\\]*
    (?: [,;&]
      | [,;]?\s* (?: (?P<or> or | oder | ou | o | или | 或者? ) | and | und | et | y | e | и | 和 ) (?![^\W_]) )?
    [\s$*(\[\\]* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)


def with_box_beside(text: str, one: Declaration, run: Run, labels: tuple[str, ...]) -> Run:
    """Return a run with the label of the box right before its own, undecided where "or" stands between them."""
    if one.form != "box" or len(run.labels) != 1:
        return run
    beside = _BESIDE.search(text, max(0, one.start - _BEFORE_MAX), one.start)
    other = label_at(text, beside.start("other"), labels) if beside else None
    if beside is None or other is None or other[0] in run.labels:
        return run
    found = tuple(label for label in labels if label in (other[0], *run.labels))
    return Run((*found, UNDECIDED) if beside["or"] else found, run.start, run.end)
