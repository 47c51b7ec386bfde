"""One implementation of each scoring rule. Does no I/O; knows nothing of endpoints, runs or files."""

from nel.scoring.choice import multichoice_regex
from nel.scoring.hand_off import needs_judge
from nel.scoring.json_schema import extract_json, validate_json_schema
from nel.scoring.numbers import numeric_match
from nel.scoring.text import answer_line, exact_match, fuzzy_match

__all__ = [
    "answer_line",
    "exact_match",
    "extract_json",
    "fuzzy_match",
    "multichoice_regex",
    "needs_judge",
    "numeric_match",
    "validate_json_schema",
]
