"""The program as its tests see it: references that ask over the channel.

What comes over the channel is hostile; it is decoded to plain values, and everything else is a
reference. The program's own methods see a plain value only where the tests made their object of a
class: any other question would hand the program the value that is expected of it. A reference is
compared with nothing that has no plain form: then the tests have to share the program's process.
"""

from __future__ import annotations

import reprlib
import sys
import threading
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec, running, solution

_TEXT_CHARACTERS_MAX = 4_000
_NAME_CHARACTERS_MAX = 100
_KINDS_MAX = 20
_STEERING_MODULES = ("nel", "unittest", "doctest", "pytest", "_pytest", "__main__")
"""Modules whose exceptions mean something to what runs tests."""
_NOT_ASKED = frozenset(("__array__", "__set_name__"))
"""Names that others look for in every object."""
_ENDS_OF_ITERATION = (StopIteration, StopAsyncIteration)
"""Raised by a call they would end a loop of the tests early, and the tests with it."""


class ProgramFailed(BaseException):
    """The program died or talked nonsense; not an `Exception`, so that tests cannot catch it."""

    def __init__(self, kind: str, text: str) -> None:
        """Say how it failed."""
        super().__init__(text)
        self.kind = kind
        self.where = ""
        """The line of the tests."""


class _ReferenceClass(type):
    """The class of references, which is not the class of what they stand for."""

    def __getattr__(cls, name: str) -> Any:
        raise codec.CannotCross(f"the tests look for {name} in the class of an object")


class Reference(metaclass=_ReferenceClass):
    """An object in the program's process; equal to nothing but another of its objects."""

    __slots__ = ("_is_made", "_makes", "_remote", "_target")

    def __init__(
        self,
        remote: Remote,
        target: Mapping[str, Any],
        *,
        is_made: bool = False,
        makes: bool = False,
    ) -> None:
        """Stand for an object.

        Args:
            target: Its name or its number, as the program is told.
            is_made: The tests made it by calling a class.
            makes: It is a class, by the task's text.
        """
        names = {"_remote": remote, "_target": target, "_is_made": is_made, "_makes": makes}
        for name, value in names.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_ASKED:
            raise AttributeError(name)
        if name == "__mro_entries__":
            raise self._remote.cannot("the tests derive from a class of the program")
        return self._remote.ask("getattr", self._target, (name,))

    def __reduce_ex__(self, protocol: object) -> Any:
        raise self._remote.cannot("the tests pickle an object of the program")

    def __setattr__(self, name: str, value: object) -> None:
        self._remote.ask("setattr", self._target, (name, value))

    def __delattr__(self, name: str) -> None:
        self._remote.ask("delattr", self._target, (name,))

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it in the program's process."""
        value = self._remote.ask("call", self._target, arguments, options)
        return (
            self._remote.reference_to(value) if self._makes and type(value) is Reference else value
        )

    def __contains__(self, key: Any) -> bool:
        if self._is_made:
            return self._remote.ask("contains", self._target, (key,)) is True
        return any(item is key or item == key for item in self._remote.ask("iter", self._target))

    def __instancecheck__(self, value: Any) -> bool:
        return (
            type(value) is Reference
            and self._remote.ask("isinstance", _target_of(value), (self,)) is True
        )

    def __subclasscheck__(self, kind: Any) -> bool:
        is_known = type(kind) is Reference
        return is_known and self._remote.ask("issubclass", _target_of(kind), (self,)) is True

    def __exit__(self, *error: object) -> None:
        self._remote.ask("exit", self._target)

    def __deepcopy__(self, memo: object) -> Any:
        """Copy it in the program's process; a memo holds addresses of this one alone."""
        return self._remote.ask("deepcopy", self._target)


def _operator(deed: str) -> Callable[..., Any]:
    """Return the method of an operator, whose other side holds what the tests expect."""

    def operate(self: Reference, other: object) -> Any:
        remote = self._remote
        remote.check_plain(other)
        if type(other) is not Reference and not self._is_made:
            plain = remote.ask("plain", self._target)
            if plain is None and deed == "truediv" and type(other) is str:  # as paths have it
                raise remote.cannot("the tests divide an object by a text")
            return NotImplemented if plain is None else solution.DEEDS[deed](plain, other)
        remote.is_compared = True
        result = remote.ask(deed, self._target, (other,))
        is_in_place = deed.startswith("i") and type(result) is Reference
        return self if is_in_place and _target_of(result) == self._target else result

    return operate


