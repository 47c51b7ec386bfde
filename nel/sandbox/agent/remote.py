"""The program as its tests see it: proxies that ask over the channel, and equal nothing but themselves.

What comes over the channel is hostile; it is decoded to plain values, and everything else is a reference.
"""

from __future__ import annotations

import builtins
import contextlib
import reprlib
import sys
import threading
import types
from collections.abc import Collection, Sequence
from typing import Any

from nel.sandbox.agent import channel, codec, functions, running
from nel.sandbox.agent.objects import Function, Reference, class_of, made_of, number_of

_TEXT_CHARACTERS_MAX = 4_000
_ATTRIBUTES_MAX = 32
_NAME_CHARACTERS_MAX = 100
_NO_ANSWERS = ("nel", "unittest", "doctest", "pytest", "_pytest", "__main__")
"""Modules whose exceptions mean something to what runs tests."""


class _Short(reprlib.Repr):
    """Shows values in short without asking the program."""

    def repr1(self, x: Any, level: int) -> str:
        """Return what stands for a value."""
        return "<an object of the program>" if isinstance(x, Reference) else super().repr1(x, level)


_SHORT = _Short()
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

    def __init__(self, connection: int, classes: Collection[str] = ()) -> None:
        """Ask over this descriptor.

        Args:
            classes: Names that are those of classes, by the task's text.
        """
        self._connection = connection
        self._are_classes = classes
        self._turn = threading.RLock()
        self.calls = 0
        self.failure: ProgramFailed | None = None
        """What the program did that no test can undo."""
        self._last: tuple[str, Any, Any] | None = None
        self._raised: list[tuple[BaseException, str]] = []
        self._classes: dict[str, type[Exception]] = {}
        self._references: dict[int, Reference] = {}
        self._made: dict[int, Reference] = {}
        self.own_classes: dict[str, Any] = {}
        """Classes of the prompt, as the tests have them."""
        self._porter = functions.Porter(_number_if_known)
        self._reference_classes: dict[tuple[str, int], type[Reference]] = {}

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
        if kind.startswith("exception"):
            return self._exception_class([name, *kind.split()[2:]])
        if kind == "value":
            return self.ask({"do": "get", "name": name})
        return Function(self, name, makes_objects=name in self._are_classes)

    def _exception_class(self, names: list[str]) -> type[Exception]:
        """Return the class that stands for an exception of the program, given its name and those of its bases."""
        name = names[0]
        if name not in self._classes:
            base: type[Exception] = Exception
            if len(names) > 1:
                known = getattr(builtins, names[1], None)
                if known is None:
                    base = self._exception_class(names[1:])
                elif isinstance(known, type) and issubclass(known, Exception) and known not in _ENDS_OF_ITERATION:
                    base = known
            self._classes[name] = type(name, (base,), {})
        return self._classes[name]

    def ask(self, question: channel.Message) -> Any:
        """Return the program's answer as a plain value, a reference, or by raising what it raised."""
        return self._value(self._exchange(question), ends_iteration=question["do"] == "next")

    def call(self, target: dict[str, Any], shown: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call something of the program; arguments that it changed are changed here, too."""
        self._last = (shown, arguments, None)
        sender = codec.Sender(self._number_of, is_answer=False)
        given = [self._sent(sender, value) for value in (*arguments, *options.values())]
        table = self._table(sender)
        question = {"do": "call", **target, "args": given, "names": list(options), "table": table}
        value = self._value(self._exchange(question), table=table, containers=sender.containers)
        self._last = (shown, arguments, value)
        return value

    def _sent(self, sender: codec.Sender, value: Any) -> Any:
        try:
            return sender.encode(value)
        except (codec.TooDeep, RecursionError) as error:
            # An answer may be nested half as deep as an argument, so that this is the tests' own.
            raise codec.CannotCross(f"the tests pass an argument that is too deep: {error}") from None

    def _table(self, sender: codec.Sender) -> list[Any]:
        try:
            return sender.table()
        except (codec.TooDeep, RecursionError) as error:
            raise codec.CannotCross(f"the tests pass an argument that is too deep: {error}") from None

    def encoded(self, value: Any) -> Any:
        """Return a value of the tests as it goes to the program; raises `codec.CannotCross`."""
        try:
            return codec.encode(value, self._number_of, is_answer=False)
        except (codec.TooDeep, RecursionError) as error:
            # An answer may be nested half as deep as an argument, so that this is the tests' own.
            raise codec.CannotCross(f"the tests pass an argument that is too deep: {error}") from None

    def _number_of(self, value: Any) -> Any:
        """Return the number of the program's object that a value of the tests stands for, or their function as code.

        Raises:
            ProgramFailed: It is an exception or a class of the program, which do not go back: were that the tests'
                fault, a program could choose the weaker mode by what it defines or raises.
            codec.CannotCross: It is the tests' own, and has no plain form.
        """
        if isinstance(value, Reference):
            return number_of(value)
        if isinstance(value, Function):
            return value.number()
        known = tuple(self._classes.values())
        if value in known or isinstance(value, known) or any(error is value for error, _ in self._raised):
            raise self.failed("nonsense", "an exception of the program does not go back to it")
        if (packed := self._porter.packed(value)) is not None:
            return packed
        raise codec.CannotCross(f"the tests pass a {type(value).__name__}, which has no plain form")

    def raised_of(self, error: BaseException) -> str | None:
        """Return the program's own traceback where it raised this exception."""
        return next((trace for known, trace in self._raised if known is error), None)

    def had_no_part(self) -> bool:
        """Return whether the tests have come this far without asking the program, or naming an exception of it."""
        return self.calls == 0 and not self._classes

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

    def _value(
        self,
        reply: channel.Message,
        *,
        ends_iteration: bool = False,
        table: Sequence[Any] = (),
        containers: Sequence[Any] = (),
    ) -> Any:
        """Return the value of a reply, or raise what it says was raised; arguments that changed are changed here, too.

        Args:
            table: What the containers of the question held.
            containers: Those themselves, by the same numbers.
        """
        receiver = codec.Receiver(self._reference, containers, limit=codec.DEPTH_MAX // 2)
        self._apply(receiver, reply, table)
        if "raised" in reply:
            raise self._exception_of(reply["raised"], ends_iteration=ends_iteration)
        if "value" not in reply:
            raise self.failed("nonsense", "the program's answer holds no value")
        try:
            return receiver.decode(reply["value"])
        except (codec.BadValue, RecursionError) as error:
            raise self.failed("nonsense", f"the program's answer is {error}") from None

    def _apply(self, receiver: codec.Receiver, reply: channel.Message, table: Sequence[Any]) -> None:
        """Take the containers of a reply, and change those of the question that the program has changed."""
        try:
            receiver.take(reply.get("table") or [])
            for number, contents in dict(reply.get("changed") or {}).items():
                place = int(number)
                if not 0 <= place < len(table) or contents[0] != table[place][0]:
                    raise self.failed("nonsense", "an argument changed its type")
                receiver.change(place, contents)
        except (codec.BadValue, RecursionError, ValueError, TypeError, LookupError) as error:
            raise self.failed("nonsense", f"the program's answer is {error}") from None

    def class_of(self, name: str, kind: str) -> type | None:
        """Return what the class of an object is said to be, where the tests know it: their own of the prompt."""
        own = self.own_classes.get(name)
        return own if not kind and isinstance(own, type) else None

    def _reference(self, body: Any) -> Any:
        """Return what stands for an object: its number, the name and the number of its class, and its kind.

        A member of an enumeration of the prompt is the tests' own member of that name.
        """
        if not isinstance(body, list) or [type(one) for one in body] != [int, str, int, str]:
            raise codec.BadValue("no encoded value")
        number, name, class_number, kind = body
        own = self.own_classes.get(name)
        members = getattr(own, "__members__", {})
        if kind.startswith("enum:") and kind[5:] in members:
            return members[kind[5:]]
        known = self._references.get(number)
        if known is None:
            key = name[:_NAME_CHARACTERS_MAX].replace("\0", ""), class_number
            if key not in self._reference_classes:
                self._reference_classes[key] = class_of(*key)
            known = self._references[number] = self._reference_classes[key](self, number, kind)
        return known

    def made(self, value: Reference) -> Reference:
        """Return what stands for an object that the tests made of a class."""
        return self._made.setdefault(number_of(value), made_of(value))

    def said_of(self, error: BaseException | None) -> Any:
        """Return what the program is told of an exception that leaves a block of the tests: its class and its text."""
        if error is None:
            return None
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return [kinds, running.text_of(error) if self.raised_of(error) is not None else ""]

    def _exception_of(self, said: Any, *, ends_iteration: bool) -> BaseException:
        if not isinstance(said, dict):
            return self.failed("nonsense", "the program's exception is none")
        name, text = str(said.get("type")), str(said.get("text"))
        if name == "TooLarge":
            return self.failed("too_large", text)
        if name == "MemoryError":
            return self.failed("memory", str(said.get("trace") or name))
        kinds = [str(kind) for kind in said["kinds"]] if isinstance(said.get("kinds"), list) else []
        if ends_iteration and kinds[:1] == ["builtins:StopIteration"]:
            return StopIteration()
        error = self._exception_like(kinds, said, text)
        if error is None:
            return self.failed("raised", str(said.get("trace") or f"{name}: {text}"))
        self._raised.append((error, str(said.get("trace"))[:_TEXT_CHARACTERS_MAX]))
        return error

    def _exception_like(self, kinds: list[str], said: channel.Message, text: str) -> Exception | None:
        """Return an exception of the nearest class the tests know; None for what must not be caught, as SystemExit."""
        arguments = self._arguments_of(said, text)
        for kind in kinds:
            module, _, name = kind.rpartition(":")
            known = self._classes.get(name) or getattr(builtins, name, None) or _imported(module, name)
            if not isinstance(known, type) or not issubclass(known, BaseException):
                continue
            if not issubclass(known, Exception):
                return None
            if known is Exception or known in _ENDS_OF_ITERATION:
                error: Exception = ProgramError(text)
                error.kind = kinds[0].rpartition(":")[2]  # type: ignore[attr-defined]  # of that class
            else:
                error = _exception(known, arguments)
            self._give_attributes(error, said)
            return error
        return None

    def _arguments_of(self, said: channel.Message, text: str) -> tuple[Any, ...]:
        try:
            return tuple(codec.decode(argument, self._reference) for argument in said.get("args") or ())
        except (codec.BadValue, TypeError):
            return (text,)

    def _give_attributes(self, error: Exception, said: channel.Message) -> None:
        """Give an exception the attributes of the program's own that it has beyond those of its class."""
        given = said.get("attributes")
        for name, data in list(given.items())[:_ATTRIBUTES_MAX] if isinstance(given, dict) else ():
            if not str(name).startswith("_"):
                with contextlib.suppress(codec.BadValue, AttributeError, TypeError):
                    setattr(error, str(name), codec.decode(data, self._reference))


def _number_if_known(value: Any) -> int | None:
    if isinstance(value, Reference):
        return number_of(value)
    return value.number() if isinstance(value, Function) else None


def _imported(module: str, name: str) -> Any:
    """Return an exception of a module that the tests have imported; none of those that steer a run of tests."""
    if not module or module.split(".", maxsplit=1)[0] in _NO_ANSWERS:
        return None
    return vars(sys.modules[module]).get(name) if module in sys.modules else None


def _exception(kind: type[Exception], arguments: tuple[Any, ...]) -> Exception:
    """Return an exception of a class whose constructor may want something else than its arguments."""
    try:
        return kind(*arguments)
    except Exception:  # noqa: BLE001 - whatever that constructor does
        error = kind.__new__(kind)
        error.args = arguments
        return error


sys.setrecursionlimit(max(sys.getrecursionlimit(), 2_000))
