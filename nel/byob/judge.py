"""A judge's grade within a scorer, under the module name that NeMo Evaluator's pages give."""

from nel.scoring.judge import judge_score

__all__ = ["judge_score"]
