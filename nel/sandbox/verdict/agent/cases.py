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
        NotRun: They are for another runner, skip a test, or fewer ran than their text holds.
    """
    import unittest  # noqa: PLC0415 - few tests need it, and it makes every fork slower

    class Result(unittest.TestResult):
        """Keeps the exception itself."""

        wrong: tuple[str, BaseException] | None = None

        def addError(self, test: Any, err: Any) -> None:  # noqa: N802 - the name of the base class
            """Keep the first."""
            self.wrong = self.wrong or (str(test.id()), err[1])
            self.stop()

        addFailure = addError  # noqa: N815 - likewise

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
            """Count the part of a test as a test."""
            if err is not None:
                self.addError(subtest, err)

    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    defined = [(node, space[node.name]) for node in nodes if node.name in space]
    cases = [
        (node, case)
        for node, case in defined
        if isinstance(case, type) and issubclass(case, unittest.TestCase)
    ]
    for node, case in defined:
        if node.name.startswith("Test") and (node, case) not in cases and _methods_of(node):
            raise NotRun(f"{node.name} is a class of tests that only pytest runs")
    if not cases:
        return None
    result = Result()
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    unittest.TestSuite(load(case) for _, case in cases).run(result)
    if result.wrong is not None:
        return result.wrong
    n_methods = len({name for node, _ in cases for name in _methods_of(node)})
    if result.skipped or result.expectedFailures or result.testsRun < max(1, n_methods):
        raise NotRun(f"only {result.testsRun} of {n_methods} tests ran, or some are skipped")
    return None


def _methods_of(node: ast.ClassDef) -> set[tuple[str, str]]:
    """Return the class and name of each of its tests."""
    functions = (item for item in node.body if isinstance(item, _FUNCTION))
    return {(node.name, item.name) for item in functions if item.name.startswith("test")}


def has_cases(node: ast.ClassDef) -> bool:
    """Return whether a class is one of `unittest` cases, by its bases' names."""
    names = (getattr(base, "id", getattr(base, "attr", "")) for base in node.bases)
    return any(name.endswith("TestCase") for name in names)
