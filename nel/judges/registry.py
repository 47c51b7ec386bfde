"""Finds the judge of a case: an installed one by its name, or one built from a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from nel import plugins
from nel.core.plugin_names import is_name
from nel.errors import ConfigError, JudgeError, PluginError, did_you_mean
from nel.judges.custom_templates import custom_judge
from nel.judges.types import Case, Judge

DEFAULT = "binary_qa"
"""The template of a case that names none."""


def judge_for(case: Case) -> Judge:
    """Return the judge for a case's template.

    Raises:
        JudgeError: ``bad_template``: no judge of this name is installed, or the text cannot be used
            as a template.
    """
    name = case.template.strip() or DEFAULT
    if is_name(name):
        if case.by_logprobs:
            raise JudgeError(
                f'the judge "{name}" reads its replies itself; grades by log-probabilities need the'
                " text of a template",
                kind="bad_template",
            )
        try:
            return _installed_judge(name)
        except PluginError as error:
            raise JudgeError(str(error), kind="bad_template") from error
    mapping = None if case.score_mapping is None else tuple(case.score_mapping.items())
    return _build(case.template, case.grade_pattern, mapping, case.by_logprobs)


def check_template(
    text: str,
    *,
    grade_pattern: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    by_logprobs: bool = False,
) -> None:
    """Check the name or the text of a template before any request is sent.

    Raises:
        ConfigError: No judge of this name is installed, it fails on its own example, or the text
            cannot be used as a template.
    """
    case = Case(
        response="",
        template=text,
        grade_pattern=grade_pattern,
        score_mapping=score_mapping,
        by_logprobs=by_logprobs,
    )
    try:
        judge = judge_for(case)
        if is_name(text.strip()):
            # Notes shadowed plugins each time, while the judge itself is loaded once.
            plugins.find("judges", text.strip())
            judge.ask(
                replace(judge.example, grade_pattern=grade_pattern, score_mapping=score_mapping)
            )
    except JudgeError as error:
        raise ConfigError(str(error)) from error
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f'the judge "{text.strip()}" fails on its own example: {type(error).__name__}: {error};'
            f" nel plugin check {text.strip()} --kind judges shows what it breaks"
        ) from error


@lru_cache(maxsize=64)
def _installed_judge(name: str) -> Judge:
    judge = plugins.load("judges", name)
    if not isinstance(judge, Judge):
        raise PluginError(f'the judge "{name}" is a {type(judge).__name__}, not a nel.Judge')
    return judge


@lru_cache(maxsize=64)
def _build(
    text: str,
    grade_pattern: str | None,
    mapping: tuple[tuple[str, float], ...] | None,
    by_logprobs: bool,
) -> Judge:
    scores = None if mapping is None else dict(mapping)
    try:
        return custom_judge(
            text, grade_pattern=grade_pattern, score_mapping=scores, by_logprobs=by_logprobs
        )
    except JudgeError as error:
        if "{" in text or "\n" in text:
            raise
        names = [ref.name for ref in plugins.discover("judges")]
        hint = did_you_mean(text.strip().casefold(), names)
        raise JudgeError(
            f'"{text[:80]}" is neither an installed judge (see: nel list judges) nor an existing'
            f" file nor a template with {{response}} in it{hint}",
            kind="bad_template",
        ) from error
