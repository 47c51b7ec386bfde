"""The process of the program under test: loads it and answers calls, or runs it as a script.

Everything in this process is at the program's mercy. What it says over the channel is plain data to the tests, and
lying about a value is no more than being wrong.
"""

from __future__ import annotations

import atexit
import builtins
import linecache
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

from nel.sandbox.agent import channel, codec

FILE_NAME = "solution.py"
_TEXT_CHARACTERS_MAX = 2_000
_TRACE_CHARACTERS_MAX = 1_000


def serve(payload: int, connection: int) -> None:
    """Load the program and answer the calls of its tests until they hang up."""
    source = codec.loads(channel.read_all(payload))["source"]
    os.close(payload)
    module, failure = load(source, "solution")
    if module is None:
        channel.write_frame(connection, {"failed": failure})
        return
    server = _Server(module)
    channel.write_frame(connection, {"loaded": server.names()})
    while True:
        try:
            asked = channel.read_frame(connection, channel.QUESTION_BYTES_MAX)
        except channel.Gone:
            return
        try:
            channel.write_frame(connection, {"n": asked["n"], **server.answer(asked)})
        except channel.TooLarge as error:
            said = {"type": "TooLarge", "text": f"the answer has {error}"}
            channel.write_frame(connection, {"n": asked["n"], "raised": said})


def run_script(payload: int) -> int:
    """Run the program as ``__main__`` and return its exit status."""
    source = codec.loads(channel.read_all(payload))["source"]
    os.close(payload)
    sys.argv = ["main.py"]
    status = 0
    try:
        code = _compiled(source, "main.py")
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = builtins
        module.__file__ = "main.py"
        sys.modules["__main__"] = module
        exec(code, module.__dict__)  # noqa: S102 - running it is the purpose
    except SystemExit as end:
        status = _status_of(end)
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        status = 1
    return _end_like_an_interpreter(status)


def load(source: str, name: str) -> tuple[types.ModuleType | None, dict[str, Any]]:
    """Return the program as a module, or None and what went wrong."""
    try:
        code = _compiled(source, FILE_NAME)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        return None, {"stage": "parse", **described(error)}
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    module.__file__ = FILE_NAME
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - running it is the purpose
    except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt are the program's, too
        return None, {"stage": "load", **described(error)}
    return module, {}


def described(error: BaseException) -> channel.Message:
    """Return type, text, arguments and the last lines of an exception, bounded."""
    try:
        text = str(error)[:_TEXT_CHARACTERS_MAX]
    except BaseException:  # noqa: BLE001 - its __str__ is the program's
        text = ""
    try:
        arguments = [codec.encode(argument, _refuse) for argument in error.args[:8]]
    except BaseException:  # noqa: BLE001 - they need not cross
        arguments = []
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, BaseException)]
    try:
        *frames, last = traceback.format_exception(type(error), error, error.__traceback__, limit=-4)
        trace = (
            "".join(frames)[-_TRACE_CHARACTERS_MAX:] + last[:_TEXT_CHARACTERS_MAX]
        )  # the type stands before the text
    except BaseException:  # noqa: BLE001
        trace = ""
    return {
        "type": type(error).__name__,
        "kinds": kinds,
        "args": arguments,
        "text": text,
        "trace": trace,
    }


def reopen_standard_streams() -> None:
    """Make standard input, output and error of the descriptors 0, 1 and 2 as they are now."""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def _compiled(source: str, file_name: str) -> types.CodeType:
    lines = source.splitlines(keepends=True)
    linecache.cache[file_name] = (len(source), None, lines, file_name)
    return compile(source, file_name, "exec", dont_inherit=True)


def _status_of(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)  # noqa: T201 - as the interpreter does
    return 1


def _end_like_an_interpreter(status: int) -> int:
    """Wait for threads, call what is registered for the exit, flush."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - what the interpreter calls at its end
        atexit._run_exitfuncs()  # noqa: SLF001
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - closed by the program, or there is no reader
            status = status or 120
    return status


def _kind_of(value: Any) -> str:
    # By its type and not by isinstance, which asks the value.
    if issubclass(type(value), type) and issubclass(value, BaseException):
        return "exception"
    return "callable" if callable(value) else "value"


def _refuse(value: Any) -> int:
    raise codec.CannotCross(type(value).__name__)


class _Server:
    """Does what the tests ask of the program's names and objects."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._deeds: dict[str, Callable[[Any, Any], Any]] = {
            "get": lambda _, asked: getattr(self._module, asked["name"]),
            "getattr": lambda target, asked: getattr(target, asked["name"]),
            "len": lambda target, _: len(target),
            "iter": lambda target, _: iter(target),
            "next": lambda target, _: next(target),
            "str": lambda target, _: str(target),
            "repr": lambda target, _: repr(target),
            "bool": lambda target, _: bool(target),
            "item": lambda target, asked: target[self._decoded(asked["key"])],
            "in": lambda target, asked: self._decoded(asked["key"]) in target,
            "isinstance": lambda target, asked: isinstance(target, getattr(self._module, asked["name"])),
            "setattr": self._set,
        }

    def names(self) -> dict[str, str]:
        """Return the program's public names and what each is: ``exception``, ``callable`` or ``value``."""
        return {
            name: _kind_of(value)
            for name, value in list(vars(self._module).items())
            if type(name) is str and not issubclass(type(value), types.ModuleType) and not name.startswith("__")
        }

    def answer(self, asked: Any) -> channel.Message:
        """Return the reply to one question of the tests."""
        try:
            if asked["do"] == "call":
                return self._call(asked)
            target = self._objects[asked["ref"]] if "ref" in asked else None
            return {"value": self._encoded(self._deeds[asked["do"]](target, asked))}
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            return {"raised": described(error)}

    def _call(self, asked: Any) -> dict[str, object]:
        function = self._objects[asked["ref"]] if "ref" in asked else getattr(self._module, asked["name"])
        given = asked["args"]
        arguments = [self._decoded(argument) for argument in given]
        options = {name: self._decoded(value) for name, value in asked["kwargs"].items()}
        result = function(*arguments, **options)
        reply: channel.Message = {"value": self._encoded(result)}
        changed = {}
        for place, argument in [*enumerate(arguments), *options.items()]:
            if type(argument) in (list, dict, set, bytearray):
                now = self._encoded(argument)
                if now != (given if isinstance(place, int) else asked["kwargs"])[place]:
                    changed[str(place)] = now
        if changed:
            reply["changed"] = changed
        return reply

    def _set(self, target: Any, asked: Any) -> None:
        setattr(target, asked["name"], self._decoded(asked["value"]))

    def _encoded(self, value: Any) -> object:
        return codec.encode(value, self._refer)

    def _decoded(self, data: Any) -> Any:
        return codec.decode(data, lambda number: self._objects[number])

    def _refer(self, value: Any) -> int:
        known = self._numbers.get(id(value))
        if known is None:
            known = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return known
