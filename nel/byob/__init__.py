"""Bring your own benchmark: `@benchmark` around `@scorer`, in ten lines of one file."""

from nel.authoring.card import Card
from nel.authoring.decorators import benchmark
from nel.authoring.preparing import SeedResult
from nel.scoring.compose import all_of, any_of
from nel.scoring.protocol import scorer
from nel.types import ScorerInput

__all__ = ["Card", "ScorerInput", "SeedResult", "all_of", "any_of", "benchmark", "scorer"]
