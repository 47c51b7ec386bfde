"""Scorers that read an answer by its form, under the module name of NeMo Evaluator's pages."""

from nel.scoring.answers import numeric_match
from nel.scoring.choice import multichoice_regex
from nel.scoring.text import answer_line

__all__ = ["answer_line", "multichoice_regex", "numeric_match"]
