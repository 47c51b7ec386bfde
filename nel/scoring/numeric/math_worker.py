"""The process that compares mathematical expressions; one JSON line in, one out.

It limits its own memory; its parent limits its time. Trap: sympy may compute for hours on a short text such as
``9^{9^{9^9}}``, which is why this is a process of its own.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from typing import Any, Final

MEMORY_BYTES_MAX: Final = 2 << 30
_FIRST: Final = {"gold": "$x+1$", "given": "$1+x$"}
"""Compared before the process says that it is there: the first comparison builds parsers, twenty times as long as the
next ones take, and the time limit of one answer is not to pay for that."""


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


def _answer(parse: Any, verify: Any, request: dict[str, str]) -> dict[str, Any]:
    try:
        gold = parse(request["gold"], parsing_timeout=None)
        given = parse(request["given"], parsing_timeout=None)
        equal = bool(gold and given and verify(gold, given, timeout_seconds=None))
    except Exception as error:  # noqa: BLE001 - whatever the text makes of the parser is the text's fault
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    return {"equal": equal, "gold": bool(gold), "given": str(given[-1])[:500] if given else None}


if __name__ == "__main__":
    main()
