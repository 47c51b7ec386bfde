"""Modules that moved, importable under their old names: a plugin written for those keeps working, with a warning.

Depends on the import system alone. The finder stands first in `sys.meta_path`: below a package that moved, the usual
one would find the file under its new name and load it a second time.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

_PACKAGE: Final = "nel"
MOVED: Final = {
    "benchmarks.adapters": "benchmarks.api.adapters",
    "benchmarks.adapters.aggregation": "benchmarks.api.adapters.aggregation",
    "benchmarks.adapters.base": "benchmarks.api.adapters.base",
    "benchmarks.adapters.bridge": "benchmarks.api.adapters.bridge",
    "benchmarks.adapters.choices": "benchmarks.api.adapters.choices",
    "benchmarks.adapters.filters": "benchmarks.api.adapters.filters",
    "benchmarks.adapters.judging": "benchmarks.api.adapters.judge_strategies",
    "benchmarks.adapters.loading": "benchmarks.api.adapters.loading",
    "benchmarks.adapters.meta": "benchmarks.api.adapters.meta",
    "benchmarks.adapters.metrics": "benchmarks.api.adapters.metrics",
    "benchmarks.adapters.report": "benchmarks.api.adapters.report",
    "benchmarks.adapters.samples": "benchmarks.api.adapters.samples",
    "benchmarks.base": "benchmarks.api.benchmark",
    "benchmarks.card": "benchmarks.api.card",
    "benchmarks.examples": "benchmarks.api.fewshot_loading",
    "benchmarks.fewshot": "benchmarks.api.fewshot",
    "benchmarks.foreign": "benchmarks.api.nemo_imports",
    "benchmarks.gsm8k": "benchmarks.mathematics.gsm8k",
    "benchmarks.humaneval": "benchmarks.code.humaneval",
    "benchmarks.knowledge.summary_rouge": "benchmarks.knowledge.truthfulqa.summary_rouge",
    "benchmarks.mmlu_pro": "benchmarks.knowledge.mmlu.pro",
    "benchmarks.packaged": "benchmarks.offline_samples",
    "benchmarks.pairwise": "benchmarks.preference.pairwise",
    "benchmarks.ranked": "benchmarks",
    "benchmarks.ranked.arc": "benchmarks.knowledge.arc",
    "benchmarks.ranked.boolq": "benchmarks.reading.boolq",
    "benchmarks.ranked.hellaswag": "benchmarks.reasoning.hellaswag",
    "benchmarks.ranked.mmlu": "benchmarks.knowledge.mmlu.ranked",
    "benchmarks.ranked.piqa": "benchmarks.reasoning.piqa",
    "benchmarks.ranked.truthfulqa": "benchmarks.knowledge.truthfulqa.multiple_choice",
    "benchmarks.ranked.winogrande": "benchmarks.reasoning.winogrande",
    "benchmarks.registry": "benchmarks.api.registry",
    "benchmarks.scorer_choice": "benchmarks.api.scorer_names",
    "benchmarks.statistics_choice": "benchmarks.api.statistics_names",
    "files": "core.atomic_files",
    "judges.base": "judges.types",
    "judges.calibration": "judges.stats.calibration",
    "judges.check": "judges.types",
    "judges.custom": "judges.custom_templates",
    "judges.family": "judges.model_family",
    "judges.find": "judges.registry",
    "judges.forms": "judges.parsing.formats",
    "judges.labels": "judges.stats.human_labels",
    "judges.own_words": "judges.parsing.unquoted",
    "judges.replies": "judges.reply_formats",
    "judges.several": "judges.multi_question",
    "judges.verdict": "judges.parsing.verdict",
    "leaderboard.board": "leaderboard.run",
    "leaderboard.judged": "leaderboard.pair_results",
    "leaderboard.rows": "leaderboard.pair_rows",
    "magnitude": "core.scaling",
    "metrics.aggregate": "metrics.accumulator",
    "metrics.agreement": "judges.stats.agreement",
    "metrics.bradley_terry": "leaderboard.bradley_terry",
    "metrics.chosen": "metrics.requested",
    "metrics.columns": "metrics.compact_arrays",
    "metrics.corrected": "judges.stats.corrected_mean",
    "metrics.grade_patterns": "judges.stats.grade_patterns",
    "metrics.judge_agreement": "judges.stats.panel_agreement",
    "metrics.judging": "judges.stats.summary",
    "metrics.pairwise": "leaderboard.pairwise",
    "metrics.passing": "metrics.pass_at_k",
    "metrics.ranking": "leaderboard.ranking",
    "metrics.ratings": "judges.stats.alpha",
    "metrics.seat_order": "judges.stats.position_bias",
    "metrics.values": "metrics.score_values",
    "models.endpoints": "mock_server",
    "models.endpoints.anchors": "mock_server.text_search",
    "models.endpoints.assessing": "mock_server.judge_grading",
    "models.endpoints.behaviour": "mock_server.behaviour",
    "models.endpoints.demo": "mock_server.demo",
    "models.endpoints.judge": "mock_server.judge",
    "models.endpoints.local_model": "mock_server.local_model",
    "models.endpoints.phrasing": "mock_server.phrasing",
    "models.endpoints.query": "mock_server.request_parsing",
    "models.endpoints.recordings": "mock_server.recordings",
    "models.endpoints.replay": "mock_server.replay",
    "models.endpoints.serve": "mock_server.serve",
    "models.endpoints.shapes": "mock_server.openai_json",
    "models.endpoints.tally": "mock_server.request_counts",
    "models.endpoints.tokens": "mock_server.tokens",
    "models.endpoints.wire": "mock_server.routes",
    "observer": "core.observer",
    "patterns": "core.timed_regex",
    "scoring.labels": "scoring.reading.letters",
    "scoring.code_choice": "scoring.code.selection",
    "scoring.code_execution": "scoring.code.execution",
    "scoring.code_fences": "scoring.code.fences",
    "scoring.code_generic": "scoring.code.generic",
    "scoring.code_prompt": "scoring.code.prompt",
    "scoring.code_python": "scoring.code.python_source",
    "scoring.code_segments": "scoring.code.segments",
    "scoring.code_text": "scoring.code.extraction",
    "scoring.graded": "scoring.model_graded",
    "scoring.hand_off": "scoring.delegation",
    "scoring.math_answer": "scoring.mathematics.answer",
    "scoring.math_worker": "scoring.mathematics.worker",
    "scoring.numbers": "scoring.numeric.numbers",
    "scoring.ranked": "scoring.loglikelihood",
    "scoring.unicode_numbers": "scoring.numeric.parsing",
    "strictjson": "core.strict_json",
}
"""Old name to new name, both below ``nel``."""


class _MovedModules(MetaPathFinder, Loader):
    """Finds a moved module under its old name and loads the module itself, not a copy of it."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for the old name of a moved module, None for any other name."""
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == _PACKAGE and name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module under its new name."""
        new = f"{_PACKAGE}.{MOVED[spec.name.partition('.')[2]]}"
        warnings.warn(f"{spec.name} is now {new}; import it from there", DeprecationWarning, stacklevel=2)
        module = import_module(new)
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back; it was executed when it was imported under its new name."""
        assigned = module.__spec__
        if assigned is not None:
            module.__spec__ = self._specs.pop(assigned.name)


def install() -> None:
    """Make moved modules importable under their old names; calling it again changes nothing."""
    if not any(isinstance(finder, _MovedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _MovedModules())
