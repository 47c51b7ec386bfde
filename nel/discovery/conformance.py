"""Conformance checks of plugins, without an endpoint.

A benchmark is checked on its own rows: unique ids, prompts that render, gold answers that score 1,
empty answers that do not; or, where a judge scores, that each answer makes questions for one.
Benchmarks expect gold answers in different forms, so several plain phrasings are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from nel import plugins
from nel.authoring.benchmark import Benchmark
from nel.authoring.registry import find_benchmark
from nel.authoring.smoke import attempt, gold_attempts, gold_texts, result_of, scored
from nel.authoring.validation import Check
from nel.config.load import build_config
from nel.discovery.extension_points import shape_error
from nel.engine.judging.cases import complete_case
from nel.engine.planning.plan import Plan, make_plans
from nel.engine.planning.plan_samples import Digests, stream_samples
from nel.engine.store.codec import decode_sample
from nel.engine.store.snapshot import StoredSample
from nel.errors import ConfigError, JudgeError, NelError, PluginError
from nel.judges.registry import judge_for
from nel.judges.types import Case, Grade, Judge, Judgement, Opinion, Question, check_case
from nel.scoring.delegation import case_of
from nel.scoring.protocol import as_scorer, asks_judge, is_async
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
    kind = kind or _kind_of(target)
    return [*_check(kind, target, dataset, samples_max), *_check_groups(kind, target)]


def _check(kind: str, target: str, dataset: str | None, samples_max: int) -> list[Check]:
    if kind == "benchmarks":
        return _check_benchmark(target, dataset, samples_max)
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


def _kind_of(target: str) -> str:
    if ".py" in target:
        return "benchmarks"
    kinds = [kind for kind in plugins.GROUPS if plugins.matching(kind, target)]
    if len(kinds) > 1:
        raise PluginError(
            f'"{target}" is the name of several plugins; choose with --kind {" or ".join(kinds)}'
        )
    return kinds[0] if kinds else "benchmarks"


def _check_benchmark(target: str, dataset: str | None, samples_max: int) -> list[Check]:
    benchmark = find_benchmark(target)
    is_judged = asks_judge(benchmark.scorer)
    plan = _plan_of(benchmark, target, dataset)
    checks = [
        Check(
            name="the plugin loads",
            passed=True,
            detail=f"{benchmark.name}: {benchmark.description}",
        )
    ]
    try:
        samples, n_rows, faults, twins = _read(plan, samples_max)
    except NelError as error:
        return [
            *checks,
            Check(
                name="the dataset can be read and the prompt's fields exist",
                passed=False,
                detail=str(error),
            ),
        ]
    checks += [
        _without("every row makes a sample", faults, f"{n_rows:,} rows"),
        _without("ids are unique", twins),
    ]
    if is_judged or _asks_of_itself(benchmark, plan, samples[:1]):
        return [*checks, _can_be_judged(benchmark, plan, samples)]
    return [*checks, *_gold_and_empty(benchmark, samples)]


def _gold_and_empty(benchmark: Benchmark, samples: list[Sample]) -> list[Check]:
    """Check that a gold answer scores 1 and an empty one does not, where there are gold answers."""
    if not benchmark.has_gold_answers:
        return []
    missed = [
        sample.id
        for sample in samples
        if not any((tried.reward or 0.0) >= 1.0 for tried in gold_attempts(benchmark, sample))
    ]
    credited = [
        sample.id for sample in samples if (attempt(benchmark, sample, "").reward or 0.0) > 0.0
    ]
    return [
        _without(
            "a gold answer scores 1",
            missed if samples else ["no sample"],
            f"{len(samples)} samples",
        ),
        _without("an empty answer scores 0", credited),
    ]


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


def _can_be_judged(benchmark: Benchmark, plan: Plan, samples: list[Sample]) -> Check:
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
    return Check(
        name="every answer makes questions for a judge",
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
        case = complete_case(case, answered, plan)
        judge = judge_for(case)
        n_questions += len(list(judge.ask(case)))
        best = Grade(label="C", score=1.0)
        opinion = Opinion(judge="none", grade=best, reply=judge.example_reply)
        return Judgement(
            template=judge.name, grade=best, aggregate="majority", quorum=1, opinions=(opinion,)
        )

    async def judgement_later(case: Case) -> Judgement:
        return judgement_of(case)

    answered = ScorerInput(
        response=answer,
        target=sample.target,
        metadata=dict(sample.metadata),
        config=dict(benchmark.extra),
        sample=sample,
        judge_fn=judgement_later if is_async(benchmark.scorer) else judgement_of,
    )
    result = result_of(benchmark.scorer, answered)
    if isinstance(result, Mapping) and result.get("needs_judge"):
        judgement_of(case_of(result, answered))
    return n_questions


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
        scored(built, ScorerInput(response=text, target=target))
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
    empty = scored(built, ScorerInput(response="", target="B"))
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


def _without(name: str, problems: Sequence[str], otherwise: str = "") -> Check:
    """Return a check that passes where there are no problems; else it names the first."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    detail = f"{problems[0]}{more}" if problems else otherwise
    return Check(name=name, passed=not problems, detail=detail)
