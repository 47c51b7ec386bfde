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
import os
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
_ANSWER_REFERENCES = 3
_ARGUMENT_REFERENCES = 3
"""Of a container that the program does not keep, by `sys.getrefcount`."""
_NESTED_MAX = 8
"""How many exceptions cross within one, which they are the cause, the context or a member of."""


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
    """Return class, text and the last lines of an exception, bounded."""
    try:
        text = str(error)[:_TEXT_CHARACTERS_MAX]
    except BaseException:  # noqa: BLE001 - its __str__ is the program's
        text = ""
    try:
        *frames, last = traceback.format_exception(
            type(error), error, error.__traceback__, limit=-4
        )
        trace = "".join(frames)[-_TRACE_CHARACTERS_MAX:] + last[:_TEXT_CHARACTERS_MAX]
    except BaseException:  # noqa: BLE001
        trace = ""
    return {"type": type(error).__name__, "text": text, "trace": trace}


def _fields_of(error: BaseException) -> dict[str, Any]:
    """Return what an exception holds beside its arguments, with those that it comes from."""
    names = {
        name
        for base in type.__dict__["__mro__"].__get__(type(error))
        for name, field in vars(base).items()
        if isinstance(field, (types.MemberDescriptorType, types.GetSetDescriptorType))
    } - {"args", "__dict__", "__traceback__", "__weakref__"}
    fields = {name: getattr(error, name, None) for name in sorted(names)}
    if type(error).__module__ != codec.PROGRAM:  # of its own classes they are asked
        fields.update(BaseException.__dict__["__dict__"].__get__(error))
    return {name: field for name, field in fields.items() if field is not None}


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
        self._sender = codec.Sender(self._refer, codec.ANSWER_DEPTH_MAX)
        self._arguments = codec.Sender(lambda value: ["R", self._number(value)])
        self._receiver = codec.Receiver(lambda _, body: self._resolve(body))
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._kept: dict[int, Any] = {}
        """Of containers that the tests may have, too: what these were told last, by number."""
        self._described: list[BaseException] = []
        """Exceptions that are being encoded, each as a part of the one before."""

    def answer(self, question: channel.Message) -> channel.Message:
        """Return the reply to one question of the tests."""
        values: list[Any] = []
        try:
            self._update(question)
            values = [self._receiver.decode(value) for value in question["args"]]
            target = self._resolve(question.get("name", question.get("ref")))
            count = len(values) - len(question["names"])
            options = dict(zip(question["names"], values[count:]))  # noqa: B905 - Python 3.9
            result = DEEDS[question["do"]](target, *values[:count], **options)
            if any(value is result for value in values) and codec.is_changeable(result):
                self._number(result)
            reply: channel.Message = {"value": self._encode_answer(result)}
            del result
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            reply = {"raised": self._exception(error)}
            BaseException.with_traceback(error, None)  # whose frames would live as long as it does
        try:
            return {**reply, **self._news(question["args"], values)}
        except BaseException:  # noqa: BLE001 - an argument has become what does not cross
            return reply

    def _encode_answer(self, result: Any) -> Any:
        """Return an answer in its plain form; with its number where the program keeps it."""
        if codec.is_changeable(result) and id(result) in self._numbers:
            return ["R", self._number(result)]
        try:
            encoded = self._sender.encode(result)
        except (codec.TooDeep, RecursionError):  # it may hold itself
            return ["R", self._number(result)]
        if not codec.is_changeable(result) or sys.getrefcount(result) <= _ANSWER_REFERENCES:
            return encoded
        self._kept[self._number(result)] = encoded
        return ["k", [self._number(result), encoded]]

    def _update(self, question: channel.Message) -> None:
        """Change what the tests have changed, and forget what they have not any more."""
        for number, data in question.get("now", {}).items():
            container = self._objects[int(number)]
            codec.become(container, self._receiver.decode(data))
            self._kept[int(number)] = self._sender.encode(container)
        for number in question.get("lost", ()):
            del self._kept[number], self._numbers[id(self._objects[number])]
            self._objects[number] = None

    def _news(self, before: list[Any], values: list[Any]) -> channel.Message:
        """Return which arguments the program keeps or has changed, and what it has changed."""
        kept, now = {}, {}
        for place, value in enumerate(values):
            known = self._numbers.get(id(value))
            if known in self._kept or not (type(value) is tuple or codec.is_changeable(value)):
                continue
            is_kept = known is not None or sys.getrefcount(value) > _ARGUMENT_REFERENCES
            if is_kept or self._arguments.encode(value) != before[place]:
                kept[place] = self._number(value)
                self._kept[kept[place]] = before[place]
        for number, known_form in self._kept.items():
            after = self._arguments.encode(self._objects[number])
            if after != known_form:
                now[number] = self._kept[number] = after
        return {name: news for name, news in (("kept", kept), ("now", now)) if news}

    def _refer(self, value: Any) -> list[Any]:
        """Return an exception by what it holds, and any other object by its number."""
        is_error = issubclass(type(value), BaseException) and len(self._described) < _NESTED_MAX
        if is_error and not any(error is value for error in self._described):
            return ["e", self._exception(value)]
        return ["R", self._number(value)]

    def _exception(self, error: BaseException) -> channel.Message:
        self._described.append(error)
        arguments, fields = [], {}
        try:
            arguments = [self._sender.encode(argument) for argument in error.args[:_ARGUMENTS_MAX]]
            fields = {name: self._sender.encode(field) for name, field in _fields_of(error).items()}
        except BaseException:  # noqa: BLE001 - they may hold themselves, and may be the program's
            arguments = arguments or [None]
        finally:
            self._described.pop()
        described = {**describe(error), "ref": self._number(error), "args": arguments}
        return {**described, "kinds": _classes_of(type(error)), "fields": fields}

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
    "pow": pow,
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
    "exit": lambda target, kind, arguments: type(target).__exit__(
        target, kind, kind and kind(*arguments), None
    ),
    **{name: getattr(math, name) for name in ("trunc", "floor", "ceil")},
    "plain": lambda target: codec.Sender(_refuse).plain(target),
    "classes": lambda target: [
        codec.place_of(kind) for kind in type.__dict__["__mro__"].__get__(type(target))
    ],
    **{
        deed.__name__: deed
        for deed in (len, iter, next, reversed, str, repr, format, bool, hash, dir, callable)
    },
    **{deed.__name__: deed for deed in (getattr, setattr, delattr, int, float, complex, round)},
    **{deed.__name__: deed for deed in (copy.copy, copy.deepcopy, bytes)},
    **{deed.__name__: deed for deed in (os.fspath, operator.length_hint)},
}
"""What can be asked of an object, by name."""
