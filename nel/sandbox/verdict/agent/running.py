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

from nel.sandbox.verdict.agent.cases import NotReached, NotRun, has_cases, run_cases

if TYPE_CHECKING:
    from nel.sandbox.isolation.agent import channel

FILE_NAME = "tests.py"
PROGRAM_FILE_NAME = "solution.py"
TEXT_CHARACTERS_MAX = 400
_MARK = "_nel_reached"
_REPLACEMENTS = _TYPE, _IS, _INSTANCE, _CALLABLE = (
    "_nel_type",
    "_nel_is",
    "_nel_isinstance",
    "_nel_callable",
)
_FUNCTIONS = {"type": _TYPE, "isinstance": _INSTANCE, "callable": _CALLABLE}
_ASSERTIONS = {
    "assertIs": ("assertTrue", _IS),
    "assertIsNot": ("assertFalse", _IS),
    "assertIsInstance": ("assertTrue", _INSTANCE),
    "assertNotIsInstance": ("assertFalse", _INSTANCE),
}
_JUMPS = (ast.Return, ast.Break, ast.Continue)
_TOP_FUNCTION = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_CALL = re.compile(r"^(\w+)[ \t]*\(", re.MULTILINE)


def compile_tests(tests: str, *, by_reference: bool) -> tuple[types.CodeType, set[int]]:
    """Return tests that note each assertion they reach, and the lines of those they must reach.

    Args:
        by_reference: Whether the objects of the program are references, of which the interpreter
            itself knows neither class nor identity.

    Raises:
        NotRun: They cannot be parsed.
    """
    try:
        tree = ast.parse(tests, FILE_NAME)
        owed = set(_owed_lines(tree.body))
        _Marker().visit(tree)
        if by_reference:
            _Asker().visit(tree)
        ast.fix_missing_locations(tree)
        return compile(tree, FILE_NAME, "exec", dont_inherit=True), owed
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotRun(f"the tests cannot be parsed: {type(error).__name__}: {error}") from None


class _Marker(ast.NodeTransformer):
    """Puts a call after each assertion that notes its line, once it has ended."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        """Return the assertion and the note."""
        note = ast.Expr(_call(_MARK, [ast.Constant(node.lineno)]))
        return [node, ast.copy_location(note, node)]


class _Asker(ast.NodeTransformer):
    """Puts calls in the place of ``type(value)``, ``value is other`` and ``assertIs``."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return the call, or the one in its place."""
        self.generic_visit(node)
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in _FUNCTIONS and isinstance(node.func, ast.Name):
            node.func = ast.copy_location(ast.Name(_FUNCTIONS[name], ast.Load()), node.func)
        elif name in _ASSERTIONS and isinstance(node.func, ast.Attribute):
            # assertIs(a, b) becomes assertTrue(_nel_is(a, b)).
            node.func.attr, function = _ASSERTIONS[name]
            operands = node.args[:2]
            node.args[:2] = [ast.copy_location(_call(function, operands), node)]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return the attribute, or the call in its place."""
        self.generic_visit(node)
        if node.attr != "__class__" or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(_call(_TYPE, [node.value]), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Return the comparison, or the call in its place."""
        self.generic_visit(node)
        operator, operand = node.ops[0], node.comparators[0]
        is_identity = len(node.ops) == 1 and isinstance(operator, (ast.Is, ast.IsNot))
        # No reference is None or another constant: the interpreter's own answer is right.
        if not is_identity or isinstance(operand, ast.Constant):
            return node
        call: ast.expr = _call(_IS, [node.left, operand])
        if isinstance(operator, ast.IsNot):
            call = ast.UnaryOp(ast.Not(), call)
        return ast.copy_location(call, node)


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(func=ast.Name(name, ast.Load()), args=arguments, keywords=[])


