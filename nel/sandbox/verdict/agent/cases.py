"""`unittest` cases of tests: run as a runner would, counted, and never passed over."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


class NotRun(Exception):
    """Tests that this harness cannot run."""


class NotReached(Exception):
    """Tests that end without an assertion that each run to their end reaches."""


def run_cases(space: Mapping[str, Any], text: str) -> tuple[str, BaseException] | None:
    """Run the `unittest` cases of tests; return name and exception of the first that is wrong.

    Raises:
        NotRun: They are for another runner, or mark a test to be skipped.
        NotReached: They skip a test while they run, or fewer ran than their text holds.
    """
    import unittest  # noqa: PLC0415 - few tests need it, and it makes every fork slower

    class Result(unittest.TestResult):
        """Keeps the exception itself."""

        failure: tuple[str, BaseException] | None = None

        def addError(self, test: Any, err: Any) -> None:  # noqa: N802 - the name of the base class
            """Keep the first."""
            self.failure = self.failure or (str(test.id()), err[1])
            self.stop()

        addFailure = addError  # noqa: N815 - likewise

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
            """Count the part of a test as a test."""
            if err is not None:
                self.addError(subtest, err)

    cases = _cases_of(space, text, unittest.TestCase)
    if not cases:
        return None
    result = Result()
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    unittest.TestSuite(load(case) for _, case in cases).run(result)
    if result.failure is not None:
        return result.failure
    n_methods = len({name for node, _ in cases for name in _methods_of(node)})
    if result.skipped or result.testsRun < max(1, n_methods):
        raise NotReached(f"only {result.testsRun} of {n_methods} tests ran, or some are skipped")
    return None


def _cases_of(
    space: Mapping[str, Any], text: str, base: type
) -> list[tuple[ast.ClassDef, type[Any]]]:
    """Return the cases of tests with the nodes that define them; raises `NotRun`."""
    cases: list[tuple[ast.ClassDef, type[Any]]] = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef):
            continue
        kind = space.get(node.name)
        if isinstance(kind, type) and issubclass(kind, base):
            cases.append((node, kind))
        elif kind is not None and node.name.startswith("Test") and _methods_of(node):
            raise NotRun(f"{node.name} is a class of tests that only pytest runs")
    for _, case in cases:
        if any(map(_is_marked, (case, *vars(case).values()))):
            raise NotRun("a test is skipped, or expected to fail")
    return cases


def _is_marked(item: Any) -> bool:
    """Return whether a class or method is marked to be skipped or to fail, whatever the program."""
    marks = ("__unittest_skip__", "__unittest_expecting_failure__")
    return any(getattr(item, mark, False) is True for mark in marks)


def _methods_of(node: ast.ClassDef) -> set[tuple[str, str]]:
    """Return the class and name of each of its tests."""
    names = [item.name for item in node.body if isinstance(item, _FUNCTION)]
    return {(node.name, name) for name in names if name.startswith("test")}


def has_cases(node: ast.ClassDef) -> bool:
    """Return whether a class is one of `unittest` cases, by its bases' names."""
    for base in node.bases:
        name = getattr(base, "id", getattr(base, "attr", ""))
        if name.endswith("TestCase"):
            return True
    return False
