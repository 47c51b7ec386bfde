"""Tries the tests of a benchmark that runs programs: on a gold, an empty and a wrong program.

Tests that fail the gold program are broken; tests that pass one of the others check nothing.
Programs run in the sandbox, through the benchmark's own scorer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.errors import DatasetError
from nel.scoring.broken_tests import key_of, write_broken_tests
from nel.scoring.program_rows import entry_point_of, tests_of
from nel.types import Sample, ScorerInput

_EMPTY: Final = {"python": "pass", "bash": ":"}
_DECOY: Final = "def {name}(*arguments, **options):\n    return 7919"
"""A wrong program; the number is one that no test expects by chance."""


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
        if reason := _reason(benchmark, sample, gold):
            tasks.append(BrokenTask(sample=str(sample.id), key=_key_of(sample), reason=reason))
    write_broken_tests(benchmark.name, {task.key: (task.sample, task.reason) for task in tasks})
    return TestsCheck(broken=tasks, n_golds=n_golds)


def _language_of(sample: Sample) -> str:
    return str(sample.metadata.get("_language") or sample.metadata.get("language") or "python")


def _gold_of(sample: Sample) -> str:
    """Return a sample's gold program: its target, or the row's; empty where it has none."""
    row = sample.metadata
    # HumanEval's prompt is the head of the function, and its solution the body alone.
    prompt, solution = row.get("_prompt") or row.get("prompt"), row.get("canonical_solution")
    golds = (sample.target, solution, f"{prompt}{solution}" if prompt and solution else "")
    programs = (
        gold for gold in golds if isinstance(gold, str) and _is_program(gold, _language_of(sample))
    )
    return next(programs, "")


def _key_of(sample: Sample) -> str:
    row = sample.metadata
    return key_of(tests_of(row), str(row.get("_prompt") or ""), entry_point_of(_input_of(sample)))


def _reason(benchmark: Benchmark, sample: Sample, gold: str) -> str:
    """Return why the tests of a sample are of no use; empty where they are."""
    language, entry_point = _language_of(sample), entry_point_of(_input_of(sample))
    if gold:
        verdict = _verdict(benchmark, sample, gold)
        if verdict != "passed":
            return f"the tests fail the gold program: {verdict}"
    if _verdict(benchmark, sample, _EMPTY.get(language, ";")) == "passed":
        return "the tests pass without a program"
    if language == "python" and entry_point:
        decoy = _DECOY.format(name=entry_point)
        if _verdict(benchmark, sample, decoy) == "passed":
            return "the tests pass a program that always answers 7919"
    return ""


def _input_of(sample: Sample, response: str = "") -> ScorerInput:
    return ScorerInput(response=response, target=sample.target, metadata=dict(sample.metadata))


def _verdict(benchmark: Benchmark, sample: Sample, program: str) -> str:
    """Return the verdict of a program, or why the tests cannot judge it."""
    response = f"```{_language_of(sample)}\n{program}\n```"
    try:
        result = benchmark.scorer(_input_of(sample, response))
    except DatasetError as error:
        return str(error)
    details = result if isinstance(result, dict) else {}
    verdict = str(details.get("verdict") or "no verdict")
    if verdict == "passed":
        return verdict
    return f"{verdict}: {details.get('detail') or ''}".rstrip(": ")


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
