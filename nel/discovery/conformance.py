"""Conformance checks of plugins, without an endpoint.

A benchmark is checked on its own rows: unique ids, prompts that render, gold answers that score 1,
empty answers that do not; or, where a judge scores, that each answer makes questions for one.
Benchmarks expect gold answers in different forms, so several plain phrasings are tried.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from nel import plugins
from nel.authoring.benchmark import Benchmark
from nel.authoring.registry import find_benchmark
from nel.authoring.smoke import gold_texts
from nel.config.load import build_config
from nel.discovery.extension_points import shape_error
from nel.engine.judging.cases import complete_case
from nel.engine.plan import Plan, make_plans
from nel.engine.plan_samples import Digests, stream_samples
from nel.engine.store.codec import decode_sample
from nel.engine.store.snapshot import StoredSample
from nel.errors import (
    ConfigError,
    DatasetError,
    JudgeError,
    MissingExtra,
    NelError,
    PluginError,
    ScorerError,
)
from nel.judges.registry import judge_for
from nel.judges.types import Case, Grade, Judge, Judgement, Opinion, Question, check_case
from nel.scoring.delegation import case_of
from nel.scoring.protocol import as_scorer, asks_judge, is_async
from nel.scoring.result import outcome_of
from nel.types import ModelFailure, Sample, Scored, Scorer, ScorerInput

T = TypeVar("T")

_GOLDS = ("B", "42", "yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check."""

    check: str
    passed: bool
    detail: str = ""


def check_plugin(
    target: str, *, kind: str | None = None, dataset: str | None = None, samples_max: int = 50
) -> list[Finding]:
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
    kind = kind or _kind_of(target)
    return [*_check(kind, target, dataset, samples_max), *_check_groups(kind, target)]


def _check(kind: str, target: str, dataset: str | None, samples_max: int) -> list[Finding]:
    if kind == "benchmarks":
        return _check_benchmark(target, dataset, samples_max)
    plugin = plugins.load(kind, target)
    if kind == "judges":
        return _check_judge(plugin)
    if kind == "scorers":
        return _check_scorer(plugin)
    wrong = shape_error(kind, plugin)
    return [
        Finding(
            check=f"it is what {plugins.GROUPS[kind]} takes",
            passed=wrong is None,
            detail=wrong or "",
        )
    ]


def _check_groups(kind: str, target: str) -> list[Finding]:
    """Return a finding for each group that the plugin's package declares and nel does not load."""
    packages = {ref.distribution for ref in plugins.matching(kind, target)}
    unknown = [ref for ref in plugins.discover_unknown() if ref.distribution in packages]
    details = dict.fromkeys(plugins.unknown_group(ref) for ref in unknown)
    return [
        Finding(check="nel loads every group of its package", passed=False, detail=one)
        for one in details
    ]


def _kind_of(target: str) -> str:
    if ".py" in target:
        return "benchmarks"
    kinds = [kind for kind in plugins.GROUPS if plugins.matching(kind, target)]
    if len(kinds) > 1:
        raise PluginError(
            f'"{target}" is the name of several plugins; choose with --kind {" or ".join(kinds)}'
        )
    return kinds[0] if kinds else "benchmarks"


def _check_benchmark(target: str, dataset: str | None, samples_max: int) -> list[Finding]:
    benchmark = find_benchmark(target)
    is_judged = asks_judge(benchmark.scorer)
    plan = _plan_of(benchmark, target, dataset)
    findings = [
        Finding(
            check="the plugin loads",
            passed=True,
            detail=f"{benchmark.name}: {benchmark.description}",
        )
    ]
    try:
        samples, n_rows, faults, twins = _read(plan, samples_max)
    except NelError as error:
        return [
            *findings,
            Finding(
                check="the dataset can be read and the prompt's fields exist",
                passed=False,
                detail=str(error),
            ),
        ]
    findings.append(
        Finding(
            check="every row makes a sample",
            passed=not faults,
            detail=_first(faults) or f"{n_rows:,} rows",
        )
    )
    findings.append(Finding(check="ids are unique", passed=not twins, detail=_first(twins)))
    if is_judged or _asks_of_itself(benchmark, plan, samples[:1]):
        return [*findings, _can_be_judged(benchmark, plan, samples)]
    if benchmark.has_gold_answers:
        findings += [_gold_scores_one(benchmark, samples), _empty_does_not(benchmark, samples)]
    return findings


def samples_of(target: str, dataset: str | None, samples_max: int) -> list[Sample]:
    """Return the first samples of a benchmark; raises `NelError` where it cannot be read."""
    return _read(_plan_of(find_benchmark(target), target, dataset), samples_max)[0]


