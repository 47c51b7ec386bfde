"""nel evaluates language models behind an endpoint and reports numbers that a release decision can
rest on.

The public names below are imported lazily, so that ``import nel`` stays fast. What other modules are
public is listed in `nel.doors`; all others are internal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nel.version import __version__

if TYPE_CHECKING:
    from nel.artifacts.answer_readers import AnswerReader, UnreadAnswer
    from nel.artifacts.exporting.frames import to_pandas
    from nel.authoring.benchmark import Benchmark
    from nel.authoring.benchmark_group import BenchmarkGroup
    from nel.authoring.decorators import benchmark
    from nel.comparison.calls import ComparisonResult, DecisionResult, compare, gate
    from nel.compat.evalscope.task import TaskConfig, run_task
    from nel.config.schema import RunConfig
    from nel.core.observer import Observer
    from nel.engine.progress import Progress
    from nel.engine.store.remote import RunStore
    from nel.errors import JudgeError, NelError, ScorerError
    from nel.judges.parsing.verdict import grade_reader
    from nel.judges.quoting import quote
    from nel.judges.types import Case, Grade, Judge, Question
    from nel.models.wire.base import Wire
    from nel.runs.evaluation import evaluate, evaluate_async
    from nel.runs.matrix import evaluate_matrix
    from nel.runs.result import RunResult
    from nel.scoring import (
        answer_line,
        code_sandbox,
        exact_match,
        extract_json,
        fuzzy_match,
        math_equal,
        multichoice_regex,
        needs_judge,
        numeric_match,
        scorer,
        text_match,
        validate_json_schema,
    )
    from nel.scoring.judge import judge_score
    from nel.tools import ToolError, Toolset, tool
    from nel.types import Message, Sample, Score, ScorerInput

_HOME = {
    "AnswerReader": "nel.artifacts.answer_readers",
    "UnreadAnswer": "nel.artifacts.answer_readers",
    "Benchmark": "nel.authoring.benchmark",
    "BenchmarkGroup": "nel.authoring.benchmark_group",
    "ComparisonResult": "nel.comparison.calls",
    "DecisionResult": "nel.comparison.calls",
    "compare": "nel.comparison.calls",
    "gate": "nel.comparison.calls",
    "Case": "nel.judges.types",
    "Grade": "nel.judges.types",
    "Judge": "nel.judges.types",
    "Question": "nel.judges.types",
    "quote": "nel.judges.quoting",
    "grade_reader": "nel.judges.parsing.verdict",
    "JudgeError": "nel.errors",
    "Message": "nel.types",
    "NelError": "nel.errors",
    "Progress": "nel.engine.progress",
    "Observer": "nel.core.observer",
    "RunConfig": "nel.config.schema",
    "RunResult": "nel.runs.result",
    "RunStore": "nel.engine.store.remote",
    "Sample": "nel.types",
    "Score": "nel.types",
    "ScorerError": "nel.errors",
    "ScorerInput": "nel.types",
    "TaskConfig": "nel.compat.evalscope.task",
    "Wire": "nel.models.wire.base",
    "run_task": "nel.compat.evalscope.task",
    "answer_line": "nel.scoring",
    "benchmark": "nel.authoring.decorators",
    "evaluate": "nel.runs.evaluation",
    "evaluate_async": "nel.runs.evaluation",
    "evaluate_matrix": "nel.runs.matrix",
    "to_pandas": "nel.artifacts.exporting.frames",
    "code_sandbox": "nel.scoring",
    "math_equal": "nel.scoring",
    "exact_match": "nel.scoring",
    "multichoice_regex": "nel.scoring",
    "validate_json_schema": "nel.scoring",
    "needs_judge": "nel.scoring",
    "judge_score": "nel.scoring.judge",
    "fuzzy_match": "nel.scoring",
    "extract_json": "nel.scoring",
    "numeric_match": "nel.scoring",
    "text_match": "nel.scoring",
    "scorer": "nel.scoring.protocol",
    "tool": "nel.tools",
    "ToolError": "nel.tools",
    "Toolset": "nel.tools",
}

__all__ = [
    "AnswerReader",
    "Benchmark",
    "BenchmarkGroup",
    "Case",
    "ComparisonResult",
    "DecisionResult",
    "Grade",
    "Judge",
    "JudgeError",
    "Message",
    "NelError",
    "Observer",
    "Progress",
    "Question",
    "RunConfig",
    "RunResult",
    "RunStore",
    "Sample",
    "Score",
    "ScorerError",
    "ScorerInput",
    "TaskConfig",
    "ToolError",
    "Toolset",
    "UnreadAnswer",
    "Wire",
    "__version__",
    "answer_line",
    "benchmark",
    "code_sandbox",
    "compare",
    "evaluate",
    "evaluate_async",
    "evaluate_matrix",
    "exact_match",
    "extract_json",
    "fuzzy_match",
    "gate",
    "grade_reader",
    "judge_score",
    "math_equal",
    "multichoice_regex",
    "needs_judge",
    "numeric_match",
    "quote",
    "run_task",
    "scorer",
    "text_match",
    "to_pandas",
    "tool",
    "validate_json_schema",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'nel' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
