"""What templates may make of values, and how much work they may do: shared by plain and Jinja
templates.

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


def missing_field(name: str, wanted: str, values: Mapping[str, object]) -> PromptError:
    """Return the error of a template that names a field which a row does not have."""
    known = sorted(str(key) for key in values)
    hint = did_you_mean(wanted, known) or ";"
    more = f" and {len(known) - _SHOWN_MAX} more" if len(known) > _SHOWN_MAX else ""
    has = ", ".join(known[:_SHOWN_MAX]) or "no fields"
    return PromptError(
        f'template "{name}" needs the field "{wanted}", which is missing{hint} the row has'
        f" {has}{more}"
    )


def text_of(value: object) -> str:
    """Return the text of a value: strings unchanged, numbers in Python's notation, lists and
    objects as JSON.
    """
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
    """A template or a value violated a limit; the message continues a sentence that names the
    place.
    """

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
    """Count work against the budget of the current rendering; plain templates have none, since they
    cannot amplify.
    """
    budget = _BUDGET.get()
    if budget is None:
        return
    budget.spent += n_chars + 1
    if budget.spent > WORK_CHARS_MAX:
        raise RefusedError(f"handles more than {WORK_CHARS_MAX} characters")
    if time.thread_time() > budget.deadline:
        raise RefusedError(f"takes longer than {RENDER_SECONDS_MAX:g} s")


def measure(value: object) -> None:
    """Spend the size of a value, counting an object once for each reference, as serializing it
    would.
    """
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
