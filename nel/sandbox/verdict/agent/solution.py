"""The process of the program under test: loads it and answers its tests, or runs it as a script.

Everything in this process is at the program's mercy. What it says over the channel is plain data to
the tests, and lying about a value is no more than being wrong.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import copy
import linecache
import math
import operator
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec, standard

FILE_NAME = "solution.py"
_TEXT_CHARACTERS_MAX = 2_000
_TRACE_CHARACTERS_MAX = 1_000
_ARGUMENTS_MAX = 8


def serve(payload: int, connection: int) -> int:
    """Load the program and answer its tests until they hang up."""
    source = channel.read_payload(payload)["source"]
    module, failure = load(source, "solution")
    if module is None:
        channel.write_frame(connection, {"failed": failure})
        return 0
    channel.write_frame(connection, {"loaded": _names_of(module)})
    # From here on the tests ask and the program answers: one reply for each question, with its
    # number, so that a reply that the program wrote by itself is one too many.
    server = _Server(module)
    while True:
        try:
            question = channel.read_frame(connection, channel.QUESTION_BYTES_MAX)
        except channel.Gone:
            return 0
        number = question["n"]
        try:
            channel.write_frame(connection, {"n": number, **server.answer(question)})
        except channel.TooLarge as error:
            channel.write_frame(connection, {"n": number, "large": f"the answer has {error}"})


def run_script(payload: int) -> int:
    """Run the program as ``__main__`` and return its exit status."""
    source = channel.read_payload(payload)["source"]
    sys.argv = ["main.py"]
    status = 0
    try:
        code = _compile(source, "main.py")
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
        code = _compile(source, FILE_NAME)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        return None, _load_failure("parse", error)
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    module.__file__ = FILE_NAME
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - running it is the purpose
    except BaseException as error:  # noqa: BLE001 - SystemExit is the program's, too
        return None, _load_failure("raised", error)
    return module, {}


def _load_failure(kind: str, error: BaseException) -> dict[str, Any]:
    """Return why a program cannot be loaded."""
    described = describe(error)
    is_memory = isinstance(error, MemoryError)
    return {"program": "memory" if is_memory else kind, "text": described["trace"]}


def describe(error: BaseException) -> channel.Message:
    """Return class, text and the last lines of an exception, bounded."""
    try:
        text = str(error)[:_TEXT_CHARACTERS_MAX]
    except BaseException:  # noqa: BLE001 - its __str__ is the program's
        text = ""
    try:
        *frames, message = traceback.format_exception(
            type(error), error, error.__traceback__, limit=-4
        )
        trace = "".join(frames)[-_TRACE_CHARACTERS_MAX:] + message[:_TEXT_CHARACTERS_MAX]
    except BaseException:  # noqa: BLE001
        trace = ""
    return {"type": type(error).__name__, "text": text, "trace": trace}


def _fields_of(error: BaseException) -> dict[str, Any]:
    """Return what an exception holds beside its arguments; of the program's classes it is asked."""
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ != codec.PROGRAM)
    names = set(dir(kind)) - {"args"}
    if kind is type(error):
        names.update(vars(error))
    fields = {}
    for name in sorted(names):
        value = None if name.startswith("_") else getattr(error, name, None)
        if value is not None and not callable(value):
            fields[name] = value
    return fields


def _class_tree(kind: type) -> list[Any]:
    """Return ``module:name`` of an exception class, and the trees of its bases."""
    bases = [base for base in kind.__bases__ if issubclass(base, BaseException)]
    trees = map(_class_tree, bases)
    return [f"{kind.__module__}:{kind.__name__}", *trees]


def _compile(source: str, file_name: str) -> types.CodeType:
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
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - as an interpreter's end
        atexit._run_exitfuncs()  # noqa: SLF001
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - closed by the program, or there is no reader
            status = status or 120
    return status


