"""Finds the executor that a configuration names: ``NAME``, ``NAME:key=value,…`` or ``ray://…``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from nel import plugins
from nel.authoring.scorer_names import options_of
from nel.engine.executors.base import Executor
from nel.engine.executors.local import LocalExecutor
from nel.errors import PluginError

DEFAULT: Final = LocalExecutor.name
_METHODS: Final = ("open_scorers", "open_sandbox", "start", "facts", "notes", "close")


def find_executor(text: str) -> Executor:
    """Return the executor that a text names; nothing is started yet.

    ``NAME://…`` is the executor NAME with that text as its option ``address``.

    Raises:
        PluginError: No executor has this name, or it cannot be imported.
        NelError: An option is wrong, or what it needs is not installed.
    """
    # nel's own, whatever else has the name: most runs look at no installed packages.
    if text == DEFAULT:
        return LocalExecutor()
    address = plugins.split_uri(text)
    name, options_text = (address[0], "") if address else plugins.split_options(text)
    ref = plugins.find("executors", name)
    options = {"address": address[1]} if address else options_of(name, options_text)
    executor = plugins.make(ref, **options)
    absent = [method for method in _METHODS if not callable(getattr(executor, method, None))]
    if absent:
        kind = type(executor).__name__
        raise PluginError(
            f'the executor "{name}" of {ref.provider} is a {kind} without {", ".join(absent)}'
        )
    found_executor: Executor = executor
    return found_executor


@contextmanager
def opened_executor(text: str) -> Iterator[Executor]:
    """Yield the executor that a text names, and close it at the end.

    Raises:
        NelError: As `find_executor`.
    """
    executor = find_executor(text)
    try:
        yield executor
    finally:
        executor.close()
