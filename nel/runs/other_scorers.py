"""Tries other built-in scorers on stored answers where the scorer of a run found next to nothing,
and names the command that scores with the one that does.

Sends nothing and changes nothing: a sample of the answers is scored in this process. Depends on
`nel.authoring.smoke`, which calls a scorer with a time limit.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator
from typing import Final

from nel.artifacts.benchmark_result import BenchmarkResult
from nel.artifacts.results import Result, read_result, reward_of
from nel.authoring.scorer_names import find_scorer
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.runs.result import RunResult
from nel.types import ScorerInput, Unscored

_SCORERS: Final = (
    "boolean_yesno", "mcq_letter_extract", "answer_line", "numeric_match", "exact_match",
    "fuzzy_match", "contains",
)  # fmt: skip
"""The strictest first: of those that are nearly equally often right it is the one to use."""
_SEARCHERS: Final = ("fuzzy_match", "contains")
"""They look for the gold answer anywhere, and find a short one in many a wrong answer."""
_SEARCHED_SHARE_MIN: Final = 0.5
"""The share that one of those must find right to be worth a line."""
_QUESTIONS_MAX: Final = 50
"""Questions whose answers are tried."""
_CHARACTERS_MAX: Final = 20_000
"""Of an answer; longer ones are not tried."""
_SECONDS_MAX: Final = 1.0
"""For one scorer and one answer."""
_SHARE_TOLERANCE: Final = 0.02
"""Shares that differ by less count as equal."""
_GAIN_MIN: Final = 0.2
"""So much more must be right than by the run's scorer: a model may well be wrong throughout."""
_UNREAD_SHARE_MIN: Final = 0.5
"""The share of answers without an answer from which next to nothing was read."""


def other_scorers(result: RunResult) -> Iterator[str]:
    """Yield a line for each benchmark, almost unread, of which another scorer reads more."""
    for position, item in enumerate(result.benchmarks):
        if not _is_suspicious(item):
            continue
        share, rights, n = _try_all(result, item)
        best_share = max(rights.values())
        if best_share < share + _GAIN_MIN:
            continue
        name = next(name for name in _SCORERS if rights[name] >= best_share - _SHARE_TOLERANCE)
        if name in _SEARCHERS and best_share < _SEARCHED_SHARE_MIN:
            continue
        scorer_flags = ["--scorer", name]
        if len(result.benchmarks) > 1:  # the flag would set it for all of them
            scorer_flags = ["-O", f"benchmarks.{position}.scorer={name}"]
        command = shlex.join(["nel", "eval", "score", str(result.run_dir), *scorer_flags])
        yield (
            f"{item.slot}: the scorer {name} finds {rights[name] * 100:.0f} % of {n} stored answers"
            f" right; to score with it, without a request: {command}"
        )


def _is_suspicious(item: BenchmarkResult) -> bool:
    """Return whether nothing was right, or most answers held none that the scorer could find."""
    accounting = item.metrics["accounting"]
    n = accounting["n_scored"] + accounting["n_model_failure"]
    if not n or item.metrics["judging"]:
        return False
    unread = accounting["model_failures"].get("no_answer", 0)
    return bool(unread >= _UNREAD_SHARE_MIN * n or item.headline["value"] == 0)


def _try_all(result: RunResult, item: BenchmarkResult) -> tuple[float, dict[str, float], int]:
    """Return which share of the answers is right by the run's scorer and by each other one, and how
    many answers were tried.
    """
    total_reward, inputs = 0.0, []
    for answer in _drawn_answers(result, item):
        scorer_input = _input_of(answer)
        if scorer_input is not None:
            total_reward += reward_of(answer.outcome) or 0.0
            inputs.append(scorer_input)
    rights = {name: _share(name, inputs) for name in _SCORERS}
    return total_reward / (len(inputs) or 1), rights, len(inputs)


def _drawn_answers(result: RunResult, item: BenchmarkResult) -> Iterator[Result]:
    """Yield the first answers to some questions, which are the same ones every time."""
    with Snapshot(result.run_dir / FILE_NAME) as snapshot:
        key, n = next(
            (key, plan["dataset"]["rows"])
            for key, slot, _, plan in snapshot.benchmarks()
            if slot == item.slot
        )
        positions = random.Random(0).sample(range(n), min(n, _QUESTIONS_MAX))  # noqa: S311 - a sample
        for idx in sorted(positions):
            yield from map(read_result, results(snapshot, key, 1, first=idx, last=idx))


def _input_of(answer: Result) -> ScorerInput | None:
    """Return what a scorer gets of an answer; None where there is no text to score."""
    sample, response = answer.sample, answer.response
    if sample is None or response is None or response.error is not None:
        return None
    if len(response.text) > _CHARACTERS_MAX or isinstance(answer.outcome, Unscored):
        return None
    return ScorerInput(
        response=response.text,
        target=sample.target,
        metadata=dict(sample.metadata),
        sample=sample,
    )


def _share(name: str, inputs: list[ScorerInput]) -> float:
    """Return the share that a scorer finds right, 0 where it does not apply to the rows."""
    from nel.authoring.smoke import try_scorer  # noqa: PLC0415 - of few runs

    scorer, total_reward = find_scorer(name), 0.0
    for scorer_input in inputs:
        trial = try_scorer(scorer, scorer_input, seconds=_SECONDS_MAX)
        if trial.problem:
            return 0.0
        total_reward += trial.reward or 0.0
    return total_reward / (len(inputs) or 1)
