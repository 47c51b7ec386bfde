"""Conformance checks of plugins, without an endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from nel import plugins
from nel.authoring.smoke import (
    ScorerTrial,
    call_within_limit,
    fault_of,
    gold_texts,
    line_of,
    try_scorer,
)
from nel.discovery.benchmark_checks import Check, check_benchmark, check_of
from nel.discovery.extension_points import shape_error
from nel.discovery.judge_checks import check_judge
from nel.errors import ConfigError, PluginError
from nel.scoring.declarations import example_of
from nel.scoring.protocol import as_scorer
from nel.types import Sample, Scorer, ScorerInput

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
    ref = plugins.find(kind, target)
    try:
        plugin = plugins.load_ref(ref)
    except PluginError as error:
        return [Check(name="it can be imported", passed=False, detail=f"{error}{line_of(error)}")]
    if kind == "judges":
        return list(check_judge(plugin))
    if kind == "scorers":
        return _check_scorer(plugin)
    problem = shape_error(kind, plugin)
    return [check_of(f"it is what {plugins.GROUPS[kind]} takes", [problem] if problem else [])]


def _check_groups(kind: str, target: str) -> list[Check]:
    """Return a finding for each group that the plugin's package declares and nel does not load."""
    packages = {ref.distribution for ref in plugins.matching(kind, target)}
    problems = dict.fromkeys(
        plugins.unknown_group(ref)
        for ref in plugins.discover_unknown()
        if ref.distribution in packages
    )
    return [
        Check(name="nel loads every group of its package", passed=False, detail=problem)
        for problem in problems
    ]


def _plugin_kind(target: str) -> str:
    if ".py" in target:
        return "benchmarks"
    # One name may stand for a scorer and a metric, which are found by their kinds.
    kinds = [kind for kind in plugins.GROUPS if plugins.matching(kind, target)]
    if len(kinds) > 1:
        raise PluginError(
            f'"{target}" is the name of several plugins; choose with --kind {" or ".join(kinds)}'
        )
    return kinds[0] if kinds else "benchmarks"


def _check_scorer(scorer: object) -> list[Check]:
    problem = shape_error("scorers", scorer)
    if problem:
        return [Check(name="a scorer is callable", passed=False, detail=problem)]
    try:
        built = call_within_limit(lambda: as_scorer(scorer), "the scorer's factory")
    except ConfigError as error:
        return [
            Check(name="it needs options, so nothing was scored", passed=True, detail=str(error))
        ]
    except Exception as error:  # noqa: BLE001 - whatever a factory raises is a finding
        return [Check(name="it can be built", passed=False, detail=fault_of(error))]
    example = example_of(built)
    trials = list(_trials(built, example))
    attempts = _attempt_text(trials, example)
    if example is None and all(trial.is_refused for _, trial in trials):
        name = "it needs more than a target, so nothing was scored"
        return [Check(name=name, passed=True, detail=attempts)]
    has_full_marks = any((trial.reward or 0.0) >= 1.0 for _, trial in trials)
    reward = try_scorer(built, replace(trials[0][0], response="")).reward
    credits_of_nothing = [f"it gave {reward:g}; return 0 for an empty one"] if reward else []
    return [
        check_of("a gold answer scores 1", [] if has_full_marks else [attempts]),
        check_of("an empty answer scores 0", credits_of_nothing),
    ]


def _trials(
    scorer: Scorer, example: ScorerInput | None
) -> Iterator[tuple[ScorerInput, ScorerTrial]]:
    """Yield trials of a scorer's example, or of made-up answers up to the first with full marks."""
    inputs: Iterable[ScorerInput] = (
        ScorerInput(response=text, target=target)
        for target in _GOLDS
        for text in gold_texts(Sample(id="", input="", target=target))
    )
    if example is not None:
        inputs = (example,)
    for scorer_input in inputs:
        trial = try_scorer(scorer, scorer_input)
        yield scorer_input, trial
        # A scorer that hangs once would take as long for each of them.
        if (trial.reward or 0.0) >= 1.0 or trial.is_hung:
            return


def _attempt_text(
    trials: Sequence[tuple[ScorerInput, ScorerTrial]], example: ScorerInput | None
) -> str:
    """Return what was tried, what came back for the best of it, and how to give an example."""
    case, trial = max(trials, key=lambda pair: -1.0 if pair[1].reward is None else pair[1].reward)
    result = trial.problem or f"it gave {trial.returned!r:.80}"
    answer = f"the answer {case.response!r:.60} to the target {case.target!r:.60}: {result}"
    if example is not None:
        return f"its example is {answer}"
    return (
        f"tried {len(trials)} answers to the targets {', '.join(map(repr, _GOLDS))}; best of them"
        f" {answer}; give an answer with full marks: @scorer(example=ScorerInput(response=...,"
        " target=..., metadata={...}))"
    )
