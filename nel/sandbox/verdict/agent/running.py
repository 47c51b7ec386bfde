"""How tests are run: which names they bring along, what the harness calls, and how they may end.

The same for tests apart from the program and in its process.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import linecache
import re
import traceback
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nel.sandbox.verdict.agent.cases import NotRun, run_cases

if TYPE_CHECKING:
    from nel.sandbox.isolation.agent import channel

FILE_NAME = "tests.py"
PROGRAM_FILE_NAME = "solution.py"
TEXT_CHARACTERS_MAX = 400
_MARK = "_nel_reached"
_TOP_FUNCTION = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_CALL = re.compile(r"^(\w+)[ \t]*\(", re.MULTILINE)


def compile_tests(job: channel.Message) -> tuple[types.CodeType, set[int]]:
    """Return tests that note each assertion they reach, and the lines of those they must reach.

    Raises:
        NotRun: They cannot be parsed.
    """
    try:
        tree = ast.parse(job["tests"], FILE_NAME)
        owed = set(_owed_lines(tree.body))
        _Marker().visit(tree)
        return compile(tree, FILE_NAME, "exec", dont_inherit=True), owed
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotRun(f"the tests cannot be parsed: {type(error).__name__}: {error}") from None


class _Marker(ast.NodeTransformer):
    """Puts a call after each assertion that notes its line, once it has ended."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        """Return the assertion and the note."""
        name, line = ast.Name(_MARK, ast.Load()), ast.Constant(node.lineno)
        note = ast.Expr(ast.Call(func=name, args=[line], keywords=[]))
        return [node, ast.fix_missing_locations(ast.copy_location(note, node))]


def _owed_lines(body: list[ast.stmt]) -> list[int]:
    """Return the lines of the assertions that every run to the end reaches."""
    lines: list[int] = []
    for stmt in body:
        is_run = isinstance(stmt, ast.FunctionDef) and (
            stmt.name == "check" or stmt.name.startswith("test")
        )
        if isinstance(stmt, ast.Assert):
            lines.append(stmt.lineno)
        elif is_run or isinstance(stmt, ast.With) or getattr(stmt, "name", "").startswith("Test"):
            lines += _owed_lines(getattr(stmt, "body", []))
        elif any(
            isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in ast.walk(stmt)
        ):
            return lines
    return lines


def define_helpers(job: channel.Message, namespace: dict[str, Any]) -> None:
    """Define what tests use and do not define: the prompt's own code, and well-known modules.

    These names are the tests' before the program is asked for its own, which replace none of them.

    Raises:
        NotRun: A module that the tests use is not there.
    """
    prompt = job["prompt"]
    for text in (prompt, prompt + "\n    pass\n"):
        try:
            code = compile(text, "prompt.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        with contextlib.suppress(Exception, SystemExit):  # it may need its solution to run
            exec(code, namespace)  # noqa: S102 - the prompt comes with the benchmark
        break
    for name in job["stubs"]:
        namespace.pop(name, None)
    for name, address in job["supplied"].items():
        if name not in namespace:
            namespace[name] = _supply(address)


def _supply(address: str) -> Any:
    module, _, name = address.partition(":")
    try:
        value = importlib.import_module(module)
    except ImportError as error:
        raise NotRun(f"the tests need what is not there: {error}") from None
    return getattr(value, name) if name else value


def run_all(
    job: channel.Message, bind: Callable[[dict[str, Any]], None], module_name: str
) -> tuple[str, BaseException] | None:
    """Run tests and what they leave to the harness; return a wrong `unittest` case with its error.

    Args:
        bind: Puts the program's names into the tests' name space.
        module_name: What the tests read as ``__name__``.

    Raises:
        NotRun: They cannot run as they are, or end past an assertion that they owe.
        SystemExit: They end with a status other than 0.
    """
    tests = job["tests"]
    linecache.cache[FILE_NAME] = (1, None, tests.splitlines(keepends=True), FILE_NAME)
    reached: set[int] = set()
    space: dict[str, Any] = {"__name__": module_name, "__builtins__": builtins, _MARK: reached.add}
    code, owed = compile_tests(job)
    define_helpers(job, space)
    bind(space)
    _run_to_exit(exec, code, space)
    _run_to_exit(_call_afterwards, job, space)
    wrong = run_cases(space, tests) if "TestCase" in tests else None
    if wrong is None and (missed := sorted(owed - reached)):
        raise NotRun(f"the tests end without having reached the assertion of line {missed[0]}")
    return wrong


def _run_to_exit(step: Callable[..., Any], *arguments: Any) -> None:
    """Run a step of tests, which may end themselves; an exit of the program is none of theirs."""
    try:
        step(*arguments)
    except SystemExit as end:
        frames = traceback.walk_tb(end.__traceback__)
        if end.code or any(frame.f_code.co_filename == PROGRAM_FILE_NAME for frame, _ in frames):
            raise


def _call_afterwards(job: channel.Message, namespace: dict[str, Any]) -> None:
    """Call what the tests leave to the harness: ``check(candidate)`` and ``test_…()``."""
    tests, entry_point = job["tests"], job["entry_point"]
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


def line_of(error: BaseException) -> str:
    """Return the tests' line that an exception comes from, with its number; empty if from none."""
    trace = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in trace if frame.f_code.co_filename == FILE_NAME]
    return line_shown(lines[-1]) if lines else ""


def line_shown(number: int) -> str:
    """Return a line of the tests with its number, shortened."""
    return f"line {number}: {linecache.getline(FILE_NAME, number).strip()}"[:TEXT_CHARACTERS_MAX]


def exception_text(error: BaseException) -> str:
    """Return the text of an exception; empty where it has none."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - its own __str__
        return ""
