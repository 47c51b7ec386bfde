"""Program and tests in one process, for tests that need the program's own: the weaker mode.

The tests and a secret arrive only after the program has been loaded, and the secret must come back after
the last test. That defeats a program that ends early or prints a marker. It does not defeat a program
that attacks its tests: the verdict says which mode made it.
"""

from __future__ import annotations

import builtins
import os
import traceback
import types
from typing import Any

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import cases, running, solution


class _Names(dict[str, Any]):
    """The tests' own names in front of the program's, which are looked at as they are by then."""

    def __init__(self, module: types.ModuleType, entry_point: str) -> None:
        super().__init__({"__name__": "solution", "__builtins__": builtins})
        self._module = module
        self._entry_point = entry_point

    def __missing__(self, name: str) -> Any:
        if name != self._entry_point and hasattr(builtins, name):
            return getattr(builtins, name)
        return self._module.__dict__[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return what a name stands for."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._module.__dict__


def judge(payload: int, connection: int) -> int:
    """Load the program, ask for its tests, run them in its name space and report."""
    source = channel.read_payload(payload)["source"]
    write, read, exit_now, process = channel.write_frame, channel.read_frame, os._exit, os.getpid
    own = process()
    module, failure = solution.load(source, "solution")
    if module is None:
        write(connection, {"load": failure})
        exit_now(0)
    write(connection, {"loaded": True})
    given = read(connection)
    verdict = _verdict(given, module)
    if process() == own:  # else a copy of the tests; which of the two came first would be chance
        write(connection, {"token": given["token"]} if verdict is None else verdict)
    exit_now(0)


def _verdict(given: channel.Message, module: types.ModuleType) -> channel.Message | None:
    """Return what went wrong, or None."""
    tests = given["tests"]
    space = _Names(module, given["entry_point"])
    running.remember_lines(tests)
    try:
        code, owed = running.compiled(given)
        running.define_helpers(given, space)
        for name in (*given["prompt_classes"], given["entry_point"]):
            if name in module.__dict__:  # one class for both
                space.pop(name, None)
        reached = running.run_tests(code, given, space)
        wrong = cases.run_cases(space, tests) if "TestCase" in tests else None
        if wrong is not None:
            return _failure(wrong[1], f"{wrong[0]}: ")
        running.check_reached(owed, reached)
    except running.NotRun as error:
        return {"program": "raised", "text": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their verdict
        return _failure(error)
    return None


def _failure(error: BaseException, name: str = "") -> channel.Message:
    frames = traceback.extract_tb(error.__traceback__)
    line = running.line_of(error)
    described = solution.described(error)
    text = f"{described['type']}: {described['text']}"[: running.TEXT_CHARACTERS_MAX]
    if described["type"] == "MemoryError":
        return {"program": "memory", "text": text, "where": line}
    last = frames[-1].filename if frames else ""
    is_of_tests = last == running.FILE_NAME or "/unittest/" in last
    if is_of_tests and not isinstance(error, NameError):
        return {"failed": name + line, "text": text.removeprefix("AssertionError: ")}
    return {"program": "raised", "text": text, "where": line, "trace": described["trace"]}
