"""Parses Python text in threads.

CPython 3.11 counts the depth of a tree that it builds in one place for all threads
(python/cpython#106905), and `warnings` keeps its filters so. Two threads that parse at once would
get a `SystemError` from time to time.
"""

from __future__ import annotations

import ast
import os
import threading
import warnings

_turn = threading.Lock()


def parse_python(text: str) -> ast.Module:
    """Return the tree of a text, without a warning of what it holds.

    Raises:
        SyntaxError: It does not parse.
        ValueError: It holds a NUL character or a lone surrogate.
        RecursionError, MemoryError: Its brackets are nested too deep.
    """
    with _turn, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as an escape in a string that means nothing
        return ast.parse(text)


def _renew() -> None:
    """Replace the lock in a forked process, where the thread that held it does not exist."""
    global _turn  # noqa: PLW0603
    _turn = threading.Lock()


os.register_at_fork(after_in_child=_renew)
