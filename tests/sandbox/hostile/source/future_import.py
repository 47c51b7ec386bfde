# what: begins with an import from the future, which must stay the first statement
# verdict: passed
from __future__ import annotations


def double(x: NoSuchType) -> NoSuchType:
    return 2 * x