def _plan_of(benchmark: Benchmark, target: str, dataset: str | None) -> Plan:
    entry = {"name": target, "dataset": dataset, "response_field": benchmark.response_field}
    endpoint = {
        "url": "http://127.0.0.1/v1",
        "model": "none",
        "protocol": benchmark.protocol or "chat",
    }
    # The configuration of a judged benchmark must name a judge; nothing is sent to it.
    judge = (
        {"judge": {"url": endpoint["url"], "model": "none"}} if asks_judge(benchmark.scorer) else {}
    )
    return make_plans(build_config({"benchmarks": [entry], "endpoint": endpoint, **judge}))[0]


def _read(plan: Plan, samples_max: int) -> tuple[list[Sample], int, list[str], list[str]]:
    ids: dict[str, int] = {}
    faults: list[str] = []
    twins: list[str] = []
    digests = Digests()

    def good() -> Iterator[StoredSample]:
        for stored in stream_samples(plan, digests, ids.get):
            if stored.fault is not None:
                faults.append(stored.fault)
            if stored.sample_id in ids:
                twins.append(
                    f"rows {ids[stored.sample_id]} and {stored.row_number} share the id"
                    f' "{stored.sample_id}"'
                )
            ids[stored.sample_id] = stored.row_number
            if stored.fault is None:
                yield stored

    stream = good()
    samples = [
        decode_sample(stored.sample_id, stored.content or "")
        for stored in islice(stream, samples_max)
    ]
    for _ in stream:
        pass
    return samples, digests.rows, faults, twins


def _gold_scores_one(benchmark: Benchmark, samples: list[Sample]) -> Finding:
    missed = [
        sample.id
        for sample in samples
        if not any(_reward(benchmark, sample, text) == 1.0 for text in gold_texts(sample))
    ]
    detail = (
        f"sample {missed[0]} and {len(missed) - 1} more" if missed else f"{len(samples)} samples"
    )
    return Finding(
        check="a gold answer scores 1", passed=bool(samples) and not missed, detail=detail
    )


def _can_be_judged(benchmark: Benchmark, plan: Plan, samples: list[Sample]) -> Finding:
    """Check that every sample's answer makes questions for a judge; nothing is sent."""
    refused: list[str] = []
    n_questions = 0
    for sample in samples:
        answer = str(sample.metadata.get(benchmark.response_field or "", "")) or next(
            iter(gold_texts(sample)), "x"
        )
        try:
            n_questions += _count_questions(benchmark, plan, sample, answer)
        except Exception as error:  # noqa: BLE001 - any error of the scorer is a finding
            refused.append(
                f'sample "{sample.id}": {error}' if isinstance(error, NelError) else f"{error!r}"
            )
    detail = (
        refused[0]
        if refused
        else f"{n_questions} questions about {len(samples)} samples; none was sent"
    )
    return Finding(
        check="every answer makes questions for a judge",
        passed=bool(samples) and not refused,
        detail=detail,
    )


def _asks_of_itself(benchmark: Benchmark, plan: Plan, samples: list[Sample]) -> bool:
    """Return whether a scorer asks a judge although it is not marked so."""
    for sample in samples:
        with suppress(Exception):  # the checks that follow report a faulty scorer
            return _count_questions(benchmark, plan, sample, "x") > 0
    return False


def _count_questions(benchmark: Benchmark, plan: Plan, sample: Sample, answer: str) -> int:
    """Return how many questions a scorer makes about an answer; each is graded as right."""
    n_questions = 0

    def judgement_of(case: Case) -> Judgement:
        nonlocal n_questions
        check_case(case)
        case = complete_case(case, given, plan)
        judge = judge_for(case)
        n_questions += len(list(judge.ask(case)))
        best = Grade(label="C", score=1.0)
        opinion = Opinion(judge="none", grade=best, reply=judge.example_reply)
        return Judgement(
            template=judge.name, grade=best, aggregate="majority", quorum=1, opinions=(opinion,)
        )

    async def judgement_later(case: Case) -> Judgement:
        return judgement_of(case)

    given = ScorerInput(
        response=answer,
        target=sample.target,
        metadata=dict(sample.metadata),
        config=dict(benchmark.extra),
        sample=sample,
        judge_fn=judgement_later if is_async(benchmark.scorer) else judgement_of,
    )
    result = benchmark.scorer(given)
    if inspect.isawaitable(result):
        result = asyncio.run(_wait_for(result))
    if isinstance(result, Mapping) and result.get("needs_judge"):
        judgement_of(case_of(result, given))
    return n_questions


