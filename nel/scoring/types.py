"""What a scorer is given, under the module name that NeMo Evaluator's pages give."""

from nel.types import ScorerInput

__all__ = ["ScorerInput"]
