"""The built-in scoring rules, one implementation of each.

Depends on `nel.types`, `nel.metrics` and `nel.judges.types`; apart from `code_sandbox`, which runs
programs, and `math_equal`, which compares in a process of its own, the rules do no I/O.
"""

from nel.scoring.answers import gsm8k_answer, numeric_match
from nel.scoring.choice import (
    mcq_letter_extract,
    multichoice_regex,
    multiple_choice,
    multiple_choice_acc,
)
from nel.scoring.compose import all_of, any_of
from nel.scoring.decisions import boolean_yesno
from nel.scoring.delegation import needs_judge
from nel.scoring.execution import code_sandbox
from nel.scoring.intermediate import score
from nel.scoring.json_schema import extract_json, validate_json_schema
from nel.scoring.label_match import label_match
from nel.scoring.mathematics.answer import math_equal
from nel.scoring.overlap import bleu, chrf, corpus_bleu, corpus_chrf, f1_token, rouge
from nel.scoring.protocol import Target, TaskState, scorer
from nel.scoring.retrieval import retrieval_metrics
from nel.scoring.text import answer_line, exact_match, fuzzy_match

__all__ = [
    "Target",
    "TaskState",
    "all_of",
    "answer_line",
    "any_of",
    "bleu",
    "boolean_yesno",
    "chrf",
    "code_sandbox",
    "corpus_bleu",
    "corpus_chrf",
    "exact_match",
    "extract_json",
    "f1_token",
    "fuzzy_match",
    "gsm8k_answer",
    "label_match",
    "math_equal",
    "mcq_letter_extract",
    "multichoice_regex",
    "multiple_choice",
    "multiple_choice_acc",
    "needs_judge",
    "numeric_match",
    "retrieval_metrics",
    "rouge",
    "score",
    "scorer",
    "validate_json_schema",
]
