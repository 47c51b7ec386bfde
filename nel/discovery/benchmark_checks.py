"""Checks a benchmark before it is run or shipped: its rows, and what its scorer makes of answers.

Rows are read as a run would ask them; answers are a gold, an empty and a wrong one. Of a benchmark
with a judge, each answer must make questions for it. Sends nothing. Each check says the fix,
because its reader has the file open and not the documentation. Benchmarks expect gold answers in
different forms, so several phrasings are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.authoring.benchmark import Benchmark
from nel.authoring.registry import benchmarks_in_file, find_benchmark
from nel.authoring.smoke import (
    SECONDS_MAX,
    ScorerTrial,
    fault_of,
    gold_attempts,
    gold_texts,
    odd_attempts,
    result_of,
)
from nel.config.load import build_config
from nel.engine.judging.cases import complete_case
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_samples import Digests, duplicate_id, stream_samples
from nel.engine.planning.resolution import make_plans
from nel.engine.store.codec import decode_sample
from nel.errors import NelError, SandboxError
from nel.judges.registry import judge_for
from nel.judges.types import Case, Grade, Judgement, Opinion, check_case
from nel.scoring.declarations import asks_judge, is_async
from nel.scoring.delegation import case_of
from nel.types import Sample, ScorerInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    passed: bool
    detail: str = ""
    """What was measured, or what is wrong and how to fix it."""


def check_file(
    path: Path, name: str | None = None, *, dataset: str | None = None, samples_max: int = 50
) -> dict[str, list[Check]]:
    """Return the checks of each benchmark of a file, or of the one that is named.

    Raises:
        PluginError: The file is missing, fails to run, or defines no benchmark of this name.
    """
    if name is not None:
        return {name: check_benchmark(f"{path}:{name}", dataset, samples_max)}
    names = list(benchmarks_in_file(path))
    if len(names) == 1:
        return {names[0]: check_benchmark(str(path), dataset, samples_max)}
    return {name: check_benchmark(f"{path}:{name}", dataset, samples_max) for name in names}


def check_benchmark(target: str, dataset: str | None, samples_max: int) -> list[Check]:
    """Return the checks of a benchmark; all rows are read, the first so many are scored.

    Args:
        dataset: Rows to look at instead of the benchmark's own; a path is relative to the working
            directory.

    Raises:
        PluginError: The benchmark is unknown.
    """
    benchmark = find_benchmark(target)
    try:
        plan = _plan_of(benchmark, target, dataset)
        samples, checks = _read(plan, samples_max)
    except NelError as error:
        return [Check(name="it can be asked", passed=False, detail=str(error))]
    if hasattr(plan.benchmark.environment, "try_solution"):
        return [*checks, *_solutions(plan.benchmark.environment, samples)]
    if asks_judge(benchmark.scorer) or _asks_of_itself(benchmark, plan, samples):
        return [*checks, _can_be_judged(benchmark, plan, samples)]
    return [*checks, *_scores(benchmark, samples)]


def samples_of(target: str, dataset: str | None, samples_max: int) -> list[Sample]:
    """Return the first samples of a benchmark; raises `NelError` where it cannot be read."""
    return _read(_plan_of(find_benchmark(target), target, dataset), samples_max)[0]


def check_of(name: str, problems: Sequence[str], otherwise: str = "") -> Check:
    """Return a check that fails with the first of the problems, and passes without any."""
    detail = problems[0] if problems else otherwise
    if len(problems) > 1:
        detail += f" (and {len(problems) - 1} more)"
    return Check(name=name, passed=not problems, detail=detail)


def _plan_of(benchmark: Benchmark, target: str, dataset: str | None) -> Plan:
    # The same road as a run's, so that a check and a run cannot differ; the endpoint is not asked.
    entry = {"name": target, "dataset": dataset, "response_field": benchmark.response_field}
    endpoint = {
        "url": "http://127.0.0.1/v1",
        "model": "none",
        "protocol": benchmark.protocol or "chat",
    }
    config: dict[str, object] = {"benchmarks": [entry], "endpoint": endpoint}
    # The configuration of a judged benchmark must name a judge; nothing is sent to it.
    if asks_judge(benchmark.scorer):
        config["judge"] = {"url": endpoint["url"], "model": "none"}
    return make_plans(build_config(config))[0]


def _read(plan: Plan, samples_max: int) -> tuple[list[Sample], list[Check]]:
    """Return the first good samples, and the checks of all rows."""
    ids: dict[str, int] = {}
    samples: list[Sample] = []
    faults: list[str] = []
    twins: list[str] = []
    digests = Digests()
    for row in stream_samples(plan, digests, ids.get):
        first_row = ids.setdefault(row.sample_id, row.row_number)
        if first_row != row.row_number:
            twins.append(str(duplicate_id(plan, row, first_row)))
        if row.fault is not None:
            faults.append(row.fault)
        elif len(samples) < samples_max:
            samples.append(decode_sample(row.sample_id, row.content or ""))
    uri = plan.dataset.uri
    rows = f"{digests.rows:,} rows of {'a function' if uri.startswith('callable:') else uri}"
    rows = "; ".join([rows, *plan.dataset.notes, *plan.notes])
    return samples, [
        check_of("every row makes a sample", faults, rows),
        check_of("ids are unique", twins),
    ]


def _scores(benchmark: Benchmark, samples: list[Sample]) -> Iterator[Check]:
    """Yield checks of the scores of made-up answers: full for a gold one, none for an empty one."""
    best_trial: ScorerTrial | None = None
    misses: list[str] = []
    credits_of_nothing: list[str] = []
    for sample in samples:
        has_full_marks = False
        for trial in _attempts(benchmark, sample):
            # The first is enough: other answers would most likely meet the same fault.
            if trial.problem:
                detail = f"for the answer {trial.response!r}: {trial.problem}"
                yield Check(name="the scorer gives scores", passed=False, detail=detail)
                return
            reward = trial.reward or 0.0
            has_full_marks = has_full_marks or reward >= 1.0
            if best_trial is None or reward > (best_trial.reward or 0.0):
                best_trial = trial
            if reward > 0 and not trial.response:
                credits_of_nothing.append(f"it gave {reward:g}; return False for an empty response")
        if not has_full_marks:
            misses.append(
                f"sample {sample.id}: no phrasing of {sample.target!r} got full marks; compare what"
                " the scorer looks for with the target field"
            )
    if best_trial is not None:
        result = best_trial.returned
        if isinstance(result, Mapping):
            result = dict(result)
        detail = f"{best_trial.response!r} gives {result}"
        yield Check(name="the scorer gives scores", passed=True, detail=detail)
    if _is_scored_by_target(benchmark):
        yield check_of("a gold answer scores 1", misses, f"{len(samples)} samples")
    if benchmark.has_gold_answers:
        yield check_of("an empty answer scores 0", credits_of_nothing)


def _solutions(environment: Any, samples: list[Sample]) -> Iterator[Check]:
    """Yield a check of each task: its own solution reaches 1, and doing nothing does not."""
    try:
        environment.prepare(samples, lambda _: None)
    except SandboxError as error:
        yield Check(name="tasks can be run", passed=False, detail=str(error))
        return
    for sample in samples:
        problems = list(environment.try_solution(sample))
        yield check_of(f"task {sample.id}: its solution reaches 1, doing nothing less", problems)


def _attempts(benchmark: Benchmark, sample: Sample) -> Iterator[ScorerTrial]:
    """Yield trials of a gold answer, up to the first phrasing with full marks, and of odd ones."""
    for trial in gold_attempts(benchmark, sample) if _is_scored_by_target(benchmark) else ():
        yield trial
        if (trial.reward or 0.0) >= 1.0:
            break
    yield from odd_attempts(benchmark, sample)


def _is_scored_by_target(benchmark: Benchmark) -> bool:
    """Return whether the target is a right answer; gold programs are tried with their tests."""
    return benchmark.has_gold_answers and not benchmark.languages


def _can_be_judged(benchmark: Benchmark, plan: Plan, samples: list[Sample]) -> Check:
    """Check that every sample's answer makes questions for a judge; nothing is sent."""
    problems: list[str] = []
    n_questions = 0
    for sample in samples:
        answer = str(sample.metadata.get(benchmark.response_field or "", ""))
        answer = answer or next(iter(gold_texts(sample)), "x")
        try:
            n_questions += _count_questions(benchmark, plan, sample, answer)
        except Exception as error:  # noqa: BLE001 - any error of the scorer is a finding
            problems.append(f'sample "{sample.id}": {fault_of(error)}')
    return check_of(
        "every answer makes questions for a judge",
        problems,
        f"{n_questions} questions about {len(samples)} samples; none was sent",
    )


