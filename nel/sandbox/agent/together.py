"""Program and tests in one process, for tests that need the program's own process: the weaker mode.

The tests and a secret token arrive only after the program has been loaded, and the token must come back after the last
test. That defeats a program that ends early or prints a marker. It does not defeat a program that searches the process;
the verdict says which mode made it.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import traceback
import types
from typing import Any

from nel.sandbox.agent import answers, cases, channel, codec, running, solution


class _Names(dict[str, Any]):
    """The tests' own name space in front of the program's, which stays as it is and is looked at as it is by then."""

    def __init__(self, module: types.ModuleType, entry_point: str, known: dict[str, Any]) -> None:
        super().__init__({"__name__": "solution", "__builtins__": known})
        self._module = module
        self._known = known
        self._entry_point = entry_point

    def __missing__(self, name: str) -> Any:
        if name != self._entry_point and name in self._known:
            return self._known[name]
        return self._module.__dict__[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return what a name stands for."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._module.__dict__


def judge(payload: int, connection: int) -> None:
    """Load the program, ask for its tests, run them in its name space and report."""
    first = codec.loads(channel.read_all(payload))
    source, modules = first["source"], first["modules"]
    os.close(payload)
    write, read, exit_now = channel.write_frame, channel.read_frame, os._exit  # before the program can replace them
    process, own = os.getpid, os.getpid()
    known, guard = dict(vars(builtins)), answers.Answers(modules)
    module, failure = solution.load(source, "solution")
    if module is None:
        write(connection, {"load": failure})
        exit_now(0)
    write(connection, {"loaded": True})
    given = read(connection)
    forks: list[bool] = []
    os.register_at_fork(before=lambda: forks.append(True))
    verdict = _verdict(given, module, known, guard)
    if process() != own:
        exit_now(0)  # a copy of the tests; which of the two came first would be chance
    if verdict is None:
        verdict = {"token": given["token"]}
    write(connection, {**verdict, "forked": True} if forks else verdict)
    exit_now(0)


def _verdict(
    given: channel.Message, module: types.ModuleType, known: dict[str, Any], guard: answers.Answers
) -> channel.Message | None:
    """Return what went wrong, or None.

    Args:
        known: The builtins, as they were before the program.
    """
    tests = given["tests"]
    space = _Names(module, given["entry_point"], known)
    try:
        tree = ast.parse(given["marked"], running.FILE_NAME)
        guard.guard(tree, given, module.__dict__, space)
        code = compile(tree, running.FILE_NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"broken": f"the tests cannot be parsed: {type(error).__name__}: {error}"}
    try:
        running.define_helpers(given, space)
        for name in given["prompt_classes"]:
            if name in module.__dict__:  # one class for both, or no object of the one would equal one of the other
                space.pop(name, None)
        if given["entry_point"] in module.__dict__:
            space.pop(given["entry_point"], None)
        reached = running.run_tests(code, given, space)
        if missed := sorted(set(given["owed"]) - reached):
            return {"broken": f"the tests end without having reached the assertion of line {missed[0]}"}
        wrong = cases.run_cases(space, tests) if "TestCase" in tests else None
        return None if wrong is None else _failure_of_case(*wrong, tests)
    except running.NotRun as error:
        return {"broken": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their verdict
        return _failure(error, tests)


def _failure_of_case(name: str, error: BaseException, tests: str) -> channel.Message:
    failure = _failure(error, tests)
    return {**failure, "failed": f"{name}: {failure['failed']}"} if "failed" in failure else failure


def _failure(error: BaseException, tests: str) -> channel.Message:
    # Not before: a program may look for the lines of the tests there.
    linecache.cache[running.FILE_NAME] = (1, None, tests.splitlines(keepends=True), running.FILE_NAME)
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename != answers.FILE_NAME]
    line = running.line_of(error)
    said = solution.described(error)
    text = f"{said['type']}: {said['text']}"[: running.TEXT_CHARACTERS_MAX]
    own = {"lines": running.lines_of(error), "position": running.position_of(error), "shown": running.shown(error)}
    if said["type"] == "MemoryError":
        return {"program": "memory", "text": text, "where": line, **own}
    is_of_tests = bool(frames) and (frames[-1].filename == running.FILE_NAME or "/unittest/" in frames[-1].filename)
    if isinstance(error, AssertionError) and is_of_tests:
        return {"failed": line, "text": said["text"][: running.TEXT_CHARACTERS_MAX], **own}
    if is_of_tests and not isinstance(error, NameError):
        return {"failed": line, "text": text, **own}
    return {"program": "raised", "text": text, "where": line, "trace": said["trace"], **own}
