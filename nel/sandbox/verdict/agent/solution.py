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
from nel.sandbox.verdict.agent.containers import Containers, is_held

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
    """Return what an exception holds beside its arguments and the exceptions that it comes from."""
    names = {
        name
        for base in type.__dict__["__mro__"].__get__(type(error))
        for name, field in vars(base).items()
        if isinstance(field, (types.MemberDescriptorType, types.GetSetDescriptorType))
    }
    fields = {name: getattr(error, name, None) for name in sorted(names - {"args"})}
    if type(error).__module__ != codec.PROGRAM:  # of its own classes they are asked
        fields.update(BaseException.__dict__["__dict__"].__get__(error))
    return {
        name: field
        for name, field in fields.items()
        if field is not None and not name.startswith("__")
    }


def _class_tree(kind: type) -> list[Any]:
    """Return ``module:name`` of an exception class, and the trees of its bases."""
    bases = [base for base in kind.__bases__ if issubclass(base, BaseException)]
    return [f"{kind.__module__}:{kind.__name__}", *map(_class_tree, bases)]


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
        """Serve the names of a program."""
        self._module = module
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._groups = 0
        self._containers = Containers(
            self._refer,
            self._resolve,
            sent_depth=codec.ANSWER_DEPTH_MAX,
            received_depth=codec.DEPTH_MAX,
        )
        self._containers.sender.referred = standard.VIEWS
        self._fields = codec.Sender(
            lambda value: ["R", self._number(value)], codec.ANSWER_DEPTH_MAX
        )
        """Encodes what an exception holds, which may be the exception."""

    def answer(self, question: channel.Message) -> channel.Message:
        """Return the reply to one question of the tests."""
        self._containers.sender.is_of_class = "is_made" in question
        parts: list[Any] = []
        arguments: tuple[Any, ...] = ()
        results: list[Any] = []
        raised: BaseException | None = None
        try:
            self._containers.update(question.get("now", {}))
            for number in question.get("lost", ()):
                self._containers.drop(number)
            arguments = self._containers.receiver.decode(["t", question["args"]], parts)
            results.append(self._do(question, arguments))
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            raised = error
            BaseException.with_traceback(error, None)  # whose frames would live as long as it does
        try:
            news = self._news(arguments, parts, question["args"])
        except BaseException:  # noqa: BLE001 - an argument has become what does not cross
            news = {}
        try:
            if raised is None:
                return {**news, "value": self._form_of(results)}
        except BaseException as error:  # noqa: BLE001 - a property of its class
            raised = error
        return {**news, "raised": self._exception(raised)}

    def _do(self, question: channel.Message, arguments: tuple[Any, ...]) -> Any:
        target = self._resolve("R", question.get("name", question.get("ref")))
        names = question["names"]
        count = len(arguments) - len(names)
        options = dict(zip(names, arguments[count:]))  # noqa: B905 - Python 3.9
        return find_deed(question["do"])(target, *arguments[:count], **options)

    def _form_of(self, results: list[Any]) -> Any:
        """Return the one answer in its plain form; with a number where the program keeps a part."""
        seen = codec.Parts()
        try:
            form = self._containers.sender.encode(results[0], seen)
        except (codec.TooDeep, RecursionError):  # it may hold itself
            return ["R", self._number(results[0])]
        parts = seen.all()
        del seen
        if not is_held(parts):
            return form
        self._groups += 1
        self._containers.add(self._groups, results[0], parts, form)
        return ["k", [self._groups, form]]

    def _news(
        self, arguments: tuple[Any, ...], parts: list[Any], before: list[Any]
    ) -> channel.Message:
        """Return what the program has changed, and the number of arguments that it keeps or changed."""
        if not parts:
            return {"now": self._containers.changes()}
        number = self._groups + 1
        is_kept = is_held(parts)
        self._containers.add(number, arguments, parts, ["t", before])
        changes = self._containers.changes()
        if number not in changes and not is_kept:
            self._containers.drop(number)
            return {"now": changes}
        self._groups = number
        return {"kept": number, "now": changes}

    def _refer(self, value: Any) -> list[Any]:
        """Return an exception by what it holds, and any other object by its number."""
        is_error = issubclass(type(value), BaseException)
        return ["e", self._exception(value)] if is_error else ["R", self._number(value)]

    def _exception(self, error: BaseException) -> channel.Message:
        arguments, fields = [None], {}
        with contextlib.suppress(BaseException):  # they may hold themselves
            arguments = self._fields.encode(error.args[:_ARGUMENTS_MAX])[1]
            fields = {name: self._fields.encode(field) for name, field in _fields_of(error).items()}
        described = {**describe(error), "ref": self._number(error), "args": arguments}
        return {**described, "class": _class_tree(type(error)), "fields": fields}

    def _resolve(self, _: str, body: Any) -> Any:
        """Return the object of a number or a name, or a method of a plain value."""
        if isinstance(body, list):
            return getattr(self._containers.receiver.decode(body[0]), body[1])
        return getattr(self._module, body) if isinstance(body, str) else self._objects[body]

    def _number(self, value: Any) -> int:
        known = self._numbers.get(id(value))
        if known is None:
            known = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return known


BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift divmod".split()
COMPARED = "eq ne lt le gt ge".split()
UNARY = "neg pos abs invert index".split()
_DEEDS: dict[str, Callable[..., Any]] = {
    "get": lambda target: target,
    "call": lambda target, /, *arguments, **options: target(*arguments, **options),
    "enter": lambda target: type(target).__enter__(target),
    "exit": lambda target, kind, arguments: type(target).__exit__(
        target, kind, kind and kind(*arguments), None
    ),
    "plain": lambda target: codec.Sender(_refuse).plain(target),
    "classes": lambda target: [
        standard.place_of(kind) for kind in type.__dict__["__mro__"].__get__(type(target))
    ],
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
        return lambda target, other: operate(other, target)
    deeds = (getattr(source, name) for source in _SOURCES if hasattr(source, name))
    return next(deeds)  # type: ignore[no-any-return]
