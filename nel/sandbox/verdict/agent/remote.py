"""The program as its tests see it: what asks over the channel, and what its answers mean.

What comes over the channel is hostile; it is decoded to plain values, and everything else is a
reference. A reference is compared with nothing that has no plain form: then the tests have to share
the program's process.
"""

from __future__ import annotations

import reprlib
import sys
import threading
import types
from collections.abc import Mapping
from typing import Any

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec, running, standard
from nel.sandbox.verdict.agent.exceptions import Exceptions, ProgramError
from nel.sandbox.verdict.agent.references import Reference, object_of

_TEXT_CHARACTERS_MAX = 4_000
_ENDS = (StopIteration, StopAsyncIteration)
"""Of those that are an `Exception`, what ends more than a step."""


class ProgramFailed(BaseException):
    """The program died or talked nonsense; not an `Exception`, so that tests cannot catch it."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.where = ""
        """The line of the tests."""


class _Short(reprlib.Repr):
    """Shows values in short without asking the program."""

    def repr1(self, x: Any, level: int) -> str:
        """Return what stands for a value."""
        if type(x) is Reference:
            return "<an object of the program>"
        return super().repr1(x, level)


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 160
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


class Remote:
    """The program at the other end of the channel."""

    def __init__(
        self,
        connection: int,
        tests: str = "",
        *,
        asks_objects: bool = False,
    ) -> None:
        """Ask over this descriptor.

        Args:
            tests: Exceptions that end more than a step cross as themselves where these name them.
            asks_objects: Whether objects are asked whether they equal a plain value.
        """
        self._connection = connection
        self._tests = tests
        self.asks_objects = asks_objects
        self._turn = threading.RLock()
        self.calls = 0
        self.failure: ProgramFailed | None = None
        """What the program did that no test can undo."""
        self.obstacle = ""
        """Why the tests have to share the program's process; no test can undo it either."""
        self.is_compared = False
        """Whether an object of the program has said whether it equals something."""
        self.is_chosen = False
        """Whether tests of functions met such an object where a plain value would have done."""
        self._last: tuple[str, Any, Any] | None = None
        self.missing: list[str] = []
        """Names that the tests use and the program does not define."""
        self.errors = Exceptions(self)
        self._references: dict[int, Reference] = {}
        self._codec = codec.Codec(
            self._refer,
            self._resolve,
            first_number=0,
            sent_depth=codec.DEPTH_MAX,
            received_depth=codec.ANSWER_DEPTH_MAX,
        )
        self.check_plain = self._codec.check_plain

    def wait_for_names(self) -> dict[str, Any]:
        """Wait until the program is loaded and return its names.

        Raises:
            ProgramFailed: It cannot be loaded.
        """
        message = self._read()
        fault = message.get("failed")
        if isinstance(fault, dict):
            raise self.fail(str(fault.get("program")), str(fault.get("text")))
        names = message.get("loaded")
        if not isinstance(names, dict):
            raise self.fail("nonsense", "the program did not load as it should")
        return names

    def stand_in(self, name: str, kind: Any) -> Any:
        """Return what stands for an exception class of the program, or for anything else of it."""
        return self.errors.class_of(kind) if isinstance(kind, list) else Reference(self, name)

    def ask(
        self,
        deed: str,
        value: Any,
        arguments: tuple[Any, ...] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the program's answer as a plain value, a reference, or by raising what it raised.

        Arguments that the program changed are changed here, too.
        """
        options = options or {}
        target = object_of(value)._target  # noqa: SLF001 - what the program knows it by
        name = target if isinstance(target, str) else "an object"
        if deed == "call":
            self._last = (name, arguments, None)
        with self._turn:  # one question at a time, also from threads of the tests
            question = {"do": deed, "target": target, "names": list(options)}
            question.update(self._codec.pack((*arguments, *options.values())))
            # After packing: what this question still mentions has a number there, too.
            question["lost"] = self._codec.losses()
            reply = self._exchange({**question, "is_class": self.asks_objects})
            if "large" in reply:
                raise self.fail("too_large", str(reply["large"]))
            try:
                # Containers that the program changed change here before the answer is returned.
                answer = self._codec.unpack(reply)
                self._codec.forget(reply["lost"])
                if "raised" in reply:
                    raised = self._exception_to_raise(answer, ends_iteration=deed == "next")
            except Exception as error:  # noqa: BLE001 - whatever its words do to this process
                raise self.fail("nonsense", f"the program's answer is none: {error}") from None
        if "raised" in reply:
            raise raised  # out of the block above, which takes any exception for nonsense
        if deed == "call":
            self._last = (name, arguments, answer)
        return answer

    def kind_of(self, *arguments: Any) -> Any:
        """Return what ``type(…)`` returns, of a reference by the program's word."""
        value = arguments[0]
        if not isinstance(value, BaseException):
            value = object_of(value)
        if len(arguments) != 1 or type(value) is not Reference:
            return type(*arguments)
        return self.ask("getattr", value, ("__class__",))

    def is_instance(self, value: Any, kinds: Any) -> bool:
        """Return what ``isinstance`` returns, of a reference by the program's word.

        Raises:
            codec.CannotCross: A class has no plain form, so that the program has its own of it.
        """
        if type(value) is not Reference or isinstance(value, kinds):
            return isinstance(value, kinds)
        self.check_plain(kinds)
        return self.ask("inherits", value, (kinds,)) is True

    def is_callable(self, value: Any) -> bool:
        """Return what ``callable`` returns, of a reference by the program's word."""
        if type(value) is not Reference:
            return callable(value)
        return self.ask("callable", value) is True

    def is_same(self, left: Any, right: Any) -> bool:
        """Return what ``left is right`` returns, of references by the object they stand for."""
        if Reference not in (type(left), type(right)):
            return left is right
        self.check_plain(left)
        self.check_plain(right)
        if left is right or type(left) is not type(right):
            return left is right
        # Two references may stand for one object: a method may return its own.
        self.is_compared = True
        return self.ask("is_", left, (right,)) is True

    def note_comparison(self, value: Any) -> None:
        """Note that an object of the program has been taken at its word about a value."""
        self.is_compared = True
        if not self.asks_objects and not isinstance(value, codec.StandIn):
            self.is_chosen = True

    def cannot(self, text: str) -> codec.CannotCross:
        """Note, for good, why the tests have to share the program's process."""
        self.obstacle = self.obstacle or text
        return codec.CannotCross(text)

    def was_used(self) -> bool:
        """Return whether the tests have asked the program, or named an exception of it."""
        return bool(self.calls or self.errors.classes)

    def last_call(self) -> str:
        """Return the last call and what came back, in short."""
        if self._last is None:
            return ""
        name, arguments, value = self._last
        return f"{name}({', '.join(map(_SHORT.repr, arguments))}) -> {_SHORT.repr(value)}"

    def fail(self, kind: str, text: str) -> ProgramFailed:
        """Note, for good, how the program failed; return it to be raised."""
        if self.failure is None:
            self.failure = ProgramFailed(kind, text[:_TEXT_CHARACTERS_MAX])
            frame: types.FrameType | None = sys._getframe(1)  # noqa: SLF001 - the way to the callers
            while frame is not None and frame.f_code.co_filename != running.FILE_NAME:
                frame = frame.f_back
            self.failure.where = running.line_shown(frame.f_lineno) if frame is not None else ""
        return self.failure

    def _refer(self, value: Any) -> list[Any]:
        """Return what the program is told of one of its objects.

        Raises:
            codec.CannotCross: It is the tests' own, and has no plain form.
        """
        if isinstance(value, type) and issubclass(value, ProgramError):
            return ["R", value._name]  # noqa: SLF001
        at = object_of(value)
        if type(at) is Reference:
            return ["R", at._target]  # noqa: SLF001
        owner = standard.owner_of(value)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return ["R", [self._codec.encode(owner), value.__name__]]
        if getattr(value, "__module__", "") == codec.PROGRAM:  # an answer chooses no mode
            raise self.fail("nonsense", "a class of an answer does not go back")
        raise self.cannot(f"a {type(value).__name__} of the tests has no plain form")

    def _write(self, message: channel.Message) -> None:
        try:
            channel.write_frame(self._connection, message, channel.QUESTION_BYTES_MAX)
        except channel.Gone:
            raise self.fail("gone", "the program ended before its tests did") from None
        except channel.TooLarge as error:
            raise self.fail("nonsense", f"an argument of {error}") from None

    def _exchange(self, question: channel.Message) -> channel.Message:
        self.calls += 1
        if self.failure is not None:
            raise self.failure
        self._write({"n": self.calls, **question})
        reply = self._read()
        if reply.get("n") != self.calls:
            raise self.fail("nonsense", "the program answered what it was not asked")
        return reply

    def _read(self) -> channel.Message:
        try:
            message = channel.read_frame(self._connection)
        except channel.Gone:
            raise self.fail("gone", "the program ended before its tests did") from None
        except channel.TooLarge as error:
            raise self.fail("too_large", f"an answer of {error}") from None
        except channel.BadFrame as error:
            raise self.fail("nonsense", f"the program's answer is {error}") from None
        if not isinstance(message, dict):
            raise self.fail("nonsense", "the program's answer is not an answer")
        return message

    def _resolve(self, tag: str, body: Any) -> Any:
        """Return what stands for the object of a number, or for an exception."""
        if tag == "e":
            arguments, fields = self._codec.decode(body["parts"])
            return self.errors.decode({**body, "args": arguments, "fields": fields})
        if type(body) is not int:
            raise codec.BadValue("no reference")
        return self.errors.get(body) or self.reference(body)

    def reference(self, number: int) -> Reference:
        """Return what stands for the object of a number."""
        return self._references.setdefault(number, Reference(self, number))

    def _exception_to_raise(self, error: Any, *, ends_iteration: bool) -> BaseException:
        """Return what is raised in the tests for what the program has raised.

        What would end a loop of the tests, or the tests, is raised as itself by ``next``, and where
        their text names it.
        """
        if not isinstance(error, BaseException):
            return self.fail("nonsense", "the program's exception is none")
        trace = self.errors.trace_of(error) or ""
        if isinstance(error, MemoryError):
            return self.fail("memory", trace)
        if isinstance(error, Exception) and not isinstance(error, _ENDS):
            return error
        is_named = ends_iteration or type(error).__name__ in self._tests
        return error if is_named else self.fail("raised", trace)


sys.setrecursionlimit(max(sys.getrecursionlimit(), 2_000))
