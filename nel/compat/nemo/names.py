"""Modules of NeMo Evaluator, and where nel has their names. Imports none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from nel.authoring.lent_names import LentNames

_ROOT: Final = "nemo_evaluator"
_BYOB: Final = ("nel.compat.nemo.decorators", "nel.byob", "nel.types")
_METRICS: Final = "nel.compat.nemo.metrics"
_TEXT: Final = "nel.compat.nemo.text"
_FORMS: Final = "nel.compat.nemo.forms"
_SCORING: Final = ("nel.scoring", "nel.types", _METRICS)
_JUDGE: Final = ("nel.byob.judge", "nel.compat.nemo.judge")
_ENVIRONMENTS: Final = ("nel.byob", "nel.types")
_HOMES: Final[Mapping[str, Sequence[str]]] = {
    _ROOT: ("nel", "nel.byob", "nel.scoring"),
    f"{_ROOT}.contrib": (),
    **{
        f"{_ROOT}.{prefix}byob{suffix}": homes
        for prefix in ("contrib.", "")
        for suffix, homes in {
            "": (*_BYOB, *_JUDGE),
            ".decorators": _BYOB,
            ".scorers": (_FORMS,),
            ".judge": _JUDGE,
        }.items()
    },
    f"{_ROOT}.environments": _ENVIRONMENTS,
    f"{_ROOT}.environments.base": _ENVIRONMENTS,
    f"{_ROOT}.environments.custom": _ENVIRONMENTS,
    **dict.fromkeys(
        (
            f"{_ROOT}.scoring{suffix}"
            for suffix in ("", ".text", ".pattern", ".json_schema", ".types", ".code_execution")
        ),
        _SCORING,
    ),
    **dict.fromkeys(
        (f"{_ROOT}.scoring.{suffix}" for suffix in ("metric", "contracts")), (_METRICS,)
    ),
    f"{_ROOT}.scoring.judge": (*_SCORING, *_JUDGE),
    f"{_ROOT}.scorers": (_FORMS,),
    f"{_ROOT}.metrics": ("nel.metrics", _METRICS),
    f"{_ROOT}.metrics.exact_match": (_METRICS,),
    f"{_ROOT}.metrics.aggregation": ("nel.metrics.aggregation",),
}
_LATER: Final = (_ROOT, f"{_ROOT}.environments", f"{_ROOT}.environments.custom")
_FIRST: Final = tuple(
    f"{_ROOT}.{prefix}byob{suffix}" for prefix in ("contrib.", "") for suffix in ("", ".decorators")
)
_RENAMED: Final[Mapping[str, tuple[str, str]]] = {
    **{
        f"{module}.benchmark": ("nel.compat.nemo.decorators", "benchmark_of_text")
        for module in _LATER
    },
    **{f"{module}.scorer": (_FORMS, "scorer") for module in (*_LATER, *_FIRST)},
    **{
        f"{module}.answer_line": (_TEXT, "answer_line")
        for module in (_ROOT, f"{_ROOT}.scoring", f"{_ROOT}.scoring.pattern")
    },
}

NAMES: Final = LentNames(homes=_HOMES, renamed=_RENAMED)
