"""Tries the tests of a benchmark that runs programs: on a gold, an empty and a wrong program.

Tests that fail the gold program are broken; tests that pass one of the others check nothing.
Programs run in the sandbox, through the benchmark's own scorer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.errors import DatasetError
from nel.scoring.broken_tests import key_of, write_broken_tests
from nel.scoring.program_rows import entry_point_of, tests_of
from nel.types import Sample, ScorerInput

_EMPTY: Final = {"python": "pass", "bash": ":"}
_WRONG: Final = "def {name}(*arguments, **options):\n    return 7919"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenTask:
    """A task whose tests are of no use."""

    sample: str
    key: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsCheck:
    """What came of trying the tests of a benchmark."""

    broken: list[BrokenTask]
    n_golds: int
    """Gold programs that were run: with none nothing says that the tests can be passed."""


def check_tests(benchmark: Benchmark, samples: Iterable[Sample]) -> TestsCheck:
    """Return the tasks whose tests are broken or check nothing; runs read the list it writes.

    Raises:
        SandboxError: Programs cannot be run.
    """
    write_broken_tests(benchmark.name, {})  # what an earlier check found is not to decide this one
    tasks: list[BrokenTask] = []
    n_golds = 0
    for sample in samples:
        gold = _gold_of(sample)
        n_golds += bool(gold)
        tasks += _broken(benchmark, sample, gold)
    write_broken_tests(benchmark.name, {task.key: (task.sample, task.reason) for task in tasks})
    return TestsCheck(broken=tasks, n_golds=n_golds)


def _language_of(sample: Sample) -> str:
    return str(sample.metadata.get("_language") or sample.metadata.get("language") or "python")


def _gold_of(sample: Sample) -> str:
    """Return a sample's gold program: its target, or the row's; empty where it has none."""
    row = sample.metadata
    prompt, solution = row.get("_prompt") or row.get("prompt"), row.get("canonical_solution")
    golds = (sample.target, solution, f"{prompt}{solution}" if prompt and solution else "")
    programs = (
        gold for gold in golds if isinstance(gold, str) and _is_program(gold, _language_of(sample))
    )
    return next(programs, "")


def _broken(benchmark: Benchmark, sample: Sample, gold: str) -> Iterator[BrokenTask]:
    scorer_input = ScorerInput(response="", target=sample.target, metadata=dict(sample.metadata))
    row = scorer_input.metadata
    tests, entry_point = tests_of(row), entry_point_of(scorer_input)
    language = _language_of(sample)
    key = key_of(tests, str(row.get("_prompt") or ""), entry_point)
    reason = ""
    if gold:
        verdict = _verdict(benchmark, scorer_input, language, gold)
        reason = "" if verdict == "passed" else f"the tests fail the gold program: {verdict}"
    if (
        not reason
        and _verdict(benchmark, scorer_input, language, _EMPTY.get(language, ";")) == "passed"
    ):
        reason = "the tests pass without a program"
    if not reason and language == "python" and entry_point:
        decoy = _WRONG.format(name=entry_point)
        if _verdict(benchmark, scorer_input, language, decoy) == "passed":
            reason = "the tests pass a program that always answers 7919"
    if reason:
        yield BrokenTask(sample=str(sample.id), key=key, reason=reason)


def _verdict(benchmark: Benchmark, scorer_input: ScorerInput, language: str, program: str) -> str:
    """Return the verdict of a program, or why the tests cannot judge it."""
    response = f"```{language}\n{program}\n```"
    attempt = ScorerInput(
        response=response, target=scorer_input.target, metadata=scorer_input.metadata
    )
    try:
        result = benchmark.scorer(attempt)
    except DatasetError as error:
        return str(error)
    details = result if isinstance(result, dict) else {}
    verdict = str(details.get("verdict") or "no verdict")
    return (
        verdict if verdict == "passed" else f"{verdict}: {details.get('detail') or ''}".rstrip(": ")
    )


def _is_program(target: str, language: str) -> bool:
    """Return whether a target is a gold program, and not the name of a function or an output."""
    if language != "python":
        return "\n" in target
    try:
        body = ast.parse(target).body
    except (SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) for node in body
    )
