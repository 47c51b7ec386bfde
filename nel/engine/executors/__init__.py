"""Where answers are scored and programs are run: the plugins of the group ``nel.executors``."""

from __future__ import annotations

from nel.engine.executors.base import Executor, ProgramRunner, ScorerPool, ScoringWork
from nel.engine.executors.local import LocalExecutor

__all__ = ["Executor", "LocalExecutor", "ProgramRunner", "ScorerPool", "ScoringWork"]
