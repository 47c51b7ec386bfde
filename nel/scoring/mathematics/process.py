"""`compare`: asks the worker whether two expressions are equal, with limits of time and memory.

Depends on the standard library; math-verify is imported in the worker alone, when a formula is
first compared.
"""

from __future__ import annotations

import atexit
import json
import select
import subprocess
import sys
import threading
from typing import Final, TypedDict

from nel.config.process_environment import variables_passed_on
from nel.errors import DatasetError, ScorerError

SECONDS_MAX: Final = 5.0
"""For one comparison; the start of the worker is not in it."""
_START_SECONDS_MAX: Final = 120.0


class _Reply(TypedDict, total=False):
    """What the worker replies: a comparison, or an error alone."""

    error: str
    equal: bool
    gold: bool
    """Whether the gold answer is an expression."""


def compare(gold: str, answer: str) -> bool:
    """Return whether two expressions in LaTeX are equal.

    Raises:
        DatasetError: The gold answer is not an expression.
        ScorerError: The comparison takes longer than `SECONDS_MAX` or more memory than there is.
    """
    reply = WORKER.ask({"gold": gold, "answer": answer})
    if "error" in reply:
        raise ScorerError(
            f"{answer[:80]!r} cannot be compared with {gold[:80]!r}: {reply['error']}"
        )
    if not reply["gold"]:
        raise DatasetError(
            f"the target {gold[:80]!r} is not a mathematical expression; compare it with exact_match"
        )
    return reply["equal"]


class MathWorker:
    """The worker process; started when it is first needed, and restarted after it was stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def ask(self, request: dict[str, str]) -> _Reply:
        """Return the reply to a request; requests of several threads are served one by one.

        Raises:
            ScorerError: It takes too long, or the process died of it.
        """
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                # it died between two requests, such as by the system's out-of-memory killer
                self.stop()
            process = self._process or self._start()
            try:
                process.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
                line = self._line(process, SECONDS_MAX)
            except (OSError, ValueError):
                line = ""
            if not line:
                self.stop()
                what = f"took longer than {SECONDS_MAX:g} s or too much memory"
                raise ScorerError(
                    f"comparing {request['answer'][:80]!r} with {request['gold'][:80]!r} {what}"
                )
            reply: _Reply = json.loads(line)
            return reply

    def stop(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "nel.scoring.mathematics.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env=variables_passed_on(),
        )
        if not self._line(self._process, _START_SECONDS_MAX):
            self.stop()
            raise ScorerError(
                "the process that compares expressions does not start; for the cause run: "
                "python -m nel.scoring.mathematics.worker"
            )
        return self._process

    @staticmethod
    def _line(process: subprocess.Popen[str], seconds: float) -> str:
        output = process.stdout
        return (
            output.readline()
            if output is not None and select.select([output], [], [], seconds)[0]
            else ""
        )


WORKER: Final = MathWorker()
atexit.register(WORKER.stop)
