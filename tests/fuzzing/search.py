"""Runs a reader against many inputs, with a bound on the time of each; keeps what failed."""

from __future__ import annotations

import base64
import json
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzzing.readers import READERS

FOUND = Path(__file__).with_name("found.jsonl")
"""Inputs that failed once, each with what it did."""
_SECONDS_MAX = 10
"""Of processor time for one input; most take a tenth of a millisecond."""
_EXAMPLES_MAX = 5


@dataclass(frozen=True)
class Failure:
    """An input that a reader did not survive."""

    reader: str
    data: bytes
    error: str


def search(name: str, *, seed: int, cases: int) -> Iterator[Failure]:
    """Yield the inputs that fail, at most five."""
    reader, rng, n_found = READERS[name], Random(f"{name}:{seed}"), 0
    with _bounded() as restart:
        for _ in range(cases):
            data = reader.make(rng)
            restart()
            try:
                reader.check(data)
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                yield Failure(name, data, f"{type(error).__name__}: {str(error)[:200]}")
                n_found += 1
                if n_found == _EXAMPLES_MAX:
                    return


def kept() -> list[Failure]:
    """Return the inputs that failed once."""
    lines = [json.loads(line) for line in FOUND.read_text(encoding="utf-8").splitlines()]
    return [Failure(line["reader"], base64.b64decode(line["data"]), line["error"]) for line in lines]


def kept_line(failure: Failure) -> str:
    """Return a failure as a line of `found.jsonl`."""
    data = base64.b64encode(failure.data).decode()
    return json.dumps({"reader": failure.reader, "error": failure.error, "data": data})


class _TooSlow(Exception):
    """An input took longer than an input may."""


@contextmanager
def _bounded() -> Iterator[object]:
    """Yield a function that restarts the clock of processor time."""

    def late(_signal: int, _frame: object) -> None:
        raise _TooSlow(f"more than {_SECONDS_MAX} s")

    before = signal.signal(signal.SIGVTALRM, late)
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_MAX)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        logging.disable(level)
