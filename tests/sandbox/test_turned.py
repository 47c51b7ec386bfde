"""Which tests can be turned around, so that no right program passes them."""

from __future__ import annotations

import pytest

from nel.sandbox.task import read_task
from nel.sandbox.turned import turned_around


def turned(tests: str, *, has_classes: bool = False) -> tuple[str, ...]:
    task = read_task(tests, "", "f")
    assert task.apart is not None
    return turned_around(tests, task.owed, task.apart, has_classes=has_classes)


@pytest.mark.parametrize(
    ("tests", "count"),
    [
        ("def check(candidate):\n    assert candidate(1) == 2", 2),
        ("for n, wanted in [(1, 2)]:\n    assert f(n) == wanted", 2),
        ("for n in [1, 2]:\n    assert f(n) == n", 1),
        ("def test_f():\n    assert f(1) is None", 1),
        ("class TestF(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(1), 2)", 2),
        ("class TestF:\n    def test_f(self):\n        assert f(1) == 2", 2),
        ("async def main():\n    assert await f(1) == 2\nasyncio.run(main())", 2),
        ("assert f(1) == f(1)", 1),
        ("assert not f(1)", 1),
        ("with redirect_stdout(out):\n    f(1)\n    assert f(2) == 3", 2),
        ("m = Mock()\nf(m)\nm.assert_called_once_with(1)", 1),
        ("class TestF(unittest.TestCase):\n    @patch('a.b')\n    def test_f(self, m):\n        m.assert_called()", 1),
        # What might be left out, or passed over, is sure of nothing.
        ("try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass", 0),
        ("with suppress(Exception):\n    assert f(1) == 2", 0),
        ("if f(1):\n    assert f(1) == 2", 0),
        ("for n in f(1):\n    assert n == 2", 0),
        ("async def main():\n    assert await f(1) == 2", 0),
        ("def helper():\n    assert f(1) == 2", 0),
        ("def main():\n    if f(1): return\n    assert f(2) == 2\nmain()", 0),
        ("@once\ndef test_f():\n    assert f(1) == 2", 0),
        ("class TestF(unittest.TestCase):\n    @once\n    def test_f(self):\n        self.assertEqual(f(1), 2)", 0),
        ("with pytest.raises(ValueError):\n    assert f(1) == 2", 0),
        ("assert f(1", 0),
    ],
)
def test_tests_are_turned_around_where_a_failure_is_sure(tests: str, count: int) -> None:
    """Reversed, and with other expected values; neither where the failure of no assertion is sure to be seen."""
    if count == 0 and tests.endswith("(1"):
        assert read_task(tests, "", "f").apart is None
        return
    assert len(turned(tests)) == count


@pytest.mark.parametrize(
    ("tests", "reversed_tests"),
    [
        ("assert f(1) == 2", "assert f(1) != 2"),
        ("assert f(1) < 2", "assert f(1) >= 2"),
        ("assert 1 in f(1)", "assert 1 not in f(1)"),
        ("assert f(1) is not None", "assert f(1) is None"),
        ("assert 1 < f(1) < 3", "assert not 1 < f(1) < 3"),
        ("assert not f(1)", "assert f(1)"),
        ("m.assert_called_once_with(f(1))", "m.assert_not_called()"),
        ("m.assert_not_called()", "m.assert_called()"),
        ("assert f(1), 'message'", "assert not f(1), 'message'"),
    ],
)
def test_assertions_are_reversed(tests: str, reversed_tests: str) -> None:
    assert turned(tests)[0] == reversed_tests


def test_only_the_expected_side_is_another() -> None:
    """A value that the tests alone make, by name, as a literal, or as an object of a class of theirs."""
    tests = "class P:\n    pass\nwanted = [1]\nassert f(P(1)) == P(2)\nassert wanted == f(2)\nassert f(3) == f(4)"
    assert turned(tests)[1].splitlines()[-3:] == [
        "assert f(P(1)) == _nel_other(P(2))",
        "assert _nel_other(wanted) == f(2)",
        "assert f(3) == f(4)",
    ]


def test_a_class_of_the_program_may_be_equal_to_anything() -> None:
    assert turned("assert f(1) == 2", has_classes=True) == ("assert f(1) != 2",)