def _method(deed: str) -> Callable[..., Any]:
    return lambda self, *arguments: self._remote.ask(deed, self._target, arguments)


for _name in solution.BINARY:
    setattr(Reference, f"__{_name.rstrip('_')}__", _operator(_name))
    setattr(Reference, f"__r{_name.rstrip('_')}__", _operator(f"r{_name}"))
    setattr(Reference, f"__i{_name.rstrip('_')}__", _operator(f"i{_name}"))
for _name in solution.COMPARED:
    setattr(Reference, f"__{_name}__", _operator(_name))
for _name in (
    *solution.UNARY,
    *"len iter next reversed str repr format bool hash dir round trunc floor ceil".split(),
):
    setattr(Reference, f"__{_name}__", _method(_name))
for _name in "int float complex copy getitem setitem delitem enter".split():
    setattr(Reference, f"__{_name}__", _method(_name))


Reference.__doc__ = property(lambda self: self.__getattr__("__doc__"))  # type: ignore[assignment]


class _Theirs:
    """What stands for an exception of a class of the program's own; attributes are asked of it."""

    _remote: Remote
    _name = ""
    """Of its class, as the program knows it."""
    _at: Any = None
    _text = ""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Have the program make one."""
        self._at = self._remote.ask("call", {"name": self._name}, arguments, options)
        self._text = str(self._at)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._at is None:
            raise AttributeError(name)
        return getattr(self._at, name)

    def __str__(self) -> str:
        return self._text


class _Short(reprlib.Repr):
    """Shows values in short without asking the program."""

    def repr1(self, x: Any, level: int) -> str:
        """Return what stands for a value."""
        return "<an object of the program>" if type(x) is Reference else super().repr1(x, level)


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 160
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


class Remote:
    """The program at the other end of the channel."""

    def __init__(self, connection: int, classes: Collection[str] = ()) -> None:
        """Ask over this descriptor; ``classes``: names of classes, by the task's text."""
        self._connection = connection
        self._class_names = classes
        self._turn = threading.RLock()
        self.calls = 0
        self.failure: ProgramFailed | None = None
        """What the program did that no test can undo."""
        self.obstacle = ""
        """Why the tests have to share the program's process; no test can undo it either."""
        self.is_compared = False
        """Whether an object of the program has said whether it equals something."""
        self._known_classes: dict[Any, list[type | None]] = {}
        self._last: tuple[str, Any, Any] | None = None
        self.missing: list[str] = []
        """Names that the tests use and the program does not define."""
        self._raised: list[tuple[BaseException, str, Reference]] = []
        self._classes: dict[str, type[Exception]] = {}
        self._references: dict[int, Reference] = {}
        self._sender = codec.Sender(self._number_of)
        self._comparer = codec.Sender(self._number_of, codec.ANSWER_DEPTH_MAX)
        self._receiver = codec.Receiver(self._reference, codec.ANSWER_DEPTH_MAX)

    def wait_for_names(self) -> dict[str, str]:
        """Wait until the program is loaded and return its names.

        Raises:
            ProgramFailed: It cannot be loaded.
        """
        message = self._read()
        failed = message.get("failed")
        if isinstance(failed, dict):
            raise self.fail(str(failed.get("program")), str(failed.get("text")))
        names = message.get("loaded")
        if not isinstance(names, dict):
            raise self.fail("nonsense", "the program did not load as it should")
        return {str(name): str(kind) for name, kind in names.items()}

    def stand_in(self, name: str, kind: str) -> Any:
        """Return what stands for a function, class or exception of the program; or a constant."""
        if kind.startswith("exception"):
            return self._exception_class(kind.split()[1:])
        if kind == "value":
            return self.ask("get", {"name": name})
        return Reference(self, {"name": name}, makes=name in self._class_names)

    def ask(
        self,
        deed: str,
        target: Mapping[str, Any],
        arguments: tuple[Any, ...] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the program's answer as a plain value, a reference, or by raising what it raised.

        Arguments that the program changed are changed here, too.
        """
        options = options or {}
        values = [*arguments, *options.values()]
        if deed == "call":
            self._last = (str(target.get("name", "an object")), arguments, None)
        question = {"do": deed, **target, "args": [self._encode(value) for value in values]}
        with self._turn:
            reply = self._exchange({**question, "names": list(options)})
        try:
            self._apply(reply.get("changed"), values)
            if "raised" not in reply:
                same = reply.get("same")
                value = values[same] if type(same) is int else self._receiver.decode(reply["value"])
                if deed == "call":
                    self._last = (str(target.get("name", "an object")), arguments, value)
                return value
        except Exception as error:  # noqa: BLE001 - whatever its words do to this process
            raise self.fail("nonsense", f"the program's answer is none: {error}") from None
        raise self._exception_of(reply["raised"], ends_iteration=deed == "next")

    def classes_of(self, value: Reference) -> list[type | None]:
        """Return an object's classes, from the first on: None for those of the program."""
        number = self._number_of(value)
        if number not in self._known_classes:
            places = self.ask("classes", _target_of(value))
            if type(places) is not list or not places:
                raise self.fail("nonsense", "the classes of an object are none")
            self._known_classes[number] = [codec.class_at(str(place)) for place in places]
        return self._known_classes[number]

    def kind_of(self, *arguments: Any) -> Any:
        """Return what ``type(…)`` returns, as far as it can be known of a reference."""
        if len(arguments) != 1 or type(arguments[0]) is not Reference:
            return type(*arguments)
        value = arguments[0]
        return self.classes_of(value)[0] or self.ask("getattr", _target_of(value), ("__class__",))

    def is_instance(self, value: Any, kinds: Any) -> bool:
        """Return what ``isinstance`` returns, of a reference by the program's word.

        Not by its ``__class__``: classes of the standard library would take it for their own.
        """
        if type(value) is not Reference or isinstance(value, kinds):
            return isinstance(value, kinds)
        first = next(filter(None, self.classes_of(value)), None)
        return first is not None and issubclass(first, kinds)

    def is_same(self, left: Any, right: Any) -> bool:
        """Return what ``left is right`` returns, of references by the object they stand for."""
        pair = (left, right)
        if Reference in map(type, pair):
            for value in pair:
                self.check_plain(value)
            if left is not right and type(left) is type(right):
                self.is_compared = True
                return self.ask("is_", _target_of(left), (right,)) is True
        return left is right

    def check_plain(self, value: Any) -> None:
        """Raise `codec.CannotCross` where a value of the tests has no plain form."""
        try:
            self._comparer.encode(value)
        except (codec.TooDeep, RecursionError):
            raise self.cannot("the tests compare an object with a value that is too deep") from None

    def cannot(self, text: str) -> codec.CannotCross:
        """Note, for good, why the tests have to share the program's process."""
        self.obstacle = self.obstacle or text
        return codec.CannotCross(text)

    def reference_to(self, value: Reference) -> Reference:
        """Return what stands for an object that the tests made of a class.

        It is another one than stands for the object elsewhere: an object may return itself.
        """
        return Reference(self, _target_of(value), is_made=True)

    def trace_of(self, error: BaseException) -> str | None:
        """Return the program's own traceback where it raised this exception."""
        return next((trace for known, trace, _ in self._raised if known is error), None)

    def was_used(self) -> bool:
        """Return whether the tests have asked the program, or named an exception of it."""
        return bool(self.calls or self._classes)

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

    def _encode(self, value: Any) -> Any:
        try:
            return self._sender.encode(value)
        except (codec.TooDeep, RecursionError) as error:
            # An answer is nested half as deep at most, so that this is the tests' own.
            raise self.cannot(f"the tests pass an argument that is too deep: {error}") from None

    def _number_of(self, value: Any) -> Any:
        """Return what the program is told of one of its objects.

        Raises:
            ProgramFailed: It is part of an answer, and has no plain form.
            codec.CannotCross: It is the tests' own, and has no plain form.
        """
        if isinstance(value, type) and issubclass(value, _Theirs):
            return value._name  # noqa: SLF001
        raised = (at for known, _, at in self._raised if known is value)
        at = value._at if isinstance(value, _Theirs) else next(raised, value)  # noqa: SLF001 - its class stands above
        if type(at) is Reference:
            return next(iter(_target_of(at).values()))  # its number, or its name
        if (owner := codec.owner_of(value)) is not None and not isinstance(owner, types.ModuleType):
            # A program chooses whose method it is, and must not choose the mode by it.
            is_change = not isinstance(owner, type) and value.__name__ in codec.CHANGES
            if type(owner) is Reference or is_change:
                raise self.fail(
                    "nonsense", f"the method {value.__name__} of an answer does not go back"
                )
            return [self._encode(owner), value.__name__]
        kind = type(value).__name__
        is_vars = type(value) is types.MappingProxyType and "__doc__" in value
        if is_vars or getattr(value, "__module__", "") == codec.PROGRAM:
            raise self.fail("nonsense", f"{kind} of an answer does not go back")
        raise self.cannot(f"a value of the class {kind} in the tests has no plain form")

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

    def _apply(self, changed: Any, values: list[Any]) -> None:
        """Change the arguments that the program has changed."""
        for number, data in dict(changed or {}).items():
            new = self._receiver.decode(data)
            if type(new) is Reference:
                continue
            if type(new) is not type(values[int(number)]):
                raise TypeError("an argument changed its type")
            codec.become(values[int(number)], new)

    def _reference(self, body: Any) -> Reference:
        """Return what stands for the object of a number."""
        if type(body) is not int:
            raise codec.BadValue("no reference")
        return self._references.setdefault(body, Reference(self, {"ref": body}))

    def _exception_of(self, described: Any, *, ends_iteration: bool) -> BaseException:
        if not isinstance(described, dict) or type(described.get("ref", 0)) is not int:
            return self.fail("nonsense", "the program's exception is none")
        name, text = str(described.get("type")), str(described.get("text"))
        if name in ("TooLarge", "MemoryError"):
            kind = "memory" if name == "MemoryError" else "too_large"
            return self.fail(kind, str(described.get("trace") or text))
        kinds = [*map(str, described.get("kinds") or ())]
        if ends_iteration and kinds[:1] == ["builtins:StopIteration"]:
            return StopIteration()
        trace = str(described.get("trace"))[:_TEXT_CHARACTERS_MAX]
        if "builtins:Exception" not in kinds:  # SystemExit and its like
            return self.fail("raised", trace or f"{name}: {text}")
        at = self._reference(described.get("ref", 0))
        try:
            arguments = tuple(map(self._receiver.decode, described.get("args") or ()))
        except (codec.BadValue, TypeError):
            arguments = (text,)
        error = _exception(self._exception_class(kinds), arguments)
        if isinstance(error, _Theirs):
            error._at, error._text = at, text  # noqa: SLF001 - its class stands above
        self._raised.append((error, trace, at))
        return error

    def _exception_class(self, kinds: list[str]) -> Any:
        """Return the exception class of these names, the bases after it: the tests' own, or one
        that stands for it.
        """
        if not kinds:
            return Exception
        kind = kinds[0]
        if kind not in self._classes:
            module, _, name = kind.rpartition(":")
            # A program may define its own TimeoutError, which tests name without an import.
            known = _imported_exception("builtins" if module == codec.PROGRAM else module, name)
            if known is None:
                base = self._exception_class(kinds[1:_KINDS_MAX])
                bases = (base,) if issubclass(base, _Theirs) else (_Theirs, base)
                fields = {"_remote": self, "_name": name}
                known = type(name[:_NAME_CHARACTERS_MAX], bases, fields)
            self._classes[kind] = known
        return self._classes[kind]


def _target_of(value: Reference) -> Mapping[str, Any]:
    return value._target  # type: ignore[no-any-return]  # noqa: SLF001 - its class stands above


def _imported_exception(module: str, name: str) -> Any:
    """Return an exception of an imported module; none that steers a run of tests, or ends a loop of
    theirs early.
    """
    is_known = module in sys.modules and module.partition(".")[0] not in _STEERING_MODULES
    kind = vars(sys.modules[module]).get(name) if is_known else None
    is_exception = isinstance(kind, type) and issubclass(kind, Exception)
    return kind if is_exception and kind not in _ENDS_OF_ITERATION else None


def _exception(kind: type[Exception], arguments: tuple[Any, ...]) -> Exception:
    """Return an exception whose constructor may want other arguments than it has."""
    try:
        is_made = issubclass(kind, _Theirs)
        return kind.__new__(kind, *arguments) if is_made else kind(*arguments)
    except Exception:  # noqa: BLE001 - whatever that constructor does
        error = kind.__new__(kind)
        error.args = arguments
        return error


sys.setrecursionlimit(max(sys.getrecursionlimit(), 2_000))
