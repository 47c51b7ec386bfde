"""How tests are run: which of their names they bring along, what is left to the harness to call, and how they may end.

The same for tests apart from the program, in its process, and without one.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import linecache
import os
import re
import traceback
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nel.sandbox.agent import channel

FILE_NAME = "tests.py"
_REMOTE = "nel-agent/remote.py"
MARK = "_nel_reached"
"""In front of each assertion of the tests as they are run."""
TEXT_CHARACTERS_MAX = 400
_LINES_MAX = 500
_TEST_CLASS = re.compile(r"^class[ \t]+(Test\w*)", re.MULTILINE)
_TOP_FUNCTION = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_ASSERT = re.compile(r"^[^#'\"\n]*\b(?:assert\b|self\.assert\w+)", re.MULTILINE)
_CALL = re.compile(r"^(\w+)[ \t]*\(", re.MULTILINE)


class NotRun(Exception):
    """Tests that this harness cannot run; never to be passed over in silence."""


def forbid_forks() -> None:
    """Tests that fork go on twice, and both would give a verdict."""

    def refuse() -> int:
        raise NotRun("the tests fork their process")

    os.fork = refuse
    if hasattr(os, "forkpty"):
        os.forkpty = refuse  # type: ignore[assignment]


def define_helpers(given: channel.Message, namespace: dict[str, Any]) -> None:
    """Define what tests use and do not define: the prompt's own code, where it is code, and well-known modules.

    These names are the tests' before the program is asked for its own, which therefore replace none of them.

    Raises:
        NotRun: A module that the tests use is not there.
    """
    prompt = given["prompt"]
    for text in (prompt, prompt + "\n    pass\n"):
        try:
            code = compile(text, "prompt.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        with contextlib.suppress(
            Exception, SystemExit
        ):  # a prompt that needs its solution to run gives what comes before
            exec(code, namespace)  # noqa: S102 - the prompt comes with the benchmark
        break
    for name in given["stubs"]:
        namespace.pop(name, None)
    for name, place in given["supplied"].items():
        if name not in namespace:
            namespace[name] = _supplied(place)


def _supplied(place: str) -> Any:
    module, _, name = place.partition(":")
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise NotRun(f"the tests need what is not there: {error}") from None
    return getattr(found, name) if name else found


def run_tests(code: types.CodeType, given: channel.Message, namespace: dict[str, Any]) -> set[int]:
    """Run tests and what they leave to the harness; return the marked assertions that were reached.

    Raises:
        NotRun: They end by themselves before their last assertion, or cannot run as they are.
    """
    reached: set[int] = set()
    namespace[MARK] = reached.add
    try:
        exec(code, namespace)  # noqa: S102 - the tests come with the benchmark
    except SystemExit as end:
        _check_end(end, given["tests"])
    try:
        call_afterwards(given, namespace)
    except SystemExit as end:
        _check_end(end, given["tests"])
    return reached


def _check_end(end: SystemExit, tests: str) -> None:
    """Pass over an exit after the last assertion; raise any other."""
    if end.code or _is_of_program(end):
        raise end
    asserts = [tests.count("\n", 0, found.end()) + 1 for found in _ASSERT.finditer(tests)]
    frames = [one for one in traceback.walk_tb(end.__traceback__) if one[0].f_code.co_filename == FILE_NAME]
    if not frames:
        raise end
    for frame, line in frames:
        last = max((one for one in _lines_in(frame.f_code)), default=line)
        skipped = [one for one in asserts if line < one and (one <= last or frame.f_code.co_name == "<module>")]
        if skipped:
            raise NotRun(f"the tests end themselves in line {frames[-1][1]}, before the assertion of line {skipped[0]}")


def _is_of_program(end: SystemExit) -> bool:
    """Return whether an exit comes from a program in the same process."""
    return any(frame.f_code.co_filename == "solution.py" for frame, _ in traceback.walk_tb(end.__traceback__))


def _lines_in(code: types.CodeType) -> Iterator[int]:
    import dis  # noqa: PLC0415 - few tests need it, and each module makes every fork slower

    yield from (line for _, line in dis.findlinestarts(code) if line is not None)


def call_afterwards(given: channel.Message, namespace: dict[str, Any]) -> None:
    """Call what the tests define and leave to the harness: ``check(candidate)`` and ``test_…()``."""
    tests, entry_point = given["tests"], given["entry_point"]
    called = set(_CALL.findall(tests))
    for name in _TOP_FUNCTION.findall(tests):
        function = namespace.get(name)
        if name in called or not isinstance(function, types.FunctionType):
            continue
        required = function.__code__.co_argcount - len(function.__defaults__ or ())
        if name == "check" and required == 1 and entry_point:
            if entry_point not in namespace:
                raise NameError(f"name {entry_point!r} is not defined")
            function(namespace[entry_point])
        elif (name == "check" or name.startswith("test")) and required == 0:
            function()
        elif name.startswith("test"):
            raise NotRun(f"{name} takes arguments, which only pytest gives")
    for name in _TEST_CLASS.findall(tests):
        _run_methods(namespace.get(name))


def _run_methods(found: Any) -> None:
    """Run the test methods of a class in the style of pytest; those of `unittest` have a runner of their own."""
    if not isinstance(found, type) or any(base.__module__.startswith("unittest.") for base in found.__mro__):
        return
    getattr(found, "setup_class", lambda: None)()
    for name in [name for name in vars(found) if name.startswith("test")]:
        case = found()
        for around in ("setup_method", "setUp"):
            getattr(case, around, lambda: None)()
        getattr(case, name)()


def lines_of(error: BaseException) -> list[int]:
    """Return the lines of the tests that an exception went through, outermost first; of very many the two ends.

    There are none where it was raised while the program was asked, as by an alarm: that is not the tests' own.
    """
    lines: list[int] = []
    asked = False
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == FILE_NAME:
            if asked:
                return []
            lines.append(line)
        elif lines and frame.f_code.co_filename == _REMOTE:
            asked = True
    return lines if len(lines) <= 2 * _LINES_MAX else lines[:_LINES_MAX] + lines[-_LINES_MAX:]


def position_of(error: BaseException) -> list[int]:
    """Return line, end line, column and end column of the expression of the tests that raised; empty where unknown."""
    trace = error.__traceback__
    last = None
    while trace is not None:
        last = trace if trace.tb_frame.f_code.co_filename == FILE_NAME else last
        trace = trace.tb_next
    positions = getattr(last.tb_frame.f_code, "co_positions", None) if last is not None else None
    if last is None or positions is None or isinstance(error, (AssertionError, MemoryError, RecursionError)):
        return []
    found = next(itertools.islice(positions(), last.tb_lasti // 2, None), ())
    return [] if None in found else list(found)


def line_of(error: BaseException) -> str:
    """Return the tests' line that an exception comes from, with its number; empty where it comes from none."""
    trace = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in trace if frame.f_code.co_filename == FILE_NAME]
    return line_shown(lines[-1]) if lines else ""


def line_shown(number: int) -> str:
    """Return a line of the tests with its number, shortened."""
    return f"line {number}: {linecache.getline(FILE_NAME, number).strip()}"[:TEXT_CHARACTERS_MAX]


def shown(error: BaseException) -> str:
    """Return an exception of the tests' own and its line, for people."""
    return f"the tests fail by themselves: {line_of(error)}: {type(error).__name__}: {text_of(error)}"[
        :TEXT_CHARACTERS_MAX
    ]


def text_of(error: BaseException) -> str:
    """Return the text of an exception; empty where it has none."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - its text may be too long a number
        return ""
