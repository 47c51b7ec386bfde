"""What templates, plain or Jinja, may make of values, and how much work they may do.

The work of one rendering is counted in characters and elements, and each count checks the deadline.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from nel.errors import PromptError, did_you_mean

OUTPUT_CHARS_MAX: Final = 1024 * 1024
"""The longest prompt that a Jinja template may render."""
RENDER_SECONDS_MAX: Final = 1.0
"""CPU time limit of one Jinja rendering; time spent waiting for a CPU is not counted."""
WORK_CHARS_MAX: Final = 8 * OUTPUT_CHARS_MAX
ELEMENT_CHARS: Final = 8
"""An element of a list costs as much work as so many characters."""
_SHOWN_MAX: Final = 30


def missing_field(name: str, path: str, values: Mapping[str, object]) -> PromptError:
    """Return the error of a template that names a field which a row does not have."""
    fields = sorted(str(key) for key in values)
    hint = did_you_mean(path, fields) or ";"
    ending = f" and {len(fields) - _SHOWN_MAX} more" if len(fields) > _SHOWN_MAX else ""
    text = ", ".join(fields[:_SHOWN_MAX]) or "no fields"
    return PromptError(
        f'template "{name}" needs the field "{path}", which is missing{hint} the row has'
        f" {text}{ending}"
    )


def text_of(value: object) -> str:
    """Return a string unchanged, a number in Python's notation, a list or an object as JSON."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        raise RefusedError("is null; fix the row or leave it out")
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        measure(value)
        return json.dumps(value, ensure_ascii=False)
    raise RefusedError(f"is a {type(value).__name__}, which has no text form")


class RefusedError(Exception):
    """A template or a value violated a limit; the message ends a sentence that names the place."""

    def __init__(self, message: str, lineno: int | None = None) -> None:
        """Keep the line of the template, where it is known."""
        super().__init__(message)
        self.lineno = lineno


@dataclass(slots=True)
class _Budget:
    deadline: float
    spent: int = 0


_BUDGET: Final[ContextVar[_Budget | None]] = ContextVar("nel_prompt_budget", default=None)


@contextmanager
def work_budget() -> Iterator[None]:
    """Give the block a budget of work and CPU time."""
    token = _BUDGET.set(_Budget(deadline=time.thread_time() + RENDER_SECONDS_MAX))
    try:
        yield
    finally:
        _BUDGET.reset(token)


def spend(n_chars: int) -> None:
    """Count work against the budget of the current rendering."""
    budget = _BUDGET.get()
    if budget is None:  # a plain template, whose text is no longer than its parts
        return
    budget.spent += n_chars + 1  # so that nothing is free, an empty text included
    if budget.spent > WORK_CHARS_MAX:
        raise RefusedError(f"handles more than {WORK_CHARS_MAX} characters")
    if time.thread_time() > budget.deadline:
        raise RefusedError(f"takes longer than {RENDER_SECONDS_MAX:g} s")


def measure(value: object) -> None:
    """Spend the size of a value; an object counts once for each reference, as in its JSON."""
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            spend(len(item))
        elif isinstance(item, Mapping):
            spend(2 * ELEMENT_CHARS * len(item))
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            spend(ELEMENT_CHARS * len(item))
            pending.extend(item)
