"""The program as its tests see it: proxies that ask over the channel, and equal nothing but themselves.

What comes over the channel is hostile; it is decoded to plain values, and everything else is a reference.
"""

from __future__ import annotations

import builtins
import reprlib
import sys
import threading
import types
from typing import Any

from nel.sandbox.agent import channel, codec, running

_TEXT_CHARACTERS_MAX = 4_000
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
        self.where = ""
        """The line of the tests."""


class ProgramError(Exception):
    """An exception of the program's own class, where the tests do not know that class."""

    kind = "Exception"
    """The name of that class."""


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
            raise self.failed(kind, str(failed.get("trace") or failed.get("text")))
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
            self.failure = ProgramFailed(kind, text[:_TEXT_CHARACTERS_MAX])
            frame: types.FrameType | None = sys._getframe(1)  # noqa: SLF001 - the one way to the callers
            while frame is not None and frame.f_code.co_filename != running.FILE_NAME:
                frame = frame.f_back
            self.failure.where = running.line_shown(frame.f_lineno) if frame is not None else ""
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
        self._raised.append((error, str(said.get("trace"))[:_TEXT_CHARACTERS_MAX]))
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
                error = ProgramError(text)
                error.kind = kinds[0]
                return error
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
        self.__dict__["_is_made"] = False

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
        # The question holds what the tests expect, so it is put to objects alone that the tests made of a class.
        if self._is_made:
            return self._ask("in", key=self._remote.encoded(key)) is True
        return any(item is key or item == key for item in self)

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
        value = self._remote.call(self._target, self.__name__, arguments, options)
        if isinstance(value, Reference) and self.__name__.lstrip("_")[:1].isupper():
            value.__dict__["_is_made"] = True
        return value

    def __instancecheck__(self, value: Any) -> bool:
        """Return whether an object of the program is of this class; a plain value is of none."""
        if type(value) is not Reference:
            return False
        return self._remote.ask({"do": "isinstance", "ref": value._number(), "name": self.__name__}) is True  # noqa: SLF001

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._remote.ask({"do": "get", **self._target}), name)


sys.setrecursionlimit(max(sys.getrecursionlimit(), 2_000))