def _asks_of_itself(benchmark: Benchmark, plan: Plan, samples: list[Sample]) -> bool:
    """Return whether a scorer asks a judge although it is not marked so."""
    with suppress(Exception):  # the checks that follow report a faulty scorer
        return _count_questions(benchmark, plan, samples[0], "x") > 0
    return False


def _count_questions(benchmark: Benchmark, plan: Plan, sample: Sample, answer: str) -> int:
    """Return how many questions a scorer makes about an answer; each is graded as right."""
    n_questions = 0

    # Called by the scorer as a run's judges are; `scorer_input` is made below, before that.
    def judgement_of(case: Case) -> Judgement:
        nonlocal n_questions
        check_case(case)
        case = complete_case(case, scorer_input, plan)
        judge = judge_for(case)
        n_questions += len(list(judge.ask(case)))
        grade = Grade(label="C", score=1.0)
        opinion = Opinion(judge="none", grade=grade, reply=judge.example_reply)
        return Judgement(
            template=judge.name, grade=grade, aggregate="majority", quorum=1, opinions=(opinion,)
        )

    async def judgement_later(case: Case) -> Judgement:
        return judgement_of(case)

    scorer_input = ScorerInput(
        response=answer,
        target=sample.target,
        metadata=dict(sample.metadata),
        config=dict(benchmark.extra),
        sample=sample,
        judge_fn=judgement_later if is_async(benchmark.scorer) else judgement_of,
    )
    result = result_of(benchmark.scorer, scorer_input, SECONDS_MAX)
    if isinstance(result, Mapping) and result.get("needs_judge"):
        judgement_of(case_of(result, scorer_input))
    return n_questions
