"""What a dataset's row says of a program's judgement: tests, inputs and outputs, entry point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from nel.errors import DatasetError
from nel.types import ScorerInput

if TYPE_CHECKING:
    from nel.sandbox import StdinCase

_TEST_FIELDS: Final = ("_test", "_tests", "test", "tests", "test_list")
_CASE_FIELDS: Final = ("_cases", "cases", "test_cases")
_INPUT_FIELDS: Final = ("stdin", "input")
_OUTPUT_FIELDS: Final = ("expected_output", "output", "stdout")


def entry_point_of(sample: ScorerInput) -> str:
    """Return the name under test: the row's ``entry_point``, else its target where that is a name
    and the row has tests; else nothing. A row of inputs and outputs tests no function.
    """
    row = sample.metadata
    name = row.get("entry_point") or (sample.target if tests_of(row) is not None else "")
    return name if isinstance(name, str) and name.isidentifier() else ""


def tests_of(row: Mapping[str, object]) -> str | None:
    """Return the text of a row's tests, None where it has none."""
    for name in _TEST_FIELDS:
        tests = row.get(name)
        if isinstance(tests, str) and tests.strip():
            return tests
        if (
            isinstance(tests, (list, tuple))
            and tests
            and all(isinstance(test, str) for test in tests)
        ):
            return "\n".join(tests)
    return None


def cases_of(row: Mapping[str, object]) -> tuple[StdinCase, ...]:
    """Return a row's inputs and outputs.

    Raises:
        DatasetError: They are not in the form that is read.
    """
    from nel.sandbox import StdinCase  # noqa: PLC0415

    rows = next((row[name] for name in _CASE_FIELDS if row.get(name)), ())
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise DatasetError(
            'the cases must be a list of inputs and outputs, such as [{"stdin": …,'
            ' "expected_output": …}]'
        )
    cases = []
    for number, case in enumerate(rows, 1):
        stdin = _first(case, _INPUT_FIELDS)
        expected = _first(case, _OUTPUT_FIELDS)
        if expected is None:
            raise DatasetError(f'case {number} has no "expected_output"')
        cases.append(StdinCase(stdin=stdin or "", expected_output=expected))
    return tuple(cases)


def _first(case: object, names: Sequence[str]) -> str | None:
    if not isinstance(case, Mapping):
        return None
    return next((str(case[name]) for name in names if case.get(name) is not None), None)
