"""Conformance checks of plugins, without an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from nel import plugins
from nel.authoring.smoke import gold_texts, try_scorer
from nel.discovery.benchmark_checks import Check, check_benchmark
from nel.discovery.extension_points import shape_error
from nel.errors import ConfigError, JudgeError, PluginError
from nel.judges.types import Judge, Question
from nel.scoring.protocol import as_scorer
from nel.types import Sample, ScorerInput

_GOLDS = ("B", "42", "yes")


def check_plugin(
    target: str, *, kind: str | None = None, dataset: str | None = None, samples_max: int = 50
) -> list[Check]:
    """Run the conformance checks of one plugin and return their results.

    Args:
        target: ``name`` or ``package:name`` of an installed plugin, or ``path.py[:name]`` of a
            benchmark.
        kind: A key of `nel.plugins.GROUPS`; None: the kind that has this name.
        dataset: Replaces a benchmark's own source.
        samples_max: Number of samples that are scored; ids are checked on all.

    Raises:
        PluginError: There is no such plugin, or plugins of several kinds have this name.
    """
    kind = kind or _plugin_kind(target)
    return [*_check(kind, target, dataset, samples_max), *_check_groups(kind, target)]


def _check(kind: str, target: str, dataset: str | None, samples_max: int) -> list[Check]:
    if kind == "benchmarks":
        return check_benchmark(target, dataset, samples_max)
    plugin = plugins.load(kind, target)
    if kind == "judges":
        return _check_judge(plugin)
    if kind == "scorers":
        return _check_scorer(plugin)
    wrong = shape_error(kind, plugin)
    return [
        Check(
            name=f"it is what {plugins.GROUPS[kind]} takes",
            passed=wrong is None,
            detail=wrong or "",
        )
    ]


def _check_groups(kind: str, target: str) -> list[Check]:
    """Return a finding for each group that the plugin's package declares and nel does not load."""
    packages = {ref.distribution for ref in plugins.matching(kind, target)}
    unknown = [ref for ref in plugins.discover_unknown() if ref.distribution in packages]
    details = dict.fromkeys(plugins.unknown_group(ref) for ref in unknown)
    return [
        Check(name="nel loads every group of its package", passed=False, detail=detail)
        for detail in details
    ]


def _plugin_kind(target: str) -> str:
    if ".py" in target:
        return "benchmarks"
    kinds = [kind for kind in plugins.GROUPS if plugins.matching(kind, target)]
    if len(kinds) > 1:
        raise PluginError(
            f'"{target}" is the name of several plugins; choose with --kind {" or ".join(kinds)}'
        )
    return kinds[0] if kinds else "benchmarks"


def _check_scorer(scorer: object) -> list[Check]:
    wrong = shape_error("scorers", scorer)
    if wrong:
        return [Check(name="a scorer is callable", passed=False, detail=wrong)]
    try:
        built = as_scorer(scorer)
    except ConfigError as error:
        return [
            Check(name="it needs options, so nothing was scored", passed=True, detail=str(error))
        ]
    golds = [
        try_scorer(built, ScorerInput(response=text, target=target))
        for target in _GOLDS
        for text in gold_texts(Sample(id="", input="", target=target))
    ]
    if all(tried.is_refused for tried in golds):
        needed = str(golds[0].problem)
        return [
            Check(
                name="it needs more than a target, so nothing was scored",
                passed=True,
                detail=needed,
            )
        ]
    empty = try_scorer(built, ScorerInput(response="", target="B"))
    return [
        Check(
            name="a gold answer scores 1",
            passed=any((tried.reward or 0.0) >= 1.0 for tried in golds),
        ),
        Check(name="an empty answer scores 0", passed=not empty.reward),
    ]


def _check_judge(judge: object) -> list[Check]:
    if not isinstance(judge, Judge):
        return [
            Check(
                name="a judge is a nel.Judge",
                passed=False,
                detail=str(shape_error("judges", judge)),
            )
        ]
    case = replace(judge.example, response="an answer that occurs only here")
    try:
        questions = judge.ask(case)
    except JudgeError as error:
        return [Check(name="it asks about its example", passed=False, detail=str(error))]
    holds = bool(questions) and all(case.response in question.prompt for question in questions)
    checks = [Check(name="each question holds the response", passed=holds)]
    full = "its example reply reads as full marks"
    try:
        grades = [question.read(judge.example_reply) for question in judge.ask(judge.example)]
        best = judge.settle(judge.example, grades) if judge.settle is not None else grades[0]
        checks.append(
            Check(name=full, passed=best.score == 1, detail=f"it reads as {best.score:g}")
        )
    except JudgeError as error:
        checks.append(Check(name=full, passed=False, detail=str(error)))
    silent = [(question, "I would rather not say.") for question in questions]
    forged = judge.ask(replace(judge.example, response=f"{case.response}\n{judge.example_reply}\n"))
    return [
        *checks,
        _is_refused("a reply without a verdict is refused", silent),
        _is_refused(
            "a verdict in the response is not the judge's",
            [(question, question.prompt) for question in forged],
        ),
    ]


def _is_refused(check: str, replies: Sequence[tuple[Question, str]]) -> Check:
    for question, reply in replies:
        with suppress(JudgeError):
            return Check(
                name=check, passed=False, detail=f"it reads as {question.read(reply).label!r}"
            )
    return Check(name=check, passed=True)
