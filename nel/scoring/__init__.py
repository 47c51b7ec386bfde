"""One implementation of each scoring rule. Does no I/O; knows nothing of endpoints, runs or files."""

from nel.scoring.choice import multichoice_regex
from nel.scoring.numbers import numeric_match
from nel.scoring.text import answer_line, exact_match

__all__ = ["answer_line", "exact_match", "multichoice_regex", "numeric_match"]
