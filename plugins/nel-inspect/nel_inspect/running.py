"""Runs a task's code: in a thread of its own, with Inspect's models replaced by nel's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

from nel_inspect.hooks import install
from nel_inspect.watching import INSIDE, MODEL

SECONDS_MAX: Final = 60.0
"""So long may solvers take to ask for one sample, and scorers to be tried out."""
T = TypeVar("T")


def apart(work: Callable[[], T], *, seconds_max: float | None = None) -> T:
    """Return what some work returns, done in a thread of its own: Inspect's context and loop stay
    away from nel's.

    Raises:
        TimeoutError: It takes longer; its thread is left behind.
        BaseException: Whatever the work raises.
    """
    results: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            enter()
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, not handled
            faults.append(error)

    thread = threading.Thread(target=run, name="inspect", daemon=True)
    thread.start()
    thread.join(seconds_max)
    if thread.is_alive():
        raise TimeoutError(f"not done after {seconds_max} seconds")
    if faults:
        raise faults[0]
    return results[0]


def enter(roles: Mapping[str, Any] | None = None) -> None:
    """Prepare Inspect's context of this thread or task, and `Model.generate`, for a task's code.

    Args:
        roles: Models by their roles; none while there are no graders to ask.
    """
    from inspect_ai.model import GenerateConfig  # noqa: PLC0415 - heavy
    from inspect_ai.model._model import init_active_model, init_model_roles  # noqa: PLC0415 - heavy

    install()
    INSIDE.set(True)
    init_active_model(_evaluated_model(), GenerateConfig())
    init_model_roles(dict(roles or {}))


@lru_cache(maxsize=1)
def _evaluated_model() -> Any:
    """Return what stands for the evaluated model; it is never asked."""
    from inspect_ai.model import get_model  # noqa: PLC0415 - heavy

    return get_model(MODEL)
