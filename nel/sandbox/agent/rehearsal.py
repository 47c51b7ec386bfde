"""Tests without a program: whether they can run apart from one, and whether they fail by themselves.

They run against an object that accepts everything. A statement that depends on the program may raise what it likes;
what any other statement raises, and whatever ends or holds up the process, is the tests' own fault. The answer depends
on the task alone, so that no program can bring it about.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import sys
import types
from typing import Any

from nel.sandbox.agent import cases, channel, codec, functions, running
from nel.sandbox.agent.dependence import Dependence

_OPERATIONS_MAX = 10_000
_HANDLER, _ERROR = "__nel_own__", "__nel_error__"


class Inconclusive(BaseException):
    """The tests wait for something that only a program can bring about."""


class NeedsProcess(BaseException):
    """The tests pass something of their own that has no plain form."""


class _Spending:
    """Counts what tests do with stand-ins, so that a loop that waits for a program's answer ends."""

    def __init__(self) -> None:
        self._left = _OPERATIONS_MAX

    def spend(self) -> None:
        """Count one operation; raises `Inconclusive` when there were too many."""
        self._left -= 1
        if self._left < 0:
            raise Inconclusive


_SPENDING = _Spending()


class Anything:
    """Stands for the program's functions and for whatever they return; accepts every operation."""

    def __init__(self, *, crosses: bool) -> None:
        """Stand for something; `crosses`: what is passed to it must have a plain form."""
        self.__dict__["_crosses"] = crosses

    def _like(self) -> Anything:
        return Anything(crosses=bool(self.__dict__["_crosses"]))

    def _another(self, *arguments: Any, **options: Any) -> Anything:
        _SPENDING.spend()
        return self(*arguments, **options)

    def __call__(self, *arguments: Any, **options: Any) -> Anything:
        """Return something; nothing is counted, so that a loop of calls alone does not end."""
        if self.__dict__["_crosses"]:
            for value in (*arguments, *options.values()):
                _see_that_it_crosses(value)
        return self._like()

    def __getattr__(self, name: str) -> Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        _SPENDING.spend()
        return Anything(crosses=False) if name == "sort" else self._like()  # the method of a list takes a function

    def __setattr__(self, name: str, value: object) -> None:
        self._another(value)

    def __setitem__(self, key: object, value: object) -> None:
        self._another(key, value)

    def __iter__(self) -> Any:
        return iter((self._another(),))

    def _yes(self, *_: object) -> bool:
        _SPENDING.spend()
        return True

    def _one(self, *_: object) -> int:
        _SPENDING.spend()
        return 1

    def __ne__(self, other: object) -> bool:
        _SPENDING.spend()
        return False

    def __float__(self) -> float:
        return 1.0

    def __str__(self) -> str:
        return "1"

    def __enter__(self) -> Anything:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    __hash__ = object.__hash__
    __bool__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __instancecheck__ = _yes
    __len__ = __int__ = __index__ = _one
    __getitem__ = __delitem__ = __next__ = __neg__ = __abs__ = __round__ = __invert__ = _another
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _another
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __or__ = __xor__ = _another
    __matmul__ = __lshift__ = __rshift__ = _another


def rehearse(payload: int, result: int) -> None:
    """Run the tests without a program and write what came of it."""
    given = codec.loads(channel.read_all(payload))
    os.close(payload)
    own = os.getpid()
    verdict = _verdict(given)
    if os.getpid() == own:
        channel.write_frame(result, verdict)


def _verdict(given: channel.Message) -> channel.Message:
    tests = given["tests"]
    try:
        tree = ast.parse(given["marked"], running.FILE_NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"broken": f"the tests cannot be parsed: {type(error).__name__}: {error}"}
    linecache.cache[running.FILE_NAME] = (1, None, tests.splitlines(keepends=True), running.FILE_NAME)
    wanted = [*given["wanted"], given["entry_point"] or "candidate"]
    dependence = Dependence(tree, [*wanted, "candidate"], given["supplied"], shares_process=given["shares_process"])
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    anything = Anything(crosses=not given["shares_process"])
    space[_HANDLER] = _Keeper(dependence)
    if given["shares_process"]:
        module = types.ModuleType("solution")
        module.__dict__["__getattr__"] = lambda _: anything
        sys.modules["solution"] = module
    running.forbid_forks()
    try:
        running.define_helpers(given, space)
        space.update((name, anything) for name in wanted if name == given["entry_point"] or name not in space)
        guarded = ast.fix_missing_locations(_Guards(dependence).visit(tree))
        reached = running.run_tests(compile(guarded, running.FILE_NAME, "exec"), given, space)
        if missed := sorted(set(given["owed"]) - reached):
            return {"broken": f"the tests end without having reached the assertion of line {missed[0]}"}
        if "TestCase" in tests and (wrong := cases.run_cases(space, tests)) is not None:
            raise wrong[1]
    except NeedsProcess as error:
        return {"cannot_cross": str(error)}
    except running.NotRun as error:
        return {"broken": str(error)}
    except Inconclusive:
        return {"rehearsed": True}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise
        if dependence.is_own(running.lines_of(error), running.position_of(error)):
            return {"broken": running.shown(error)}
    return {"rehearsed": True}


class _Keeper:
    """What is done about an exception of a statement that depends on the program."""

    def __init__(self, dependence: Dependence) -> None:
        self._dependence = dependence

    def __call__(self, error: BaseException) -> None:
        """Raise what is the tests' own; pass over what a program can bring about."""
        is_own = self._dependence.is_own(running.lines_of(error), running.position_of(error))
        if is_own or isinstance(error, (Inconclusive, NeedsProcess, running.NotRun)):
            raise error


def _see_that_it_crosses(value: object) -> None:
    try:
        codec.encode(value, _number_of)
    except (codec.TooDeep, RecursionError) as error:
        raise NeedsProcess(f"the tests pass an argument that is too deep: {error}") from None


def _number_of(value: object) -> int:
    if isinstance(value, Anything) or functions.Porter(_number_if_known).packed(value) is not None:
        return 0
    raise NeedsProcess(f"the tests pass a {type(value).__name__}, which has no plain form")


def _number_if_known(value: object) -> int | None:
    return 0 if isinstance(value, (Anything, _Keeper)) else None


class _Guards(ast.NodeTransformer):
    """Puts each statement that depends on the program into a ``try`` that passes over what it raises."""

    def __init__(self, dependence: Dependence) -> None:
        self._dependence = dependence

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Guard the blocks of a statement, innermost first."""
        for child in ast.iter_child_nodes(node):
            self.visit(child)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [self._guarded(stmt) for stmt in block])
        return node

    def _guarded(self, stmt: ast.stmt) -> ast.stmt:
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal)):
            return stmt
        if not self._dependence.depends(stmt.lineno) or _is_future(stmt):
            return stmt
        call = ast.Call(func=ast.Name(_HANDLER, ast.Load()), args=[ast.Name(_ERROR, ast.Load())], keywords=[])
        handler = ast.ExceptHandler(type=ast.Name("BaseException", ast.Load()), name=_ERROR, body=[ast.Expr(call)])
        guard = ast.Try(body=[stmt], handlers=[handler], orelse=[], finalbody=[])
        for node in (call, handler, guard, handler.body[0]):
            ast.copy_location(node, stmt)
        return guard


def _is_future(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"
