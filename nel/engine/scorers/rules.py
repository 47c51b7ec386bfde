"""By which rule a scorer reads answers: nel's general one, or that of the benchmark's authors.

A scorer that has both takes a keyword ``rule``, whose default is the benchmark's. Depends on the
signature of the scorer and on what it imports.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import Any, Final

from nel.authoring.benchmark import Benchmark
from nel.config.schema import BenchmarkConfig
from nel.engine.scorers.identity import reading_versions, scorer_name
from nel.engine.store.plans import StoredScorer
from nel.errors import ConfigError
from nel.reading.asked import parse_asked_form
from nel.reading.types import GENERAL_RULE, OFFICIAL_RULE

_RULES: Final = (GENERAL_RULE, OFFICIAL_RULE)


def with_rule(benchmark: str, scorer: Any, rule: str) -> Any:
    """Return a scorer that reads answers by a rule.

    Raises:
        ConfigError: There is no such rule, or the scorer knows only one.
    """
    if rule not in _RULES:
        raise ConfigError(f'there is no rule "{rule}"; use {" or ".join(_RULES)}')
    default = _default_of(scorer)
    if default is None:
        raise ConfigError(f"{benchmark} reads answers by one rule only; leave --rule out")
    return scorer if rule == default else partial(scorer, rule=rule)


def rule_of(scorer: Any, *, reads_answers: bool) -> str | None:
    """Return the name of the rule by which a scorer reads answers; None for no rule of nel.

    Args:
        reads_answers: Whether the scorer uses `nel.reading`.
    """
    rule = scorer.keywords.get("rule") if isinstance(scorer, partial) else None
    return rule or _default_of(scorer) or (GENERAL_RULE if reads_answers else None)


def _default_of(scorer: Any) -> str | None:
    try:
        parameter = inspect.signature(scorer).parameters.get("rule")
    except (TypeError, ValueError):  # a callable without a signature
        return None
    return parameter.default if parameter is not None and parameter.default in _RULES else None


def with_answer_form(benchmark: Benchmark, entry: BenchmarkConfig) -> Benchmark:
    """Return a benchmark whose scorer reads answers in the form that the run declares.

    Raises:
        ConfigError: The form is not one of those that can be declared, or `strict_form` is set
            without one.
    """
    config = dict(benchmark.extra)
    if entry.answer_form is not None:
        config["answer_form"] = entry.answer_form
    if entry.strict_form:
        config["strict_form"] = True
        if config.get("answer_form") is None:
            raise ConfigError(
                f"{benchmark.name} declares no form of answer, so --strict-form has nothing to"
                " read; add --answer-form, such as --answer-form 'tag answer'"
            )
    if "answer_form" in config:
        parse_asked_form(str(config["answer_form"]))
    return benchmark if config == benchmark.extra else replace(benchmark, extra=config)


def describe_scorer(benchmark: Benchmark, digest: str) -> StoredScorer:
    """Return a run's record of a scorer: name, digest, reading rule and its versions."""
    versions = reading_versions(benchmark)
    return {
        "name": scorer_name(benchmark),
        "sha256": digest,
        "rule": rule_of(benchmark.scorer, reads_answers=bool(versions)),
        "reading": versions,
    }
