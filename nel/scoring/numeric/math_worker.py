"""The worker process of `nel.scoring.numeric.math_answer`: compares expressions, one JSON line in, one out.

Depends on math-verify. It limits its own memory, and its parent limits its time: sympy may compute for hours on a short
text such as ``9^{9^{9^9}}``, and a thread could not be stopped.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from collections.abc import Callable, Sequence
from typing import Final

MEMORY_BYTES_MAX: Final = 2 << 30
_FIRST: Final = {"gold": "$x+1$", "given": "$1+x$"}
"""Compared before the process reports that it is ready: the first comparison builds parsers and takes twenty times as
long as the next ones, which must not count against the time limit of an answer."""


def main() -> None:
    """Answer requests until standard input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    logging.disable(logging.CRITICAL)
    from math_verify import parse, verify  # noqa: PLC0415 - takes a second

    out, sys.stdout = sys.stdout, sys.stderr
    _answer(parse, verify, _FIRST)
    print("{}", file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(parse, verify, json.loads(line))), file=out, flush=True)


def _answer(
    parse: Callable[..., Sequence[object]], verify: Callable[..., bool], request: dict[str, str]
) -> dict[str, bool | str | None]:
    try:
        gold = parse(request["gold"], parsing_timeout=None)
        given = parse(request["given"], parsing_timeout=None)
        equal = bool(gold and given and verify(gold, given, allow_set_relation_comp=True, timeout_seconds=None))
    except Exception as error:  # noqa: BLE001 - any error of the parser is caused by the text it was given
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    return {"equal": equal, "gold": bool(gold), "given": str(given[-1])[:500] if given else None}


if __name__ == "__main__":
    main()
