"""The process of the program under test: loads it and answers calls, or runs it as a script.

Everything in this process is at the program's mercy. What it says over the channel is plain data to the tests, and
lying about a value is no more than being wrong.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import copy
import enum
import gc
import linecache
import math
import operator
import os
import random
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

from nel.sandbox.agent import channel, codec, functions

FILE_NAME = "solution.py"
_TEXT_CHARACTERS_MAX = 2_000
_TRACE_CHARACTERS_MAX = 1_000
_ATTRIBUTES_MAX = 32


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
    kinds = [f"{kind.__module__}:{kind.__name__}" for kind in _exception_kinds(error)]
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
        "attributes": _attributes_of(error),
        "text": text,
        "trace": trace,
    }


def _exception_kinds(error: BaseException) -> list[type]:
    return [kind for kind in type.__dict__["__mro__"].__get__(type(error)) if issubclass(kind, BaseException)]


def _attributes_of(error: BaseException) -> dict[str, Any]:
    """Return what of an exception's own attributes has a plain form."""
    found: dict[str, Any] = {}
    try:
        for name, value in list(vars(error).items())[:_ATTRIBUTES_MAX]:
            if type(name) is str and not name.startswith("_"):
                with contextlib.suppress(codec.CannotCross, codec.TooDeep):
                    found[name] = codec.encode(value, _refuse)
    except BaseException:  # noqa: BLE001 - they need not cross
        return {}
    return found


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
    """Wait for threads, call what is registered for the exit, let go of the program's objects, flush."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - what the interpreter calls at its end
        atexit._run_exitfuncs()  # noqa: SLF001
        names = vars(sys.modules["__main__"])
        for name in [name for name in names if not name.startswith("__")]:
            names[name] = None
        gc.collect()
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
        bases = [kind.__name__ for kind in type.__dict__["__mro__"].__get__(value)]
        return " ".join(["exception", *bases])
    return "callable" if callable(value) else "value"


def _refuse(value: Any) -> int:
    raise codec.CannotCross(type(value).__name__)


class _Server:
    """Does what the tests ask of the program's names and objects."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._unpacker = functions.Unpacker(lambda number: self._objects[number])
        self._deeds: dict[str, Callable[[Any, Any], Any]] = {
            "get": lambda target, _: target,
            "seed": lambda _, asked: random.seed(self._decoded(asked["value"])),
            "getattr": lambda target, asked: getattr(target, asked["attribute" if "attribute" in asked else "name"]),
            "setattr": lambda target, asked: setattr(
                target, asked["attribute" if "attribute" in asked else "name"], self._decoded(asked["value"])
            ),
            "delattr": lambda target, asked: delattr(target, asked["name"]),
            "len": lambda target, _: len(target),
            "iter": lambda target, _: iter(target),
            "next": lambda target, _: next(target),
            "reversed": lambda target, _: reversed(target),
            "str": lambda target, _: str(target),
            "repr": lambda target, _: repr(target),
            "format": lambda target, asked: format(target, asked["specification"]),
            "bool": lambda target, _: bool(target),
            "hash": lambda target, _: hash(target),
            "copy": lambda target, _: copy.copy(target),
            "deepcopy": lambda target, _: copy.deepcopy(target),
            "plain": lambda target, _: _plain(target),
            "item": lambda target, asked: target[self._decoded(asked["key"])],
            "setitem": lambda target, asked: operator.setitem(
                target, self._decoded(asked["key"]), self._decoded(asked["value"])
            ),
            "delitem": lambda target, asked: operator.delitem(target, self._decoded(asked["key"])),
            "in": lambda target, asked: self._decoded(asked["key"]) in target,
            "isinstance": lambda target, asked: isinstance(target, getattr(self._module, asked["name"])),
            "issubclass": lambda target, asked: issubclass(target, getattr(self._module, asked["name"])),
            "operate": self._operate,
            "unary": lambda target, asked: _UNARY[asked["name"]](target),
            "round": lambda target, asked: round(target) if asked["digits"] is None else round(target, asked["digits"]),
            "enter": lambda target, _: type(target).__enter__(target),
            "exit": lambda target, asked: type(target).__exit__(target, *_leaving(asked["error"])),
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
            target = self._objects[asked["ref"]] if "ref" in asked else self._named(asked["name"])
            return self._reply(self._deeds[asked["do"]](target, asked), codec.Sender(self._refer))
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            return {"raised": described(error)}

    def _named(self, name: str) -> Any:
        return getattr(self._module, name) if name else self._module

    def _reply(self, value: Any, sender: codec.Sender, known: int = 0) -> channel.Message:
        reply: channel.Message = {"value": sender.encode(value)}
        if table := sender.table(known):
            reply["table"] = table
        return reply

    def _call(self, asked: Any) -> channel.Message:
        function = self._objects[asked["ref"]] if "ref" in asked else getattr(self._module, asked["name"])
        receiver = codec.Receiver(self._resolve)
        receiver.take(asked["table"])
        values = [receiver.decode(value) for value in asked["args"]]
        names = asked["names"]
        count = len(values) - len(names)
        options = {name: values[count + place] for place, name in enumerate(names)}
        given = receiver.containers
        try:
            result = function(*values[:count], **options)
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its answer
            return {"raised": described(error), **self._changes(given, asked["table"])}
        sender = codec.Sender(self._refer, given)
        value = sender.encode(result)
        changed = self._changed(sender, given, asked["table"])
        reply: channel.Message = {"value": value}
        if table := sender.table(len(given)):
            reply["table"] = table
        if changed:
            reply["changed"] = changed
        return reply

    def _changes(self, given: list[Any], before: list[Any]) -> channel.Message:
        """Return what a call that raised has changed before."""
        try:
            sender = codec.Sender(self._refer, given)
            changed = self._changed(sender, given, before)
            return {"changed": changed, "table": sender.table(len(given))} if changed else {}
        except BaseException:  # noqa: BLE001 - the exception is the answer
            return {}

    def _changed(self, sender: codec.Sender, given: list[Any], before: list[Any]) -> dict[str, Any]:
        """Return, by number, what those containers hold now that hold something else than before."""
        found = {}
        for number, contents in enumerate(before):
            now = sender.contents(given[number])
            if now != contents:
                found[str(number)] = now
        return found

    def _operate(self, target: Any, asked: Any) -> Any:
        other = self._decoded(asked["other"])
        left, right = (other, target) if asked["swapped"] else (target, other)
        return _BINARY[asked["name"]](left, right)

    def _decoded(self, data: Any) -> Any:
        return codec.decode(data, self._resolve)

    def _resolve(self, body: Any) -> Any:
        return self._unpacker.function(body) if isinstance(body, dict) else self._objects[body]

    def _refer(self, value: Any) -> list[Any]:
        kind = type(value)
        is_own = kind.__module__ == "solution"
        shown = str(kind.__name__)
        container = next((base.__name__ for base in (list, dict, set) if issubclass(kind, base)), "")
        if issubclass(kind, enum.Enum) and type(name := value.name) is str:
            container = f"enum:{name}"
        return [self._number(value), shown, self._number(kind) if is_own else -1, container if is_own else shown]

    def _number(self, value: Any) -> int:
        known = self._numbers.get(id(value))
        if known is None:
            known = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return known


def _plain(value: Any) -> Any:
    """Return what a container of the program's own class holds, as a builtin; None for anything else."""
    for base, reduce in ((list, list.__iter__), (dict, dict.items), (set, set.__iter__)):
        if issubclass(type(value), base):
            return base(reduce(value))
    return None


def _leaving(said: Any) -> tuple[Any, Any, Any]:
    """Return what ``__exit__`` is given for an exception of the tests."""
    if said is None:
        return None, None, None
    kinds, text = said
    kind = next((known for name in kinds if isinstance(known := getattr(builtins, name, None), type)), Exception)
    return kind, kind(text), None


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in "add sub mul truediv floordiv mod pow matmul xor".split()},
    **{name: getattr(operator, name) for name in "lshift rshift eq ne lt le gt ge".split()},
    "and": operator.and_,
    "or": operator.or_,
    "divmod": divmod,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "invert": operator.invert,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "trunc": math.trunc,
    "floor": math.floor,
    "ceil": math.ceil,
}
