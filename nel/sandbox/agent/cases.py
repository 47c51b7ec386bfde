"""`unittest` cases of tests: run as a runner would, counted, and never passed over."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from nel.sandbox.agent import running


def run_cases(space: Mapping[str, Any], text: str) -> tuple[str, BaseException] | None:
    """Run the `unittest` cases that tests define; return the name and the exception of the first that is wrong.

    Raises:
        running.NotRun: They skip a test, expect one to fail, have none, or fewer ran than their text holds.
    """
    import unittest  # noqa: PLC0415 - few tests need it, and it makes every fork slower

    class Result(unittest.TestResult):
        """Keeps the exception itself."""

        wrong: tuple[str, BaseException] | None = None

        def addError(self, test: Any, err: Any) -> None:  # noqa: N802 - the name of the base class
            """Keep the first."""
            self.wrong = self.wrong or (str(getattr(test, "id", lambda: "")()), err[1])
            self.stop()

        addFailure = addError  # noqa: N815 - likewise

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
            """Count the part of a test as a test."""
            if err is not None:
                self.addError(subtest, err)

    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    found = [(node, space[node.name]) for node in classes if node.name in space]
    cases = [(node, case) for node, case in found if isinstance(case, type) and issubclass(case, unittest.TestCase)]
    if not cases:
        return None
    suite = unittest.TestSuite()
    for _, case in cases:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = Result()
    suite.run(result)
    if result.wrong is not None:
        return result.wrong
    methods = {(node.name, name) for node, _ in cases for name in _methods_of(node)}
    _check(result, len(methods))
    return None


def _methods_of(node: ast.ClassDef) -> list[str]:
    functions = [item for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [function.name for function in functions if function.name.startswith("test")]


def _check(result: Any, expected: int) -> None:
    if result.skipped:
        raise running.NotRun(f"the tests skip {_name_of(result.skipped[0][0])}")
    if result.expectedFailures or result.unexpectedSuccesses:
        raise running.NotRun("the tests expect one of their own to fail")
    if result.testsRun == 0:
        raise running.NotRun("the cases of the tests have no test")
    if result.testsRun < expected:
        raise running.NotRun(f"only {result.testsRun} of {expected} tests ran")


def _name_of(test: Any) -> str:
    return str(getattr(test, "id", lambda: "a class")()).rpartition(".")[2]
