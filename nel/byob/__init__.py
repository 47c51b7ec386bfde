"""Bring your own benchmark: `@benchmark` around `@scorer`, in ten lines, without installing anything."""

from nel.byob.decorators import benchmark, scorer
from nel.types import ScorerInput

__all__ = ["ScorerInput", "benchmark", "scorer"]
