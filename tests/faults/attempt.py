"""Runs attempts of one evaluation in forked children, so that a test that kills hundreds pays for one import.

Reads a line of JSON for each attempt (config, whether to resume, environment, seconds until SIGKILL or null) and
answers with a line: the exit status, negative for a signal. A child dies with this process. Note: a child is forked
before any thread or loop exists.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve attempts until standard input ends."""
    import nel.runs.evaluation  # noqa: F401 - what every child needs

    for line in sys.stdin:
        print(json.dumps(_attempt(json.loads(line))), flush=True)  # noqa: T201 - the answer


def _attempt(order: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.environ.clear()
        os.environ.update(order["env"])
        _evaluate(order)
    deadline = None if order["seconds"] is None else time.monotonic() + order["seconds"]
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if deadline is not None and time.monotonic() >= deadline:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        time.sleep(0.001)
    return os.waitstatus_to_exitcode(status)


def _evaluate(order: dict[str, Any]) -> None:
    code = 99
    try:
        import nel

        code = nel.evaluate(order["config"], resume=order["resume"]).exit_code
    except BaseException as error:  # noqa: BLE001 - a child has no caller to raise to
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)  # noqa: T201
        code = getattr(error, "exit_code", 98)
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