def _owed_lines(body: list[ast.stmt]) -> list[int]:
    """Return the lines of the assertions that every run to the end reaches.

    What stands in a ``with`` may end at the line before it, by an exception that is expected.
    """
    lines: list[int] = []
    for stmt in body:
        is_run = isinstance(stmt, ast.FunctionDef) and (
            stmt.name == "check" or stmt.name.startswith("test")
        )
        if isinstance(stmt, ast.Assert):
            lines.append(stmt.lineno)
        elif is_run or (isinstance(stmt, ast.ClassDef) and has_cases(stmt)):
            lines += _owed_lines(getattr(stmt, "body", []))
        elif any(isinstance(node, _JUMPS) for node in ast.walk(stmt)):
            return lines  # what follows may be jumped over
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
    job: channel.Message,
    bind: Callable[[dict[str, Any]], None],
    module_name: str,
    asking: tuple[Callable[..., Any], ...] = (),
) -> tuple[str, BaseException] | None:
    """Run tests and what they leave to the harness; return a wrong `unittest` case with its error.

    Args:
        bind: Puts the program's names into the tests' name space.
        module_name: What the tests read as ``__name__``.
        asking: What stands for ``type``, ``is``, ``isinstance`` and ``callable`` where the program's
            objects are references.

    Raises:
        NotRun: They cannot run as they are.
        NotReached: They end without an assertion that they owe.
        SystemExit: They end with a status other than 0.
    """
    tests = job["tests"]
    linecache.cache[FILE_NAME] = (1, None, tests.splitlines(keepends=True), FILE_NAME)
    reached: set[int] = set()
    space: dict[str, Any] = {"__name__": module_name, "__builtins__": builtins, _MARK: reached.add}
    code, owed = compile_tests(tests, by_reference=bool(asking))
    space.update(zip(_REPLACEMENTS, asking))  # noqa: B905 - Python 3.9
    define_helpers(job, space)
    bind(space)
    _run_to_exit(exec, code, space)
    _run_to_exit(_call_afterwards, job, space)
    failed_case = run_cases(space, tests) if "class" in tests else None
    if failed_case is None and (missed := sorted(owed - reached)):
        raise NotReached(f"the tests end without having reached the assertion of line {missed[0]}")
    return failed_case


def _run_to_exit(step: Callable[..., Any], *arguments: Any) -> None:
    """Run a step of tests, which may end themselves with status 0; raise what else ends them.

    An exit is theirs from their own frame, or from what they call of the standard library, such as
    ``unittest.main``; neither from the program's nor from one of this harness.
    """
    try:
        step(*arguments)
    except SystemExit as end:
        files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(end.__traceback__)]
        if end.code or FILE_NAME not in files:
            raise
        agent = _run_to_exit.__code__.co_filename.rpartition("/")[0]
        for name in files[files.index(FILE_NAME) :]:
            if name == PROGRAM_FILE_NAME or name.startswith(agent):
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
    number = 0
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == FILE_NAME:
            number = line
    return line_shown(number) if number else ""


def line_shown(number: int) -> str:
    """Return a line of the tests with its number, shortened."""
    line = linecache.getline(FILE_NAME, number).strip()
    return f"line {number}: {line}"[:TEXT_CHARACTERS_MAX]


def would_skip_assertion(line: int) -> bool:
    """Return whether the innermost ``with`` around a line has an assertion there or further on."""
    tree = ast.parse("".join(linecache.getlines(FILE_NAME)))
    blocks = [node for node in ast.walk(tree) if isinstance(node, (ast.With, ast.AsyncWith))]
    around = [node for node in blocks if node.lineno <= line <= (node.end_lineno or line)]
    nodes = ast.walk(around[-1]) if around else ()
    return any(
        isinstance(node, ast.Assert) or getattr(node, "attr", "").startswith("assert")
        for node in nodes
        if getattr(node, "lineno", 0) >= line
    )


def expects_exceptions(name: str) -> bool:
    """Return whether the tests raise or catch any, or a class is called what exceptions are."""
    if re.search(r"(Error|Exception|Warning|Failure|Exit|Interrupt)$", name):
        return True
    uses = re.compile(r"\b(raise|except|issubclass|\w*[rR]aises\w*|throw|\w*Exception|\w+Error)\b")
    return any(map(uses.search, linecache.getlines(FILE_NAME)))


def exception_text(error: BaseException) -> str:
    """Return the text of an exception; empty where it has none."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - its own __str__
        return ""
