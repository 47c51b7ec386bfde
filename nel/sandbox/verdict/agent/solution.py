"""The process of the program under test: loads it and answers its tests, or runs it as a script.

Everything in this process is at the program's mercy. What it says over the channel is plain data to
the tests, and lying about a value is no more than being wrong.
"""

from __future__ import annotations

import atexit
import builtins
import copy
import linecache
import math
import operator
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec

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
            raised = {"type": "TooLarge", "text": f"the answer has {error}"}
            channel.write_frame(connection, {"n": number, "raised": raised})


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
    """Return classes, text, arguments and the last lines of an exception, bounded."""
    try:
        text = str(error)[:_TEXT_CHARACTERS_MAX]
    except BaseException:  # noqa: BLE001 - its __str__ is the program's
        text = ""
    try:
        sender = codec.Sender(_refuse, codec.ANSWER_DEPTH_MAX)
        arguments = [sender.encode(argument) for argument in error.args[:_ARGUMENTS_MAX]]
    except BaseException:  # noqa: BLE001 - they need not cross
        arguments = [text]
    try:
        *frames, last = traceback.format_exception(
            type(error), error, error.__traceback__, limit=-4
        )
        trace = "".join(frames)[-_TRACE_CHARACTERS_MAX:] + last[:_TEXT_CHARACTERS_MAX]
    except BaseException:  # noqa: BLE001
        trace = ""
    return {
        "type": type(error).__name__,
        "kinds": _classes_of(type(error)),
        "args": arguments,
        "text": text,
        "trace": trace,
    }


def _classes_of(kind: type) -> list[str]:
    """Return an exception class and its bases, as ``module:name``."""
    bases = type.__dict__["__mro__"].__get__(kind)
    return [f"{base.__module__}:{base.__name__}" for base in bases if base is not object]


def _refuse(value: Any) -> Any:
    raise codec.CannotCross(type(value).__name__)


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


def _names_of(module: types.ModuleType) -> dict[str, str]:
    """Return the program's names: an exception with its bases, callable, or a value."""
    return {
        name: _value_kind(value)
        for name, value in list(vars(module).items())
        if type(name) is str
        and not name.startswith("__")
        and not issubclass(type(value), types.ModuleType)
    }


def _value_kind(value: Any) -> str:
    # By its type and not by isinstance, which asks the value.
    if issubclass(type(value), type) and issubclass(value, BaseException):
        return " ".join(["exception", *_classes_of(value)])
    return "callable" if callable(value) else "value"


class _Server:
    """Does what the tests ask of the program's names and objects."""

    def __init__(self, module: types.ModuleType) -> None:
        """Serve the names of a program."""
        self._module = module
        self._sender = codec.Sender(self._number, codec.ANSWER_DEPTH_MAX)
        self._arguments = codec.Sender(self._number)
        self._receiver = codec.Receiver(self._resolve)
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def answer(self, question: channel.Message) -> channel.Message:
        """Return the reply to one question of the tests."""
        values: list[Any] = []
        try:
            values = [self._receiver.decode(value) for value in question["args"]]
            target = self._resolve(question.get("name", question.get("ref")))
            reply: channel.Message = self._done(question, target, values)
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            reply = {"raised": {**describe(error), "ref": self._number(error)}}
            BaseException.with_traceback(error, None)  # whose frames would live as long as it does
        try:
            return {**reply, **self._changes(question["args"], values)}
        except BaseException:  # noqa: BLE001 - an argument has become what does not cross
            return reply

    def _done(self, question: channel.Message, target: Any, values: list[Any]) -> channel.Message:
        names = question["names"]
        count = len(values) - len(names)
        options = dict(zip(names, values[count:]))  # noqa: B905 - Python 3.9
        result = DEEDS[question["do"]](target, *values[:count], **options)
        for number, value in enumerate(values):
            if value is result and type(value) in (list, dict, set):
                return {"same": number}
        try:
            return {"value": self._sender.encode(result)}
        except (codec.TooDeep, RecursionError):  # it may hold itself
            return {"value": ["R", self._number(result)]}

    def _changes(self, before: list[Any], values: list[Any]) -> channel.Message:
        """Return, by number, what those arguments are now that the program has changed."""
        now = [self._arguments.encode(value) for value in values]
        pairs = enumerate(zip(before, now))  # noqa: B905 - Python 3.9
        changed = {str(number): after for number, (first, after) in pairs if first != after}
        return {"changed": changed} if changed else {}

    def _resolve(self, body: Any) -> Any:
        """Return the object of a number or a name, or a method of a plain value."""
        if isinstance(body, list):
            return getattr(self._receiver.decode(body[0]), body[1])
        return getattr(self._module, body) if isinstance(body, str) else self._objects[body]

    def _number(self, value: Any) -> int:
        known = self._numbers.get(id(value))
        if known is None:
            known = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return known


def _swap(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda target, other: operate(other, target)


BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift divmod".split()
COMPARED = "eq ne lt le gt ge".split()
UNARY = "neg pos abs invert index".split()
DEEDS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name, divmod) for name in (*BINARY, *COMPARED, *UNARY)},
    **{f"r{name}": _swap(getattr(operator, name, divmod)) for name in BINARY},
    **{f"i{name}": getattr(operator, f"i{name.rstrip('_')}", divmod) for name in BINARY},
    "get": lambda target: target,
    "call": lambda target, /, *arguments, **options: target(*arguments, **options),
    "isinstance": isinstance,
    "issubclass": issubclass,
    "contains": operator.contains,
    "is_": operator.is_,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "enter": lambda target: type(target).__enter__(target),
    "exit": lambda target: type(target).__exit__(target, None, None, None),
    **{name: getattr(math, name) for name in ("trunc", "floor", "ceil")},
    "plain": lambda target: codec.Sender(_refuse).plain(target),
    "classes": lambda target: [
        codec.place_of(kind) for kind in type.__dict__["__mro__"].__get__(type(target))
    ],
    **{
        deed.__name__: deed
        for deed in (len, iter, next, reversed, str, repr, format, bool, hash, dir)
    },
    **{deed.__name__: deed for deed in (getattr, setattr, delattr, int, float, complex, round)},
    **{deed.__name__: deed for deed in (copy.copy, copy.deepcopy)},
}
"""What can be asked of an object, by name."""