def _empty_does_not(benchmark: Benchmark, samples: list[Sample]) -> Finding:
    credited = [sample.id for sample in samples if (_reward(benchmark, sample, "") or 0.0) > 0.0]
    return Finding(check="an empty answer scores 0", passed=not credited, detail=_first(credited))


def _reward(benchmark: Benchmark, sample: Sample, text: str) -> float | None:
    given = ScorerInput(
        response=text,
        target=sample.target,
        metadata=dict(sample.metadata),
        config=dict(benchmark.extra),
    )
    return _reward_of(benchmark.scorer, given)


def _reward_of(scorer: Scorer, given: ScorerInput) -> float | None:
    try:
        result = scorer(given)
        if inspect.isawaitable(result):
            result = asyncio.run(_wait_for(result))
        outcome = outcome_of(result, given.response)
    except (NelError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return None
    return (
        outcome.reward
        if isinstance(outcome, Scored)
        else 0.0
        if isinstance(outcome, ModelFailure)
        else None
    )


async def _wait_for(result: Awaitable[T]) -> T:
    return await result


def _check_scorer(scorer: object) -> list[Finding]:
    wrong = shape_error("scorers", scorer)
    if wrong:
        return [Finding(check="a scorer is callable", passed=False, detail=wrong)]
    try:
        built = as_scorer(scorer)
    except ConfigError as error:
        return [
            Finding(check="it needs options, so nothing was scored", passed=True, detail=str(error))
        ]
    tried = [
        (built, ScorerInput(response=text, target=target))
        for target in _GOLDS
        for text in gold_texts(Sample(id="", input="", target=target))
    ]
    refusals = [refusal for refusal in (_refusal_of(*one) for one in tried) if refusal]
    if len(refusals) == len(tried):
        return [
            Finding(
                check="it needs more than a target, so nothing was scored",
                passed=True,
                detail=refusals[0],
            )
        ]
    return [
        Finding(
            check="a gold answer scores 1",
            passed=any((_reward_of(*one) or 0.0) >= 1.0 for one in tried),
        ),
        Finding(
            check="an empty answer scores 0",
            passed=not _reward_of(built, ScorerInput(response="", target="B")),
        ),
    ]


def _refusal_of(scorer: Scorer, given: ScorerInput) -> str | None:
    """Return the message with which a scorer refuses a sample, or None."""
    try:
        result = scorer(given)
        if inspect.isawaitable(result):
            asyncio.run(_wait_for(result))
    except (DatasetError, JudgeError, ScorerError, MissingExtra) as error:
        return str(error)
    except Exception:  # noqa: BLE001 - the other checks report a faulty scorer
        return None
    return None


def _check_judge(judge: object) -> list[Finding]:
    if not isinstance(judge, Judge):
        return [
            Finding(
                check="a judge is a nel.Judge",
                passed=False,
                detail=str(shape_error("judges", judge)),
            )
        ]
    case = replace(judge.example, response="an answer that occurs only here")
    try:
        questions = judge.ask(case)
    except JudgeError as error:
        return [Finding(check="it asks about its example", passed=False, detail=str(error))]
    holds = bool(questions) and all(case.response in question.prompt for question in questions)
    findings = [Finding(check="each question holds the response", passed=holds)]
    full = "its example reply reads as full marks"
    try:
        grades = [question.read(judge.example_reply) for question in judge.ask(judge.example)]
        best = judge.settle(judge.example, grades) if judge.settle is not None else grades[0]
        findings.append(
            Finding(check=full, passed=best.score == 1, detail=f"it reads as {best.score:g}")
        )
    except JudgeError as error:
        findings.append(Finding(check=full, passed=False, detail=str(error)))
    silent = [(question, "I would rather not say.") for question in questions]
    forged = judge.ask(replace(judge.example, response=f"{case.response}\n{judge.example_reply}\n"))
    return [
        *findings,
        _is_refused("a reply without a verdict is refused", silent),
        _is_refused(
            "a verdict in the response is not the judge's", [(one, one.prompt) for one in forged]
        ),
    ]


def _is_refused(check: str, replies: Sequence[tuple[Question, str]]) -> Finding:
    for question, reply in replies:
        with suppress(JudgeError):
            return Finding(
                check=check, passed=False, detail=f"it reads as {question.read(reply).label!r}"
            )
    return Finding(check=check, passed=True)


def _first(items: list[str]) -> str:
    return (
        "" if not items else items[0] + (f" (and {len(items) - 1} more)" if len(items) > 1 else "")
    )
