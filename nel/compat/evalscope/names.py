"""Modules of EvalScope, and where nel has their names. Imports none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from nel.authoring.lent_names import LentNames

_ROOT: Final = "evalscope"
_HERE: Final = "nel.compat.evalscope"
_OWN: Final = "nel.benchmarks"
_NER: Final = (f"{_HERE}.ner",)
_ADAPTERS: Final = (
    f"{_HERE}.adapters",
    f"{_HERE}.kinds",
    *_NER,
    f"{_HERE}.values",
    _OWN,
    f"{_HERE}.refused",
)
_VALUES: Final = (f"{_HERE}.values", "nel.compat.evalscope.samples", _OWN)
_MESSAGES: Final = (f"{_HERE}.messages",)
_CHOICES: Final = (f"{_HERE}.choices",)
_DATASETS: Final = (f"{_HERE}.datasets",)
_MATH: Final = (f"{_HERE}.mathematics",)
_OVERLAP: Final = (f"{_HERE}.overlap",)
_PROGRAMS: Final = (f"{_HERE}.programs",)

_HOMES: Final[Mapping[str, Sequence[str]]] = {
    _ROOT: ("nel.compat.evalscope.task",),
    **{
        f"{_ROOT}.{module}": homes
        for module, homes in {
            "api": (),
            "api.benchmark": _ADAPTERS,
            "api.benchmark.adapters": _ADAPTERS,
            "api.dataset": (*_DATASETS, _OWN),
            "api.dataset.dataset": (*_DATASETS, _OWN),
            "api.dataset.loader": _DATASETS,
            "api.evaluator": _MESSAGES,
            "api.evaluator.state": _MESSAGES,
            "api.judge": ("nel.compat.evalscope.judge_definition",),
            "api.messages": _MESSAGES,
            "api.messages.chat_message": _MESSAGES,
            "api.messages.content": _MESSAGES,
            "api.metric": _VALUES,
            "api.metric.scorer": _VALUES,
            "api.metric.semantics": _VALUES,
            "api.mixin": _PROGRAMS,
            "api.mixin.code_execution_sandbox_mixin": _PROGRAMS,
            "api.sandbox": _PROGRAMS,
            "benchmarks": (),
            "benchmarks.ifeval": (),
            "benchmarks.ifeval.utils": (f"{_HERE}.ifeval",),
            "api.model": ("nel.compat.evalscope.answer_scoring", _OWN),
            "api.registry": (_OWN,),
            "constants": (f"{_HERE}.values",),
            "filters": (_OWN,),
            "filters.extraction": (_OWN,),
            "metrics": (*_MATH, f"{_HERE}.text_metrics", "nel.compat.evalscope.metrics"),
            "metrics.aggregators": (f"{_HERE}.aggregation",),
            "metrics.math": _MATH,
            "metrics.math.contracts": _MATH,
            "metrics.math.parser": _MATH,
            "metrics.utils": (),
            "metrics.utils.functions": (f"{_HERE}.text_metrics",),
            "metrics.utils.rouge": _OVERLAP,
            "report": (_OWN,),
            "report.report": (_OWN,),
            "utils": _VALUES,
            "utils.code_utils": _PROGRAMS,
            "utils.import_utils": _VALUES,
            "utils.io_utils": _VALUES,
            "utils.logger": _VALUES,
            "utils.media_utils": _VALUES,
            "utils.multi_choices": _CHOICES,
            "utils.ner": _NER,
            "utils.yes_no": _VALUES,
        }.items()
    },
}

NAMES: Final = LentNames(
    homes=_HOMES,
    renamed={
        f"{_ROOT}.api.model.Model": ("nel.compat.evalscope.answer_scoring", "AnsweredModel"),
        f"{_ROOT}.metrics.bleu_ngram_one_sample": (*_OVERLAP, "bleu_ngram_one_sample"),
    },
    checks_functions=True,
    beside=f"{_ROOT}.benchmarks",
)
