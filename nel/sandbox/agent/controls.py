"""Tests against programs that are wrong on purpose: those that pass all of them check nothing.

Each of these programs answers every call with one value, or with another one each time. Whatever the tests want, most
of them are wrong, so that tests which raise nothing for any of them would not for a wrong program either.
"""

from __future__ import annotations

import builtins
import itertools
import linecache
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from nel.sandbox.agent import cases, channel, codec, running

_Program = Callable[..., Any]


def control(payload: int, result: int) -> None:
    """Run the tests against each wrong program until one fails them, and write whether any did."""
    given = codec.loads(channel.read_all(payload))
    os.close(payload)
    own = os.getpid()
    running.forbid_forks()
    passed_by_all = all(_passes(given, program) for program in (*_constant(), _varying()))
    if os.getpid() == own:
        channel.write_frame(result, {"passed_by_all": passed_by_all})


def _constant() -> list[_Program]:
    values: list[Any] = [object(), None, 0, "", [], True]
    return [lambda *arguments, _value=value, **options: _value for value in values]


def _varying() -> _Program:
    """Return a program that changes its arguments and answers something else each time."""
    answers = itertools.count(7919, 104_729)

    def program(*arguments: Any, **options: Any) -> Any:
        for argument in (*arguments, *options.values()):
            if type(argument) is list:
                argument.append(next(answers))
            elif type(argument) is dict:
                argument[next(answers)] = next(answers)
            elif type(argument) is set:
                argument.add(next(answers))
        return next(answers)

    return program


def _passes(given: channel.Message, program: _Program) -> bool:
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    tests = given["tests"]
    linecache.cache[running.FILE_NAME] = (1, None, tests.splitlines(keepends=True), running.FILE_NAME)
    if given["shares_process"]:
        module = types.ModuleType("solution")
        module.__dict__["__getattr__"] = lambda _: program
        sys.modules["solution"] = module
    try:
        code = compile(given["marked"], running.FILE_NAME, "exec", dont_inherit=True)
        running.define_helpers(given, space)
        for name in given["wanted"]:
            if name == given["entry_point"] or name not in space:
                space[name] = program
        running.run_tests(code, given, space)
        return "TestCase" not in tests or cases.run_cases(space, tests) is None
    except BaseException:  # noqa: BLE001 - whatever they raise, they raise for a wrong program
        return False
