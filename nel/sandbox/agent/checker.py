"""The process of the tests: runs them as they stand, with proxies in the place of the program's functions.

It runs as another user than the program, and the program never sees the tests or the values they expect. What comes
over the channel is hostile; it is decoded to plain values, and a reference to an object of the program equals nothing
but itself.
"""

from __future__ import annotations

import builtins
import linecache
import os
import re
import reprlib
import sys
import threading
import traceback
import types
from typing import Any

from nel.sandbox.agent import channel, codec

FILE_NAME = "tests.py"
_LINE_CHARACTERS_MAX = 400
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_TEST_CLASS = re.compile(r"^class[ \t]+(Test\w*)", re.MULTILINE)
_TOP_FUNCTION = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
_MODULES = frozenset(
    "bisect cmath collections copy datetime decimal fractions functools heapq itertools json math operator random re"
    " statistics string sys".split()
)
"""Tests often use what their reference solution imports."""
_CALL = re.compile(r"^(\w+)[ \t]*\(", re.MULTILINE)
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 160
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


_ENDS_OF_ITERATION = (StopIteration, StopAsyncIteration)
"""Raised by a call they would end a loop of the tests early, and the tests with it."""


class ProgramFailed(BaseException):
    """The program died, talked nonsense or left; not an `Exception`, so that tests cannot take it for an answer."""

    def __init__(self, kind: str, text: str) -> None:
        """Say how it failed."""
        super().__init__(text)
        self.kind = kind


class NotRun(Exception):
    """Tests that this harness cannot run; never to be passed over in silence."""


class ProgramError(Exception):
    """An exception of the program's own class, where the tests do not know that class."""


def judge(payload: int, connection: int, result: int) -> None:
    """Run the tests against the program at the other end and write what came of it."""
    given = codec.loads(channel.read_all(payload))
    os.close(payload)
    try:
        verdict = _verdict(given, Remote(connection))
    except BaseException as error:  # noqa: BLE001 - nothing a program sends may end its tests without a verdict
        verdict = {"failed": f"the tests ended with {type(error).__name__}", "text": ""}
    channel.write_frame(result, verdict)


def _verdict(given: channel.Message, remote: Remote) -> channel.Message:
    tests = given["tests"]
    try:
        code = compile(tests, FILE_NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"broken": f"the tests cannot be parsed: {type(error).__name__}: {error}"}
    linecache.cache[FILE_NAME] = (1, None, tests.splitlines(keepends=True), FILE_NAME)
    namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    _define_helpers(given["prompt"], namespace)
    try:
        names = remote.loaded()
        _bind(tests, code, given["entry_point"], names, remote, namespace)
        exec(code, namespace)  # noqa: S102 - the tests come with the benchmark
        call_afterwards(tests, given["entry_point"], namespace)
    except NotRun as error:
        return {"broken": str(error)}
    except codec.CannotCross as error:
        return {"cannot_cross": str(error), "calls": remote.calls}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their verdict
        if remote.failure is None and isinstance(error, ImportError) and remote.raised_of(error) is None:
            return {"broken": f"the tests need what is not there: {error}"}
        is_end = isinstance(error, SystemExit) and not error.code
        if remote.failure is None and not is_end:
            return {**_failure(error, remote), "calls": remote.calls, "last_call": remote.last_call()}
    if remote.failure is not None:  # tests that catch whatever comes do not undo it
        return {"program": remote.failure.kind, "text": str(remote.failure), "calls": remote.calls}
    if remote.calls:
        return {"passed": True, "calls": remote.calls}
    if given["entry_point"] in tests or not _names_in(code).isdisjoint(names):
        return {"failed": "the tests came to their end without a single call"}
    return {"broken": "the tests never use the program"}


