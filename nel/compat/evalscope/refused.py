"""Kinds of EvalScope's adapters that do what nel does not do for an adapter.

A file that imports one of them is refused with the reason, and so is a benchmark of an installed
EvalScope that is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REASONS: Final[Mapping[str, str]] = {
    "AgentAdapter": "is an agent, which asks again and again",
    "AgentLoopAdapter": "is an agent, which asks again and again",
    "BrowserGymAdapter": "is an agent in a browser",
    "FunctionCallAdapter": "gives the model tools",
    "MultiTurnAdapter": "asks several turns, each after the answer to the one before",
    "DecisionAdapter": "asks a decision service",
    "Text2ImageAdapter": "has images made",
    "ImageEditAdapter": "has images made",
}
"""What each does, by the name of its class, since versions move them."""


def __getattr__(name: str) -> object:
    """Raise ImportError with what a class of EvalScope does."""
    if name not in REASONS:
        raise AttributeError(name)
    raise ImportError(f"{name} {REASONS[name]}; nel does not do that for an adapter")