def _names_of(module: types.ModuleType) -> dict[str, Any]:
    """Return the program's names: the tree of an exception class, callable, or a value."""
    return {
        name: _value_kind(value)
        for name, value in list(vars(module).items())
        if type(name) is str
        and not name.startswith("__")
        and not issubclass(type(value), types.ModuleType)
    }


def _value_kind(value: Any) -> Any:
    # By its type and not by isinstance, which asks the value.
    if issubclass(type(value), type) and issubclass(value, BaseException):
        return _class_tree(value)
    return "callable" if callable(value) else "value"


class _Server:
    """Does what the tests ask of the program's names and objects."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._described: set[int] = set()
        """The exceptions of an answer, which may hold each other."""
        self._codec = codec.Codec(
            self._refer,
            self._resolve,
            first_number=1,
            sent_depth=codec.ANSWER_DEPTH_MAX,
            received_depth=codec.DEPTH_MAX,
        )
        self._codec.sends_views = False

    def answer(self, question: channel.Message) -> channel.Message:
        """Return the reply to one question of the tests."""
        self._described.clear()
        self._codec.is_of_class = question["is_class"]
        reply: channel.Message
        try:
            reply = self._codec.pack(self._do(question))
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            BaseException.with_traceback(error, None)  # whose frames would live as long as it does
            reply = {**self._codec.pack(error), "raised": True}
        return {**reply, "lost": self._codec.losses()}

    def _do(self, question: channel.Message) -> Any:
        arguments = self._codec.unpack(question)
        self._codec.forget(question["lost"])  # after the question, which may mention them
        target = self._resolve("R", question["target"])
        names = question["names"]
        count = len(arguments) - len(names)
        options = dict(zip(names, arguments[count:]))  # noqa: B905 - Python 3.9
        return find_deed(question["do"])(target, *arguments[:count], **options)

    def _refer(self, value: Any) -> list[Any]:
        """Return an exception by what it holds, and any other object by its number."""
        number = self._number(value)
        if not issubclass(type(value), BaseException) or number in self._described:
            return ["R", number]
        self._described.add(number)
        fields: dict[str, Any] = {}
        with contextlib.suppress(BaseException):  # properties of its class
            fields = _fields_of(value)
        parts = self._codec.encode((tuple(value.args[:_ARGUMENTS_MAX]), fields))
        tree = _class_tree(type(value))
        return ["e", {**describe(value), "ref": number, "class": tree, "parts": parts}]

    def _resolve(self, _: str, body: Any) -> Any:
        """Return the object of a number or a name, or a method of a value."""
        if isinstance(body, list):
            owner, name = body
            return getattr(self._codec.decode(owner), name)
        if isinstance(body, str):
            return getattr(self._module, body)
        return self._objects[body]

    def _number(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number


BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift divmod".split()
COMPARED = "eq ne lt le gt ge".split()
_DEEDS: dict[str, Callable[..., Any]] = {
    "call": lambda target, /, *arguments, **options: target(*arguments, **options),
    "enter": lambda target: type(target).__enter__(target),
    "exit": lambda target, kind, arguments: type(target).__exit__(
        target, kind, kind and kind(*arguments), None
    ),
    "plain": standard.plain_of,
    "decides_contents": lambda target: hasattr(type(target), "__contains__"),
    "inherits": lambda target, kinds: issubclass(type(target), kinds),
}
_SOURCES = (builtins, operator, math, copy, os)


def find_deed(name: str) -> Callable[..., Any]:
    """Return what the tests can ask of an object: one of the above, or a function by its name.

    An operator with an ``r`` before its name has its sides swapped.
    """
    if name in _DEEDS:
        return _DEEDS[name]
    if name[0] == "r" and name[1:] in BINARY:
        operate = find_deed(name[1:])
        return lambda target, operand: operate(operand, target)
    deeds = (getattr(source, name) for source in _SOURCES if hasattr(source, name))
    return next(deeds)  # type: ignore[no-any-return]