def _define_helpers(prompt: str, namespace: dict[str, Any]) -> None:
    """Run the prompt's own code, where it is code: tests use its imports and helper functions."""
    for text in (prompt, prompt + "\n    pass\n"):
        try:
            code = compile(text, "prompt.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        try:
            exec(code, namespace)  # noqa: S102 - the prompt comes with the benchmark
        except Exception:  # noqa: BLE001 - a prompt that needs its solution to run gives no helpers
            return
        return


def _bind(
    tests: str,
    code: types.CodeType,
    entry_point: str,
    names: dict[str, str],
    remote: Remote,
    space: dict[str, Any],
) -> None:
    """Put proxies in the place of the entry point and of whatever else only the program defines."""
    own = set(_DEFINITION.findall(tests))
    used = _names_in(code)
    for name in _MODULES & used - own - set(space) - set(names):
        space[name] = __import__(name)
    for name, kind in names.items():
        if name == entry_point or (name in used and name not in own | set(space) and not hasattr(builtins, name)):
            space[name] = remote.named(name, "callable" if name == entry_point and kind == "exception" else kind)
    if entry_point and entry_point not in names:
        space.pop(entry_point, None)
        if hasattr(builtins, entry_point):
            raise remote.failed("raised", f"the program defines no {entry_point}")


def _names_in(code: types.CodeType) -> set[str]:
    """Return the names that code uses, that of its functions included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return names


def call_afterwards(tests: str, entry_point: str, namespace: dict[str, Any]) -> None:
    """Call what the tests define and leave to the harness: ``check(candidate)`` and ``test_…()``."""
    called = set(_CALL.findall(tests))
    for name in _TOP_FUNCTION.findall(tests):
        function = namespace.get(name)
        if name in called or not isinstance(function, types.FunctionType):
            continue
        required = function.__code__.co_argcount - len(function.__defaults__ or ())
        if name == "check" and required == 1 and entry_point:
            if entry_point not in namespace:
                raise NameError(f"name {entry_point!r} is not defined")
            function(namespace[entry_point])
        elif (name == "check" or name.startswith("test")) and required == 0:
            function()
        elif name.startswith("test"):
            raise NotRun(f"{name} takes arguments, which only pytest gives")
    for name in _TEST_CLASS.findall(tests):
        _run_methods(namespace.get(name))


def _run_methods(found: Any) -> None:
    """Run the test methods of a class in the style of pytest."""
    if not isinstance(found, type):
        return
    for name in [name for name in vars(found) if name.startswith("test")]:
        case = found()
        for around in ("setup_method", "setUp"):
            getattr(case, around, lambda: None)()
        getattr(case, name)()


def _failure(error: BaseException, remote: Remote) -> channel.Message:
    """Return what an exception in the tests means: a failed assertion, or the program's own exception."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE_NAME]
    line = f"line {frames[-1].lineno}: {frames[-1].line}"[:_LINE_CHARACTERS_MAX] if frames else ""
    text = f"{type(error).__name__}: {_text(error)}"[:_LINE_CHARACTERS_MAX]
    raised = remote.raised_of(error)
    if raised is not None:
        return {"program": "raised", "text": text, "where": line, "trace": raised}
    if isinstance(error, NameError):
        return {"program": "raised", "text": text, "where": line}
    return {"failed": line, "text": "" if type(error) is AssertionError and not _text(error) else text}


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - its text may be too long a number
        return ""


class Remote:
    """The program at the other end of the channel."""

    def __init__(self, connection: int) -> None:
        """Ask over this descriptor."""
        self._connection = connection
        self._turn = threading.RLock()
        self.calls = 0
        self.failure: ProgramFailed | None = None
        """What the program did that no test can undo."""
        self._last: tuple[str, Any, Any] | None = None
        self._raised: list[tuple[BaseException, str]] = []
        self._classes: dict[str, type[Exception]] = {}
        self._references: dict[int, Reference] = {}

    def loaded(self) -> dict[str, str]:
        """Wait until the program is loaded and return its names.

        Raises:
            ProgramFailed: It cannot be loaded.
        """
        said = self._read()
        failed = said.get("failed")
        if isinstance(failed, dict):
            kind = "parse" if failed.get("stage") == "parse" else "raised"
            if failed.get("type") == "MemoryError":
                kind = "memory"
            raise self.failed(kind, str(failed.get("trace") or failed.get("text"))[-2000:])
        names = said.get("loaded")
        if not isinstance(names, dict):
            raise self.failed("nonsense", "the program did not load as it should")
        return {str(name): str(kind) for name, kind in names.items()}

    def named(self, name: str, kind: str) -> Any:
        """Return a proxy of a function or class, a class that stands for an exception, or the value of a constant."""
        if kind == "exception":
            return self._classes.setdefault(name, type(name, (Exception,), {}))
        if kind == "value":
            return self.ask({"do": "get", "name": name})
        return Function(self, {"name": name}, name)

    def ask(self, question: channel.Message) -> Any:
        """Return the program's answer as a plain value, a reference, or by raising what it raised."""
        return self._value(self._exchange(question), ends_iteration=question["do"] == "next")

    def call(self, target: dict[str, Any], shown: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call something of the program; arguments that it changed are changed here, too."""
        self._last = (shown, arguments, None)
        reply = self._exchange(
            {
                "do": "call",
                **target,
                "args": [self.encoded(argument) for argument in arguments],
                "kwargs": {name: self.encoded(value) for name, value in options.items()},
            }
        )
        value = self._value(reply)
        self._apply(reply.get("changed"), {**dict(enumerate(arguments)), **options})
        self._last = (shown, arguments, value)
        return value

    def encoded(self, value: Any) -> Any:
        """Return a value of the tests as it goes to the program; raises `codec.CannotCross`."""
        try:
            return codec.encode(value, self._number_of)
        except (codec.TooDeep, RecursionError) as error:
            # An answer may be nested half as deep as an argument, so that this is the tests' own.
            raise codec.CannotCross(f"the tests pass an argument that is too deep: {error}") from None

    def _number_of(self, value: Any) -> int:
        """Return the number of the program's object that a value of the tests stands for.

        Raises:
            ProgramFailed: It is an exception or a class of the program, which do not go back: were that the tests'
                fault, a program could choose the weaker mode by what it defines or raises.
            codec.CannotCross: It is the tests' own, and has no plain form.
        """
        if isinstance(value, (Reference, Function)):
            return value._number()  # noqa: SLF001 - of this module
        known = tuple(self._classes.values())
        if value in known or isinstance(value, known) or any(error is value for error, _ in self._raised):
            raise self.failed("nonsense", "an exception of the program does not go back to it")
        raise codec.CannotCross(f"the tests pass a {type(value).__name__}, which has no plain form")

    def raised_of(self, error: BaseException) -> str | None:
        """Return the program's own traceback where it raised this exception."""
        return next((trace for known, trace in self._raised if known is error), None)

    def last_call(self) -> str:
        """Return the last call and what came back, in short."""
        if self._last is None:
            return ""
        name, arguments, value = self._last
        try:
            return f"{name}({', '.join(_SHORT.repr(argument) for argument in arguments)}) -> {_SHORT.repr(value)}"
        except Exception:  # noqa: BLE001 - a number of more digits than are printed
            return f"{name}(...)"

    def failed(self, kind: str, text: str) -> ProgramFailed:
        """Note, for good, how the program failed; return it to be raised."""
        if self.failure is None:
            self.failure = ProgramFailed(kind, text)
        return self.failure

    def _exchange(self, question: channel.Message) -> channel.Message:
        with self._turn:
            return self._exchange_alone(question)

    def _exchange_alone(self, question: channel.Message) -> channel.Message:
        self.calls += 1
        if self.failure is not None:
            raise self.failure
        try:
            channel.write_frame(self._connection, {"n": self.calls, **question}, channel.QUESTION_BYTES_MAX)
        except channel.Gone:
            raise self.failed("gone", "the program ended before its tests did") from None
        except channel.TooLarge as error:
            raise self.failed("nonsense", f"an argument of {error}") from None
        number = self.calls
        while (reply := self._read()).get("n") != number:
            # An answer to an earlier question, whose wait the tests broke off, is passed over.
            late = reply.get("n")
            if type(late) is not int or late >= number:
                raise self.failed("nonsense", "the program answered what it was not asked")
        return reply

    def _read(self) -> channel.Message:
        try:
            said = channel.read_frame(self._connection)
        except channel.Gone:
            raise self.failed("gone", "the program ended before its tests did") from None
        except channel.TooLarge as error:
            raise self.failed("too_large", f"an answer of {error}") from None
        except codec.BadValue as error:
            raise self.failed("nonsense", f"the program's answer is {error}") from None
        if not isinstance(said, dict):
            raise self.failed("nonsense", "the program's answer is no answer")
        return said

    def _value(self, reply: channel.Message, *, ends_iteration: bool = False) -> Any:
        if "raised" in reply:
            raise self._exception_of(reply["raised"], ends_iteration=ends_iteration)
        if "value" not in reply:
            raise self.failed("nonsense", "the program's answer holds no value")
        return self._decoded(reply["value"])

    def _decoded(self, data: Any) -> Any:
        try:
            return codec.decode(data, self._reference, limit=codec.DEPTH_MAX // 2)
        except (codec.BadValue, RecursionError) as error:
            raise self.failed("nonsense", f"the program's answer is {error}") from None

    def _reference(self, number: Any) -> Reference:
        if not isinstance(number, int):
            raise codec.BadValue("no encoded value")
        return self._references.setdefault(number, Reference(self, number))

    def _apply(self, changed: Any, arguments: dict[Any, Any]) -> None:
        for place, argument in arguments.items():
            if isinstance(changed, dict) and str(place) in changed:
                now = self._decoded(changed[str(place)])
                if type(now) is not type(argument):
                    raise self.failed("nonsense", "an argument changed its type")
                if isinstance(argument, (list, bytearray)):
                    argument[:] = now
                elif isinstance(argument, (dict, set)):
                    argument.clear()
                    argument.update(now)

    def _exception_of(self, said: Any, *, ends_iteration: bool) -> BaseException:
        if not isinstance(said, dict):
            return self.failed("nonsense", "the program's exception is none")
        name, text = str(said.get("type")), str(said.get("text"))
        if name == "TooLarge":
            return self.failed("too_large", text)
        if name == "MemoryError":
            return self.failed("memory", str(said.get("trace") or name))
        kinds = said.get("kinds")
        if ends_iteration and kinds and kinds[0] == "StopIteration":
            return StopIteration()
        error = self._exception_like([str(kind) for kind in kinds] if isinstance(kinds, list) else [], said, text)
        if error is None:
            return self.failed("raised", str(said.get("trace") or f"{name}: {text}"))
        self._raised.append((error, str(said.get("trace"))))
        return error

    def _exception_like(self, kinds: list[str], said: channel.Message, text: str) -> Exception | None:
        """Return an exception of the nearest class the tests know; None for what must not be caught, as SystemExit."""
        try:
            arguments = tuple(codec.decode(argument, self._reference) for argument in said.get("args") or ())
        except (codec.BadValue, TypeError):
            arguments = (text,)
        for kind in kinds:
            known = self._classes.get(kind) or getattr(builtins, kind, None)
            if not isinstance(known, type) or not issubclass(known, BaseException):
                continue
            if not issubclass(known, Exception):
                return None
            if known is Exception or known in _ENDS_OF_ITERATION:
                return ProgramError(f"{kinds[0]}: {text}")
            try:
                return known(*arguments)
            except TypeError:
                continue
        return None


class Reference:
    """An object that stays in the program's process; equal to nothing but itself."""

    def __init__(self, remote: Remote, number: int) -> None:
        """Stand for the object of this number."""
        self.__dict__["_remote"] = remote
        self.__dict__["_target"] = {"ref": number}

    def _number(self) -> int:
        return int(self._target["ref"])

    def _ask(self, deed: str, **more: Any) -> Any:
        return self._remote.ask({"do": deed, **self._target, **more})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask("getattr", name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("setattr", name=name, value=self._remote.encoded(value))

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it in the program's process."""
        return self._remote.call(self._target, "an object of the program", arguments, options)

    def __len__(self) -> int:
        length = self._ask("len")
        if type(length) is not int:
            raise TypeError("its length is no integer")
        return length

    def __iter__(self) -> Any:
        return self._ask("iter")

    def __next__(self) -> Any:
        return self._ask("next")

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", key=self._remote.encoded(key))

    def __contains__(self, key: Any) -> bool:
        return self._ask("in", key=self._remote.encoded(key)) is True

    def __bool__(self) -> bool:
        return self._ask("bool") is True

    def __str__(self) -> str:
        text = self._ask("str")
        return text if type(text) is str else ""

    def __repr__(self) -> str:
        return "<an object of the program>"


class Function:
    """A function or class of the program, by name."""

    def __init__(self, remote: Remote, target: dict[str, Any], name: str) -> None:
        """Stand for what has this name."""
        self._remote = remote
        self._target = target
        self.__name__ = name

    def _number(self) -> int:
        found = self._remote.ask({"do": "get", **self._target})
        if not isinstance(found, Reference):
            raise self._remote.failed("nonsense", f"{self.__name__} was callable and is none any more")
        return found._number()  # noqa: SLF001 - of this module

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it in the program's process."""
        return self._remote.call(self._target, self.__name__, arguments, options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._remote.ask({"do": "get", **self._target}), name)


sys.setrecursionlimit(max(sys.getrecursionlimit(), 2_000))
