"""The built-in scoring rules, one implementation of each.

Depends on `nel.types`, `nel.metrics` and `nel.judges.types`; apart from `code_sandbox`, which runs
programs, and `math_equal`, which compares in a process of its own, the rules do no I/O.
A rule is imported on first use, since a scorer needs few.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nel.scoring.answers import (
        gsm8k_answer as gsm8k_answer,
    )
    from nel.scoring.answers import (
        numeric_match as numeric_match,
    )
    from nel.scoring.choice import (
        mcq_letter_extract as mcq_letter_extract,
    )
    from nel.scoring.choice import (
        multichoice_regex as multichoice_regex,
    )
    from nel.scoring.choice import (
        multiple_choice as multiple_choice,
    )
    from nel.scoring.choice import (
        multiple_choice_acc as multiple_choice_acc,
    )
    from nel.scoring.code_execution import (
        code_sandbox as code_sandbox,
    )
    from nel.scoring.compose import (
        all_of as all_of,
    )
    from nel.scoring.compose import (
        any_of as any_of,
    )
    from nel.scoring.decisions import (
        boolean_yesno as boolean_yesno,
    )
    from nel.scoring.delegation import (
        needs_judge as needs_judge,
    )
    from nel.scoring.intermediate import (
        score as score,
    )
    from nel.scoring.json_schema import (
        extract_json as extract_json,
    )
    from nel.scoring.json_schema import (
        validate_json_schema as validate_json_schema,
    )
    from nel.scoring.label_match import (
        label_match as label_match,
    )
    from nel.scoring.mathematics.answer import (
        math_equal as math_equal,
    )
    from nel.scoring.overlap import (
        bleu as bleu,
    )
    from nel.scoring.overlap import (
        chrf as chrf,
    )
    from nel.scoring.overlap import (
        corpus_bleu as corpus_bleu,
    )
    from nel.scoring.overlap import (
        corpus_chrf as corpus_chrf,
    )
    from nel.scoring.overlap import (
        corpus_ter as corpus_ter,
    )
    from nel.scoring.overlap import (
        f1_token as f1_token,
    )
    from nel.scoring.overlap import (
        rouge as rouge,
    )
    from nel.scoring.protocol import (
        scorer as scorer,
    )
    from nel.scoring.retrieval import (
        retrieval_metrics as retrieval_metrics,
    )
    from nel.scoring.states import Target as Target
    from nel.scoring.states import TaskState as TaskState
    from nel.scoring.text import (
        answer_line as answer_line,
    )
    from nel.scoring.text import (
        exact_match as exact_match,
    )
    from nel.scoring.text import (
        fuzzy_match as fuzzy_match,
    )
    from nel.scoring.text import (
        text_match as text_match,
    )

_NAMES: Final = {
    "nel.scoring.answers": "gsm8k_answer numeric_match",
    "nel.scoring.choice": "mcq_letter_extract multichoice_regex multiple_choice multiple_choice_acc",
    "nel.scoring.compose": "all_of any_of",
    "nel.scoring.decisions": "boolean_yesno",
    "nel.scoring.delegation": "needs_judge",
    "nel.scoring.code_execution": "code_sandbox",
    "nel.scoring.intermediate": "score",
    "nel.scoring.json_schema": "extract_json validate_json_schema",
    "nel.scoring.label_match": "label_match",
    "nel.scoring.mathematics.answer": "math_equal",
    "nel.scoring.overlap": "bleu chrf corpus_bleu corpus_chrf corpus_ter f1_token rouge",
    "nel.scoring.protocol": "scorer",
    "nel.scoring.states": "Target TaskState",
    "nel.scoring.retrieval": "retrieval_metrics",
    "nel.scoring.text": "answer_line exact_match fuzzy_match text_match",
}
"""The public names of each module."""
_HOME: Final = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Import a rule on first use."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
