"""The built-in scoring rules, one implementation of each.

Depends on `nel.types`, `nel.metrics` and `nel.judges.types`; apart from `code_sandbox`, which runs
programs, and `math_equal`, which compares in a process of its own, the rules do no I/O.
A rule is imported on first use, since a scorer needs few.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOME = {
    "Target": "nel.scoring.protocol",
    "TaskState": "nel.scoring.protocol",
    "all_of": "nel.scoring.compose",
    "answer_line": "nel.scoring.text",
    "any_of": "nel.scoring.compose",
    "bleu": "nel.scoring.overlap",
    "boolean_yesno": "nel.scoring.decisions",
    "chrf": "nel.scoring.overlap",
    "code_sandbox": "nel.scoring.execution",
    "corpus_bleu": "nel.scoring.overlap",
    "corpus_chrf": "nel.scoring.overlap",
    "exact_match": "nel.scoring.text",
    "extract_json": "nel.scoring.json_schema",
    "f1_token": "nel.scoring.overlap",
    "fuzzy_match": "nel.scoring.text",
    "gsm8k_answer": "nel.scoring.answers",
    "label_match": "nel.scoring.label_match",
    "math_equal": "nel.scoring.mathematics.answer",
    "mcq_letter_extract": "nel.scoring.choice",
    "multichoice_regex": "nel.scoring.choice",
    "multiple_choice": "nel.scoring.choice",
    "multiple_choice_acc": "nel.scoring.choice",
    "needs_judge": "nel.scoring.delegation",
    "numeric_match": "nel.scoring.answers",
    "retrieval_metrics": "nel.scoring.retrieval",
    "rouge": "nel.scoring.overlap",
    "score": "nel.scoring.intermediate",
    "scorer": "nel.scoring.protocol",
    "validate_json_schema": "nel.scoring.json_schema",
}

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


def __getattr__(name: str) -> object:
    """Import a rule on first use."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
